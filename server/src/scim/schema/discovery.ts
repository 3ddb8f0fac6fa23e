import type { Attribute, Schema } from './attribute.ts';

const readOnly = { mutability: 'readOnly' } as const;
const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  ...readOnly,
  ...more,
});
const flag = (name: string, description: string, required = true): Attribute => ({
  name,
  type: 'boolean',
  description,
  ...(required ? { required } : {}),
  ...readOnly,
});
const number = (name: string, description: string): Attribute => ({ name, type: 'integer', description, ...readOnly });
const complex = (name: string, description: string, subAttributes: readonly Attribute[]): Attribute => ({
  name,
  type: 'complex',
  description,
  subAttributes,
  ...readOnly,
});
const uri = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'reference',
  description,
  caseExact: true,
  referenceTypes: ['uri'],
  ...readOnly,
  ...more,
});
const supported = flag('supported', 'Whether it is supported.');

/** The characteristics of each attribute in `/Schemas` (RFC 7643 §7). */
const characteristics: readonly Attribute[] = [
  text('name', 'The name.', { required: true, caseExact: true }),
  text('type', 'The type of its values.', {
    required: true,
    canonicalValues: ['string', 'boolean', 'decimal', 'integer', 'dateTime', 'binary', 'reference', 'complex'],
  }),
  flag('multiValued', 'Whether there can be several values.'),
  text('description', 'What it means.'),
  flag('required', 'Whether there must be a value.'),
  text('canonicalValues', 'Values that are usual.', { multiValued: true, caseExact: true }),
  flag('caseExact', 'Whether values are compared with case.', false),
  text('mutability', 'Whether it can be written.', {
    caseExact: true,
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  text('returned', 'When it is returned.', {
    caseExact: true,
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  text('uniqueness', 'Among which resources a value is unique.', {
    caseExact: true,
    canonicalValues: ['none', 'server', 'global'],
  }),
  text('referenceTypes', 'What kinds of resource a reference leads to.', { multiValued: true, caseExact: true }),
];

/** The schemas of discovery itself (RFC 7643 §8.7.2). */
export const discoverySchemas: readonly Schema[] = [
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
    name: 'ServiceProviderConfig',
    description: 'What the service provider can do',
    attributes: [
      uri('documentationUri', 'Where the documentation is.', { referenceTypes: ['external'] }),
      complex('patch', 'PATCH.', [supported]),
      complex('bulk', 'Bulk.', [
        supported,
        number('maxOperations', 'How many operations a request may hold.'),
        number('maxPayloadSize', 'How many bytes a request may hold.'),
      ]),
      complex('filter', 'Filters.', [supported, number('maxResults', 'How many resources a page holds at most.')]),
      complex('changePassword', 'Changes of the password.', [supported]),
      complex('sort', 'Sorting.', [supported]),
      complex('etag', 'ETags.', [supported]),
      complex('pagination', 'Paging (RFC 9865).', [
        flag('cursor', 'Whether pages can go by cursor.'),
        flag('index', 'Whether pages can go by index.'),
        text('defaultPaginationMethod', 'How they go where nobody says.', { canonicalValues: ['cursor', 'index'] }),
        number('defaultPageSize', 'How many resources a page holds where nobody says.'),
        number('maxPageSize', 'How many resources a page holds at most.'),
        number('cursorTimeout', 'For how many seconds a cursor is good.'),
      ]),
      {
        ...complex('authenticationSchemes', 'How clients authenticate.', [
          text('type', 'The kind.', {
            required: true,
            canonicalValues: ['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest'],
          }),
          text('name', 'The name.', { required: true }),
          text('description', 'What to send.', { required: true }),
          uri('specUri', 'Where it is specified.', { referenceTypes: ['external'] }),
          uri('documentationUri', 'Where it is explained.', { referenceTypes: ['external'] }),
          flag('primary', 'Whether it is the preferred one.', false),
        ]),
        multiValued: true,
      },
    ],
  },
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
    name: 'ResourceType',
    description: 'A kind of resource',
    attributes: [
      text('id', 'Its identifier.'),
      text('name', 'Its name.', { required: true }),
      text('description', 'What it means.'),
      uri('endpoint', 'Where such resources are, below the base address.', { required: true }),
      uri('schema', 'Its schema.', { required: true }),
      {
        ...complex('schemaExtensions', 'What extends the schema.', [
          uri('schema', 'The schema of the extension.', { required: true }),
          flag('required', 'Whether every resource must have it.'),
        ]),
        multiValued: true,
      },
    ],
  },
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
    name: 'Schema',
    description: 'A schema',
    attributes: [
      text('id', 'Its URN.', { required: true }),
      text('name', 'Its name.'),
      text('description', 'What it describes.'),
      {
        ...complex('attributes', 'Its attributes.', [
          ...characteristics,
          { ...complex('subAttributes', 'The parts of a complex attribute.', characteristics), multiValued: true },
        ]),
        required: true,
        multiValued: true,
      },
    ],
  },
];

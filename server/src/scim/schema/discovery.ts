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

const assignable = (multiple: string): readonly Attribute[] => [
  supported,
  flag(multiple, 'Whether a user can have several.', false),
  flag('primarySupported', 'Whether one of them can be primary.', false),
  flag('typeSupported', 'Whether they can have a type.', false),
];

/** The characteristics of each attribute in `/Schemas` (RFC 7643 §7). */
const characteristics: readonly Attribute[] = [
  text('name', 'The name.', { required: true, caseExact: true }),
  text('type', 'The type of its values.', {
    required: true,
    canonicalValues: ['string', 'boolean', 'decimal', 'integer', 'dateTime', 'binary', 'reference', 'complex'],
  }),
  flag('multiValued', 'Whether there can be several values.'),
  text('description', 'The description.'),
  flag('required', 'Whether there must be a value.'),
  text('canonicalValues', 'Suggested values.', { multiValued: true, caseExact: true }),
  flag('caseExact', 'Whether values are compared with case.', false),
  text('mutability', 'Whether it can be written.', {
    caseExact: true,
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  text('returned', 'When it is returned.', {
    caseExact: true,
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  text('uniqueness', 'The scope in which a value is unique.', {
    caseExact: true,
    canonicalValues: ['none', 'server', 'global'],
  }),
  text('referenceTypes', 'The types of resources that a reference may target.', { multiValued: true, caseExact: true }),
];

/** The schemas of discovery itself (RFC 7643 §8.7.2). */
export const discoverySchemas: readonly Schema[] = [
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
    name: 'ServiceProviderConfig',
    description: 'Features of the service provider',
    attributes: [
      uri('documentationUri', 'Where the documentation is.', { referenceTypes: ['external'] }),
      complex('patch', 'PATCH.', [supported]),
      complex('bulk', 'Bulk.', [
        supported,
        number('maxOperations', 'The maximum number of operations in a request.'),
        number('maxPayloadSize', 'The maximum size of a request in bytes.'),
      ]),
      complex('filter', 'Filters.', [supported, number('maxResults', 'The maximum number of resources in a page.')]),
      complex('changePassword', 'Changes of the password.', [supported]),
      complex('sort', 'Sorting.', [supported]),
      complex('etag', 'ETags.', [supported]),
      complex('pagination', 'Paging (RFC 9865).', [
        flag('cursor', 'Whether cursor pagination is supported.'),
        flag('index', 'Whether index pagination is supported.'),
        text('defaultPaginationMethod', 'The default pagination method.', { canonicalValues: ['cursor', 'index'] }),
        number('defaultPageSize', 'The default number of resources in a page.'),
        number('maxPageSize', 'The maximum number of resources in a page.'),
        number('cursorTimeout', 'The lifetime of a cursor in seconds.'),
      ]),
      // Nested one level deeper than RFC 7643 §2.3.8 allows, as the draft has it (§3.1).
      complex('RolesAndEntitlements', 'Roles and entitlements (draft-ietf-scim-roles-entitlements).', [
        complex('roles', 'The endpoint /Roles and the attribute roles.', assignable('multipleRolesSupported')),
        complex(
          'entitlements',
          'The endpoint /Entitlements and the attribute entitlements.',
          assignable('multipleEntitlementsSupported'),
        ),
      ]),
      {
        ...complex('authenticationSchemes', 'How clients authenticate.', [
          text('type', 'The kind.', {
            required: true,
            canonicalValues: ['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest'],
          }),
          text('name', 'The name.', { required: true }),
          text('description', 'The credential to send.', { required: true }),
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
      text('description', 'The description.'),
      uri('endpoint', 'The endpoint of the resources, relative to the base URL.', { required: true }),
      uri('schema', 'Its schema.', { required: true }),
      {
        ...complex('schemaExtensions', 'Extensions of the schema.', [
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
      text('description', 'The description.'),
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

import {
  type Answer,
  type ApiPart,
  json,
  named,
  type Operation,
  pathParameters,
  type Schema,
  secured,
  statuses,
  text,
} from '../http/openapi/document.ts';
import { listResponseSchema } from './answer.ts';
import { type Attribute, isReadOnly } from './schema/attribute.ts';
import { type ResourceType, resourceTypesWith, userType } from './schema/resource-type.ts';
import { maxPageSize } from './search/search-request.ts';

const mediaType = 'application/scim+json';
const content = (schema: Schema) => json(schema, mediaType);

/** The SCIM service of a project, from the declarations behind `/Schemas`. */
export function scimApi(): Omit<ApiPart, 'paths'> {
  const types = resourceTypesWith(userType);
  return {
    tag: {
      name: 'SCIM 2.0',
      description: 'Users and groups of a project (RFC 7643, RFC 7644), with cursor paging (RFC 9865).',
    },
    schemas: {
      ...Object.fromEntries(types.map((type) => [`Scim${type.name}`, resourceSchema(type)])),
      ...Object.fromEntries(types.map((type) => [`Scim${type.name}List`, listOf(named(`Scim${type.name}`))])),
      ScimError: {
        type: 'object',
        properties: {
          schemas: strings,
          status: text('HTTP status, as a string.'),
          scimType: text('Keyword of RFC 7644 section 3.12.'),
          detail: text('The remedy.'),
        },
        required: ['schemas', 'status', 'detail'],
      },
      ScimSearch: {
        type: 'object',
        properties: {
          schemas: strings,
          ...Object.fromEntries(searchParameters.map(([name, schema]) => [name, schema])),
          attributes: strings,
          excludedAttributes: strings,
        },
      },
      ScimPatch: {
        type: 'object',
        properties: {
          schemas: strings,
          Operations: {
            type: 'array',
            items: {
              type: 'object',
              properties: { op: text('add, replace or remove.'), path: text('Attribute path.'), value: {} },
              required: ['op'],
            },
          },
        },
        required: ['schemas', 'Operations'],
      },
    },
  };
}

const strings: Schema = { type: 'array', items: { type: 'string' } };
const integer = { type: 'integer' };

/** Query parameters of lists, and members of a search. */
const searchParameters: [string, Schema][] = [
  ['filter', text('Filter (RFC 7644 section 3.4.2.2), e.g. userName eq "ada@example.com".')],
  ['sortBy', text('Attribute path.')],
  ['sortOrder', text('ascending or descending.')],
  ['startIndex', { ...integer, description: '1-based.' }],
  ['count', { ...integer, description: `At most ${maxPageSize}.` }],
  ['cursor', text('Empty for the first page; then nextCursor.')],
  ['attributes', text('Comma-separated names to return.')],
  ['excludedAttributes', text('Comma-separated names to leave out.')],
];

const asQuery = (names: readonly string[]) =>
  searchParameters
    .filter(([name]) => names.includes(name))
    .map(([name, { description, ...schema }]) => ({
      name,
      in: 'query' as const,
      description: String(description),
      schema,
    }));

const refusal: Answer = { description: 'A SCIM error.', content: content(named('ScimError')) };
const ofRead = [400, 401, 403, 404, 429, 500, 503];
const ofWrite = [...ofRead, 409, 412, 413, 415];

const etag = { ETag: { description: 'Version of the resource.', schema: { type: 'string' } } };
const ifMatch = {
  name: 'If-Match',
  in: 'header' as const,
  description: 'The version to change.',
  schema: { type: 'string' },
};
const prefer = {
  name: 'Prefer',
  in: 'header' as const,
  description: 'return=minimal: no body.',
  schema: { type: 'string' },
};

function operation(
  operationId: string,
  summary: string,
  { parameters = [], ...more }: Omit<Operation, 'operationId' | 'summary' | 'security'>,
): Operation {
  return {
    operationId,
    summary,
    ...more,
    parameters: [...pathParameters({ projectId: "The project's ID." }), ...parameters],
    security: secured('scimToken'),
  };
}

/** The descriptions of a type of resource. */
export function resourceOperations(type: ResourceType) {
  const { name } = type;
  const lower = name.toLowerCase();
  const list = { 200: { description: 'A page.', content: content(named(`Scim${name}List`)) } };
  const one = (description: string): Answer => ({ description, headers: etag, content: content(named(`Scim${name}`)) });
  const projection = asQuery(['attributes', 'excludedAttributes']);
  const withId = pathParameters({ id: `ID of the ${lower}.` });
  const change = (operationId: string, summary: string, schema: Schema) => () =>
    operation(operationId, summary, {
      parameters: [...withId, ...projection, ifMatch, prefer],
      requestBody: { required: true, content: content(schema) },
      responses: {
        200: one('The changed resource.'),
        204: { description: 'Changed, without a body.' },
        ...statuses(ofWrite, refusal),
      },
    });
  return {
    list: () =>
      operation(`list${name}s`, `List ${plural(name)}`, {
        parameters: asQuery(searchParameters.map(([parameter]) => parameter)),
        responses: { ...list, ...statuses(ofRead, refusal) },
      }),
    search: () => search(`search${name}s`, `Search ${plural(name)}`, list),
    read: () =>
      operation(`read${name}`, `Read a ${lower}`, {
        parameters: [...withId, ...projection],
        responses: { 200: one('The resource.'), 304: { description: 'Unchanged.' }, ...statuses(ofRead, refusal) },
      }),
    create: () =>
      operation(`create${name}`, `Create a ${lower}`, {
        parameters: projection,
        requestBody: { required: true, content: content(named(`Scim${name}`)) },
        responses: { 201: one('The created resource.'), ...statuses(ofWrite, refusal) },
      }),
    replace: change(`replace${name}`, `Replace a ${lower}`, named(`Scim${name}`)),
    patch: change(`patch${name}`, `Change a ${lower}`, named('ScimPatch')),
    remove: () =>
      operation(`delete${name}`, `Delete a ${lower}`, {
        parameters: [...withId, ifMatch],
        responses: { 204: { description: 'Deleted.' }, ...statuses([...ofRead, 412], refusal) },
      }),
  };
}

const plural = (name: string): string => (name === 'Entitlement' ? 'entitlements' : `${name.toLowerCase()}s`);

function search(operationId: string, summary: string, list: Record<string, Answer>): Operation {
  return operation(operationId, summary, {
    requestBody: { required: true, content: content(named('ScimSearch')) },
    responses: { ...list, ...statuses([...ofRead, 413, 415], refusal) },
  });
}

const document: Schema = {
  type: 'object',
  properties: { schemas: strings },
  required: ['schemas'],
  additionalProperties: true,
};

const read =
  (operationId: string, summary: string, schema = document, parameters: Operation['parameters'] = []) =>
  () =>
    operation(operationId, summary, {
      parameters,
      responses: { 200: { description: summary, content: content(schema) }, ...statuses(ofRead, refusal) },
    });

const ofDocument = pathParameters({ id: 'URN or name.' });

/** The descriptions of the other operations. */
export const generalOperations = {
  searchAll: () =>
    search('searchAll', 'Search users and groups', {
      200: { description: 'A page.', content: content(listOf(document)) },
    }),
  bulk: () =>
    operation('bulk', 'Run several operations (RFC 7644 section 3.7)', {
      requestBody: { required: true, content: content(document) },
      responses: {
        200: { description: 'An outcome for each operation.', content: content(document) },
        ...statuses([...ofRead, 413, 415], refusal),
      },
    }),
  readMe: (): Operation => ({
    ...operation('readMe', 'Read the signed-in user (RFC 7644 section 3.11)', {
      parameters: asQuery(['attributes', 'excludedAttributes']),
      responses: {
        200: { description: 'The user, as far as scopes allow.', headers: etag, content: content(named('ScimUser')) },
        ...statuses([...ofRead, 501], refusal),
      },
    }),
    security: secured('accessToken'),
  }),
  config: read('readServiceProviderConfig', 'Features (RFC 7643 section 5)'),
  types: read('listResourceTypes', 'Resource types', listOf(document)),
  type: read('readResourceType', 'A resource type', document, ofDocument),
  schemas: read('listSchemas', 'Schemas, with custom attributes', listOf(document)),
  schema: read('readSchema', 'A schema', document, ofDocument),
};

function listOf(resource: Schema): Schema {
  return {
    type: 'object',
    properties: {
      schemas: { type: 'array', items: { const: listResponseSchema } },
      totalResults: integer,
      itemsPerPage: integer,
      startIndex: { ...integer, description: 'Absent with a cursor.' },
      nextCursor: text('Absent on the last page.'),
      Resources: { type: 'array', items: resource },
    },
    required: ['schemas', 'totalResults', 'Resources'],
  };
}

/** Custom attributes of the project are in another extension. */
function resourceSchema({ description, schema, common, extensions }: ResourceType): Schema {
  const all = [...common, ...schema.attributes];
  return {
    type: 'object',
    description,
    properties: {
      ...propertiesOf(all),
      ...Object.fromEntries(
        extensions.map(({ id, description: about, attributes }) => [
          id,
          { type: 'object', description: about, properties: propertiesOf(attributes) },
        ]),
      ),
    },
    patternProperties: { '^urn:': { type: 'object' } },
    required: ['schemas'],
  };
}

const propertiesOf = (attributes: readonly Attribute[]): Record<string, Schema> =>
  Object.fromEntries(attributes.map((attribute) => [attribute.name, attributeSchema(attribute)]));

function attributeSchema(attribute: Attribute): Schema {
  const { description, multiValued, canonicalValues, mutability } = attribute;
  const about = canonicalValues ? `${description} Usually: ${canonicalValues.join(', ')}.` : description;
  const value = valueSchema(attribute);
  return {
    ...(multiValued ? { type: 'array', items: value } : value),
    description: about,
    ...(isReadOnly(attribute) && { readOnly: true }),
    ...(mutability === 'writeOnly' && { writeOnly: true }),
  };
}

const types: Record<Attribute['type'], Schema> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integer,
  decimal: { type: 'number' },
  dateTime: { type: 'string', format: 'date-time' },
  reference: { type: 'string' },
  binary: { type: 'string', contentEncoding: 'base64' },
  complex: { type: 'object' },
};

function valueSchema({ type, subAttributes }: Attribute): Schema {
  return { ...types[type], ...(subAttributes && { properties: propertiesOf(subAttributes) }) };
}

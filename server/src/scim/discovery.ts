import { listResponseSchema } from './answer.ts';
import { maxOperations, maxPayloadBytes } from './bulk.ts';
import { type Attribute, isReadOnly, type Schema } from './schema/attribute.ts';
import { discoverySchemas } from './schema/discovery.ts';
import { type ResourceType, resourceTypesWith } from './schema/resource-type.ts';
import { cursorTimeoutSeconds } from './search/cursor.ts';
import { maxPageSize } from './search/search-request.ts';

const schemaUrn = 'urn:ietf:params:scim:schemas:core:2.0:Schema';
const resourceTypeUrn = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';
const configUrn = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';

/** The features of this server (RFC 7643 §5, RFC 9865 §4). */
export function serviceProviderConfig(baseUrl: string): object {
  return {
    schemas: [configUrn],
    patch: { supported: true },
    bulk: { supported: true, maxOperations, maxPayloadSize: maxPayloadBytes },
    filter: { supported: true, maxResults: maxPageSize },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: maxPageSize,
      maxPageSize,
      cursorTimeout: cursorTimeoutSeconds,
    },
    RolesAndEntitlements: {
      roles: { supported: true, multipleRolesSupported: true, primarySupported: true, typeSupported: true },
      entitlements: {
        supported: true,
        multipleEntitlementsSupported: true,
        primarySupported: true,
        typeSupported: true,
      },
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'OAuth Bearer Token',
        description: 'A SCIM token of the project in the Authorization header.',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
      {
        type: 'oauth2',
        name: 'OAuth 2.0 client credentials',
        description: 'An access token with the scope scim, from the token endpoint of the project.',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6749',
        primary: false,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

/** Every resource type (RFC 7643 §6). */
export function resourceTypeDocuments(baseUrl: string, userType: ResourceType): { id: string }[] {
  return resourceTypesWith(userType).flatMap((type: ResourceType) => {
    const { name, also } = type;
    const named = [{ id: name, schema: type.schema }, ...(also ? [{ id: also.name, schema: also }] : [])];
    return named.map(({ id, schema }) => ({
      schemas: [resourceTypeUrn],
      id,
      name: id,
      endpoint: type.endpoint,
      description: schema === type.schema ? type.description : schema.description,
      schema: schema.id,
      schemaExtensions: type.extensions.map((extension) => ({ schema: extension.id, required: false })),
      meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${id}` },
    }));
  });
}

/** Every schema (RFC 7643 §7). */
export function schemaDocuments(baseUrl: string, userType: ResourceType): { id: string }[] {
  const ofTypes = resourceTypesWith(userType).flatMap(({ schema, also, extensions }) => [
    schema,
    ...(also ? [also] : []),
    ...extensions,
  ]);
  return [...ofTypes, ...discoverySchemas].map(({ id, name, description, attributes }: Schema) => ({
    schemas: [schemaUrn],
    id,
    name,
    description,
    attributes: attributes.map(describe),
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  }));
}

/** All resources in one page: discovery has no paging (RFC 7644 §4). */
export function wholeList(resources: readonly object[]): object {
  return {
    schemas: [listResponseSchema],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function describe(attribute: Attribute): object {
  const { name, type, description, subAttributes, canonicalValues, referenceTypes } = attribute;
  return {
    name,
    type,
    multiValued: attribute.multiValued ?? false,
    description,
    required: attribute.required ?? false,
    ...(['complex', 'boolean', 'integer', 'decimal'].includes(type) ? {} : { caseExact: attribute.caseExact ?? false }),
    mutability: isReadOnly(attribute) ? 'readOnly' : (attribute.mutability ?? 'readWrite'),
    returned: attribute.returned ?? 'default',
    ...(type === 'boolean' ? {} : { uniqueness: attribute.uniqueness ?? 'none' }),
    ...(canonicalValues ? { canonicalValues } : {}),
    ...(referenceTypes ? { referenceTypes } : {}),
    ...(subAttributes ? { subAttributes: subAttributes.map(describe) } : {}),
  };
}

import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { boolean, fields, id, int, jsonObject, list, object, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType('ApiScope', { description: 'A scope of tokens for an API.' })
class ApiScopeView extends fields({
  key: text(),
  description: text(),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('Api', { description: "An API of a project, for which the project's issuer issues access tokens." })
export class ApiView extends fields({
  id: id(),
  identifier: text(
    '`resource` in requests, and `aud` of its tokens. Unique in its project only, and the issuers of projects share keys: the API must check `iss`, too.',
  ),
  name: text(),
  scopes: list(object(ApiScopeView)),
  accessTokenTtlSeconds: int(),
  thirdPartyAccess: boolean('Whether third-party applications get tokens for its scopes, if the user consents.'),
  tokenExchange: boolean('Whether applications can exchange tokens of other APIs for its tokens (RFC 8693).'),
  userKeys: boolean('Whether users can make API keys for it.'),
  version: int('Send it as `expectedVersion` to detect concurrent changes.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

@Access('inherited')
@ObjectType('ProtectedResource', { description: 'What leads clients of an API to its issuer (RFC 9728).' })
export class ProtectedResourceView extends fields({
  metadataUrl: text('Where the API serves the metadata.'),
  metadata: jsonObject('The document.'),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('ApiGrant', { description: 'The rights of an application at an API.' })
export class ApiGrantView extends fields({
  scopes: list(text('Scopes that its tokens may have; empty: it gets no tokens for the API.')),
  introspects: boolean('Whether it is the API itself, and may introspect its tokens.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

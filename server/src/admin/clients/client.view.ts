import { ObjectType } from 'type-graphql';
import { Access, ofClient, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import {
  ApiKeyKindEnum,
  BuiltInEnum,
  ClientKindEnum,
  GrantTypeEnum,
  IdTokenAlgorithmEnum,
  TokenEndpointAuthMethodEnum,
} from '../api/enums.ts';
import { boolean, fields, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('ApiKey', { description: 'A key of a client. A secret key is shown only once, when it is created.' })
export class ApiKeyView extends fields({
  id: id(),
  kind: oneOf(ApiKeyKindEnum),
  hint: text('The last four characters.'),
  value: nullable(text('A publishable key. Null for a secret key, and for keys created by an earlier release.')),
  createdAt: time(),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  revokedAt: nullable(time()),
}) {}

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('ClientSecret', { description: 'A secret of a client. It is shown only once, when it is created.' })
export class ClientSecretView extends fields({
  id: id(),
  hint: text('The last four characters.'),
  createdAt: time(),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  revokedAt: nullable(time()),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('Client', { description: 'An OIDC relying party of one project.' })
export class ClientView extends fields({
  id: id(),
  name: text(),
  builtIn: nullable(oneOf(BuiltInEnum)),
  kind: nullable(oneOf(ClientKindEnum, "For the console's instructions.")),
  tokenEndpointAuthMethod: oneOf(TokenEndpointAuthMethodEnum),
  jwksUri: nullable(text('The URL of its keys.')),
  idTokenSignedResponseAlg: oneOf(IdTokenAlgorithmEnum, "At the project's issuer; the base issuer signs with ES512."),
  grantTypes: list(oneOf(GrantTypeEnum, "At the project's issuer.")),
  adminScopes: list(text('Its scopes at this API, in its project.')),
  redirectUris: list(text()),
  postLogoutRedirectUris: list(text()),
  backchannelLogoutUri: nullable(text()),
  backchannelLogoutSessionRequired: boolean(),
  idTokenTtlSeconds: nullable(int("In seconds; absent: the project's value.")),
  accessTokenTtlSeconds: nullable(int("In seconds; absent: the project's value.")),
  refreshTokenTtlSeconds: nullable(
    int('Maximum age of its refresh tokens after a sign-in, in seconds, if shorter than in the project.'),
  ),
  refreshTokenIdleSeconds: nullable(
    int('Maximum time without use of its refresh tokens, in seconds, if shorter than in the project.'),
  ),
  pkceRequired: boolean('Whether sign-ins by the browser SDK require a code_challenge (RFC 7636).'),
  pkceOptional: boolean("Whether it may omit PKCE at its project's issuer, if it is confidential."),
  relatedOrigins: boolean(
    "Whether pages of its redirect URIs' origins can use passkeys (WebAuthn Related Origin Requests).",
  ),
  passkeyRequired: boolean("Whether its users must sign in with a passkey, regardless of the project's policy."),
  loginHintChecked: boolean(
    "Whether users sign in again if `login_hint` does not name the signed-in one, at its project's issuer.",
  ),
  dpopRequired: boolean('Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2).'),
  dpopNonceRequired: boolean('Whether DPoP proofs need a nonce of this server (RFC 9449 section 8).'),
  pushedRequestsRequired: boolean('Whether it must push its authorization requests (RFC 9126).'),
  fapiProfile: boolean('Whether it must comply with the FAPI 2.0 Security Profile.'),
  thirdParty: boolean('Whether users must consent before it gets their data.'),
  version: int('Send it as `expectedVersion` to detect concurrent changes.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

export const ClientConnection = connectionType(ClientView, 'Client');

@Access('inherited')
@ObjectType({ description: 'A new client and its first keys, shown only once.' })
export class CreatedClient extends fields({
  client: object(ClientView),
  publishableKey: text('`lk_pk_…`, for the browser SDK.'),
  secretKey: text('`lk_sk_…`, for the server library.'),
  clientSecret: nullable(text('`lk_cs_…`; null if the client authenticates otherwise.')),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new client secret, shown only once.' })
export class IssuedClientSecret extends fields({
  clientSecret: object(ClientSecretView),
  secret: text('`lk_cs_…`.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new key, shown only once.' })
export class IssuedApiKey extends fields({
  apiKey: object(ApiKeyView),
  key: text(),
}) {}

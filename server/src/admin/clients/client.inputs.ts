import { InputType } from 'type-graphql';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import {
  ClientKindEnum,
  GrantTypeEnum,
  IdTokenAlgorithmEnum,
  LogoutTokenTypEnum,
  TokenEndpointAuthMethodEnum,
} from '../api/enums.ts';
import { boolean, id, inputFields, int, json, list, nullable, oneOf, text } from '../api/fields.ts';

const clientSettings = {
  kind: nullable(oneOf(ClientKindEnum, "For the console's instructions.")),
  tokenEndpointAuthMethod: nullable(oneOf(TokenEndpointAuthMethodEnum, 'Default: NONE.')),
  jwks: nullable(
    json(
      'Public keys: a JWK or a JWK Set, as an object or as JSON text. The base issuer takes Ed25519; that of the project also P-256 and RSA.',
    ),
  ),
  jwksUri: nullable(text('The https URL of its keys, instead of `jwks`.')),
  idTokenSignedResponseAlg: nullable(
    oneOf(
      IdTokenAlgorithmEnum,
      "At the project's issuer. Default: RS256 with a client secret, else ES512, the only one at the base issuer.",
    ),
  ),
  grantTypes: nullable(
    list(
      oneOf(
        GrantTypeEnum,
        "At the project's issuer. Default: AUTHORIZATION_CODE, which every client has, and REFRESH_TOKEN with a client secret.",
      ),
    ),
  ),
  adminScopes: nullable(
    list(
      text<AdminScope>(
        'Its scopes at this API, in its project, with tokens of the grant CLIENT_CREDENTIALS: `users:read`, `users:write`, `consent:read`, `consent:write`, `clients:read`, `clients:write`, `projects:read`, `projects:write`, `audit:read`, `profile:self`; and `scim`, at the SCIM endpoints. Default: none.',
      ),
    ),
  ),
  redirectUris: nullable(list(text('Must match exactly; https, or http on loopback.'))),
  postLogoutRedirectUris: nullable(list(text())),
  backchannelLogoutUri: nullable(text()),
  backchannelLogoutSessionRequired: nullable(boolean('Default: true.')),
  logoutTokenTyp: nullable(oneOf(LogoutTokenTypEnum, 'Default: SECEVENT.')),
  idTokenTtlSeconds: nullable(
    int("1 to 86,400 seconds. Default: 300 with a client secret, else the project's value, which null selects."),
  ),
  accessTokenTtlSeconds: nullable(int("1 to 3600 seconds; default: the project's value.")),
  refreshTokenTtlSeconds: nullable(
    int('Lifetime of its refresh tokens after a sign-in, in seconds. The shorter value of client and project applies.'),
  ),
  refreshTokenIdleSeconds: nullable(
    int('Idle timeout of its refresh tokens, in seconds. The shorter value of client and project applies.'),
  ),
  pkceRequired: nullable(
    boolean(
      'Whether sign-ins by the browser SDK require a code_challenge. Redirects always do, unless `pkceOptional`. True for a new client with a secret: the same as `pkceOptional: false`.',
    ),
  ),
  pkceOptional: nullable(
    boolean(
      "Whether a confidential client may omit PKCE at its project's issuer. A challenge that was sent is bound all the same. Without one, the credential and the nonce protect a code. Default: true with a client secret, unless `pkceRequired`; else false.",
    ),
  ),
  relatedOrigins: nullable(boolean('Default: false.')),
  thirdParty: nullable(
    boolean('Whether users must consent before it gets their data. The browser SDK is refused. Default: false.'),
  ),
  passkeyRequired: nullable(boolean('Default: false.')),
  loginHintChecked: nullable(
    boolean(
      "Whether users sign in again if `login_hint` does not name the signed-in one, at its project's issuer; the base issuer ignores it. Default: true.",
    ),
  ),
  dpopRequired: nullable(
    boolean('Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2). Default: false.'),
  ),
  dpopNonceRequired: nullable(
    boolean('Whether DPoP proofs need a nonce of this server (RFC 9449 section 8). Default: false.'),
  ),
  pushedRequestsRequired: nullable(
    boolean("Whether it must push its authorization requests to its project's issuer (RFC 9126). Default: false."),
  ),
  fapiProfile: nullable(
    boolean(
      'Whether it must comply with the FAPI 2.0 Security Profile: PRIVATE_KEY_JWT, ID tokens with ES256 or EDDSA, https redirect URIs; pushed requests, PKCE and DPoP. Default: false.',
    ),
  ),
};

@InputType()
export class CreateClientInput extends inputFields({
  ...clientSettings,
  projectId: id(),
  name: text(),
}) {}

@InputType({
  description:
    'Absent fields are unchanged; null clears `jwks`, `jwksUri`, `backchannelLogoutUri` and the lifetimes of tokens.',
})
export class UpdateClientInput extends inputFields({
  ...clientSettings,
  id: id(),
  name: nullable(text()),
  disabled: nullable(boolean('All requests of a disabled client are refused.')),
  expectedVersion: nullable(int()),
}) {}

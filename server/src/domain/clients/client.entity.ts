import { defineEntity, p } from '@mikro-orm/core';
import type { JWK } from 'jose';
import type { AdminScope } from '../kernel/admin-api.ts';
import { instant, key } from '../kernel/columns.ts';
import { type GrantType, idTokenAlgorithms, tokenEndpointAuthMethods } from '../kernel/openid.ts';
import { tenant } from '../projects/tenant.ts';

export const logoutTokenTypes = ['secevent', 'logout'] as const;
export const clientKinds = ['single-page', 'web-server', 'native'] as const;

const schema = defineEntity({
  name: 'Client',
  tableName: 'clients',
  properties: {
    project: tenant,
    /** `client_id`: globally unique, and the ID token's `aud`. */
    id: key(),
    name: p.text(),
    builtIn: p.text().$type<'console' | 'demo'>().nullable(),
    /** Selects the console's instructions; no rule depends on it. Null: unknown. */
    kind: p.enum(clientKinds).nullable(),
    tokenEndpointAuthMethod: p.enum(tokenEndpointAuthMethods),
    /** One Ed25519 public key, for `private_key_jwt`; the only form that the base issuer's contract allows. */
    jwk: p.json<JWK>().nullable(),
    /** Several public keys, or one of another kind. */
    jwkSet: p.json<JWK[]>().nullable(),
    /** The URL of its JWK Set. At most one of `jwk`, `jwkSet` and `jwksUri` is set. */
    jwksUri: p.text().nullable(),
    /** Algorithm of its ID and logout tokens, at issuers that offer it. */
    idTokenSignedResponseAlg: p.enum(idTokenAlgorithms).default('ES512'),
    redirectUris: p.array().columnType('text[]'),
    postLogoutRedirectUris: p.array().columnType('text[]'),
    backchannelLogoutUri: p.text().nullable(),
    backchannelLogoutSessionRequired: p.boolean().default(true),
    /** `typ` of its logout tokens: `secevent+jwt` or `logout+jwt`. */
    logoutTokenType: p.enum(logoutTokenTypes).default('secevent'),
    /** Seconds; null: the project's. */
    idTokenTtlSeconds: p.integer().nullable(),
    /** Seconds; null: the project's. Limited to 1…3600 when a token is issued. */
    accessTokenTtlSeconds: p.integer().nullable(),
    /** Seconds; null: the project's. The shorter of both counts. */
    refreshTokenTtlSeconds: p.integer().nullable(),
    refreshTokenIdleSeconds: p.integer().nullable(),
    /** Grant types that it may send to the token endpoint, at issuers that offer them. */
    grantTypes: p
      .array<GrantType>((text) => text as GrantType)
      .columnType('text[]')
      .default(['authorization_code']),
    /** Scopes of its tokens for the admin API, in its project. */
    adminScopes: p
      .array<AdminScope>((text) => text as AdminScope)
      .columnType('text[]')
      .default([]),
    /** Whether a sign-in by the browser SDK needs a code_challenge (RFC 7636). */
    pkceRequired: p.boolean().default(false),
    /** Whether it may omit PKCE, if it is confidential and the issuer allows it. */
    pkceOptional: p.boolean().default(false),
    /** Whether pages of its redirect URIs' origins can use passkeys (WebAuthn Level 3 section 5.11). */
    relatedOrigins: p.boolean().default(false),
    /** Whether its users must sign in with a passkey, regardless of the project's policy. */
    passkeyRequired: p.boolean().default(false),
    /** Whether each token request needs a DPoP proof (RFC 9449 section 5.2, `dpop_bound_access_tokens`). */
    dpopRequired: p.boolean().default(false),
    /** Whether its DPoP proofs need a nonce of this server (RFC 9449 section 8). */
    dpopNonceRequired: p.boolean().default(false),
    /** Whether it must push its authorization requests (RFC 9126 section 6, `require_pushed_authorization_requests`). */
    pushedRequestsRequired: p.boolean().default(false),
    /** Whether it must comply with the FAPI 2.0 Security Profile (`fapi.ts`). */
    fapiProfile: p.boolean().default(false),
    /** Whether a session answers its requests only if `login_hint` names the session's user, at issuers that check hints. */
    loginHintChecked: p.boolean().default(true),
    /** Whether users must consent before it gets their data. */
    thirdParty: p.boolean().default(false),
    disabledAt: instant().nullable(),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
  },
  uniques: [{ name: 'clients_project_id_built_in_unique', properties: ['project', 'builtIn'] }],
});

/** An OIDC relying party of one project. */
export class Client extends schema.class {}
schema.setClass(Client);

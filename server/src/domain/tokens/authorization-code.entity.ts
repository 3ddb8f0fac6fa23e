import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'AuthorizationCode',
  tableName: 'authorization_codes',
  properties: {
    project: impliedTenant,
    /** Also the `jti` of its access token: UserInfo checks this row for revocation. */
    id: key(),
    /** Null for an access token that was not issued for a code. */
    hash: p.text().nullable().index(),
    client: () => sameProject(Client, 'client_id'),
    /** Null for the access token of a client itself (RFC 6749 section 4.4). */
    user: () => sameProject(User, 'user_id').nullable(),
    /** The SSO session of a hosted page's code; becomes `sid`. */
    sessionId: p.uuid().nullable(),
    /** The organization of its context; null: none. */
    organizationId: p.uuid().nullable(),
    /** The issuer of the code, and the only one that redeems it; null: the base issuer. */
    issuer: p.text().nullable(),
    /** The refresh grant whose access token this is. */
    grantId: p.uuid().nullable(),
    /** Null for codes of the browser SDK. */
    redirectUri: p.text().nullable(),
    /** RFC 7636 S256 challenge. */
    codeChallenge: p.text().nullable(),
    /** The credential with which the client obtained the access token; null: none that can be revoked (`obtainedWith`). */
    credential: p.text().nullable(),
    /** Thumbprint of the DPoP key that must redeem it (RFC 9449 §10); null: any, or none. */
    dpopJkt: p.text().nullable(),
    /** The APIs that it is for (RFC 8707); empty: none, so that its access tokens are for UserInfo. */
    resources: p.array().columnType('text[]').default([]),
    /** The access tokens that it was exchanged for, oldest first, and that of its actor; null: not exchanged (RFC 8693). */
    subjectIds: p.array().columnType('uuid[]').nullable(),
    /** The connection whose identity assertion gave the access token; null: none did. */
    connectionId: p.uuid().nullable(),
    scope: p.text(),
    nonce: p.text().nullable(),
    authTime: instant(),
    amr: p.array().columnType('text[]'),
    /** Null: the default. */
    acr: p.text().nullable(),
    createdAt: instant(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
    /** Set on replay or when the user's access ends: revokes its tokens. */
    revokedAt: instant().nullable(),
    /** The row is swept after this: all its tokens have expired. */
    forgetAt: instant().index(),
  },
  indexes: [
    {
      name: 'authorization_codes_grant_id_index',
      expression:
        'create index "authorization_codes_grant_id_index" on "authorization_codes" ("project_id", "grant_id") where ("grant_id" is not null)',
    },
  ],
});

/**
 * An authorization code (RFC 6749 §4.1.2): 256 bits, 60 seconds, single use, stored as a hash. Or the access token of a
 * refresh or of a client: every access token has a row here while it is valid.
 */
export class AuthorizationCode extends schema.class {}
schema.setClass(AuthorizationCode);

import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'AuthorizationCode',
  tableName: 'authorization_codes',
  properties: {
    /** Also the `jti` of the access token that it gives: UserInfo asks here whether that was revoked. */
    id: key(),
    hash: p.text().unique(),
    client: () => p.manyToOne(Client).ref().deleteRule('cascade'),
    user: () => p.manyToOne(User).ref().deleteRule('cascade').index(),
    /** The SSO session, for codes of the hosted page; becomes `sid`. */
    sessionId: p.uuid().nullable(),
    /** Absent for codes of the browser SDK. */
    redirectUri: p.text().nullable(),
    /** RFC 7636 S256 challenge. */
    codeChallenge: p.text().nullable(),
    scope: p.text(),
    nonce: p.text().nullable(),
    authTime: instant(),
    amr: p.array().columnType('text[]'),
    createdAt: instant(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
    /** A replay, or the end of the user's access: the tokens that it gave are dead. */
    revokedAt: instant().nullable(),
    /** The row is swept after this: no token of it can be alive. */
    forgetAt: instant().index(),
  },
});

/** An authorization code (RFC 6749 §4.1.2): 256 bits, 60 seconds, single use, stored as a hash. */
export class AuthorizationCode extends schema.class {}
schema.setClass(AuthorizationCode);

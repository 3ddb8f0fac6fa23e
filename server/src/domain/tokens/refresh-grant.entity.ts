import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'RefreshGrant',
  tableName: 'refresh_grants',
  properties: {
    project: impliedTenant,
    id: key(),
    /** SHA-256 of the first part of its tokens, by which the row is found. */
    familyHash: p.text(),
    client: () => sameProject(Client, 'client_id'),
    user: () => sameProject(User, 'user_id'),
    /** The session of the sign-in; becomes `sid`. */
    sessionId: p.uuid().nullable(),
    /** The organization of its context; null: none. */
    organizationId: p.uuid().nullable(),
    /** The same, if a connection of it had signed in in the session when the grant began; null: none had. */
    connectedOrganizationId: p.uuid().nullable(),
    /** With `offline_access`: outlives the session. */
    offline: p.boolean(),
    /** The issuer of its tokens, and the only one that accepts them. */
    issuer: p.text().nullable(),
    /**
     * Thumbprint of the DPoP key of its first use with one: each use needs a proof, by this key if the client is public.
     * Null: none was used.
     */
    dpopJkt: p.text().nullable(),
    /** The APIs that it is for (RFC 8707); empty: none, so that its access tokens are for UserInfo. */
    resources: p.array().columnType('text[]').default([]),
    scope: p.text(),
    authTime: instant(),
    amr: p.array().columnType('text[]'),
    /** Null: the default. */
    acr: p.text().nullable(),
    /** SHA-256 of the live token. */
    currentHash: p.text(),
    /** SHA-256 of the token that the live one replaced. */
    previousHash: p.text().nullable(),
    /** How often that token was presented again while its replacement was unused: each time, another one replaced it. */
    renewals: p.integer().default(0),
    rotatedAt: instant().nullable(),
    createdAt: instant(),
    lastUsedAt: instant(),
    revokedAt: instant().nullable(),
  },
  uniques: [{ name: 'refresh_grants_project_id_family_hash_unique', properties: ['project', 'familyHash'] }],
  indexes: [
    { name: 'refresh_grants_project_id_user_id_index', properties: ['project', 'user'] },
    { name: 'refresh_grants_last_used_at_index', properties: ['lastUsedAt'] },
  ],
});

/** A client's access to a user without them, by refresh tokens: one row for all tokens of a family. */
export class RefreshGrant extends schema.class {}
schema.setClass(RefreshGrant);

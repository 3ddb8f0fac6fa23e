import { defineEntity, p } from '@mikro-orm/core';
import { Api } from '../../apis/api.entity.ts';
import { instant, key } from '../../kernel/columns.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';
import { User } from '../../users/user.entity.ts';

const schema = defineEntity({
  name: 'UserKey',
  tableName: 'user_keys',
  properties: {
    project: impliedTenant,
    id: key(),
    user: () => sameProject(User, 'user_id'),
    api: () => sameProject(Api, 'api_id'),
    /** The organization of its context; null: none. The row may be deleted: then the key has ended. */
    organizationId: p.uuid().nullable(),
    name: p.text(),
    /** SHA-256. */
    hash: p.text(),
    /** The last four characters. */
    hint: p.text(),
    /** Of the API; those that it no longer has do not count. */
    scopes: p.array().columnType('text[]'),
    /** Addresses and ranges from which it works; empty: all. */
    networks: p.array().columnType('text[]').default([]),
    createdAt: instant(),
    expiresAt: instant(),
    /** With a resolution of one minute. */
    lastUsedAt: instant().nullable(),
    /** As the API reported it. */
    lastUsedAddress: p.text().nullable(),
    revokedAt: instant().nullable(),
  },
  uniques: [{ name: 'user_keys_project_id_hash_unique', properties: ['project', 'hash'] }],
  indexes: [
    { name: 'user_keys_project_id_user_id_index', properties: ['user'] },
    { name: 'user_keys_project_id_api_id_index', properties: ['api'] },
    { name: 'user_keys_expires_at_index', properties: ['expiresAt'] },
  ],
});

/** An API key that a user made: an access token for one API, which the API introspects (decisions/0423). */
export class UserKey extends schema.class {}
schema.setClass(UserKey);

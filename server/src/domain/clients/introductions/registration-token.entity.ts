import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../../kernel/columns.ts';
import { tenant } from '../../projects/tenant.ts';

const schema = defineEntity({
  name: 'RegistrationToken',
  tableName: 'registration_tokens',
  properties: {
    project: tenant,
    id: key(),
    name: p.text(),
    /** SHA-256. */
    hash: p.text(),
    /** Its last four characters. */
    hint: p.text(),
    createdAt: instant(),
    expiresAt: instant(),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  },
  uniques: [{ name: 'registration_tokens_project_id_hash_unique', properties: ['project', 'hash'] }],
});

/** An initial access token: lets clients register themselves (RFC 7591 section 3). */
export class RegistrationToken extends schema.class {}
schema.setClass(RegistrationToken);

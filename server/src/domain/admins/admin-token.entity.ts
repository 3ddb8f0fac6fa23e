import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';
import { roles } from './membership.entity.ts';

const schema = defineEntity({
  name: 'AdminToken',
  tableName: 'admin_tokens',
  properties: {
    id: key(),
    name: p.text(),
    hash: p.text().unique(),
    hint: p.text(),
    role: p.enum(roles),
    project: () => p.manyToOne(Project).ref().nullable().deleteRule('cascade'),
    /** Of an `organization_admin`; null for other roles. */
    organizationIds: p.array().columnType('uuid[]').nullable(),
    /** Its creator: a token never has more than its creator's current rights. */
    createdById: p.uuid().nullable(),
    createdAt: instant(),
    expiresAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
    revokedAt: instant().nullable(),
  },
});

/** A bearer token for the admin API, for automation. Shown once, stored as a hash. */
export class AdminToken extends schema.class {}
schema.setClass(AdminToken);

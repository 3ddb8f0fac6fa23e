import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    project: impliedTenant,
    id: key(),
    user: () => sameProject(User, 'user_id'),
    hash: p.text().index(),
    createdAt: instant(),
    usedAt: instant().nullable(),
  },
});

/** One of ten recovery codes for a lost second factor. Shown once, single use. */
export class RecoveryCode extends schema.class {}
schema.setClass(RecoveryCode);

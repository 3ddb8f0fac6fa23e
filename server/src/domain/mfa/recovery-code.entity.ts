import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    id: key(),
    user: () => p.manyToOne(User).ref().deleteRule('cascade').index(),
    hash: p.text().unique(),
    createdAt: instant(),
    usedAt: instant().nullable(),
  },
});

/** One of ten recovery codes for a lost second factor. Shown once, single use. */
export class RecoveryCode extends schema.class {}
schema.setClass(RecoveryCode);

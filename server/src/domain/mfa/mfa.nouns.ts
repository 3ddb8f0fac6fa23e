import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Enrolment } from './enrolment.entity.ts';
import { FactorChange } from './factor-change.entity.ts';
import { RecoveryCode } from './recovery-code.entity.ts';
import { RecoveryGrant } from './recovery-grant.entity.ts';
import { mfaTables } from './user-tables.ts';

const nouns = {
  enrolment: {},
} as const;

const events = {
  'mfa.change_begun': ['sign-in', '{actor} began to change a second factor of {subject}'],
  'mfa.changed': ['sign-in', 'A second factor of {subject} was changed'],
  'mfa.enrolled': ['sign-in', '{subject} set up a second factor'],
  'mfa.recovery_code_used': ['sign-in', '{subject} used a recovery code'],
  'mfa.recovery_codes_renewed': ['sign-in', '{actor} renewed the recovery codes'],
  'mfa.rejected': ['sign-in', 'A second factor of {subject} was refused'],
  'mfa.removed': ['sign-in', '{actor} removed the second factor of {subject}'],
  'mfa.reset': ['sign-in', '{actor} reset the second factors of {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    mfa: typeof nouns;
  }
  interface Events {
    mfa: typeof events;
  }
}

export const mfaNouns = {
  nouns,
  events,
  entities: [Enrolment, RecoveryCode, RecoveryGrant, FactorChange],
  transfer: [
    {
      type: 'enrolment',
      table: 'enrolments',
      parent: childOf('user'),
      key: ['id'],
      where: 't.verified_at is not null',
      withoutSecrets: `t.method <> 'totp'`,
      omit: ['failures', 'locked_until'],
      secrets: [{ column: 'sealed_secret', purpose: 'totp' }],
      endedBy: `a.type in ('mfa.changed', 'user.handed_over') or (a.type = 'mfa.removed' and a.detail->>'method' = n.method)`,
    },
    {
      type: 'recovery-code',
      table: 'recovery_codes',
      parent: childOf('user'),
      key: ['id'],
      where: 't.used_at is null',
      withoutSecrets: 'false',
      secrets: [{ column: 'hash' }],
      // New codes delete the earlier ones.
      endedBy: `a.type in ('mfa.enrolled', 'mfa.changed', 'mfa.removed', 'mfa.recovery_codes_renewed', 'user.handed_over')`,
    },
  ],
  userTables: [mfaTables],
} satisfies Declaration<UserTables>;

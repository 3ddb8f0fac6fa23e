import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'RecoveryGrant',
  tableName: 'recovery_grants',
  properties: {
    project: impliedTenant,
    id: key(),
    user: () => sameProject(User, 'user_id'),
    /** Keyed hash of the code that the admin passes on. */
    codeHash: p.text(),
    /** SHA-256 of the secret in the link that cancels it. */
    cancelHash: p.text(),
    /** The reason why the admin granted it. */
    reason: p.text(),
    createdAt: instant(),
    /** The code is refused before this. */
    usableAt: instant(),
    expiresAt: instant().index(),
    usedAt: instant().nullable(),
    /** The session in which it was used; null for a sign-in without one. */
    sessionId: p.uuid().nullable(),
    /** Cancelled, replaced or expired. */
    endedAt: instant().nullable(),
  },
});

/** An admin's permission for one sign-in of a user by mail code, without the lost passkey or second factor. */
export class RecoveryGrant extends schema.class {}
schema.setClass(RecoveryGrant);

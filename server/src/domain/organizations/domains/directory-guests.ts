import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import type { Actor } from '../../kernel/actor.ts';
import { keyIn } from '../../projects/tenant.ts';
import { becomeRecords } from '../../users/identity/guests.ts';
import type { User } from '../../users/user.entity.ts';
import type { Memberships } from '../memberships.ts';

/** People whom directories of organizations named before they had an account (decisions/0408). */
export class DirectoryGuests {
  constructor(private readonly deps: { audit: Audit; memberships: Pick<Memberships, 'pass'> }) {}

  /**
   * Joins: the user becomes a guest of each organization whose directory has created a user with this login email outside the verified domains
   * of the organization. That user becomes the record of the guest, as if the account had existed first.
   */
  async admit(em: EntityManager, user: User, actor: Actor): Promise<void> {
    const { audit, memberships } = this.deps;
    const projectId = user.project.id;
    for (const { active, id, organizationId } of await becomeRecords(em, user)) {
      if (organizationId == null) continue;
      await memberships.pass(em, keyIn(projectId, organizationId), id, { userId: user.id, isActive: active }, actor);
      const subject = { kind: 'user', id };
      audit.record(em, { type: 'user.erased', actor, projectId, subject, detail: { organizationId } });
    }
  }
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queue } from '../kernel/queue.ts';

/** Name of the job that runs `LostMembershipEnd.end`; its data are {@link LostMembership}. */
export const endMembershipJob = 'organizations.end';

/** Members who may have lost an organization. They may also be members again. */
export interface LostMembership {
  projectId: string;
  /** It may be deleted. */
  organizationId: string;
  /** Absent: everyone who has something in the organization. */
  userIds?: readonly string[];
}

/** Queues the end of what users have in an organization, in the transaction that may take the membership. */
export class MembershipLosses {
  constructor(private readonly deps: { queue: Queue }) {}

  /** Joins. */
  async queue(em: EntityManager, lost: LostMembership): Promise<void> {
    if (lost.userIds?.length === 0) return;
    await this.deps.queue.send(em, endMembershipJob, { ...lost });
  }
}

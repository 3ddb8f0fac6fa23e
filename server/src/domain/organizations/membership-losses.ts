import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queue } from '../kernel/queue.ts';

/** Name of the job that runs `LostMembershipEnd.end`; its data are {@link LostMembership}. */
export const endMembershipJob = 'organizations.end';

/** Users who may have lost their membership. Some may be members again. */
export interface LostMembership {
  projectId: string;
  /** It may be deleted. */
  organizationId: string;
  /** Absent: all users with a code or refresh grant in the organization. */
  userIds?: readonly string[];
}

/** Queues the end of tokens in an organization, in the transaction that may end the membership. */
export class MembershipLosses {
  constructor(private readonly deps: { queue: Queue }) {}

  /** Joins. */
  async queue(em: EntityManager, lost: LostMembership): Promise<void> {
    if (lost.userIds?.length === 0) return;
    await this.deps.queue.send(em, endMembershipJob, { ...lost });
  }
}

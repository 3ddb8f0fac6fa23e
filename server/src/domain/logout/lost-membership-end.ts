import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import type { LostMembership } from '../organizations/membership-losses.ts';
import { endTokensWithoutMembership, type OrganizationContext } from '../tokens/organization-tokens.ts';
import { inBatches, packed } from '../users/members/packed-ids.ts';
import type { LogoutNotices } from './notices.ts';
import { usersIn } from './uses.ts';

/** Users in one transaction. */
const batch = 200;

/**
 * Job: ends the codes, tokens, refresh grants and API keys that users have in an organization without being members, and notifies the
 * applications (decisions/0382). Each statement checks membership itself, so a user who is a member again keeps everything. Repeatable.
 */
export class LostMembershipEnd {
  constructor(
    private readonly deps: { db: Database; clock: Clock; logoutNotices: Pick<LogoutNotices, 'ofLostMembership'> },
  ) {}

  async end({ projectId, organizationId, userIds }: LostMembership): Promise<void> {
    const context = { projectId, organizationId };
    if (userIds) return this.endBatch(context, userIds);
    for await (const some of inBatches(await this.usersOf(context), batch)) await this.endBatch(context, some);
  }

  private async usersOf(context: OrganizationContext): Promise<Buffer | null> {
    const ids = sql<{ ids: Buffer | null }>`select ${packed('user_id')} as ids from (${usersIn(context)}) used`;
    const [row] = await query(this.deps.db.alone, ids);
    return row?.ids ?? null;
  }

  private async endBatch(context: OrganizationContext, userIds: readonly string[]): Promise<void> {
    const { db, clock, logoutNotices } = this.deps;
    await pastDeadlocks(() =>
      db.transaction(async (em) => {
        await endTokensWithoutMembership(em, context, userIds, clock.now());
        await logoutNotices.ofLostMembership(em, context, userIds);
      }),
    );
  }
}

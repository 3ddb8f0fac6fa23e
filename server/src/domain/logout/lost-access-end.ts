import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import type { LostAccess } from '../projects/lost-access.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { endTokensWithoutAccess } from '../tokens/user-tables.ts';
import { inBatches, packed } from '../users/members/packed-ids.ts';
import type { LogoutNotices } from './notices.ts';
import { usersOf } from './uses.ts';

/** Users in one transaction. */
const batch = 200;

/**
 * Job: ends the codes, tokens and refresh grants that users have at applications which they may no longer use, and notifies the
 * applications (decisions/0371). Each statement checks access itself, so a user who has it again keeps everything. Repeatable.
 */
export class LostAccessEnd {
  constructor(
    private readonly deps: { db: Database; clock: Clock; logoutNotices: Pick<LogoutNotices, 'ofLostAccess'> },
  ) {}

  async end({ projectId, clientId, userIds }: LostAccess): Promise<void> {
    const clients = await query(
      this.deps.db.alone,
      sql<{ id: string }>`select id from clients where project_id = ${projectId}::uuid and access = 'assigned'
        and (${clientId ?? null}::uuid is null or id = ${clientId ?? null}::uuid) order by id`,
    );
    for (const { id } of clients) {
      const client = keyIn(projectId, id);
      if (userIds) await this.endBatch(client, userIds);
      else for await (const some of inBatches(await this.usersOf(client), batch)) await this.endBatch(client, some);
    }
  }

  /** Read by one statement, 16 bytes each: no index has the users of a client in order. */
  private async usersOf(client: TenantKey): Promise<Buffer | null> {
    const ids = sql<{ ids: Buffer | null }>`select ${packed('user_id')} as ids from (${usersOf(client)}) used`;
    const [row] = await query(this.deps.db.alone, ids);
    return row?.ids ?? null;
  }

  private async endBatch(client: TenantKey, userIds: readonly string[]): Promise<void> {
    const { db, clock, logoutNotices } = this.deps;
    await pastDeadlocks(() =>
      db.transaction(async (em) => {
        await endTokensWithoutAccess(em, client, userIds, clock.now());
        await logoutNotices.ofLostAccess(em, client, userIds);
      }),
    );
  }
}

import { endOpenWork } from '../ceremonies/open-work.ts';
import type { Devices } from '../credentials/devices.ts';
import { system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Logout } from '../logout/logout.ts';
import { keyIn } from '../projects/tenant.ts';
import type { EndedTestMode } from '../projects/test-mode.ts';
import { pastDeadlocks } from '../users/deadlock.ts';
import type { Users } from '../users/users.ts';

interface TestSignInsDeps {
  db: Database;
  clock: Clock;
  devices: Pick<Devices, 'revoke'>;
  logout: Pick<Logout, 'endSessionIn'>;
  users: Pick<Users, 'locked'>;
}

/**
 * Job: ends what sign-ins have left in a project whose test mode ended. Responses had the codes, so anyone could sign in as
 * any user. Passkeys and second factors stay: their users see them, and were told by mail.
 */
export class TestSignIns {
  constructor(private readonly deps: TestSignInsDeps) {}

  /** Idempotent. @param ended.before newer sessions and devices stay */
  async end({ projectId, before }: EndedTestMode): Promise<void> {
    const affected = sql<{ id: string }>`select user_id as id from sessions
        where project_id = ${projectId} and ended_at is null and created_at <= ${before}::timestamptz
      union select user_id from credentials where project_id = ${projectId} and kind = 'device-key'
        and revoked_at is null and coalesce(registered_at, created_at) <= ${before}::timestamptz
      union select user_id from refresh_grants where project_id = ${projectId} and revoked_at is null
        and created_at <= ${before}::timestamptz`;
    for (const { id } of await query(this.deps.db.alone, affected)) await this.endOf(projectId, id, before);
  }

  private endOf(projectId: string, userId: string, before: string): Promise<void> {
    const { clock, db, devices, logout, users } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const user = await users.locked(em, projectId, userId);
        if (!user) return;
        await endOpenWork(em, clock.now(), user);
        const ofUser = sql`project_id = ${projectId} and user_id = ${userId}`;
        const keys = sql<{ id: string }>`select id from credentials where ${ofUser} and kind = 'device-key'
          and revoked_at is null and coalesce(registered_at, created_at) <= ${before}::timestamptz`;
        for (const { id } of await query(em, keys)) await devices.revoke(em, { projectId, userId }, id, system);
        const sessions = sql<{ id: string }>`select id from sessions where ${ofUser} and ended_at is null
          and created_at <= ${before}::timestamptz`;
        for (const { id } of await query(em, sessions)) {
          await logout.endSessionIn(em, keyIn(projectId, id), 'revoked', system);
        }
      }),
    );
  }
}

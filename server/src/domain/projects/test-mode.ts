import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../kernel/sql.ts';
import type { Project } from './project.entity.ts';

/** Over https, a project with more users than this has no test mode. */
export const testModeMaxUsers = 100;

/** Test mode: one-time codes are also in the responses. Checked at each use, in addition to the setting. */
export class TestMode {
  private readonly isSecure: boolean;

  constructor(issuer: string) {
    this.isSecure = issuer.startsWith('https:');
  }

  /** Whether codes of this project may be in responses. One indexed lookup, only for test mode over https. */
  async holds(em: EntityManager, project: Pick<Project, 'id' | 'testMode'>): Promise<boolean> {
    return project.testMode && !(await this.isBeyond(em, project.id));
  }

  /** Whether the project has too many users for test mode at this base address. */
  async isBeyond(em: EntityManager, projectId: string): Promise<boolean> {
    if (!this.isSecure) return false;
    const count = sql<{ users: number }>`
      select coalesce(sum(users), 0)::int as users from user_counts where project_id = ${projectId}`;
    const [counted] = await query(em, count, { prepare: 'test-mode.users' });
    return (counted?.users ?? 0) > testModeMaxUsers;
  }

  /** Projects whose test mode is on but no longer allowed. */
  async overdue(em: EntityManager): Promise<{ id: string; users: number }[]> {
    if (!this.isSecure) return [];
    return query(
      em,
      sql<{ id: string; users: number }>`
        select p.id, sum(c.users)::int as users from projects p join user_counts c on c.project_id = p.id
        where p.test_mode group by p.id having sum(c.users) > ${testModeMaxUsers} order by p.id`,
    );
  }
}

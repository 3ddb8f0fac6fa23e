import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queue } from '../kernel/queue.ts';
import { query, sql } from '../kernel/sql.ts';
import type { LostAccess } from '../projects/lost-access.ts';

/** Name of the job that runs `LostAccessEnd.end`; its data are {@link LostAccess}. */
export const endAccessJob = 'access.end';

/** Queues the end of access, in the transaction that may take it. */
export class AccessLosses {
  constructor(private readonly deps: { queue: Queue }) {}

  /** Joins. Of all applications only if groups or roles give access to one: users leave groups often. */
  async queue(em: EntityManager, lost: LostAccess): Promise<void> {
    const { projectId, clientId, userIds } = lost;
    if (userIds?.length === 0) return;
    if (clientId === undefined && !(await hasSharedRules(em, projectId))) return;
    await this.deps.queue.send(em, endAccessJob, { ...lost });
  }
}

async function hasSharedRules(em: EntityManager, projectId: string): Promise<boolean> {
  const of = (column: string) =>
    sql`exists (select 1 from access_rules where project_id = ${projectId}::uuid and ${sql.id(column)} is not null)`;
  const [row] = await query(em, sql<{ any: boolean }>`select ${of('group_id')} or ${of('role_id')} as any`, {
    prepare: 'access.shared-rules',
  });
  return row?.any === true;
}

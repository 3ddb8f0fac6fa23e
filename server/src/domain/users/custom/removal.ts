import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { type Executing, execute, query, sql } from '../../kernel/sql.ts';
import { customUrn } from './definition.ts';

/** Number of users in one transaction: sign-ins wait for it. */
const batch = 500;

/**
 * Deletes the values of deleted attributes; their names can be used again afterwards. An interrupted run is repeated: no
 * write adds values of an attribute without a definition.
 */
export async function sweepRemoved({ db, clock }: { db: Database; clock: Clock }): Promise<void> {
  const due = await query(
    db.alone,
    sql<{ projectId: string; name: string }>`
      select project_id as "projectId", unnest(removed) as name from custom_schemas where removed <> '{}'`,
  );
  for (const { projectId, name } of due) {
    for (let after: string | null = null; ; ) {
      const ids = await idsAfter(db.alone, projectId, after);
      if (ids.length > 0) await db.statements((on) => deleteValues(on, projectId, ids, name, clock.now()));
      if (ids.length < batch) break;
      after = ids.at(-1) ?? null;
    }
    await execute(
      db.alone,
      sql`update custom_schemas set removed = array_remove(removed, ${name}) where project_id = ${projectId}`,
    );
  }
}

async function idsAfter(on: Executing, projectId: string, after: string | null): Promise<string[]> {
  const beyond = after === null ? sql`` : sql`and id > ${after}::uuid`;
  const rows = await query(
    on,
    sql<{ id: string }>`select id from users where project_id = ${projectId} ${beyond} order by id limit ${batch}`,
  );
  return rows.map(({ id }) => id);
}

async function deleteValues(on: Executing, projectId: string, ids: string[], name: string, now: Date): Promise<void> {
  const values = sql`(attributes->${customUrn}::text) - ${name}::text`;
  await execute(
    on,
    sql`update users set version = version + 1, updated_at = ${now},
        attributes = case when ${values} = '{}' then attributes - ${customUrn}::text
          else jsonb_set(attributes, array[${customUrn}::text], ${values}) end
      where project_id = ${projectId} and id = any(${ids}::uuid[])
        and jsonb_exists(attributes->${customUrn}::text, ${name}::text)`,
  );
  await execute(
    on,
    sql`delete from custom_values
      where project_id = ${projectId} and user_id = any(${ids}::uuid[]) and attribute = ${name}`,
  );
}

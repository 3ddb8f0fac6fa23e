import { type Experiment, evaluate } from '../experiment.ts';
import { Postgres } from '../support/postgres.ts';
import { World } from '../support/world.ts';

/** Tables of tenants, parents before children: Citus requires the parent of a foreign key first. */
const tenantTables = `with recursive tenant as (
    select c.oid from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = 'project_id'
  ), level as (
    select oid, 0 as depth from tenant
    union select k.conrelid, depth + 1 from level join pg_constraint k on k.confrelid = level.oid
    where k.contype = 'f' and k.conrelid <> k.confrelid and k.conrelid in (select oid from tenant) and depth < 10
  )
  select oid::regclass::text as name from level group by oid order by max(depth), 1`;

export const citus: Experiment = {
  name: 'citus',
  done: 'tables of tenants distributed by project with Citus, on a single node',
  passes: 'sign-ins with the SDK and on the hosted page; every table of tenants is distributed',
  async run({ log }) {
    if (!(await isAvailable())) {
      return { verdict: 'skipped', measured: 'the extension citus is not available to the embedded PostgreSQL' };
    }
    const world = await World.create({ postgres: { shared_preload_libraries: 'citus' } });
    try {
      await world.postgres.query('create extension citus');
      await world.start();
      const app = await world.app();
      const faults: string[] = [];
      await world.postgres.query(`select create_reference_table('projects')`);
      const tables = await world.postgres.query<{ name: string }>(tenantTables);
      for (const { name } of tables) {
        await world.postgres.query(`select create_distributed_table('${name}', 'project_id')`).catch((error: Error) => {
          faults.push(`${name} stays on the coordinator: ${error.message}`);
        });
      }
      log(`${tables.length - faults.length} of ${tables.length} tables are distributed`);
      await world.people(app, 1).catch((error: Error) => faults.push(error.message));
      await world.hostedPeople(app, 1).catch((error: Error) => faults.push(error.message));
      return evaluate(`${tables.length - faults.length} of ${tables.length} tables distributed`, faults);
    } finally {
      await world.close();
    }
  },
};

async function isAvailable(): Promise<boolean> {
  const postgres = await Postgres.create();
  try {
    const found = await postgres.query(`select 1 from pg_available_extensions where name = 'citus'`, 'postgres');
    return found.length > 0;
  } finally {
    await postgres.destroy();
  }
}

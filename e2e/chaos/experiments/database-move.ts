import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { freePort, startLatchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, until } from '../experiment.ts';
import { Postgres } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { LoadResults, load, World } from '../support/world.ts';

/** The statements of the procedure in server/docs/database.md. */
const script = (name: string): string =>
  readFileSync(new URL(`../../../server/deploy/logical-replication/${name}.sql`, import.meta.url), 'utf8');

const tables = `select c.relname as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`;

/** The steps of "Major upgrades of PostgreSQL" in server/docs/database.md. */
export const databaseMove: Experiment = {
  name: 'database-move',
  done: 'moved to another PostgreSQL by logical replication under load, as for a major upgrade',
  passes:
    'no wrong response, no acknowledged user lost, all rows the same on both at the moment of the move, sign-ins refused for less than 20 s',
  async run({ scale, log }) {
    let proxy: TcpProxy | undefined;
    const world = await World.create({
      postgres: { wal_level: 'logical' },
      via: async (postgres) => {
        proxy = await TcpProxy.to(postgres.port);
        return proxy.port;
      },
    });
    const next = await Postgres.create();
    world.onClose(() => next.destroy());
    world.onClose(() => proxy?.close());
    try {
      await world.start();
      const app = await world.app();
      const people = await world.people(app, 5);
      const { acknowledged, create } = await creations(world, app.projectId);
      const signIns = load(people.map((person) => () => person.signIn()));
      const creating = load([create], new LoadResults(), 20);
      await pause(Math.max(2_000, 5_000 * scale));

      const once = await startLatchkey({ ...world.settings, DATABASE_URL: next.url, PORT: String(await freePort()) });
      await once.stop();
      await world.postgres.query(script('publish'));
      await next.query(script('empty'));
      const source = new URL(world.postgres.url);
      await next.query(`create subscription latchkey
        connection 'host=127.0.0.1 port=${source.port} dbname=latchkey user=latchkey password=${source.password}'
        publication latchkey`);
      const isCopied = () =>
        next
          .query<{ left: number }>(`select count(*)::int as left from pg_subscription_rel where srsubstate <> 'r'`)
          .then(([row]) => row?.left === 0);
      if (!(await until(isCopied, 120_000, 250))) return evaluate('the copy did not end', ['tables are missing']);
      await next.query('analyze');
      log(`copied during ${signIns.results.good} sign-ins and ${acknowledged.length} new users`);
      await pause(Math.max(2_000, 10_000 * scale));

      const stoppedAt = performance.now();
      await world.postgres.query(script('stop-writes'));
      const [at] = await world.postgres.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn');
      const hasCaughtUp = () =>
        world.postgres
          .query<{ done: boolean }>(
            `select confirmed_flush_lsn >= '${at?.lsn}' as done from pg_replication_slots where slot_name = 'latchkey'`,
          )
          .then(([row]) => row?.done === true);
      if (!(await until(hasCaughtUp, 30_000))) return evaluate('the copy did not catch up', ['replication is late']);
      await moveSequences(world.postgres, next);
      await next.query('drop subscription latchkey');
      const different = await differences(world.postgres, next);
      const before = signIns.results.good;
      proxy?.retarget(next.port);
      // A restart of the processes with another DATABASE_URL does the same.
      await world.postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = 'latchkey' and backend_type = 'client backend' and pid <> pg_backend_pid()`);
      await until(() => signIns.results.good > before, 30_000);
      const refusedMs = performance.now() - stoppedAt;
      await pause(3_000);
      await Promise.all([signIns.stop(), creating.stop()]);

      const ids = await next.query<{ id: string }>(`select id from users where project_id = '${app.projectId}'`);
      const there = new Set(ids.map(({ id }) => id));
      const lost = acknowledged.filter((id) => !there.has(id));
      const { results } = signIns;
      return evaluate(
        `${acknowledged.length} users acknowledged, ${lost.length} lost; ${different.compared} rows of ${different.tables} tables compared, ${different.names.length} tables differ; ${results.good} sign-ins, ${results.refused.length} refused within ${Math.round(refusedMs)} ms, ${results.wrong.length} wrong`,
        [
          lost.length > 0 && `${lost.length} acknowledged users are lost`,
          refusedMs > 20_000 && `sign-ins again only after ${Math.round(refusedMs)} ms`,
          results.good === before && 'no sign-in after the move',
          ...different.names.map((name) => `${name} differs`),
          ...results.wrong,
          ...creating.results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

async function creations(world: World, projectId: string) {
  const acknowledged: string[] = [];
  const headers = {
    Authorization: `Bearer ${await world.admin.issueScimToken(projectId)}`,
    'Content-Type': 'application/scim+json',
  };
  const create = async () => {
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
    const body = JSON.stringify({ schemas, userName: `${randomUUID()}@example.com` });
    const answer = await fetch(`${world.issuer}/v1/scim/${projectId}/Users`, { method: 'POST', headers, body });
    const json = (await answer.json()) as { id?: string };
    if (answer.status === 201 && json.id !== undefined) acknowledged.push(json.id);
    else if (answer.status !== 503) throw new Error(`SCIM: ${answer.status} ${JSON.stringify(json).slice(0, 200)}`);
    else await pause(100);
  };
  return { acknowledged, create };
}

/** Sequences are not replicated. */
async function moveSequences(from: Postgres, to: Postgres): Promise<void> {
  const sequences = await from.query<{ name: string; last: string }>(
    `select sequencename as name, last_value as last from pg_sequences where schemaname = 'public' and last_value is not null`,
  );
  for (const { name, last } of sequences) await to.query(`select setval('${name}', ${last})`);
}

async function differences(one: Postgres, other: Postgres) {
  const names = (await one.query<{ name: string }>(tables)).map(({ name }) => name);
  const sum = (name: string) =>
    `select count(*)::int as rows, md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) as sum from "${name}" t`;
  const different: string[] = [];
  let compared = 0;
  for (const name of names) {
    const [[mine], [theirs]] = (await Promise.all(
      [one, other].map((postgres) => postgres.query<{ rows: number; sum: string }>(sum(name))),
    )) as [{ rows: number; sum: string }[], { rows: number; sum: string }[]];
    compared += mine?.rows ?? 0;
    if (mine?.sum !== theirs?.sum) different.push(`${name}: ${mine?.rows} and ${theirs?.rows} rows`);
  }
  return { names: different, compared, tables: names.length };
}

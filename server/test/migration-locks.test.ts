/** Migrations of filled tables hold no lock that writes wait for, and an interrupted one continues. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { migrate, openDatabase } from '../src/adapters/postgres/database.ts';
import { migrations } from '../src/migrations/index.ts';
import { OnlineMigration } from '../src/migrations/online.ts';
import { emptyDatabase, type FreshDatabase } from './database.ts';
import { statementsDuring } from './statements.ts';

const [baseline] = migrations;
/** The limit of `alter`: a wait for a strong lock blocks later statements. */
const longestWaitMs = 30;

/** Tables with a row for each project: writes are rare, and may wait for a moment. */
const small = ['projects', 'experience_drafts'];

/** A database of release 1.0. */
async function earlier(): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 1 });
  await orm.migrator.up({ to: (baseline as (typeof migrations)[number]).name });
  await orm.close(true);
  return database;
}

async function connect({ url }: FreshDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const named = String.raw`(?:if (?:not )?exists )?(?:only )?"?(\w+)"?`;
const blocking: [kind: RegExp, isAllowed: (statement: string, earlierOnes: readonly string[]) => boolean][] = [
  [
    new RegExp(String.raw`^create (?:unique )?index .*? on ${named}`),
    // Of a partitioned table alone, it reads no rows.
    (text) => text.includes(' concurrently ') || text.includes(' on only '),
  ],
  [
    new RegExp(String.raw`^alter table ${named} .*add (?:constraint|primary key|unique|foreign key|check)`),
    (text) => /not valid|using index/.test(text),
  ],
  [new RegExp(String.raw`^alter table ${named} .*alter column "?\w+"? (?:set data )?type`), () => false],
  [
    new RegExp(String.raw`^alter table ${named} .*set not null`),
    (text, run) => {
      const [, table, column] = /^alter table "(\w+)" alter column "(\w+)"/.exec(text) ?? [];
      return run.includes(`alter table "${table}" validate constraint "${table}_${column}_not_null"`);
    },
  ],
  [
    new RegExp(String.raw`^alter table ${named} .*add column`),
    // A default that differs by row rewrites the table, and so does a generated column.
    (text, run) => {
      const [, table] = /^alter table "(\w+)"/.exec(text) ?? [];
      const isShort = run.some((one) => one.startsWith(`delete from "${table}" t where t.ctid >=`));
      return !/default (?!now\(\))\w+\s?\(/.test(text) && (isShort || !/generated always as .*stored/.test(text));
    },
  ],
  [new RegExp(String.raw`^update ${named}`), (text) => text.includes('t.ctid >=')],
];
/** These wait for all writes of the table, and all later writes for them. */
const strong = new RegExp(
  String.raw`^(?:alter table (?!.*validate constraint)|create (?:or replace )?trigger .*? on |create index .*? on (?=only )|drop table )${named}`,
);

/** The unsafe operations of a migration on a filled table, by statement. */
function faultsOf(statements: readonly string[]): string[] {
  const faults: string[] = [];
  let made = new Set<string>();
  for (const [index, statement] of statements.entries()) {
    if (/^insert into "?migrations/.test(statement)) made = new Set();
    const [, table] = new RegExp(`^create table ${named}`).exec(statement) ?? [];
    if (table) made.add(table);
    for (const [kind, isAllowed] of blocking) {
      const [, of] = kind.exec(statement) ?? [];
      if (of !== undefined && !made.has(of) && !small.includes(of) && !isAllowed(statement, statements.slice(0, index)))
        faults.push(`blocks writes: ${statement}`);
    }
    const [, locked] = strong.exec(statement) ?? [];
    if (locked === undefined || made.has(locked)) continue;
    const [, limit] = /^set local lock_timeout = (\d+)/.exec(statements[index - 1] ?? '') ?? [];
    if (limit === undefined || Number(limit) > longestWaitMs) faults.push(`waits without a limit: ${statement}`);
  }
  return faults;
}

/** Each kind of step, on tables that may be filled. */
class Sample extends OnlineMigration {
  override async up(): Promise<void> {
    await this.alter('alter table "repeated_refusals" add column if not exists "place" text');
    await this.backfill('repeated_refusals', { set: `place = 'here'`, where: 't.place is null' });
    await this.alter(`alter table "repeated_refusals" alter column "place" set default 'here'`);
    await this.notNull('repeated_refusals', 'place');
    await this.alter('alter table "users" add column if not exists "number" uuid');
    await this.backfill('users', { set: 'number = t.id', where: 't.number is null' });
    await this.index('users', 'users_number_key', '"project_id", "number"', true);
    await this.useIndex('users', 'users_number_unique', 'unique', 'users_number_key');
    await this.foreignKey('consents', ['project_id', 'user_id'], 'users', ['project_id', 'id']);
    await this.index('clients', 'clients_name_index', '"name"');
  }
}

async function runSample({ url }: FreshDatabase): Promise<void> {
  const orm = await openDatabase({ url, poolSize: 2 });
  try {
    await new Sample(orm.em.getDriver(), orm.config).up();
  } finally {
    await orm.close(true);
  }
}

it('no statement on a table that may be filled blocks its writes, or waits long for them', async () => {
  const database = await earlier();
  const statements = await statementsDuring(() => migrate(database.url));
  expect(faultsOf(statements)).toEqual([]);
  const ofSample = await statementsDuring(() => runSample(database));
  expect(ofSample.filter((text) => /^create (unique )?index concurrently/.test(text))).toHaveLength(2);
  expect(faultsOf(ofSample)).toEqual([]);
  await database.drop();
});

it('the check finds statements that block writes or wait without a limit', () => {
  const faulty = [
    'create index "audit_log_ip_index" on "audit_log" ("ip")',
    'alter table "users" add constraint "c" check (true)',
    'alter table "users" alter column "name" set not null',
    `alter table "users" add column "key" uuid not null default gen_random_uuid()`,
    'alter table "sessions" add column "day" date generated always as (at::date) stored',
    'update "users" set "name" = ?',
  ];
  for (const statement of faulty) {
    const limited = ['set local lock_timeout = 30', statement];
    expect(faultsOf(limited), statement).toHaveLength(1);
    const made = ['users', 'sessions', 'audit_log'].map((name) => `create table "${name}" ()`);
    expect(faultsOf([...made, ...limited]), statement).toEqual([]);
  }
  expect(faultsOf(['set local lock_timeout = 5000', 'alter table "users" add column "key" uuid'])).toHaveLength(1);
  expect(faultsOf(['alter table "users" add column "key" uuid'])).toHaveLength(1);
});

/** Other tests use other databases of the same server. */
const ofThisDatabase = 'database = (select oid from pg_database where datname = current_database())';

it('writes continue while a migration waits for a transaction of the same table', async () => {
  const database = await earlier();
  const [holder, writer, watcher] = [await connect(database), await connect(database), await connect(database)];
  const insert = `insert into repeated_refusals (project_id, key, event_id, expires_at)
    values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now())`;
  await holder.query('begin');
  await holder.query(insert);
  const migrated = runSample(database);
  const isWaiting = async () => {
    const { rowCount } = await watcher.query(
      `select from pg_locks where not granted and relation = to_regclass('repeated_refusals') and ${ofThisDatabase}`,
    );
    return rowCount !== 0;
  };
  while (!(await isWaiting())) await pause(1);
  // If the migration waited for the holder, this would wait for both, and forever.
  await writer.query('set statement_timeout = 60000');
  for (let count = 0; count < 20; count += 1) await writer.query(insert);
  await holder.query('commit');
  await migrated;
  const { rows } = await watcher.query('select count(*)::int as count from repeated_refusals');
  expect(rows).toEqual([{ count: 21 }]);
  for (const client of [holder, writer, watcher]) await client.end();
  await database.drop();
});

it('a migration whose connections end continues at the next start, without an invalid index', async () => {
  const database = await earlier();
  const admin = await connect(database);
  const others = 'datname = current_database() and pid <> pg_backend_pid()';
  /** Within a transaction, PostgreSQL shows the connections of its first look. */
  const current = async (text: string) => {
    await admin.query('select pg_stat_clear_snapshot()');
    return admin.query(text);
  };
  // In the order in which migrations change the tables: the run waits at the locked one.
  for (const table of ['repeated_refusals', 'users', 'clients']) {
    await admin.query(`begin; lock table ${table} in row exclusive mode`);
    let isOver = false;
    const run = runSample(database).then(
      () => 'done',
      () => 'ended',
    );
    void run.then(() => (isOver = true));
    const waiting = `select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.${others}`;
    const isWaiting = async () => (await current(waiting)).rowCount !== 0;
    while (!isOver && !(await isWaiting())) await pause(1);
    for (; !isOver; await pause(1))
      await current(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
    expect(await run, table).toBe('ended');
    await admin.query('commit');
  }
  await runSample(database);
  const { rows } = await admin.query('select indexrelid::regclass::text as name from pg_index where not indisvalid');
  expect(rows).toEqual([]);
  const { rows: made } = await admin.query(
    `select conname as name from pg_constraint where conname = 'users_number_unique'
      union all select indexname from pg_indexes where indexname = 'clients_name_index'`,
  );
  expect(made).toHaveLength(2);
  await admin.end();
  await database.drop();
});

it('a migration of filled tables completes every row, also in one transaction as by a restore', async () => {
  for (const inOne of [false, true]) {
    const database = await earlier();
    const client = await connect(database);
    await client.query(
      `insert into projects (id, name, created_at, updated_at) values (gen_random_uuid(), 'p', now(), now())`,
    );
    await client.query(`insert into users (project_id, id, user_name, user_name_key, created_at, updated_at)
      select id, gen_random_uuid(), n, n, now(), now() from projects, generate_series(1, 5000) n`);
    if (inOne) {
      const orm = await openDatabase({ url: database.url, poolSize: 1, migrateInOne: true });
      await orm.em.fork().transactional(async (em) => {
        const sample = new Sample(orm.em.getDriver(), orm.config);
        sample.setTransactionContext(em.getTransactionContext() as never);
        await sample.up();
      });
      await orm.close(true);
    } else await runSample(database);
    const { rows } = await client.query('select count(*)::int as count from users where number = id');
    expect(rows).toEqual([{ count: 5000 }]);
    await client.end();
    await database.drop();
  }
});

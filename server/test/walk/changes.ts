import pg from 'pg';

/** A row changed by a step, before and after, without the columns that a rejected step may change. */
export interface Change {
  table: string;
  op: 'INSERT' | 'UPDATE' | 'DELETE';
  old: Row | null;
  new: Row | null;
}
export type Row = Record<string, any>;

/** `application_name` of the second process, so that a row shows which process wrote it. */
export const nameOfSecond = 'latchkey-second';

/** Columns that a rejected step may change: counters, nonces and times of last use. */
const counters: Record<string, string[]> = {
  api_keys: ['last_used_at'],
  admin_tokens: ['last_used_at'],
  client_secrets: ['last_used_at'],
  scim_tokens: ['last_used_at', 'last_used_address'],
  device_authorizations: ['polled_at', 'hurried', 'interval_seconds'],
  ceremonies: ['nonce_hash', 'nonce_expires_at', 'mfa_attempts'],
  enrolments: ['failures', 'locked_until'],
  factor_changes: ['attempts'],
  one_time_codes: ['attempts'],
  sessions: ['last_seen_at', 'idle_expires_at'],
};
/** Logs, statistics and used assertions. Budgets are recorded by id only. */
const unwatched =
  /^(audit_|repeated_refusals|activity_|scim_request_records|scim_days|processes|migrations|used_|walk_changes|backups)/;

/**
 * Records every change of the watched tables in `walk_changes`, with triggers. A step without a record changed nothing: this
 * is equivalent to comparing all tables before and after, at the cost of the writes only.
 */
export async function watchChanges(url: string): Promise<ChangeLog> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create unlogged table walk_changes
      (seq bigserial primary key, "table" text, op text, old jsonb, new jsonb, by text default current_setting('application_name'));
    create function walk_note() returns trigger language plpgsql as $$
    declare
      before jsonb; after jsonb; counted text[] := string_to_array(tg_argv[0], ',');
    begin
      if tg_op <> 'INSERT' then before := to_jsonb(old) - counted; end if;
      if tg_op <> 'DELETE' then after := to_jsonb(new) - counted; end if;
      if before is distinct from after then
        insert into walk_changes ("table", op, old, new) values (tg_table_name, tg_op, before, after);
      end if;
      return null;
    end $$;
    create function walk_budget() returns trigger language plpgsql as $$
    begin
      insert into walk_changes ("table", op, new) values ('budgets', 'UPDATE', jsonb_build_object('id', new.id));
      return null;
    end $$;`);
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  for (const { name } of rows.filter((row) => !unwatched.test(row.name))) {
    const note = name === 'budgets' ? 'walk_budget()' : `walk_note('${(counters[name] ?? []).join(',')}')`;
    const events = name === 'budgets' ? 'insert or update' : 'insert or update or delete';
    await client.query(`create trigger walk_note after ${events} on "${name}" for each row execute function ${note}`);
  }
  return new ChangeLog(client);
}

/** Reads the recorded changes, each once. */
export class ChangeLog {
  /** Ids of the budgets spent by the last step that spent any. */
  budgets: string[] = [];
  private readonly client: pg.Client;
  private seen = '0';
  /** Messages and logout tokens that are not sent yet. */
  private readonly waiting = new Set<string>();

  constructor(client: pg.Client) {
    this.client = client;
  }

  /** Whether something waits to be sent, according to the changes read so far. */
  get hasWaiting(): boolean {
    return this.waiting.size > 0;
  }

  async read(): Promise<Change[]> {
    return (await this.records()).map(({ table, op, old, new: row }) => ({ table, op, old, new: row }));
  }

  /** The changes of the first and of the second process. */
  async readBoth(): Promise<[Change[], Change[]]> {
    const records = await this.records();
    return [records.filter(({ by }) => by !== nameOfSecond), records.filter(({ by }) => by === nameOfSecond)];
  }

  private async records(): Promise<(Change & { by: string })[]> {
    const { rows } = await this.client.query<Change & { seq: string; by: string }>({
      name: 'walk-changes',
      text: 'select seq, "table", op, old, new, by from walk_changes where seq > $1 order by seq',
      values: [this.seen],
    });
    this.seen = rows.at(-1)?.seq ?? this.seen;
    const counted = rows.filter(({ table }) => table === 'budgets');
    if (counted.length > 0) this.budgets = [...new Set(counted.map((row) => String(row.new?.['id'])))].toSorted();
    for (const change of rows) if (/^(messages|logout_deliveries)$/.test(change.table)) this.noteWaiting(change);
    return rows.filter(({ table }) => table !== 'budgets');
  }

  private noteWaiting({ table, old, new: row }: Change): void {
    const key = `${table} ${(row ?? old)?.['id']}`;
    if (row?.['state'] === 'pending') this.waiting.add(key);
    else this.waiting.delete(key);
  }

  /** Ids of the sessions of a project that have ended by the audit log. */
  async endedSessions(projectId: string): Promise<string[]> {
    const text = "select subject_id as id from audit_log where project_id = $1 and type = 'session.ended'";
    return (await this.client.query<{ id: string }>(text, [projectId])).rows.map(({ id }) => id);
  }

  /** Exhausts budgets, as attackers could. */
  async spend(ids: readonly string[]): Promise<void> {
    await this.client.query('update budgets set spent = 100000 where id = any($1)', [ids]);
    await this.read();
  }

  async forget(): Promise<void> {
    await this.client.query('truncate walk_changes');
  }

  close(): Promise<void> {
    return this.client.end();
  }
}

/** Names of the columns that differ. */
export function changedColumns({ old, new: now }: Change): string[] {
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  return [...names].filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(now?.[name]));
}

export function describeChange(change: Change): string {
  const columns = change.op === 'UPDATE' ? ` (${changedColumns(change).join(', ')})` : '';
  return `${change.op} ${change.table}${columns}`;
}

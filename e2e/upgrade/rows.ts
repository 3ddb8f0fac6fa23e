import type { Postgres } from '../chaos/support/postgres.ts';

/** Tables of short-lived rows, and of counters that processes keep. */
const volatile = [
  ...[
    'migrations',
    'processes',
    'budgets',
    'setup_links',
    'user_counts',
    'activity_days',
    'activity_progress',
    'retention_progress',
  ],
  ...['ceremonies', 'authorization_requests', 'authorization_codes', 'one_time_codes', 'used_assertions'],
  // The last requests of each directory.
  'scim_request_records',
];

/** Columns that change when users sign in or send requests, by table. */
const moving: Record<string, readonly string[]> = {
  projects: ['erasures'],
  users: ['last_sign_in_at', 'sign_in_hour'],
  credentials: ['last_used_at', 'trusted_until'],
  sessions: ['last_seen_at', 'idle_expires_at', 'moment', 'fresh_at', 'fresh_moment'],
  participations: ['last_at'],
  known_networks: ['last_at'],
  enrolments: ['last_step', 'last_used_at'],
  ...Object.fromEntries(['api_keys', 'admin_tokens', 'scim_tokens'].map((table) => [table, ['last_used_at']])),
  scim_days: ['requests', 'refused', 'failed'],
  messages: ['state', 'attempts', 'next_attempt_at', 'expired', 'sealed_content', 'note', 'sent_at'],
  logout_deliveries: ['state', 'attempts', 'next_attempt_at', 'delivered_at'],
};

/** Tables with the columns that must not change. */
export type Lasting = readonly { name: string; columns: readonly string[] }[];

export async function lastingIn(postgres: Postgres): Promise<Lasting> {
  const tables = await postgres.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text order by column_name) as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' group by 1`,
  );
  return tables
    .filter(({ name }) => !volatile.includes(name))
    .map(({ name, columns }) => ({ name, columns: columns.filter((column) => !moving[name]?.includes(column)) }));
}

/** Rows as `<table> <JSON>`. */
export async function rowsOf(postgres: Postgres, lasting: Lasting): Promise<string[]> {
  const found: string[] = [];
  for (const { name, columns } of lasting) {
    const list = columns.map((column) => `"${column}"`).join(', ');
    const rows = await postgres.query<{ row: string }>(
      `select row_to_json(t)::text as row from (select ${list} from "${name}") t`,
    );
    found.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return found;
}

/** Moves all times, as if the rows had been written `seconds` later. Does not run triggers. */
export async function shiftTimes(postgres: Postgres, seconds: number): Promise<void> {
  const columns = await postgres.query<{ name: string; column: string; type: string }>(
    `select table_name as name, column_name as column, data_type as type from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE'
       and data_type in ('timestamp with time zone', 'date')`,
  );
  const later = columns.map(({ name, column, type }) => {
    const by = type === 'date' ? Math.round(seconds / 86_400) : `make_interval(secs => ${seconds})`;
    return `update "${name}" set "${column}" = "${column}" + ${by}`;
  });
  await postgres.query(`set session_replication_role = replica; ${later.join('; ')}`);
}

import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** SQLSTATE: invalid statement name, duplicate prepared statement. */
const lostStatement = ['26000', '42P05'];

/**
 * Whether a connection's prepared statements survive to its next transaction. Behind a transaction pooler that does not
 * track them, they do not. Detected with two clients: a name that both prepare collides if they share a server
 * connection, and a name of one client is missing if it gets another server connection, which the other client forces by
 * holding the first. Throws if a connection fails.
 */
export async function keepsStatements(url: string, withinMs: number): Promise<boolean> {
  const one = proberOf(url, 'one', withinMs);
  const other = proberOf(url, 'other', withinMs);
  try {
    await one.connect();
    await other.connect();
    await one.transaction();
    await other.transaction();
    await other.transaction(() => one.transaction());
    return true;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code === 'string' && lostStatement.includes(code)) return false;
    // A pooler with a single connection: both clients have shared it, and nothing was missing.
    if (message === 'Query read timeout') return true;
    throw error;
  } finally {
    for (const { leave } of [one, other]) leave();
  }
}

/**
 * Whether a setting of a connection survives to its next statement, as row-level security requires. Detected with two clients:
 * behind a transaction pooler at least one of them reads the value of the other, or none. Throws if a connection fails.
 */
export async function keepsSettings(url: string, withinMs: number): Promise<boolean> {
  const clients = [randomUUID(), randomUUID()].map((name) => proberOf(url, name, withinMs));
  try {
    for (const client of clients) await client.connect();
    for (const client of clients) await client.set();
    // Last in, first out: a pool that takes its connections in turn gives the second client the connection of the first.
    for (const client of clients.reverse()) if (!(await client.isSet())) return false;
    return true;
  } finally {
    for (const { leave } of clients) leave();
  }
}

/** The reason why the server does not start behind a transaction pooler, and the remedy; null: it can. Failed connections count as none. */
export async function poolerFault(
  url: string,
  { preparesStatements, rowSecurity }: { preparesStatements: boolean; rowSecurity: boolean },
): Promise<string | null> {
  const isKept = (probe: typeof keepsSettings) => probe(url, probeWithinMs).catch(() => true);
  if (rowSecurity && !(await isKept(keepsSettings))) return settingsLost;
  if (preparesStatements && !(await isKept(keepsStatements))) return statementsLost;
  return null;
}

const probeWithinMs = 5_000;
const pooler = 'DATABASE_URL is a pooler in transaction mode';
export const settingsLost = `${pooler}, and DATABASE_ROW_SECURITY=true needs session mode: a request would read with the scope of another one. Use session mode, connect to PostgreSQL directly, or set DATABASE_ROW_SECURITY=false.`;
export const statementsLost = `${pooler} without prepared statements. Set max_prepared_statements of PgBouncer (1.21 or newer), or DATABASE_PREPARED_STATEMENTS=false.`;

interface Prober {
  connect(): Promise<unknown>;
  /** Sets a setting of the connection to this client's name. */
  set(): Promise<unknown>;
  isSet(): Promise<boolean>;
  /** Runs the statements by name, then `meanwhile` while it holds the connection. */
  transaction(meanwhile?: () => Promise<void>): Promise<void>;
  leave(): void;
}

function proberOf(url: string, name: string, withinMs: number): Prober {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'latchkey-doctor',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  });
  client.on('error', () => undefined);
  return {
    connect: () => client.connect(),
    set: () => client.query(`set latchkey.probe = ${client.escapeLiteral(name)}`),
    async isSet() {
      const { rows } = await client.query<{ value: string | null }>(
        `select current_setting('latchkey.probe', true) as value`,
      );
      return rows[0]?.value === name;
    },
    async transaction(meanwhile) {
      await client.query('begin');
      for (const suffix of ['shared', name]) {
        await client.query({ name: `latchkey_doctor_${suffix}`, text: 'select $1::text', values: [suffix] });
      }
      await meanwhile?.();
      await client.query('commit');
    },
    // Also ends an interrupted transaction.
    leave: () => void client.end().catch(() => undefined),
  };
}

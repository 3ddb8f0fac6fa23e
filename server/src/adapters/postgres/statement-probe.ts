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

interface Prober {
  connect(): Promise<unknown>;
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

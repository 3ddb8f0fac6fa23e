import pg from 'pg';

/** SQLSTATE: no such prepared statement; there is one of this name already. */
const forgotten = ['26000', '42P05'];

/**
 * Whether the statements that a connection prepares by name are there in its next transaction. Behind a pooler that hands
 * PostgreSQL's connections from one transaction to the next and keeps no statements they are elsewhere, and those of
 * others in their place. Seen by two connections: what both prepare under one name collides where they are given the
 * same connection of PostgreSQL, and what each prepares under its own is missing where they are given another one,
 * which the second sees to by holding what the first had. Throws where a connection cannot be had.
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
    if (typeof code === 'string' && forgotten.includes(code)) return false;
    // A pooler with one free connection cannot give a second: both have shared it, and nothing was missing.
    if (message === 'Query read timeout') return true;
    throw error;
  } finally {
    for (const { leave } of [one, other]) leave();
  }
}

interface Prober {
  connect(): Promise<unknown>;
  /** Runs the statements by their names, then `meanwhile` with the connection held. */
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
    // Also ends a transaction that was broken off.
    leave: () => void client.end().catch(() => undefined),
  };
}

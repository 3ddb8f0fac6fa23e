import type { Pool, PoolClient } from 'pg';
import { preparedName } from '../domain/kernel/statement.ts';

/**
 * Makes every connection of a pool send the constant statements of the domain under their names: PostgreSQL parses and
 * plans each once a connection, instead of at every call. What the ORM composes stays unnamed.
 */
export function prepareConstants(pool: Pool): void {
  pool.on('connect', (client: PoolClient) => {
    const unnamed = client.query.bind(client) as (...args: unknown[]) => unknown;
    const named = (text: unknown, values: unknown, callback: unknown) => {
      const name = typeof text === 'string' && Array.isArray(values) ? preparedName(text) : undefined;
      return unnamed(name === undefined ? text : { name, text }, values, callback);
    };
    client.query = named as PoolClient['query'];
  });
}

import {
  type CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { NamedQuery } from '../../domain/kernel/sql.ts';

/** Kysely's PostgreSQL dialect with the driver below. */
export class PooledDialect extends PostgresDialect {
  private readonly pool: Pool;
  private readonly preparesStatements: boolean;

  /** @param preparesStatements false: names of statements are ignored */
  constructor(pool: Pool, preparesStatements: boolean) {
    super({ pool });
    this.pool = pool;
    this.preparesStatements = preparesStatements;
  }

  override createDriver(): PooledDriver {
    return new PooledDriver(this.pool, this.preparesStatements);
  }
}

/**
 * Kysely's PostgreSQL driver, except that it prepares named statements, and closes a connection whose `begin` or
 * `rollback` fails: Kysely would not return it to the pool.
 */
class PooledDriver extends PostgresDriver {
  private readonly pool: Pool;
  private readonly preparesStatements: boolean;

  constructor(pool: Pool, preparesStatements: boolean) {
    super({ pool });
    this.pool = pool;
    this.preparesStatements = preparesStatements;
  }

  override async acquireConnection(): Promise<PooledConnection> {
    return new PooledConnection(await this.pool.connect(), this.preparesStatements);
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as PooledConnection).release(false);
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await closedOnFailure(connection, super.beginTransaction(connection, settings));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await closedOnFailure(connection, super.rollbackTransaction(connection));
  }
}

/** A connection from its acquisition to its release. */
class PooledConnection implements DatabaseConnection {
  private readonly client: PoolClient;
  private readonly preparesStatements: boolean;
  private isReleased = false;

  constructor(client: PoolClient, preparesStatements: boolean) {
    this.client = client;
    this.preparesStatements = preparesStatements;
  }

  async executeQuery<R>({ sql, parameters, name }: NamedQuery): Promise<QueryResult<R>> {
    const { command, rowCount, rows } = await this.client.query({
      text: sql,
      values: parameters as unknown[],
      ...(this.preparesStatements && name !== undefined && { name }),
    });
    const isWrite = /^(INSERT|UPDATE|DELETE|MERGE)$/.test(command);
    return { rows: rows ?? [], ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }) };
  }

  // oxlint-disable-next-line require-yield -- Kysely's interface
  async *streamQuery(_query: CompiledQuery): AsyncIterableIterator<never> {
    throw new Error('streaming is not supported');
  }

  release(isBroken: boolean): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.client.release(isBroken);
  }
}

async function closedOnFailure(connection: DatabaseConnection, command: Promise<void>): Promise<void> {
  try {
    await command;
  } catch (error) {
    (connection as PooledConnection).release(true);
    throw error;
  }
}

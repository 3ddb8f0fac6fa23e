import {
  type CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { currentRequestId, currentScope, currentTurns, type Scope } from '../../domain/kernel/scope.ts';
import type { NamedQuery } from '../../domain/kernel/sql.ts';
import { tenantRole } from './row-security.ts';

/** Logs the faults that responses do not contain. */
export interface DatabaseLog {
  warn(fields: object, message: string): void;
}

/** Behavior of the connections of a pool. */
export interface ConnectionOptions {
  log: DatabaseLog | undefined;
  /** False: names of statements are ignored. */
  preparesStatements: boolean;
  /** Whether PostgreSQL enforces the scope of statements (`row-security.ts`). */
  rowSecurity: boolean;
}

/** Kysely's PostgreSQL dialect with the driver below. */
export class PooledDialect extends PostgresDialect {
  private readonly pool: Pool;
  private readonly options: ConnectionOptions;

  constructor(pool: Pool, options: ConnectionOptions) {
    super({ pool });
    this.pool = pool;
    this.options = options;
  }

  override createDriver(): PooledDriver {
    return new PooledDriver(this.pool, this.options);
  }
}

/**
 * Kysely's PostgreSQL driver, except that it prepares named statements, and closes a connection whose `begin` or
 * `rollback` fails: Kysely would not return it to the pool.
 */
class PooledDriver extends PostgresDriver {
  private readonly pool: Pool;
  private readonly options: ConnectionOptions;

  constructor(pool: Pool, options: ConnectionOptions) {
    super({ pool });
    this.pool = pool;
    this.options = options;
  }

  override async acquireConnection(): Promise<PooledConnection> {
    const scope = currentScope();
    const endTurn = await currentTurns()?.();
    const client = await this.pool.connect().catch((error: unknown) => {
      endTurn?.();
      throw error;
    });
    const connection = new PooledConnection(client, this.options, endTurn);
    if (this.options.rowSecurity) await closedOnFailure(connection, enterScope(client, scope));
    return connection;
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
  private readonly options: ConnectionOptions;
  private readonly endTurn: (() => void) | undefined;
  private isReleased = false;

  constructor(client: PoolClient, options: ConnectionOptions, endTurn: (() => void) | undefined) {
    this.client = client;
    this.options = options;
    this.endTurn = endTurn;
  }

  async executeQuery<R>({ sql, parameters, name }: NamedQuery): Promise<QueryResult<R>> {
    const { log, preparesStatements } = this.options;
    const statement = {
      text: sql,
      values: parameters.map(bound),
      ...(preparesStatements && name !== undefined && { name }),
    };
    const { command, rowCount, rows } = await this.client.query(statement).catch((error: unknown) => {
      // Without the driver's detail, which contains values.
      if (error instanceof DatabaseError && error.code === '23503') {
        const { constraint, table } = error;
        log?.warn({ table, constraint, requestId: currentRequestId() }, 'foreign key refused a write');
      }
      // The connection was dropped silently: its next statement would wait as long.
      if ((error as Error).message === 'Query read timeout') this.release(true);
      throw error;
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
    this.endTurn?.();
  }
}

/** The same instant as text: pg would compose it digit by digit, in the time zone of the process. */
function bound(value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  const year = value.getUTCFullYear();
  return year >= 1 && year <= 9999 ? value.toISOString() : value;
}

/** The scope that each connection has; a new one has all. */
const scopes = new WeakMap<PoolClient, Scope>();

/** Before any transaction, whose rollback would undo it. One round trip, if the scope differs from the last one. */
async function enterScope(client: PoolClient, scope: Scope): Promise<void> {
  const before = scopes.get(client) ?? 'all';
  if (before === scope) return;
  scopes.set(client, scope);
  const project = `set latchkey.project = ${client.escapeLiteral(scope)}`;
  if (scope === 'all') await client.query('reset role');
  else await client.query(before === 'all' ? `set role ${tenantRole}; ${project}` : project);
}

async function closedOnFailure(connection: DatabaseConnection, command: Promise<void>): Promise<void> {
  try {
    await command;
  } catch (error) {
    (connection as PooledConnection).release(true);
    throw error;
  }
}

import { setTimeout } from 'node:timers/promises';
import { Migration } from '@mikro-orm/migrations';

/**
 * A statement that waits for a lock blocks all later ones on its table and on the tables that its transaction has locked.
 * So all its waits together take this long at most; then it is rolled back and retried.
 */
const lockTimeoutMs = 30;
const pauseMs = 200;
const maxAttempts = 1500;
/** A batch locks its rows until it ends, and takes longer on a slow disk: its duration sets the size of the next. */
const batchMs = 20;
/** Pages of 8 KB in the first batch (some hundred rows), and in the largest one. */
const [firstBatch, largestBatch] = [4, 32];
/** SQLSTATE: lock not available, deadlock detected. */
const contended = ['55P03', '40P01'];

/**
 * A migration of filled tables while the previous release writes to them: no write waits for more than 100 ms
 * (server/docs/migrations.md). Each step commits by itself and can be repeated, so that an interrupted run continues. If
 * all migrations share one transaction (a restore), the steps join it.
 */
export abstract class OnlineMigration extends Migration {
  override isTransactional(): boolean {
    return this.config.get('migrations').allOrNothing === true;
  }

  /** Runs statements that need a strong lock for an instant, in one transaction. */
  protected async alter(...statements: string[]): Promise<void> {
    if (this.ctx) {
      for (const statement of statements) await this.execute(statement);
      return;
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.driver.getConnection().transactional(async (ctx) => {
          const began = performance.now();
          for (const statement of statements) {
            const left = Math.max(1, Math.round(lockTimeoutMs - (performance.now() - began)));
            await this.driver.execute(`set local lock_timeout = ${left}`, [], 'all', ctx);
            await this.driver.execute(statement, [], 'all', ctx);
          }
        });
        return;
      } catch (error) {
        if (attempt === maxAttempts || !contended.includes((error as { code?: string }).code ?? '')) throw error;
        await setTimeout(pauseMs);
      }
    }
  }

  /** Runs `update … set` on the whole table, for {@link batchMs} at a time. `t` is the table in `from` and `where`. */
  protected backfill(table: string, { set, from, where }: { set: string; from?: string; where: string }) {
    return this.inBatches(table, (batch) => {
      return `update "${table}" t set ${set} ${from ? `from ${from}` : ''} where ${batch} and ${where}`;
    });
  }

  /** Deletes rows, for {@link batchMs} at a time. `t` is the table in `where`. */
  protected remove(table: string, where: string): Promise<void> {
    return this.inBatches(table, (batch) => `delete from "${table}" t where ${batch} and ${where}`);
  }

  private async inBatches(table: string, statement: (batch: string) => string): Promise<void> {
    const [size] = await this.execute(`select pg_relation_size('"${table}"') / 8192 as pages`);
    let pages = firstBatch;
    for (let page = 0; page <= Number(size?.['pages']); ) {
      const began = performance.now();
      await this.execute(statement(`t.ctid >= '(${page},0)' and t.ctid < '(${page + pages},0)'`));
      page += pages;
      const took = performance.now() - began;
      pages = Math.min(largestBatch, Math.max(1, took > batchMs ? pages >> 1 : took < batchMs / 2 ? pages * 2 : pages));
    }
  }

  /** Adds `not null`, which PostgreSQL need not check again under its lock. */
  protected async notNull(table: string, column: string): Promise<void> {
    const name = `${table}_${column}_not_null`;
    await this.alter(
      `alter table "${table}" drop constraint if exists "${name}"`,
      `alter table "${table}" add constraint "${name}" check ("${column}" is not null) not valid`,
    );
    await this.execute(`alter table "${table}" validate constraint "${name}"`);
    await this.alter(
      `alter table "${table}" alter column "${column}" set not null`,
      `alter table "${table}" drop constraint "${name}"`,
    );
  }

  /** Creates an index without blocking writes. @param where condition of a partial index */
  protected async index(
    table: string,
    name: string,
    columns: string,
    unique = false,
    method = 'btree',
    where = 'true',
  ): Promise<void> {
    const [known] = await this.execute(
      `select indisvalid as valid from pg_index where indexrelid = to_regclass('"${name}"')`,
    );
    if (known?.['valid'] === true) return;
    if (known) await this.execute(`drop index "${name}"`);
    await this.execute(
      `create ${unique ? 'unique ' : ''}index ${this.ctx ? '' : 'concurrently '}"${name}" on "${table}" using ${method} (${columns})${where === 'true' ? '' : ` where (${where})`}`,
    );
  }

  /** Adds a foreign key that deletes with its parent. */
  protected async foreignKey(table: string, columns: readonly string[], parent: string, key: readonly string[]) {
    const name = `${table}_${columns.join('_')}_foreign`;
    if (!(await this.hasConstraint(table, name))) {
      await this.alter(
        `alter table "${table}" add constraint "${name}" foreign key (${columns.join(', ')})
          references "${parent}" (${key.join(', ')}) on delete cascade not valid`,
      );
    }
    await this.execute(`alter table "${table}" validate constraint "${name}"`);
  }

  /** Adds or replaces the primary key, or the unique constraint `name`, using an existing index. */
  protected async useIndex(table: string, name: string, kind: 'primary key' | 'unique', index: string): Promise<void> {
    const [waiting] = await this.execute(`select to_regclass('"${index}"') is not null as waiting`);
    if (waiting?.['waiting'] !== true) return;
    await this.alter(
      `alter table "${table}" drop constraint if exists "${name}"`,
      `alter table "${table}" add constraint "${name}" ${kind} using index "${index}"`,
    );
  }

  private async hasConstraint(table: string, name: string): Promise<boolean> {
    const rows = await this.execute(
      `select 1 from pg_constraint where conrelid = '"${table}"'::regclass and conname = '${name}'`,
    );
    return rows.length > 0;
  }
}

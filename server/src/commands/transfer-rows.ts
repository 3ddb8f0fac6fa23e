import type { EntityManager } from '@mikro-orm/postgresql';
import { TransferFileError, type TransferRecord } from '../adapters/files/transfer.ts';
import type { TransferTable } from '../domain/kernel/nouns/transfer.ts';
import { type Fragment, query, sql } from '../domain/kernel/sql.ts';
import { type DatabaseFault, faultInWords } from './transfer-faults.ts';
import { lasting } from './transfer-tables.ts';

/** Result of an import for the records of one type. */
export interface Count {
  added: number;
  changed: number;
  same: number;
}

/** SQL condition: row `n` of the file exists here, or no event in the audit log ended it. */
function notEnded({ table, key, endedBy }: TransferTable): Fragment {
  if (endedBy === undefined) return sql`true`;
  const same = ['project_id', ...key].map((name) => sql`${sql.id('t', name)} = ${sql.id('n', name)}`);
  return sql`(exists (select 1 from ${sql.table(table)} t where ${sql.join(same, sql` and `)})
    or not exists (select 1 from audit_log a where a.project_id = n.project_id and a.subject_id = n.user_id::text
      and a.at > n.created_at and (${sql.raw(endedBy)})))`;
}

/** Writes the rows of a file. */
export class TransferRows {
  readonly counts = new Map<string, Count>();
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Inserts or updates rows with the same columns. Refuses rows of other projects, and invalid values. */
  async upsert(
    em: EntityManager,
    table: TransferTable,
    data: readonly Record<string, unknown>[],
    records: readonly TransferRecord[],
  ): Promise<void> {
    const columns = Object.keys(data[0] as object).sort();
    const listOf = (names: readonly string[]) => sql.join(names.map((name) => sql.id(name)));
    const json = JSON.stringify(data);
    if (table.parent || table.type === 'project') await this.refuseForeign(em, table, json, records);
    const secrets = (table.secrets ?? []).map(({ column }) => column);
    const settable = columns.filter((name) => ![...table.key, 'project_id', 'version'].includes(name));
    const compared = settable.filter((name) => !secrets.includes(name));
    const after = (name: string) => {
      const given = sql.id('excluded', name);
      return lasting[name]?.(sql.id('t', name), given) ?? given;
    };
    const sets = settable.map((name) => sql`${sql.id(name)} = ${after(name)}`);
    if (columns.includes('version')) sets.push(sql`version = greatest(t.version, excluded.version) + 1`);
    const now = sql.join(compared.map((name) => sql.id('t', name)));
    const then = sql.join(compared.map(after));
    const action =
      compared.length === 0 || table.keepsOwn
        ? sql`do nothing`
        : sql`do update set ${sql.join(sets)} where row(${now}) is distinct from row(${then})`;
    const rows = sql.table(table.table);
    const upsert = sql<{ added: boolean }>`
      insert into ${rows} as t (${listOf(columns)})
      select ${listOf(columns)} from json_populate_recordset(null::${rows}, ${json}::json) n where ${notEnded(table)}
      on conflict (${listOf(table.parent ? ['project_id', ...table.key] : table.key)}) ${action} returning (xmax = 0) as added`;
    let written: { added: boolean }[];
    try {
      written = await query(em, upsert);
    } catch (error) {
      throw this.translated(error, records);
    }
    const count = this.counts.get(table.type) ?? { added: 0, changed: 0, same: 0 };
    const added = written.filter((row) => row.added).length;
    count.added += added;
    count.changed += written.length - added;
    count.same += data.length - written.length;
    this.counts.set(table.type, count);
  }

  /** Rejects ids that belong to another parent in this instance: ids are global and must not be taken over. */
  private async refuseForeign(
    em: EntityManager,
    { table, parent, type, key }: TransferTable,
    json: string,
    records: readonly TransferRecord[],
  ): Promise<void> {
    const both = (column: string) => [sql.id('t', column), sql.id('n', column)];
    const isOther = parent ? sql.join(both(parent.column), sql` <> `) : sql`t.built_in = 'console'`;
    const same = sql.join(
      key.map((name) => sql.join(both(name), sql` = `)),
      sql` and `,
    );
    const [rows, id] = [sql.table(table), sql.id('t', key[0] as string)];
    const foreignRows = sql<{ id: string }>`
      select ${id}::text as id from ${rows} t join json_populate_recordset(null::${rows}, ${json}::json) n on ${same}
      where ${isOther} limit 1`;
    let found: { id: string }[];
    try {
      found = await query(em, foreignRows);
    } catch (error) {
      throw this.translated(error, records);
    }
    const [foreign] = found;
    if (!foreign) return;
    const record = records.find(({ data }) => data[key[0] as string] === foreign.id) ?? (records[0] as TransferRecord);
    throw this.refusal(
      record,
      `has the id of a ${type} that belongs to another project or owner in this instance: ${foreign.id}`,
    );
  }

  /** The refusal of a record. */
  refusal({ line }: TransferRecord, reason: string): TransferFileError {
    return new TransferFileError(`${this.path}:${line} ${reason}.`);
  }

  /** Invalid values, constraint violations and repeated rows are faults of the file; other errors are not. */
  translated(error: unknown, records: readonly TransferRecord[]): unknown {
    const words = faultInWords(error as DatabaseFault, records[0]?.type ?? 'record');
    if (words === null) return error;
    const [first, last] = [records[0]?.line, records.at(-1)?.line];
    const where = first === last ? `${first}` : `${first}-${last}`;
    return new TransferFileError(`${this.path}:${where} ${words}.`);
  }
}

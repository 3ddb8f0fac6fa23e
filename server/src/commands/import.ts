import { resolve } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  keyOfPassphrase,
  readTransfer,
  TransferFileError,
  type TransferHeader,
  type TransferRecord,
} from '../adapters/files/transfer.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { system } from '../domain/kernel/actor.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { type Fragment, query, sql } from '../domain/kernel/sql.ts';
import { RetiredMacKey } from '../domain/keys/retired-mac-key.entity.ts';
import { Vault, VaultError } from '../domain/keys/vault.ts';
import { recoveryCodePurpose } from '../domain/mfa/recovery-codes.ts';
import { User } from '../domain/users/user.entity.ts';
import { recordOf, type UserRecord } from '../domain/users/user-record.ts';
import { type Command, UsageError } from './command.ts';
import { chosenPassphrase, secretOptions } from './passphrase.ts';
import { faultOf } from './transfer-checks.ts';
import { lasting, macKeyType, type TransferTable, transferTables } from './transfer-tables.ts';
import type { OpenedInstance } from './with-instance.ts';
import { withInstance } from './with-instance.ts';

export const importProjects: Command = {
  name: 'import',
  summary: 'Imports projects from a file written by export, in one transaction.',
  operands: ['<file>'],
  options: {
    ...secretOptions,
    'dry-run': { type: 'boolean', description: 'run the import, print the result, and roll it back' },
  },
  notes: [
    'Records with an existing id are updated; records that are not in the file are kept. So an import can be repeated.',
    'Rejected: ids that belong to another project, and a user name, email or phone number that another user has.',
  ],
  async run(input, context) {
    const path = resolve(input.operands[0] as string);
    const passphrase = chosenPassphrase(input);
    return withInstance(context, async (opened) => {
      const importing = new Importing(opened, path, passphrase);
      const { header } = await importing.check();
      const counts = await importing.take(input.flag('dry-run'));
      for (const [type, { added, changed, same }] of counts) {
        context.print(`${type.padEnd(15)} ${added} added, ${changed} changed, ${same} unchanged`);
      }
      if (input.flag('dry-run')) context.print('Rolled back: --dry-run.');
      if (header.issuer !== opened.config.BASE_URL) {
        context.log(
          `The file is from ${header.issuer}: users must register their devices again at ${opened.config.BASE_URL}.`,
        );
        if (new URL(header.issuer).hostname !== new URL(opened.config.BASE_URL).hostname) {
          context.log('Its passkeys cannot be used here: they belong to the host name of their server.');
        }
      }
      return 0;
    });
  },
};

interface Count {
  added: number;
  changed: number;
  same: number;
}

/** Thrown to roll back a dry run. */
class DryRunRollback extends Error {}

const batchSize = 300;

/** Advisory lock: two imports at once could both find an id unused. */
const importLock = 7_316_904_561;

/** SQL condition: row `n` of the file exists here, or no event in the audit log ended it. */
function notEnded({ table, key, endedBy }: TransferTable): Fragment {
  if (endedBy === undefined) return sql`true`;
  const same = ['project_id', ...key].map((name) => sql`${sql.id('t', name)} = ${sql.id('n', name)}`);
  return sql`(exists (select from ${sql.table(table)} t where ${sql.join(same, sql` and `)})
    or not exists (select from audit_log a where a.project_id = n.project_id and a.subject_id = n.user_id::text
      and a.at > n.created_at and (${sql.raw(endedBy)})))`;
}

class Importing {
  private readonly opened: OpenedInstance;
  private readonly path: string;
  private readonly passphrase: string | null;
  private file: Vault | null = null;
  /** The project of each record so far, by type and id. */
  private readonly ids = new Map<string, Map<string, string>>();
  private readonly counts = new Map<string, Count>();
  private readonly columns = new Map<string, Set<string>>();

  constructor(opened: OpenedInstance, path: string, passphrase: string | null) {
    this.opened = opened;
    this.path = path;
    this.passphrase = passphrase;
  }

  /** Validates the whole file before anything is written: completeness, record types, passphrase. */
  async check(): Promise<{ header: TransferHeader }> {
    let header: TransferHeader | undefined;
    for await (const item of readTransfer(this.path)) {
      this.opened.interrupted.throwIfAborted();
      if ('format' in item) {
        header = item;
        this.file = this.vaultOf(item);
      } else if (item.type === macKeyType) this.macKey(item);
      else if (!transferTables.some(({ type }) => type === item.type)) {
        throw this.refusal(item, `has a type that this version does not support: ${item.type}`);
      } else this.checkRecord(item);
    }
    return { header: header as TransferHeader };
  }

  /** Rejects values that the admin API rejects. */
  private checkRecord(item: TransferRecord): void {
    const fault = faultOf(item, this.opened.services);
    if (fault === null) return;
    const { name, id } = item.data;
    throw this.refusal(item, `${item.type} ${JSON.stringify(name ?? id ?? null).slice(0, 200)}: ${fault}`);
  }

  /** @param undo rolls back after the import (dry run) */
  async take(undo: boolean): Promise<Map<string, Count>> {
    const { db } = this.opened.services;
    try {
      await db.transaction(async (em) => {
        await query(em, sql`select pg_advisory_xact_lock(${importLock})`);
        let batch: TransferRecord[] = [];
        for await (const item of readTransfer(this.path)) {
          this.opened.interrupted.throwIfAborted();
          if ('format' in item) continue;
          if (batch.length >= batchSize || batch[0]?.type !== item.type) {
            await this.put(em, batch);
            batch = [];
          }
          batch.push(item);
        }
        await this.put(em, batch);
        await this.opened.services.projects.endTestModes(em, 'user-limit');
        await this.recordImport(em);
        if (undo) {
          await em.flush();
          throw new DryRunRollback();
        }
      });
    } catch (error) {
      if (!(error instanceof DryRunRollback)) throw error;
    }
    return this.counts;
  }

  private vaultOf({ kdf }: TransferHeader): Vault | null {
    if (this.passphrase === null) return null;
    if (!kdf) throw new UsageError('the file contains no secrets: use --without-secrets');
    return new Vault(keyOfPassphrase(this.passphrase, kdf).key, systemRandom);
  }

  private async put(em: EntityManager, batch: readonly TransferRecord[]): Promise<void> {
    const [first] = batch;
    if (!first) return;
    if (first.type === macKeyType) return this.keepMacKeys(em, batch);
    const table = transferTables.find(({ type }) => type === first.type) as TransferTable;
    const known = await this.columnsOf(em, table);
    const kept = batch.filter((record) => this.isWanted(table, record));
    const data = kept.map((record) => this.checked(table, record, known));
    if (table.type === 'project') await this.chooseSlugs(em, data);
    // Rows of one statement have the same columns: a column missing from a record would be set to null.
    const groups = Map.groupBy(data, (row) => Object.keys(row).sort().join());
    const before = table.type === 'user' ? (await this.usersHere(em, data)).map(recordOf) : [];
    for (const rowsAlike of groups.values()) await this.upsert(em, table, rowsAlike, kept);
    if (before.length > 0) await this.followUsers(em, before);
  }

  /** Ends access, credentials and factors of users whom the file changes, as if an admin had changed them. */
  private async followUsers(em: EntityManager, before: readonly UserRecord[]): Promise<void> {
    const after = new Map((await this.usersHere(em, before)).map((user) => [user.id, user]));
    for (const was of before) {
      const user = after.get(was.id);
      if (user) await this.opened.services.accounts.imported(em, was, user, system);
    }
    // Later records of the file are compared with the events.
    await em.flush();
  }

  private usersHere(em: EntityManager, users: readonly { id?: unknown }[]): Promise<User[]> {
    // `upsert` refuses other ids.
    return em.find(User, { id: { $in: users.map(({ id }) => String(id)).filter(isUuid) } }, { refresh: true });
  }

  /** False for records that need a secret, if secrets are left out. */
  private isWanted(table: TransferTable, { data }: TransferRecord): boolean {
    if (this.file !== null || !table.secrets) return true;
    const has = table.secrets.some(({ column }) => data[column] !== null && data[column] !== undefined);
    return !has && table.withoutSecrets !== 'false';
  }

  private checked(table: TransferTable, record: TransferRecord, known: Set<string>): Record<string, unknown> {
    const data = { ...record.data };
    for (const name of Object.keys(data)) {
      if (!known.has(name)) throw this.refusal(record, `has an unknown field for ${record.type}: ${name}`);
    }
    for (const name of table.key) {
      if (typeof data[name] !== 'string') throw this.refusal(record, `has no ${name}`);
    }
    if (table.parent) {
      const parent = data[table.parent.column];
      const projectId = typeof parent === 'string' ? this.ids.get(table.parent.type)?.get(parent) : undefined;
      if (projectId === undefined) {
        throw this.refusal(record, `belongs to a ${table.parent.type} that does not precede it in the file`);
      }
      // Files of earlier releases name the project only if it is the parent.
      data['project_id'] ??= projectId;
      if (data['project_id'] !== projectId)
        throw this.refusal(record, `belongs to a ${table.parent.type} of another project`);
    }
    for (const [column, type] of [
      ['client_id', 'client'],
      ['user_id', 'user'],
      ['group_id', 'group'],
    ] as const) {
      if (data[column] == null || table.parent?.column === column) continue;
      if (this.ids.get(type)?.get(String(data[column])) !== data['project_id']) {
        throw this.refusal(record, `refers to a ${type} that does not precede it in the file, or of another project`);
      }
    }
    const id = String(data['id'] ?? '');
    if (data['id'] !== undefined) this.idsOf(table.type).set(id, String(data['project_id'] ?? id));
    for (const { column, purpose } of table.secrets ?? []) {
      if (data[column] == null) continue;
      const plain = this.openSealed(record, `${table.table}.${column}`, id, data[column]);
      const { vault } = this.opened.services;
      data[column] = purpose ? `\\x${vault.seal(purpose, id, plain).toString('hex')}` : plain.toString();
    }
    return data;
  }

  private async upsert(
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

  /** A slug never changes, so a known project keeps its own; a new project gets another one if its slug is taken. */
  private async chooseSlugs(em: EntityManager, data: readonly Record<string, unknown>[]): Promise<void> {
    const { projects } = this.opened.services;
    for (const row of data) {
      const known = await projects.find(em, String(row['id']));
      row['slug'] = known?.slug ?? (await projects.freeSlug(em, String(row['slug'] ?? row['name'])));
    }
  }

  private macKey(record: TransferRecord): { masterKey: string; key: Buffer } {
    const masterKey = String(record.data['masterKey']);
    if (!/^[0-9a-f]{8}$/.test(masterKey)) throw this.refusal(record, 'has no valid master key name');
    if (this.file === null) return { masterKey, key: Buffer.alloc(0) };
    return { masterKey, key: this.openSealed(record, macKeyType, masterKey, record.data['key']) };
  }

  /** Recovery codes are hashes keyed by the exporting instance, so its MAC key is imported with them. */
  private async keepMacKeys(em: EntityManager, batch: readonly TransferRecord[]): Promise<void> {
    if (this.file === null) return;
    const { vault } = this.opened.services;
    for (const record of batch) {
      const { masterKey, key } = this.macKey(record);
      const id = `${masterKey}:${recoveryCodePurpose}`;
      if (masterKey === vault.name || (await em.count(RetiredMacKey, { id }))) continue;
      const sealedKey = vault.seal('mac-key', id, key);
      em.persist(
        em.create(RetiredMacKey, { id, purpose: recoveryCodePurpose, sealedKey, createdAt: this.opened.now() }),
      );
    }
    await em.flush();
  }

  private openSealed(record: TransferRecord, purpose: string, id: string, value: unknown): Buffer {
    const text = (value as { sealed?: unknown } | null)?.sealed;
    if (typeof text !== 'string') throw this.refusal(record, 'contains a secret that is not encrypted');
    try {
      return (this.file as Vault).open(purpose, id, Buffer.from(text, 'base64'));
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      if (error.reason === 'other-master-key') throw new TransferFileError('The passphrase does not match this file.');
      throw this.refusal(record, 'contains a secret that was modified');
    }
  }

  private async columnsOf(em: EntityManager, { table, omit = [] }: TransferTable): Promise<Set<string>> {
    const known = this.columns.get(table);
    if (known) return known;
    const found = await query(
      em,
      sql<{ name: string }>`
        select column_name as name from information_schema.columns
        where table_schema = current_schema() and table_name = ${table}`,
    );
    const names = new Set(found.map(({ name }) => name).filter((name) => !omit.includes(name)));
    this.columns.set(table, names);
    return names;
  }

  private idsOf(type: string): Map<string, string> {
    const ids = this.ids.get(type) ?? new Map<string, string>();
    this.ids.set(type, ids);
    return ids;
  }

  private refusal({ line }: TransferRecord, reason: string): TransferFileError {
    return new TransferFileError(`${this.path}:${line} ${reason}.`);
  }

  /** Invalid values, constraint violations and repeated rows are faults of the file; other errors are not. */
  private translated(error: unknown, records: readonly TransferRecord[]): unknown {
    const { code, detail, message } = error as { code?: string; detail?: string; message: string };
    if (!code || !/^2[123]/.test(code)) return error;
    const [first, last] = [records[0]?.line, records.at(-1)?.line];
    const where = first === last ? `${first}` : `${first}-${last}`;
    // A statement cannot update one row twice.
    if (code === '21000') return new TransferFileError(`${this.path}:${where} has the same record twice.`);
    return new TransferFileError(
      `${this.path}:${where} has an invalid value: ${detail ?? message.split(' - ').at(-1)}`,
    );
  }

  private async recordImport(em: EntityManager): Promise<void> {
    for (const id of this.ids.get('project')?.keys() ?? []) {
      const [project] = await query(em, sql<{ name: string }>`select name from projects where id = ${id}`);
      const subject = { kind: 'project', id, name: project?.name };
      this.opened.services.audit.record(em, { type: 'project.imported', actor: system, projectId: id, subject });
    }
  }
}

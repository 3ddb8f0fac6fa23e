import { resolve } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type KeyDerivation,
  keyOfPassphrase,
  passphraseCosts,
  readTransfer,
  TransferFileError,
  type TransferHeader,
  type TransferRecord,
} from '../adapters/files/transfer.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { system } from '../domain/kernel/actor.ts';
import type { TransferTable } from '../domain/kernel/nouns/transfer.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { execute, query, sql } from '../domain/kernel/sql.ts';
import { RetiredMacKey } from '../domain/keys/retired-mac-key.entity.ts';
import { Vault, VaultError } from '../domain/keys/vault.ts';
import { recoveryCodePurpose } from '../domain/mfa/recovery-codes.ts';
import { transferTables } from '../domain/nouns.ts';
import { usersOutsideHome } from '../domain/organizations/home-people.ts';
import type { CustomSchema } from '../domain/users/custom/values.ts';
import { ambiguousSubjects } from '../domain/users/identity/sub.ts';
import { membersElsewhere } from '../domain/users/memberships.ts';
import { User } from '../domain/users/user.entity.ts';
import { recountedMoves } from '../domain/users/user-counts.ts';
import { recordOf, type UserRecord } from '../domain/users/user-record.ts';
import { type Command, UsageError } from './command.ts';
import { chosenPassphrase, secretOptions } from './passphrase.ts';
import { FileFacts, faultOf } from './transfer-checks.ts';
import { type Count, TransferRows } from './transfer-rows.ts';
import { macKeyType } from './transfer-tables.ts';
import { type ImportedUser, importedUser, indexUsers } from './transfer-users.ts';
import type { OpenedInstance } from './with-instance.ts';
import { withInstance } from './with-instance.ts';

export const importProjects: Command = {
  name: 'import',
  summary: 'Imports projects from a file written by export, in one transaction.',
  operands: ['<file>'],
  options: {
    ...secretOptions,
    'dry-run': { type: 'boolean', description: 'run the import, print the result, and roll it back' },
    overwrite: {
      type: 'string',
      value: '<ids>',
      description: 'ids of the projects of the file that exist here and are overwritten, separated by commas',
    },
  },
  notes: [
    'Records with an existing id are updated; records that are not in the file are kept. So an import can be repeated.',
    'A project that exists here is overwritten only if --overwrite names it; --dry-run shows these projects.',
    'Rejected: records of projects that the header does not name, ids that belong to another project, and a user',
    'name, email or phone number that another user has.',
  ],
  async run(input, context) {
    const path = resolve(input.operands[0] as string);
    const passphrase = chosenPassphrase(input);
    const costs = context.passphraseCosts ?? passphraseCosts;
    const keyOf: KeyOfFile | null = passphrase === null ? null : (kdf) => keyOfPassphrase(passphrase, costs, kdf).key;
    return withInstance(context, async (opened) => {
      const importing = new Importing(opened, path, keyOf, context.log);
      const { header } = await importing.check();
      const overwritten = (input.text('overwrite') ?? '').split(',').filter((id) => id !== '');
      const counts = await importing.take(overwritten, input.flag('dry-run'));
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

type KeyOfFile = (kdf: KeyDerivation) => Uint8Array;

/** Thrown to roll back a dry run. */
class DryRunRollback extends Error {}

const batchSize = 300;

/** Advisory lock: two imports at once could both find an id unused. */
const importLock = 7_316_904_561;

class Importing {
  private readonly opened: OpenedInstance;
  private readonly log: (line: string) => void;
  private readonly path: string;
  private readonly keyOf: KeyOfFile | null;
  private file: Vault | null = null;
  /** The project of each record so far, by type and id. */
  private readonly ids = new Map<string, Map<string, string>>();
  private readonly rows: TransferRows;
  private readonly columns = new Map<string, Set<string>>();
  /** The projects that the header names, and whether the file contains them. */
  private readonly projects = new Map<string, boolean>();
  private readonly facts = new FileFacts();
  /** Definitions of custom attributes in the file, by project. */
  private readonly schemas = new Map<string, CustomSchema>();

  constructor(opened: OpenedInstance, path: string, keyOf: KeyOfFile | null, log: (line: string) => void) {
    this.opened = opened;
    this.log = log;
    this.path = path;
    this.rows = new TransferRows(path);
    this.keyOf = keyOf;
  }

  /** Validates the whole file before anything is written: completeness, projects, record types, passphrase. */
  async check(): Promise<{ header: TransferHeader }> {
    let header: TransferHeader | undefined;
    for await (const item of readTransfer(this.path)) {
      this.opened.interrupted.throwIfAborted();
      if ('format' in item) {
        header = item;
        this.file = this.vaultOf(item);
        for (const id of item.projects) this.projects.set(id, false);
      } else if (item.type === macKeyType) this.macKey(item);
      else if (!transferTables.some(({ type }) => type === item.type)) {
        throw this.rows.refusal(item, `has a type that this version does not support: ${item.type}`);
      } else this.checkRecord(item);
    }
    const [missing] = [...this.projects].find(([, isIncluded]) => !isIncluded) ?? [];
    if (missing !== undefined) {
      throw new TransferFileError(`${this.path} names a project in its header that it does not contain: ${missing}.`);
    }
    return { header: header as TransferHeader };
  }

  /** Rejects records of projects that the header does not name, and values that the admin API rejects. */
  private checkRecord(item: TransferRecord): void {
    const { project_id: owner, id: own, version = 0, attributes = [] } = item.data;
    const projectId = item.type === 'project' ? own : owner;
    // Files from before release 1.0 do not name the project of each record: then its parent is in the file.
    if (projectId !== undefined && !this.projects.has(String(projectId))) {
      throw this.rows.refusal(
        item,
        `is of a project that the header does not name: ${String(projectId).slice(0, 100)}`,
      );
    }
    if (item.type === 'project') this.projects.set(String(own), true);
    const fault = faultOf(item, this.opened.services, this.opened.now(), this.facts);
    if (fault === null && item.type === 'custom-schema') {
      this.schemas.set(String(owner), { version, attributes } as CustomSchema);
    }
    if (fault === null) return;
    const { name, id } = item.data;
    throw this.rows.refusal(item, `${item.type} ${JSON.stringify(name ?? id ?? null).slice(0, 200)}: ${fault}`);
  }

  /**
   * @param overwritten the projects that may exist here
   * @param undo rolls back after the import (dry run)
   */
  async take(overwritten: readonly string[], undo: boolean): Promise<Map<string, Count>> {
    const { db } = this.opened.services;
    try {
      await db.transaction(async (em) => {
        await query(em, sql`select pg_advisory_xact_lock(${importLock})`);
        await this.checkOverwritten(em, overwritten, undo);
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
        await this.checkSubjects(em);
        await this.checkHomes(em);
        await execute(em, recountedMoves([...this.projects.keys()]));
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
    return this.rows.counts;
  }

  /** Refuses to overwrite a project that was not named, and a name without a project. */
  private async checkOverwritten(em: EntityManager, named: readonly string[], undo: boolean): Promise<void> {
    const ids = [...this.projects.keys()];
    const unknown = named.find((id) => !ids.includes(id));
    if (unknown !== undefined)
      throw new UsageError(`--overwrite names a project that the file does not contain: ${unknown}`);
    const present = sql<{
      id: string;
      name: string;
    }>`select id, name from projects where id = any(${ids}::uuid[]) order by id`;
    const found = await query(em, present);
    const list = found.map(({ id, name }) => `${JSON.stringify(name)} (${id})`).join(', ');
    const isNamed = found.every(({ id }) => named.includes(id));
    if (found.length > 0 && (undo || isNamed)) this.log(`Overwrites ${list}.`);
    if (isNamed || undo) return;
    const option = `--overwrite ${found.map(({ id }) => id).join(',')}`;
    throw new TransferFileError(
      `${this.path} overwrites projects of this instance: ${list}. To overwrite them, add ${option}.`,
    );
  }

  /** Refuses a `subject` that is the id of another user, or of a client: it would be `sub` of both. */
  private async checkSubjects(em: EntityManager): Promise<void> {
    const [clash] = await query(em, ambiguousSubjects([...this.projects.keys()]));
    if (!clash) return;
    const { id, subject } = clash;
    throw new TransferFileError(`${this.path}: the subject of user ${id} is the id of another record: ${subject}.`);
  }

  /** Refuses a user at home in an organization without a membership of it, and a member of a group at another home. */
  private async checkHomes(em: EntityManager): Promise<void> {
    const projects = [...this.projects.keys()];
    const [homeless] = await query(em, usersOutsideHome(projects));
    if (homeless) {
      const { id, organizationId } = homeless;
      throw new TransferFileError(
        `${this.path}: user ${id} is at home in organization ${organizationId}, but is not a member of it.`,
      );
    }
    const [apart] = await query(em, membersElsewhere(projects));
    if (!apart) return;
    throw new TransferFileError(
      `${this.path}: group ${apart.groupId} has a member at another home: ${apart.memberId}.`,
    );
  }

  private vaultOf({ kdf }: TransferHeader): Vault | null {
    if (this.keyOf === null) return null;
    if (!kdf) throw new UsageError('the file contains no secrets: use --without-secrets');
    return new Vault(this.keyOf(kdf), systemRandom);
  }

  private async put(em: EntityManager, batch: readonly TransferRecord[]): Promise<void> {
    const [first] = batch;
    if (!first) return;
    if (first.type === macKeyType) return this.keepMacKeys(em, batch);
    const table = transferTables.find(({ type }) => type === first.type) as TransferTable;
    if (table.isDerived) return;
    const known = await this.columnsOf(em, table);
    const kept = batch.filter((record) => this.isWanted(table, record));
    const checked = kept.map((record) => this.checked(table, record, known));
    const users = table.type === 'user' ? await this.readUsers(checked, kept) : [];
    const data = table.type === 'user' ? users.map(({ row }) => row) : checked;
    if (table.type === 'project') await this.chooseSlugs(em, data);
    // Rows of one statement have the same columns: a column missing from a record would be set to null.
    const groups = Map.groupBy(data, (row) => Object.keys(row).sort().join());
    const before = table.type === 'user' ? (await this.usersHere(em, data)).map(recordOf) : [];
    for (const rowsAlike of groups.values()) await this.rows.upsert(em, table, rowsAlike, kept);
    await indexUsers(em, users).catch((error: unknown) => {
      throw this.rows.translated(error, kept);
    });
    if (before.length > 0) await this.followUsers(em, before);
  }

  /** The users with the columns that follow from their values. */
  private async readUsers(rows: Record<string, unknown>[], records: readonly TransferRecord[]) {
    const { customAttributes } = this.opened.services;
    const users: ImportedUser[] = [];
    for (const [at, row] of rows.entries()) {
      const projectId = String(row['project_id']);
      const schema = this.schemas.get(projectId) ?? (await customAttributes.current(projectId));
      this.schemas.set(projectId, schema);
      try {
        users.push(importedUser(row, schema, this.opened.now()));
      } catch (error) {
        if (!(error instanceof Refusal) || error.problem.code !== 'invalid') throw error;
        throw this.rows.refusal(records[at] as TransferRecord, `user: ${error.problem.field} ${error.problem.reason}`);
      }
    }
    return users;
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
      if (!known.has(name)) throw this.rows.refusal(record, `has an unknown field for ${record.type}: ${name}`);
    }
    for (const name of table.key) {
      if (typeof data[name] !== 'string') throw this.rows.refusal(record, `has no ${name}`);
    }
    if (table.parent) {
      const parent = data[table.parent.column];
      const projectId = typeof parent === 'string' ? this.ids.get(table.parent.type)?.get(parent) : undefined;
      if (projectId === undefined) {
        throw this.rows.refusal(record, `belongs to a ${table.parent.type} that does not precede it in the file`);
      }
      // Files from before release 1.0 name the project only if it is the parent.
      data['project_id'] ??= projectId;
      if (data['project_id'] !== projectId)
        throw this.rows.refusal(record, `belongs to a ${table.parent.type} of another project`);
    }
    for (const [column, type] of [
      ['client_id', 'client'],
      ['user_id', 'user'],
      ['group_id', 'group'],
      ['organization_id', 'organization'],
    ] as const) {
      if (data[column] == null || table.parent?.column === column) continue;
      if (this.ids.get(type)?.get(String(data[column])) !== data['project_id']) {
        throw this.rows.refusal(
          record,
          `refers to ${type === 'organization' ? 'an' : 'a'} ${type} that does not precede it in the file, or of another project`,
        );
      }
    }
    const id = String(data['id'] ?? '');
    if (data['id'] !== undefined && this.idsOf(table.type).has(id))
      throw this.rows.refusal(record, 'has the same record twice');
    if (data['id'] !== undefined) this.idsOf(table.type).set(id, String(data['project_id'] ?? id));
    for (const { column, purpose } of table.secrets ?? []) {
      if (data[column] == null) continue;
      const plain = this.openSealed(record, `${table.table}.${column}`, id, data[column]);
      const { vault } = this.opened.services;
      data[column] = purpose ? `\\x${vault.seal(purpose, id, plain).toString('hex')}` : plain.toString();
    }
    return data;
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
    if (!/^[0-9a-f]{8}$/.test(masterKey)) throw this.rows.refusal(record, 'has no valid master key name');
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
    if (typeof text !== 'string') throw this.rows.refusal(record, 'contains a secret that is not encrypted');
    try {
      return (this.file as Vault).open(purpose, id, Buffer.from(text, 'base64'));
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      if (error.reason === 'other-master-key') throw new TransferFileError('The passphrase does not match this file.');
      throw this.rows.refusal(record, 'contains a secret that was modified');
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

  private async recordImport(em: EntityManager): Promise<void> {
    for (const id of this.ids.get('project')?.keys() ?? []) {
      const [project] = await query(em, sql<{ name: string }>`select name from projects where id = ${id}`);
      const subject = { kind: 'project', id, name: project?.name };
      this.opened.services.audit.record(em, { type: 'project.imported', actor: system, projectId: id, subject });
    }
  }
}

import { createWriteStream, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  keyOfPassphrase,
  type PassphraseCosts,
  passphraseCosts,
  TransferWriter,
  transferFormat,
  transferVersion,
} from '../adapters/files/transfer.ts';
import { unwritable } from '../adapters/files/unwritable.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { system } from '../domain/kernel/actor.ts';
import type { TransferTable } from '../domain/kernel/nouns/transfer.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { RetiredMacKey } from '../domain/keys/retired-mac-key.entity.ts';
import { Vault } from '../domain/keys/vault.ts';
import { recoveryCodePurpose } from '../domain/mfa/recovery-codes.ts';
import { transferTables } from '../domain/nouns.ts';
import { StartError } from '../instance.ts';
import { type Command, UsageError } from './command.ts';
import { chosenPassphrase, secretOptions } from './passphrase.ts';
import { macKeyType, rowsOfProject } from './transfer-tables.ts';
import type { OpenedInstance } from './with-instance.ts';
import { withInstance } from './with-instance.ts';

export const exportProjects: Command = {
  name: 'export',
  summary: 'Writes one project, or all, to a JSON Lines file that another instance can import.',
  options: {
    project: { type: 'string', value: 'id', description: 'this project' },
    all: { type: 'boolean', description: 'every project except that of the admins' },
    to: { type: 'string', value: 'file', description: 'destination; - for stdout' },
    ...secretOptions,
  },
  notes: [
    'Includes settings, clients, users, groups, devices and second factors, with their ids, so that `sub` does not change.',
    'Excludes signing keys, admins, sessions and audit events. Format: server/docs/export.md.',
  ],
  async run(input, context) {
    const target = input.text('to');
    if (target === undefined) throw new UsageError('--to is required');
    if ((input.text('project') !== undefined) === input.flag('all'))
      throw new UsageError('choose exactly one: --project or --all');
    const passphrase = chosenPassphrase(input);
    const costs = context.passphraseCosts ?? passphraseCosts;
    return withInstance(context, async (opened) => {
      const { interrupted } = opened;
      const projects = await chosenProjects(opened, input.text('project'));
      if (target === '-') {
        const through = new PassThrough();
        through.pipe(context.stdout, { end: false });
        const records = await write(opened, projects, passphrase, costs, new TransferWriter(through), interrupted);
        context.log(`${records} records of ${projects.length} projects`);
      } else {
        const records = await toFile(resolve(target), (writer) =>
          write(opened, projects, passphrase, costs, writer, interrupted),
        );
        context.print(`${resolve(target)}: ${records} records of ${projects.length} projects`);
      }
      await recordExport(opened, projects);
      return 0;
    });
  },
};

interface ChosenProject {
  id: string;
  name: string;
}

async function chosenProjects({ services }: OpenedInstance, id: string | undefined): Promise<ChosenProject[]> {
  const em = services.db.reader();
  if (id === undefined) {
    return query(em, sql`select id, name from projects where built_in is distinct from 'console' order by id`);
  }
  const chosen = sql<ChosenProject & { built_in: string | null }>`
    select id, name, built_in from projects where id = ${id}`;
  const [found] = isUuid(id) ? await query(em, chosen) : [];
  if (!found) throw new StartError(`There is no project ${id}.`);
  if (found.built_in === 'console') {
    throw new StartError('The project of the admins cannot be exported: use a backup to move it.');
  }
  return [found];
}

async function toFile(path: string, work: (writer: TransferWriter) => Promise<number>): Promise<number> {
  if (existsSync(path)) throw new UsageError(`${path} already exists: choose another file`);
  const draft = `${path}.partial`;
  const stream = createWriteStream(draft, { fd: opened(draft), flush: true });
  try {
    const records = await work(new TransferWriter(stream));
    renameSync(draft, path);
    return records;
  } catch (error) {
    const isFault = error === stream.errored;
    if (!stream.closed) await new Promise<void>((resolve) => stream.destroy().once('close', () => resolve()));
    rmSync(draft, { force: true });
    throw isFault ? unwritable(path, error) : error;
  }
}

function opened(draft: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(draft, error);
    throw new StartError(
      `${draft} exists: another export is writing it, or one was interrupted. Remove it in that case.`,
    );
  }
}

function write(
  { services, config, now }: OpenedInstance,
  projects: readonly ChosenProject[],
  passphrase: string | null,
  costs: PassphraseCosts,
  writer: TransferWriter,
  interrupted: AbortSignal,
): Promise<number> {
  const derived = passphrase === null ? null : keyOfPassphrase(passphrase, costs);
  const file = derived && new Vault(derived.key, systemRandom);
  return services.db.snapshot(async (em) => {
    await writer.header({
      format: transferFormat,
      version: transferVersion,
      exportedAt: now().toISOString(),
      issuer: config.BASE_URL,
      projects: projects.map(({ id }) => id),
      ...(derived ? { kdf: derived.kdf } : {}),
    });
    if (file) {
      for (const { masterKey, key } of await macKeysOf(em, services.vault)) {
        const sealed = file.seal(macKeyType, masterKey, key).toString('base64');
        await writer.record(macKeyType, { masterKey, key: { sealed } });
      }
    }
    for (const { id } of projects) {
      for (const table of transferTables) {
        for await (const row of rowsIn(em, table, id, file !== null)) {
          interrupted.throwIfAborted();
          await writer.record(table.type, file ? sealed(table, row, services.vault, file) : row);
        }
      }
    }
    await writer.end();
    return writer.records;
  });
}

/** Keys of the recovery code hashes. They only allow verifying a guess at a recovery code. */
async function macKeysOf(em: EntityManager, vault: Vault): Promise<{ masterKey: string; key: Buffer }[]> {
  const retired = await em.find(RetiredMacKey, { purpose: recoveryCodePurpose });
  const opened = retired.map(({ id, sealedKey }) => ({
    masterKey: id.split(':')[0] as string,
    key: vault.open('mac-key', id, sealedKey),
  }));
  return [...vault.macKeys(recoveryCodePurpose), ...opened];
}

const pageSize = 500;

async function* rowsIn(em: EntityManager, table: TransferTable, projectId: string, withSecrets: boolean) {
  const conditions = [table.where, withSecrets ? undefined : table.withoutSecrets].map((each) =>
    each === undefined ? sql`` : sql`and ${sql.raw(each)}`,
  );
  const hidden = [...(table.omit ?? []), ...(withSecrets ? [] : (table.secrets ?? []).map(({ column }) => column))];
  // A stable order makes exports of the same data identical.
  const order = sql.join(table.key.map((column) => sql.ref(`t.${column}`)));
  for (let offset = 0; ; offset += pageSize) {
    const page = await query(
      em,
      sql<{ data: Record<string, unknown> }>`
        select to_jsonb(t) - ${hidden}::text[] as data from ${rowsOfProject(table, projectId)}
        ${sql.join(conditions, sql` `)} order by ${order} offset ${offset} limit ${pageSize}`,
    );
    for (const { data } of page) yield data;
    if (page.length < pageSize) return;
  }
}

function sealed(table: TransferTable, row: Record<string, unknown>, vault: Vault, file: Vault) {
  const copy = { ...row };
  const id = String(row['id']);
  for (const { column, purpose } of table.secrets ?? []) {
    const value = row[column];
    if (typeof value !== 'string') continue;
    // `bytea` as text: \x and hexadecimal digits.
    const plain = purpose ? vault.open(purpose, id, Buffer.from(value.slice(2), 'hex')) : value;
    copy[column] = { sealed: file.seal(`${table.table}.${column}`, id, plain).toString('base64') };
  }
  return copy;
}

async function recordExport({ services }: OpenedInstance, projects: readonly ChosenProject[]): Promise<void> {
  await services.db.transaction(async (em) => {
    for (const { id, name } of projects) {
      const subject = { kind: 'project', id, name };
      services.audit.record(em, { type: 'project.exported', actor: system, projectId: id, subject });
    }
  });
}

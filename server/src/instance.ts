import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { MikroORM } from '@mikro-orm/postgresql';
import { txtReader } from './adapters/dns/txt.ts';
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from './adapters/embedded/postgres.ts';
import { BackupFileError } from './adapters/files/backup.ts';
import { EventFileError, EventFolder } from './adapters/files/event-archive.ts';
import { existingMasterKeysOf, MasterKeyError, type MasterKeys, masterKeysOf } from './adapters/files/master-key.ts';
import { ProjectFileError } from './adapters/files/project-yaml.ts';
import { TransferFileError } from './adapters/files/transfer.ts';
import { PortError } from './adapters/http/listener.ts';
import { fetchJson, postForm, postJson } from './adapters/http/outbound.ts';
import { isFilled, migrate, openDatabase } from './adapters/postgres/database.ts';
import { hasTenantRole, tenantRoleMissing } from './adapters/postgres/row-security.ts';
import type { DatabaseWatch } from './adapters/postgres/watch.ts';
import { S3Error } from './adapters/s3/error.ts';
import { chooseSenders, counted } from './adapters/senders.ts';
import { sendBatches } from './adapters/streams/send-batch.ts';
import { randomOn } from './adapters/system/random.ts';
import type { Tracing } from './adapters/telemetry/trace-port.ts';
import { type Config, ConfigError } from './config.ts';
import { Refusal } from './domain/kernel/problem.ts';
import { VaultError } from './domain/keys/vault.ts';
import { buildServices, type Ports, type Services } from './services.ts';

/** An error the operator can fix: printed as one line, without a stack trace. */
export class StartError extends Error {}

/** The configured database and its master keys. */
export interface OpenedDatabase {
  url: string;
  masterKeys: MasterKeys;
  /** Undefined if DATABASE_URL is set. */
  embedded: EmbeddedPostgres | undefined;
}

/** False if {@link openConfigured} would create an embedded database. */
export function hasDatabase({ DATABASE_URL, DATA_DIR }: Config): boolean {
  return DATABASE_URL !== undefined || existsSync(join(resolve(DATA_DIR), 'postgres'));
}

/**
 * @param exclusive take the embedded database for this process alone: true in the server, false in commands
 * @param programs the package with the embedded PostgreSQL's programs, if not the installed one
 */
export async function openConfigured(
  config: Config,
  exclusive: boolean,
  onProgress: (line: string) => void,
  programs?: string,
): Promise<OpenedDatabase> {
  if (config.DATABASE_URL !== undefined) {
    const masterKeys = givenMasterKeys(config);
    if (!masterKeys) throw new StartError('MASTER_KEY is required with DATABASE_URL.');
    return { url: config.DATABASE_URL.reveal(), masterKeys, embedded: undefined };
  }
  const dataDir = resolve(config.DATA_DIR);
  const embedded = await startEmbeddedPostgres({ dataDir, exclusive, onProgress, programs });
  try {
    const masterKeys =
      givenMasterKeys(config) ?? existingMasterKeysOf(dataDir) ?? (await firstMasterKeys(dataDir, embedded));
    return { url: embedded.url, masterKeys, embedded };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

/** Creates the key of a new database. A filled one has a key, and a new key would not open it. */
async function firstMasterKeys(dataDir: string, { url }: EmbeddedPostgres): Promise<MasterKeys> {
  if (await isFilled(url)) {
    throw new StartError(
      `${join(dataDir, 'master.key')} is missing, and the database is sealed with it: restore the file, or set MASTER_KEY.`,
    );
  }
  return masterKeysOf(dataDir);
}

/** Master keys from the settings; undefined if MASTER_KEY is unset. */
export function givenMasterKeys(config: Config): MasterKeys | undefined {
  const first = config.MASTER_KEY?.reveal();
  return first && { first, second: config.MASTER_KEY_SECOND?.reveal() };
}

/** Connects and, by default, migrates the schema. Throws {@link StartError}. */
export async function reach(
  url: string,
  config: Config,
  { migrate: up = true, watch }: { migrate?: boolean; watch?: DatabaseWatch } = {},
): Promise<MikroORM> {
  try {
    if (up) await migrate(url);
    const orm = await openDatabase({
      url,
      poolSize: config.DATABASE_POOL_SIZE,
      preparesStatements: config.DATABASE_PREPARED_STATEMENTS,
      rowSecurity: config.DATABASE_ROW_SECURITY,
      ...(watch && { watch }),
    });
    if (config.DATABASE_ROW_SECURITY && !(await hasTenantRole(orm.em.fork()))) throw new Error(tenantRoleMissing);
    await orm.em.fork().execute('select 1');
    return orm;
  } catch (error) {
    const { message } = error as Error;
    throw new StartError(`Cannot use the database: ${message.split('\n')[0]}`, { cause: error });
  }
}

/** The services of this instance, with the adapters chosen by its settings. */
export function compose(
  config: Config,
  database: OpenedDatabase,
  orm: MikroORM,
  {
    onMessage = () => undefined,
    tracing,
    ...ports
  }: Pick<Ports, 'queue' | 'clock' | 'follow' | 'gauge' | 'runtime' | 'onEvent' | 'onWebhook' | 'onBatch'> & {
    onMessage?: (channel: string, result: 'sent' | 'failed' | 'expired', count?: number) => void;
    tracing?: Tracing | undefined;
  },
): Services {
  const allowPrivate = config.DANGER_ALLOW_PRIVATE_LOGOUT_TARGETS;
  return buildServices(
    {
      orm,
      ...ports,
      random: randomOn(ports.clock),
      eventArchive: config.AUDIT_ARCHIVE_DIR ? new EventFolder(config.AUDIT_ARCHIVE_DIR) : undefined,
      onExpired: (channel, count) => onMessage(channel, 'expired', count),
      senders: counted(chooseSenders(config, database.embedded !== undefined), onMessage),
      readTxt: txtReader({ servers: config.DNS_SERVERS }),
      fetchJson: (uri) => fetchJson(uri, { allowPrivate, timeoutMs: 5000 }),
      postLogoutToken: (uri, token) => {
        const post = (headers: Record<string, string>) =>
          postForm(uri, new URLSearchParams({ logout_token: token }), { allowPrivate, timeoutMs: 5000, headers });
        return tracing ? tracing.outgoing(uri, post) : post({});
      },
      postWebhook: (url, body, signed) => {
        const post = (headers: Record<string, string>) =>
          postJson(url, body, { allowPrivate, timeoutMs: 10_000, headers: { ...headers, ...signed } });
        return tracing ? tracing.outgoing(url, post) : post({});
      },
      sendBatch: sendBatches({ allowPrivate, folder: config.LOG_STREAM_DIR }),
      hasStreamFolder: config.LOG_STREAM_DIR !== undefined,
    },
    {
      issuer: config.BASE_URL,
      masterKey: database.masterKeys.first,
      secondMasterKey: database.masterKeys.second,
      allowPrivateLogoutTargets: allowPrivate,
      auditRetentionDays: config.AUDIT_RETENTION_DAYS,
      challengesPerMinute: config.SIGNIN_CHALLENGES_PER_MINUTE,
      authorizationsPerMinute: config.AUTHORIZE_REQUESTS_PER_MINUTE,
    },
  );
}

const tellable = [
  StartError,
  BackupFileError,
  S3Error,
  TransferFileError,
  ProjectFileError,
  EventFileError,
  PortError,
  EmbeddedPostgresError,
  MasterKeyError,
  VaultError,
];

/** Error lines for the operator: a message for errors they can fix, the stack trace for bugs. */
export function faultLines(error: unknown): string[] {
  if (error instanceof ConfigError) return error.faults;
  if (error instanceof Refusal) return [wordsOf(error)];
  if (tellable.some((kind) => error instanceof kind)) return [(error as Error).message];
  return [(error as Error).stack ?? String(error)];
}

function wordsOf({ problem }: Refusal): string {
  const told = problem as { code: string; field?: string; reason?: string; what?: string };
  return [told.field, told.reason ?? told.code, told.what].filter((word) => word !== undefined).join(' ');
}

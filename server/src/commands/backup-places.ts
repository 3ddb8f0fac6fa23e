import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { BackupSource } from '../adapters/files/backup.ts';
import { Draft, removeAbandoned } from '../adapters/files/draft.ts';
import { isDiskFull, unwritable } from '../adapters/files/unwritable.ts';
import { isS3Address, nameOf, parseS3Address, type S3Address, S3AddressError } from '../adapters/s3/address.ts';
import type { S3Bucket } from '../adapters/s3/bucket.ts';
import type { Config } from '../config.ts';
import { StartError } from '../instance.ts';
import { UsageError } from './command.ts';

/** A backup that is being written. */
interface UnfinishedBackup {
  stream: Writable;
  /** Makes the complete backup visible. False if another run has written one with its name. */
  publish(): boolean | Promise<boolean>;
  /** Removes the written data, unless it was published. */
  close(): void | Promise<void>;
}

/** The destination of one backup. */
export interface BackupPlace {
  /** Path or URL. */
  name: string;
  /** The name without its folder. */
  file: string;
  /** Two runs with the same lock write the same place. */
  lock: string;
  open(): Promise<UnfinishedBackup>;
  /** Its folder; undefined if the place was given as a file. */
  folder: { names(): Promise<string[]>; remove(name: string): Promise<void> } | undefined;
  /** The error to show for one of writing. */
  explain(error: unknown): unknown;
  close(): void;
}

/** Options of {@link placeFor}. */
export interface PlaceOptions {
  config: Config;
  now: Date;
  /** Aborts requests to the storage. */
  interrupted: AbortSignal;
  log(line: string): void;
}

const nameFormat = /^latchkey-\d{8}T\d{6}Z\.jsonl\.gz$/;
/** For listing: every name of {@link nameFormat} begins with it. */
const nameStart = 'latchkey-';
/** An upload of another run may take hours. */
const abandonedAfterMs = 24 * 3_600_000;

/** A backup of ours that was given no name. */
export function isBackupName(name: string): boolean {
  return nameFormat.test(name);
}

/** @param target a folder or new file, on disk or `s3://`; default: DATA_DIR/backups. Throws {@link UsageError}. */
export async function placeFor(target: string | undefined, options: PlaceOptions): Promise<BackupPlace> {
  const name = `latchkey-${options.now.toISOString().replace(/[-:]|\.\d+/g, '')}.jsonl.gz`;
  return target !== undefined && isS3Address(target)
    ? s3Place(addressOf(target), name, options)
    : filePlace(target, name, options);
}

/** @param text path or `s3://` URL of a backup. Throws {@link UsageError}. */
export async function sourceOf(text: string, config: Config, interrupted: AbortSignal): Promise<BackupSource> {
  if (!isS3Address(text)) {
    const path = resolve(text);
    return { name: path, open: () => createReadStream(path) };
  }
  const address = addressOf(text);
  if (address.key === '' || address.key.endsWith('/')) throw new UsageError(`${text} is a prefix: name one backup`);
  const bucket = await bucketOf(config, address, interrupted);
  return { name: nameOf(address), open: () => bucket.read(address.key) };
}

function filePlace(target: string | undefined, name: string, { config, log }: PlaceOptions): BackupPlace {
  const given = resolve(target ?? join(config.DATA_DIR, 'backups'));
  try {
    if (target === undefined) mkdirSync(given, { recursive: true, mode: 0o700 });
    return placeAt(given, name, log);
  } catch (error) {
    throw error instanceof UsageError ? error : unwritable(given, error);
  }
}

/** Throws {@link UsageError}, and the errors of the file system. */
function placeAt(given: string, name: string, log: (line: string) => void): BackupPlace {
  const isFolder = statSync(given, { throwIfNoEntry: false })?.isDirectory();
  const path = isFolder ? join(given, name) : given;
  if (existsSync(path)) throw new UsageError(`${path} already exists: choose another file`);
  // A missing or unmounted folder would otherwise become a file, and every later backup to it would fail.
  if (!path.endsWith('.gz'))
    throw new UsageError(`${path} is not a folder: create it, or use a file name that ends in .jsonl.gz`);
  const folder = dirname(path);
  if (isFolder) {
    for (const left of removeAbandoned(folder, isBackupName)) log(`Removed ${left} of an interrupted backup`);
  }
  return {
    name: path,
    file: basename(path),
    lock: `${hostname()}:${path}`,
    open: async () => openDraft(path),
    folder: isFolder
      ? {
          names: async () =>
            readdirSync(folder, { withFileTypes: true })
              .filter((entry) => entry.isFile())
              .map((entry) => entry.name),
          remove: async (one) => rmSync(join(folder, one)),
        }
      : undefined,
    explain: (error) => (isDiskFull(error) ? unwritable(path, error) : error),
    close: () => undefined,
  };
}

function openDraft(path: string): Draft {
  try {
    return new Draft(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function s3Place(given: S3Address, name: string, options: PlaceOptions): Promise<BackupPlace> {
  const { config, now, interrupted, log } = options;
  const isPrefix = given.key === '' || given.key.endsWith('/');
  if (!isPrefix && !given.key.endsWith('.gz'))
    throw new UsageError(`${nameOf(given)} is not a prefix: end it with /, or with .jsonl.gz for one object`);
  const prefix = isPrefix ? given.key : given.key.slice(0, given.key.lastIndexOf('/') + 1);
  const address = isPrefix ? { ...given, key: `${prefix}${name}` } : given;
  const bucket = await bucketOf(config, address, interrupted);
  if (await bucket.find(address.key)) throw new UsageError(`${nameOf(address)} already exists: choose another name`);
  return {
    name: nameOf(address),
    file: address.key.slice(prefix.length),
    lock: nameOf(address),
    async open() {
      await abortAbandoned(bucket, address.key, isPrefix ? prefix : undefined, now, log);
      const upload = await bucket.begin(address.key);
      return {
        stream: upload.stream,
        publish: () => upload.publish(),
        close: () => upload.close().catch((error: Error) => log(`The upload was not removed: ${error.message}`)),
      };
    },
    folder: isPrefix
      ? {
          names: async () => (await bucket.objects(`${prefix}${nameStart}`)).map(({ key }) => key.slice(prefix.length)),
          remove: (one) => bucket.remove(`${prefix}${one}`),
        }
      : undefined,
    explain: (error) => error,
    close: () => bucket.close(),
  };
}

/**
 * Aborts uploads of killed runs: with this key, whose lock this run holds, and of other backups with this prefix that were
 * begun a day ago. Their parts are not visible, but cost space.
 */
async function abortAbandoned(
  bucket: S3Bucket,
  key: string,
  prefix: string | undefined,
  now: Date,
  log: (line: string) => void,
): Promise<void> {
  try {
    for (const one of await bucket.uploads(prefix === undefined ? key : `${prefix}${nameStart}`)) {
      const isOld = now.getTime() - one.begunAt.getTime() > abandonedAfterMs;
      const isOther = prefix !== undefined && isOld && isBackupName(one.key.slice(prefix.length));
      if (one.key !== key && !isOther) continue;
      await bucket.abort(one.key, one.id);
      log(`Removed an interrupted upload of ${one.key}`);
    }
  } catch (error) {
    log(`Interrupted uploads could not be listed: ${(error as Error).message}`);
  }
}

function addressOf(text: string): S3Address {
  try {
    return parseS3Address(text);
  } catch (error) {
    throw error instanceof S3AddressError ? new UsageError(error.message) : error;
  }
}

async function bucketOf(config: Config, { bucket }: S3Address, interrupted: AbortSignal): Promise<S3Bucket> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new StartError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are required for s3://.');
  // Imported on demand: other backups do not need it.
  const { S3Bucket: Bucket } = await import('../adapters/s3/bucket.ts');
  const settings = {
    endpoint: config.BACKUP_S3_ENDPOINT,
    region: config.BACKUP_S3_REGION,
    pathStyle: config.BACKUP_S3_PATH_STYLE ?? config.BACKUP_S3_ENDPOINT !== undefined,
    accessKeyId,
    secretAccessKey,
    sessionToken: config.AWS_SESSION_TOKEN,
  };
  return new Bucket(settings, bucket, interrupted);
}

import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { CutOffError, gzipLines } from './gzip-lines.ts';

/** The file is not a backup of ours, is damaged or truncated. The message is one line. */
export class BackupFileError extends OperatorError {
  override readonly name = 'BackupFileError';
}

export const backupFormat = 'latchkey-backup';
export const backupVersion = 1;

/** The first line of the file. */
export interface Manifest {
  format: typeof backupFormat;
  version: number;
  /** UUID. */
  id: string;
  /** Time of the snapshot (RFC 3339). */
  takenAt: string;
  issuer: string;
  /** Applied migrations, in order. */
  migrations: string[];
  /** Name of the master key that seals the values, and a keyed hash that proves it. Never the key. */
  masterKey: string;
  masterKeyProof: string;
}

/** The last line of the file. */
export interface Trailer {
  rows: number;
  /** SHA-256 of all lines before this one, base64url. */
  checksum: string;
  /** Keyed hash of the checksum: without the master key, no change goes unnoticed. */
  seal: string;
}

/** Name and columns of a table; its rows follow. */
export interface TableHeader {
  table: string;
  columns: string[];
}

/** The start of a table, or some of its rows as JSON text. */
export type BackupPart = { header: TableHeader } | { rows: string[] };

const rowStart = '{"row":';
const tableStart = '{"table":';
const endStart = '{"end":';
const pageSize = 500;
/** zlib's level: its default takes three times as long for a file that is a tenth smaller. */
const compression = 2;

/**
 * Writes a backup: JSON lines in gzip. The manifest, then for each table a line with its name and columns and one line
 * `{"row":{…}}` for each row, then the trailer. A file without a trailer is refused.
 */
export class BackupWriter {
  readonly #gzip = createGzip({ level: compression });
  readonly #hash: Hash = createHash('sha256');
  readonly #done: Promise<void>;
  #rows = 0;
  bytes = 0;

  /** @param target destroyed if the writer fails, and the writer with it */
  constructor(target: Writable) {
    this.#gzip.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
    });
    this.#done = pipeline(this.#gzip, target);
    // `end` awaits it; an earlier rejection must not count as unhandled.
    this.#done.catch(() => undefined);
  }

  manifest(manifest: Manifest): Promise<void> {
    return this.#write(`${JSON.stringify(manifest)}\n`);
  }

  table(header: TableHeader): Promise<void> {
    return this.#write(`${JSON.stringify(header)}\n`);
  }

  /** @param json each one object on one line */
  async rows(json: readonly string[]): Promise<void> {
    if (json.some((row) => row.includes('\n'))) throw new Error('a row must be one line');
    this.#rows += json.length;
    await this.#write(json.map((row) => `${rowStart}${row}}\n`).join(''));
  }

  /** @param seal computes the keyed hash of the checksum */
  async end(seal: (checksum: string) => string): Promise<Trailer> {
    const checksum = this.#hash.digest('base64url');
    const trailer = { rows: this.#rows, checksum, seal: seal(checksum) };
    this.#gzip.end(`${JSON.stringify({ end: true, ...trailer })}\n`);
    await this.#done;
    return trailer;
  }

  async #write(text: string): Promise<void> {
    // The target failed: its error, rather than that of a closed stream.
    if (this.#gzip.destroyed) await this.#done;
    this.#hash.update(text);
    // A race against `#done` would keep each of its reactions for the whole run.
    if (!this.#gzip.write(text)) await once(this.#gzip, 'drain');
  }
}

/** Checks the manifest before any content is used, and the trailer's seal after all content was read. */
export interface BackupVerifier {
  manifest(manifest: Manifest): void;
  /** False if the file was altered. */
  isSealed(manifest: Manifest, trailer: Trailer): boolean;
}

/** A backup that can be read from its start, more than once. */
export interface BackupSource {
  /** Path or URL. */
  name: string;
  open(): Readable;
}

/**
 * Reads a backup in order. Rows are yielded before the trailer is verified: roll back your writes if this
 * throws {@link BackupFileError}.
 */
export async function* readBackup(
  { name: path, open }: BackupSource,
  verifier: BackupVerifier,
): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256');
  let manifest: Manifest | undefined;
  let trailer: Trailer | undefined;
  let rows: string[] = [];
  let count = 0;
  for await (const line of lines(path, open())) {
    if (trailer) throw new BackupFileError(`${path} continues after its trailer: it is damaged.`);
    if (!manifest) {
      manifest = parseManifest(path, line);
      verifier.manifest(manifest);
    } else if (line.startsWith(rowStart)) {
      count += 1;
      if (rows.push(line.slice(rowStart.length, -1)) >= pageSize) {
        yield { rows };
        rows = [];
      }
    } else {
      if (rows.length > 0) yield { rows };
      rows = [];
      if (line.startsWith(endStart)) trailer = parse<Trailer>(path, line);
      else if (line.startsWith(tableStart)) yield { header: parse<TableHeader>(path, line) };
      else throw new BackupFileError(`${path} has an unexpected line: it is damaged.`);
    }
    if (!trailer) hash.update(`${line}\n`);
  }
  if (!manifest) throw new BackupFileError(`${path} is empty.`);
  if (!trailer) throw new BackupFileError(`${path} is truncated.`);
  if (
    trailer.rows !== count ||
    trailer.checksum !== hash.digest('base64url') ||
    !verifier.isSealed(manifest, trailer)
  ) {
    throw new BackupFileError(`${path} was altered or is damaged: its checksum does not match.`);
  }
}

async function* lines(path: string, file: Readable): AsyncGenerator<string> {
  try {
    yield* gzipLines(file);
  } catch (error) {
    throw reasonOf(path, error);
  }
}

function reasonOf(path: string, error: unknown): unknown {
  if (error instanceof CutOffError) return new BackupFileError(`${path} ${error.message}.`);
  const { code } = error as NodeJS.ErrnoException;
  if (code?.startsWith('Z_')) return new BackupFileError(`${path} is not a backup, or is damaged (${code}).`);
  if (code !== undefined) return new BackupFileError(`${path} cannot be read (${code}).`);
  return error;
}

function parseManifest(path: string, line: string): Manifest {
  const manifest = parse<Manifest>(path, line);
  if (manifest?.format !== backupFormat) throw new BackupFileError(`${path} is not a Latchkey backup.`);
  if (manifest.version !== backupVersion) {
    throw new BackupFileError(`${path} has version ${manifest.version}; this release reads version ${backupVersion}.`);
  }
  const texts = [manifest.id, manifest.takenAt, manifest.issuer, manifest.masterKey, manifest.masterKeyProof];
  const isWhole = texts.every((text) => typeof text === 'string') && Array.isArray(manifest.migrations);
  if (!isWhole) throw new BackupFileError(`${path} has an incomplete manifest: it is damaged.`);
  return manifest;
}

function parse<T>(path: string, line: string): T {
  try {
    return JSON.parse(line) as T;
  } catch {
    throw new BackupFileError(`${path} is not a backup, or is damaged: a line cannot be read.`);
  }
}

import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';

/** A file that is no backup of ours, damaged or cut off; told in one line. */
export class BackupFileError extends Error {
  override readonly name = 'BackupFileError';
}

export const backupFormat = 'latchkey-backup';
export const backupVersion = 1;

/** The first line. */
export interface Manifest {
  format: typeof backupFormat;
  version: number;
  /** UUID. */
  id: string;
  /** What the file holds is of this moment (RFC 3339). */
  takenAt: string;
  issuer: string;
  /** The migrations that had run, in their order. */
  migrations: string[];
  /** The name of the master key that the values are sealed under, and a keyed hash that proves it. Never the key. */
  masterKey: string;
  masterKeyProof: string;
}

/** The last line. */
export interface Trailer {
  rows: number;
  /** SHA-256 of all lines before this one, base64url. */
  checksum: string;
  /** A keyed hash of the checksum: who lacks the master key can alter nothing unseen. */
  seal: string;
}

/** One table's name and columns; its rows follow. */
export interface TableHeader {
  table: string;
  columns: string[];
}

/** Either the begin of a table or some of its rows, each as JSON text. */
export type Part = { header: TableHeader } | { rows: string[] };

const rowStart = '{"row":';
const tableStart = '{"table":';
const endStart = '{"end":';
const pageSize = 500;

/**
 * Writes a backup: JSON lines in gzip. The manifest, then for each table a line with its name and columns and one line
 * `{"row":{…}}` for each row, then the trailer. A file without its trailer is no backup.
 */
export class BackupWriter {
  readonly #gzip = createGzip();
  readonly #hash: Hash = createHash('sha256');
  readonly #done: Promise<unknown>;
  #rows = 0;
  bytes = 0;

  constructor(target: Writable) {
    this.#gzip.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
    });
    this.#done = Promise.race([once(target, 'finish'), once(this.#gzip, 'error')]);
    // Who waits for the end hears of it then.
    this.#done.catch(() => undefined);
    this.#gzip.pipe(target);
    target.once('error', (error) => this.#gzip.destroy(error));
  }

  manifest(manifest: Manifest): Promise<void> {
    return this.#line(JSON.stringify(manifest));
  }

  table(header: TableHeader): Promise<void> {
    return this.#line(JSON.stringify(header));
  }

  /** @param json one object in one line */
  async row(json: string): Promise<void> {
    if (json.includes('\n')) throw new Error('a row must be one line');
    this.#rows += 1;
    await this.#line(`${rowStart}${json}}`);
  }

  /** @param seal makes the keyed hash of the checksum */
  async end(seal: (checksum: string) => string): Promise<Trailer> {
    const checksum = this.#hash.digest('base64url');
    const trailer = { rows: this.#rows, checksum, seal: seal(checksum) };
    this.#gzip.end(`${JSON.stringify({ end: true, ...trailer })}\n`);
    await this.#done;
    return trailer;
  }

  async #line(text: string): Promise<void> {
    const line = `${text}\n`;
    this.#hash.update(line);
    if (!this.#gzip.write(line)) await Promise.race([once(this.#gzip, 'drain'), this.#done]);
  }
}

/** Judges the manifest before anything of the contents is used, and the trailer's seal after all of it was seen. */
export interface Judge {
  manifest(manifest: Manifest): void;
  /** False: the file was altered. */
  isSealed(manifest: Manifest, trailer: Trailer): boolean;
}

/**
 * Reads a backup in order. The last rows come before the trailer is judged: what is done with them must be undone where
 * this throws {@link BackupFileError}.
 */
export async function* readBackup(path: string, judge: Judge): AsyncGenerator<Part> {
  const hash = createHash('sha256');
  let manifest: Manifest | undefined;
  let trailer: Trailer | undefined;
  let rows: string[] = [];
  let count = 0;
  for await (const line of lines(path)) {
    if (trailer) throw new BackupFileError(`${path} goes on after its end: it is damaged.`);
    if (!manifest) {
      manifest = parseManifest(path, line);
      judge.manifest(manifest);
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
      else throw new BackupFileError(`${path} holds a line that belongs to no backup: it is damaged.`);
    }
    if (!trailer) hash.update(`${line}\n`);
  }
  if (!manifest) throw new BackupFileError(`${path} is empty.`);
  if (!trailer) throw new BackupFileError(`${path} is cut off: its end is missing.`);
  if (trailer.rows !== count || trailer.checksum !== hash.digest('base64url') || !judge.isSealed(manifest, trailer)) {
    throw new BackupFileError(`${path} was altered or is damaged: its checksum is not that of its contents.`);
  }
}

/** By newline alone: other separators of Unicode are text like any other. */
async function* lines(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  let open = '';
  try {
    for await (const chunk of file.pipe(gunzip).setEncoding('utf8') as AsyncIterable<string>) {
      const whole = (open + chunk).split('\n');
      open = whole.pop() as string;
      yield* whole;
    }
    if (open !== '') throw new BackupFileError(`${path} is cut off: its end is missing.`);
  } catch (error) {
    throw reasonOf(path, error);
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

function reasonOf(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return new BackupFileError(`${path} is cut off: its end is missing.`);
  if (code?.startsWith('Z_')) return new BackupFileError(`${path} is no backup, or damaged (${code}).`);
  if (code !== undefined) return new BackupFileError(`${path} cannot be read (${code}).`);
  return error;
}

function parseManifest(path: string, line: string): Manifest {
  const manifest = parse<Manifest>(path, line);
  if (manifest?.format !== backupFormat) throw new BackupFileError(`${path} is no backup of Latchkey.`);
  if (manifest.version !== backupVersion) {
    throw new BackupFileError(`${path} is of version ${manifest.version}, and this Latchkey reads ${backupVersion}.`);
  }
  const texts = [manifest.id, manifest.takenAt, manifest.issuer, manifest.masterKey, manifest.masterKeyProof];
  const isWhole = texts.every((text) => typeof text === 'string') && Array.isArray(manifest.migrations);
  if (!isWhole) throw new BackupFileError(`${path} has a manifest that lacks something: it is damaged.`);
  return manifest;
}

function parse<T>(path: string, line: string): T {
  try {
    return JSON.parse(line) as T;
  } catch {
    throw new BackupFileError(`${path} is no backup, or damaged: a line of it cannot be read.`);
  }
}

import { createHash, type Hash, randomBytes, scryptSync } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { linesOf } from './lines.ts';

/** The file is not an export, is damaged or cannot be imported here. The message is one line. */
export class TransferFileError extends OperatorError {
  override readonly name = 'TransferFileError';
}

export const transferFormat = 'latchkey-export';
export const transferVersion = 1;

/** Parameters of the key derivation from the passphrase. */
export interface KeyDerivation {
  name: 'scrypt';
  N: number;
  r: number;
  p: number;
  /** base64 */
  salt: string;
}

/** The first line of the file. */
export interface TransferHeader {
  format: typeof transferFormat;
  version: number;
  /** RFC 3339. */
  exportedAt: string;
  issuer: string;
  projects: string[];
  /** Absent: the file holds no secrets. */
  kdf?: KeyDerivation;
}

/** One record: its type and fields. */
export interface TransferRecord {
  type: string;
  data: Record<string, unknown>;
  /** Line number in the file. */
  line: number;
}

/** Cost of one guess at a passphrase. */
export type PassphraseCosts = Pick<KeyDerivation, 'N' | 'r' | 'p'>;

/** A few tenths of a second and 128 MB for each guess. */
export const passphraseCosts: PassphraseCosts = { N: 2 ** 17, r: 8, p: 1 };

/** A 32-byte key from a passphrase. A file whose key has other costs is refused. */
export function keyOfPassphrase(passphrase: string, costs: PassphraseCosts, kdf = newDerivation(costs)) {
  const { name, N, r, p } = kdf;
  if (name !== 'scrypt' || N !== costs.N || r !== costs.r || p !== costs.p || typeof kdf.salt !== 'string') {
    throw new TransferFileError('The file uses a key derivation that this release does not support.');
  }
  const salt = Buffer.from(kdf.salt, 'base64');
  const key = scryptSync(passphrase.normalize('NFC'), salt, 32, { ...costs, maxmem: 256 * 1024 * 1024 });
  return { key: new Uint8Array(key), kdf };
}

function newDerivation(costs: PassphraseCosts): KeyDerivation {
  return { name: 'scrypt', ...costs, salt: randomBytes(16).toString('base64') };
}

/** Writes JSON lines: the header, the records, and `{"type":"end","records":…,"checksum":…}`. */
export class TransferWriter {
  readonly #target: Writable;
  readonly #hash: Hash = createHash('sha256');
  #failure: Error | undefined;
  records = 0;

  constructor(target: Writable) {
    this.#target = target;
    target.on('error', (error) => {
      this.#failure = error;
    });
  }

  header(header: TransferHeader): Promise<void> {
    return this.#line(header);
  }

  record(type: string, data: Record<string, unknown>): Promise<void> {
    this.records += 1;
    return this.#line({ type, data });
  }

  async end(): Promise<void> {
    await this.#line({ type: 'end', records: this.records, checksum: this.#hash.copy().digest('base64url') });
    await new Promise<void>((done, fail) => this.#target.end((error?: Error | null) => (error ? fail(error) : done())));
  }

  async #line(value: object): Promise<void> {
    if (this.#failure) throw this.#failure;
    const line = `${JSON.stringify(value)}\n`;
    this.#hash.update(line);
    if (!this.#target.write(line)) await once(this.#target, 'drain');
  }
}

/** Yields the header, then the records. Throws {@link TransferFileError}, at the end if the checksum is wrong. */
export async function* readTransfer(path: string): AsyncGenerator<TransferHeader | TransferRecord> {
  const hash = createHash('sha256');
  let number = 0;
  let ended = false;
  for await (const line of lines(path)) {
    number += 1;
    if (ended) throw new TransferFileError(`${path} continues after its end.`);
    const value = parse(path, line, number);
    if (number === 1) {
      yield checkedHeader(path, value);
    } else if (value['type'] === 'end') {
      const isWhole = value['records'] === number - 2 && value['checksum'] === hash.copy().digest('base64url');
      if (!isWhole) throw new TransferFileError(`${path} was altered or is damaged: its checksum does not match.`);
      ended = true;
    } else {
      const { type, data } = value;
      if (typeof type !== 'string' || typeof data !== 'object' || data === null || Array.isArray(data)) {
        throw new TransferFileError(`${path}:${number} is not a record.`);
      }
      yield { type, data: data as Record<string, unknown>, line: number };
    }
    hash.update(`${line}\n`);
  }
  if (number === 0) throw new TransferFileError(`${path} is empty.`);
  if (!ended) throw new TransferFileError(`${path} is truncated.`);
}

function checkedHeader(path: string, value: Record<string, unknown>): TransferHeader {
  if (value['format'] !== transferFormat) throw new TransferFileError(`${path} is not a Latchkey export.`);
  if (value['version'] !== transferVersion) {
    throw new TransferFileError(
      `${path} has version ${value['version']}; this release reads version ${transferVersion}.`,
    );
  }
  const { issuer, projects } = value;
  if (typeof issuer !== 'string' || !URL.canParse(issuer) || !Array.isArray(projects) || !projects.every(isUuid)) {
    throw new TransferFileError(`${path} has an incomplete header.`);
  }
  return value as unknown as TransferHeader;
}

function parse(path: string, line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Thrown below.
  }
  throw new TransferFileError(`${path}:${number} cannot be read as JSON.`);
}

async function* lines(path: string): AsyncGenerator<string> {
  let rest: string;
  try {
    rest = yield* linesOf(createReadStream(path, 'utf8') as AsyncIterable<string>);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new TransferFileError(`${path} cannot be read (${code}).`);
  }
  if (rest !== '') throw new TransferFileError(`${path} is truncated.`);
}

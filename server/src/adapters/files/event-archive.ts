import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  type ArchiveHeader,
  archiveFormat,
  archiveVersion,
  type EventArchive,
  nextHash,
} from '../../domain/audit/archive.ts';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { gzipLines } from './gzip-lines.ts';
import { syncFolder } from './sync-folder.ts';

/** The file is not an archive of events, or was changed. The message is one line. */
class EventFileError extends OperatorError {
  override readonly name = 'EventFileError';
}

/** The archived month, verified from its file. */
export interface VerifiedMonth {
  month: string;
  events: number;
  previous: string | null;
  hash: string;
}

const fileName = /^events-(\d{4}-\d{2})\.jsonl\.gz$/;
const lineParts = /^\{"(event|end)":(.*),"hash":"([0-9a-f]{64})"\}$/s;

/** A folder with a compressed file per month. */
export class EventFolder implements EventArchive {
  constructor(private readonly folder: string) {}

  async has(month: string): Promise<boolean> {
    return (await this.months()).includes(month);
  }

  async hashBefore(month: string): Promise<string | null> {
    const last = (await this.months()).filter((one) => one < month).at(-1);
    return last === undefined ? null : (await this.verify(last)).hash;
  }

  async write(month: string, lines: AsyncIterable<string>): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const path = this.path(month);
    // Two processes may write the same month: each writes its own file, and the last rename wins. The name is random,
    // because processes in containers have equal ids, and a guessable name would allow a link there.
    const partial = `${path}.${randomBytes(6).toString('hex')}.partial`;
    try {
      const target = createWriteStream(partial, { flags: 'wx', mode: 0o600 });
      await pipeline(Readable.from(withNewlines(lines)), createGzip(), target);
      const file = await open(partial, 'r+');
      await file.sync().finally(() => file.close());
      await rename(partial, path);
      // The month is deleted from the database after this.
      syncFolder(this.folder);
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Archived months, oldest first. */
  async months(): Promise<string[]> {
    await mkdir(this.folder, { recursive: true });
    return (await readdir(this.folder)).flatMap((name) => fileName.exec(name)?.[1] ?? []).toSorted();
  }

  /** Reads the file of a month and checks each hash. Throws {@link EventFileError}. */
  async verify(month: string): Promise<VerifiedMonth> {
    const path = this.path(month);
    const fail = (why: string): never => {
      throw new EventFileError(`${path}: ${why}`);
    };
    let header: ArchiveHeader | undefined;
    let [hash, events, number] = ['', 0, 0];
    let end: { events: number } | undefined;
    try {
      for await (const line of gzipLines(createReadStream(path))) {
        number += 1;
        if (!header) {
          header = headerOf(line, month) ?? fail('is not an archive of events of this month');
          hash = nextHash('', line);
          continue;
        }
        const [, kind, text, given] = lineParts.exec(line) ?? fail(`line ${number} is not an event`);
        if (end) fail(`line ${number} follows the end`);
        hash = nextHash(hash, text as string);
        if (hash !== given) fail(`line ${number} was changed`);
        if (kind === 'end') end = JSON.parse(text as string) as { events: number };
        else events += 1;
      }
    } catch (error) {
      if (error instanceof EventFileError) throw error;
      fail((error as Error).message);
    }
    if (!header || end?.events !== events) fail('is truncated');
    return { month, events, previous: header?.previous ?? null, hash };
  }

  private path(month: string): string {
    return join(this.folder, `events-${month}.jsonl.gz`);
  }
}

function headerOf(line: string, month: string): ArchiveHeader | undefined {
  try {
    const header = JSON.parse(line) as ArchiveHeader;
    const fits = header.format === archiveFormat && header.version === archiveVersion && header.month === month;
    return fits ? header : undefined;
  } catch {
    return undefined;
  }
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

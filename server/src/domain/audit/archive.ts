import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { eachEventOf } from './events.ts';
import { startOfMonth } from './months.ts';

/** Files of past months. */
export interface EventArchive {
  /** @param month e.g. `2026-03` */
  has(month: string): Promise<boolean>;
  /** The last hash of the latest file before `month`; null if there is none. */
  hashBefore(month: string): Promise<string | null>;
  /** Writes all lines, or no file. */
  write(month: string, lines: AsyncIterable<string>): Promise<void>;
}

export const archiveFormat = 'latchkey-events';
export const archiveVersion = 1;

/** The first line of a file. */
export interface ArchiveHeader {
  format: typeof archiveFormat;
  version: number;
  month: string;
  /** The last hash of the previous file; null in the first file. */
  previous: string | null;
}

/** The result of {@link writeMonth}, for the audit log: an attacker who rewrites a file must also rewrite this event. */
export interface ArchivedMonth {
  month: string;
  events: number;
  /** The last hash of the file. */
  hash: string;
}

export const monthName = (at: Date): string => at.toISOString().slice(0, 7);

/**
 * Each line holds the hash of its text and of the line before, so that a single changed, removed or added line is
 * detected.
 */
export function nextHash(previous: string, text: string): string {
  return createHash('sha256').update(previous).update(text).digest('hex');
}

/**
 * Writes a month of events, oldest first: {@link ArchiveHeader}, `{"event":…,"hash":…}` each, and `{"end":…,"hash":…}`.
 * `hash` is the SHA-256 in hex of the previous line's hash and of the text between the first colon and `,"hash"`; for
 * the first event the previous hash is that of the header line.
 *
 * @param reader returns a reader for each page
 */
export async function writeMonth(
  reader: () => EntityManager,
  month: Date,
  archive: EventArchive,
): Promise<ArchivedMonth> {
  const name = monthName(month);
  const header: ArchiveHeader = {
    format: archiveFormat,
    version: archiveVersion,
    month: name,
    previous: await archive.hashBefore(name),
  };
  const first = JSON.stringify(header);
  const state = { events: 0, hash: nextHash('', first) };
  async function* lines() {
    yield first;
    for await (const page of eachEventOf(reader, month, startOfMonth(month, 1))) {
      for (const event of page) {
        const text = JSON.stringify(event);
        state.events += 1;
        state.hash = nextHash(state.hash, text);
        yield `{"event":${text},"hash":"${state.hash}"}`;
      }
    }
    const end = JSON.stringify({ events: state.events });
    state.hash = nextHash(state.hash, end);
    yield `{"end":${end},"hash":"${state.hash}"}`;
  }
  await archive.write(name, lines());
  return { month: name, ...state };
}

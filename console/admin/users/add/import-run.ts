import type { Outcome } from '../../api.ts';
import { type Failure, failureOf } from '../../failure.ts';
import type { ImportUsersMutation, ImportUsersMutationVariables } from '../../generated/operations.ts';
import { withRetry } from '../retry.ts';
import { type ImportRow, labelOf, type RefusedLine, type Target } from './import-columns.ts';

/** Maximum rows and bytes of a request: the API accepts 500 and 64 KB. */
const maxRows = 500;
const maxBytes = 56 * 1024;
/** Requests in flight. */
const parallel = 2;

/** Counts of the rows by outcome. */
export interface Progress {
  done: number;
  total: number;
  created: number;
  /** Lines of users who already exist. */
  known: number[];
  refused: RefusedLine[];
  /** The server does not respond; the request is repeated. */
  isWaiting: boolean;
}

export type Send = (variables: ImportUsersMutationVariables) => Promise<Outcome<ImportUsersMutation>>;

export interface ImportOptions {
  projectId: string;
  invite: boolean;
  dryRun: boolean;
  targets: readonly Target[];
  send: Send;
  onProgress(progress: Progress): void;
  signal: AbortSignal;
  /** For tests. */
  pause?(seconds: number): Promise<void>;
}

/**
 * Imports rows in chunks. Repeats a chunk whose response was lost: users who exist are skipped. Returns the failure that
 * stopped it, if any; `remaining` was not imported and can be tried again.
 */
export async function runImport(
  rows: readonly ImportRow[],
  before: Progress,
  options: ImportOptions,
): Promise<{ failure: Failure | undefined; remaining: ImportRow[] }> {
  const { onProgress, signal } = options;
  const chunks = chunksOf(rows);
  const unfinished = new Set(chunks);
  let progress = before;
  let failure: Failure | undefined;
  const worker = async () => {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
      if (signal.aborted || failure) return;
      const { projectId, invite, dryRun, send, pause } = options;
      const input = { projectId, invite, dryRun, rows: chunk.map((row) => row.input) };
      const onWaiting = () => {
        progress = { ...progress, isWaiting: true };
        onProgress(progress);
      };
      const outcome = await withRetry(() => send({ input }), { signal, onWaiting, pause });
      if (!outcome) return;
      if (outcome.failure) {
        failure ??= outcome.failure;
        return;
      }
      unfinished.delete(chunk);
      progress = added(progress, chunk, outcome.data.importUsers, options.targets);
      onProgress(progress);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { failure, remaining: [...unfinished].flat() };
}

/** Chunks within the limits of a request. */
export function chunksOf(rows: readonly ImportRow[]): ImportRow[][] {
  const encoder = new TextEncoder();
  const chunks: ImportRow[][] = [];
  let bytes = maxBytes;
  for (const row of rows) {
    const size = encoder.encode(JSON.stringify(row.input)).length + 1;
    const last = chunks.at(-1);
    if (last && last.length < maxRows && bytes + size <= maxBytes) {
      last.push(row);
      bytes += size;
    } else {
      chunks.push([row]);
      bytes = size;
    }
  }
  return chunks;
}

/** "email must be…." becomes "Must be…", in the language of the page. */
function reasonOf(message: string, field: string | null | undefined): string {
  return failureOf({ message, extensions: field == null ? {} : { field } }).message.replace(/[.。]$/, '');
}

function added(
  before: Progress,
  chunk: readonly ImportRow[],
  { created, known, refused }: ImportUsersMutation['importUsers'],
  targets: readonly Target[],
): Progress {
  const lineOf = (row: number) => chunk[row]?.line ?? 0;
  return {
    ...before,
    done: before.done + chunk.length,
    created: before.created + created,
    known: [...before.known, ...known.map(lineOf)],
    refused: [
      ...before.refused,
      ...refused.map(({ row, field, message }) => ({
        line: lineOf(row),
        field: field === null || field === undefined ? null : labelOf(field, targets),
        reason: reasonOf(message, field),
      })),
    ],
    isWaiting: false,
  };
}

import type { Outcome } from '../../api.ts';
import type { Failure } from '../../failure.ts';
import type { ChangeUsersMutation } from '../../generated/operations.ts';
import { serverText, t } from '../../language/language.ts';
import { type RetryOptions, withRetry } from '../retry.ts';

/** Users per request; the API accepts no more. */
export const bulkPage = 100;

export interface Chosen {
  id: string;
  name: string;
}

export interface BulkPage {
  users: readonly Chosen[];
  /** Users that match now. */
  total: number;
  /** Cursor of the next page; null after the last one. */
  next: string | null;
}

/** Counts of the users by outcome. */
export interface BulkProgress {
  /** Users when the action was confirmed. */
  total: number;
  done: number;
  refused: (Chosen & { message: string })[];
  /** Erased before their turn. */
  gone: number;
  /** Cursor of the next page. */
  after: string | null;
  isFinished: boolean;
  /** The server does not respond; the request is repeated. */
  isWaiting: boolean;
}

export const notBegun = (total: number): BulkProgress => ({
  ...{ total, done: 0, refused: [], gone: 0, after: null },
  ...{ isFinished: false, isWaiting: false },
});

export interface BulkOptions extends Omit<RetryOptions, 'onWaiting'> {
  load(after: string | null): Promise<Outcome<BulkPage>>;
  apply(userIds: string[]): Promise<Outcome<ChangeUsersMutation>>;
  /** The action erases users: one who no longer exists counts as done. */
  isErasing: boolean;
  onProgress(progress: BulkProgress): void;
}

export interface BulkEnd {
  progress: BulkProgress;
  failure?: Failure;
  /** The number of users that match now, if it differs from the confirmed one; nothing was changed. */
  changedTo?: number;
}

/**
 * Applies an action to users page by page. Cursors are positions in an order that no action changes, so each user has
 * one turn. Users who no longer match by then, and users created after the start, are omitted. After a failure or a
 * stop, pass the returned progress to continue; every action can be repeated.
 */
export async function runBulk(before: BulkProgress, options: BulkOptions): Promise<BulkEnd> {
  const { load, apply, onProgress, signal, pause, isErasing } = options;
  let progress = before;
  const move = (change: Partial<BulkProgress>) => {
    progress = { ...progress, isWaiting: false, ...change };
    onProgress(progress);
  };
  const retryOptions = { signal, pause, onWaiting: () => move({ isWaiting: true }) };
  while (!progress.isFinished && !signal.aborted) {
    const { after } = progress;
    const loaded = await withRetry(() => load(after), retryOptions);
    if (!loaded || signal.aborted) break;
    if (loaded.failure) return { progress, failure: loaded.failure };
    const { users, total, next } = loaded.data;
    if (after === null && total !== progress.total) return { progress, changedTo: total };
    const names = new Map(users.map(({ id, name }) => [id, name]));
    const applied = users.length > 0 ? await withRetry(() => apply([...names.keys()]), retryOptions) : null;
    if (applied === undefined) break;
    if (applied?.failure) return { progress, failure: applied.failure };
    const results = applied?.data.changeUsers ?? [];
    const gone = results.filter(({ code }) => code === 'not-found').length;
    const refused = results.filter(({ done, code }) => !done && code !== 'not-found');
    move({
      done: progress.done + results.filter(({ done }) => done).length + (isErasing ? gone : 0),
      gone: progress.gone + (isErasing ? 0 : gone),
      refused: [
        ...progress.refused,
        ...refused.map(({ userId, message }) => ({
          id: userId,
          name: names.get(userId) ?? userId,
          message: message ? serverText(message) : t('Refused'),
        })),
      ],
      after: next,
      isFinished: next === null,
    });
  }
  move({});
  return { progress };
}

/** Pages of a known list. */
export function pagesOf(users: readonly Chosen[]): (after: string | null) => Promise<Outcome<BulkPage>> {
  return async (after) => {
    const from = Number(after ?? 0);
    const next = from + bulkPage < users.length ? String(from + bulkPage) : null;
    return { data: { users: users.slice(from, from + bulkPage), total: users.length, next } };
  };
}

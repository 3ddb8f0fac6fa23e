import { JWTVerificationError } from './error.ts';
import { type LogoutClaims, processMemory, rememberUntil, replayId } from './logout-token.ts';
import type { ReplayStore } from './replay-store.ts';

/** A repeat joins a run of at most this age, in milliseconds. An older one may never end. */
const longestRunMs = 60_000;

interface Run {
  outcome: Promise<void>;
  beganMs: number;
}

/**
 * Calls `end` once per logout token. The token counts as used only after success, because the service does not repeat it
 * after 200; a repeat during `end` has the same outcome. In another process, and after a crash, a repeat calls `end` again.
 */
export function logoutOnce(store: ReplayStore = processMemory) {
  const runs = new Map<string, Run>();
  return (claims: LogoutClaims, end: () => unknown): Promise<void> => {
    const id = replayId(claims);
    const earlier = runs.get(id);
    if (earlier && Date.now() - earlier.beganMs < longestRunMs) return earlier.outcome;
    const outcome = endOnce(store, claims, end).finally(() => {
      if (runs.get(id)?.outcome === outcome) runs.delete(id);
    });
    runs.set(id, { outcome, beganMs: Date.now() });
    return outcome;
  };
}

/**
 * A store cannot be read, only marked. So there are two marks: `used`, and `pending` until success. A token is used if it has
 * the first without the second. Only the call that set `pending` sets `used` before success.
 */
async function endOnce(store: ReplayStore, claims: LogoutClaims, end: () => unknown): Promise<void> {
  const [used, pending] = [replayId(claims), replayId(claims, 'pending')];
  const mark = (id: string) => stored(() => store.remember(id, rememberUntil()));
  const unmark = (id: string) => stored(() => store.forget(id));

  const isFirst = await mark(pending);
  const isUsed = isFirst && !(await mark(used));
  try {
    if (!isUsed) await end();
  } catch (error) {
    // If the store fails too, the token stays pending, and a retry calls `end` as well.
    const undone = isFirst ? unmark(used).then(() => unmark(pending)) : undefined;
    await undone?.catch(() => undefined);
    throw error;
  }
  if (!isFirst) await mark(used);
  await unmark(pending);
}

async function stored<T>(use: () => Promise<T> | T): Promise<T> {
  try {
    return await use();
  } catch (cause) {
    throw new JWTVerificationError('REPLAY_STORE_FAILED', 'The replay store failed.', { cause });
  }
}

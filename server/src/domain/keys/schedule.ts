import { isPast, secondsLater } from '../kernel/clock.ts';
import type { SigningAlgorithm } from './signing-key.entity.ts';

/** Rotation schedule of keys. */
export interface Schedule {
  /** Time for which a key signs. */
  rotationSeconds: number;
  /** Time for which a key is published before it signs, and after its last token has expired: at least 24 h. */
  noticeSeconds: number;
  /** Maximum lifetime of a token. */
  longestTokenSeconds: number;
}

export const defaultSchedule: Schedule = {
  rotationSeconds: 90 * 24 * 3600,
  noticeSeconds: 24 * 3600,
  // Maximum of the ID token setting.
  longestTokenSeconds: 24 * 3600,
};

interface Dated {
  alg: SigningAlgorithm;
  signsFrom: Date;
  publishedUntil?: Date | null | undefined;
  withdrawnAt?: Date | null | undefined;
}

/** The latest published key that may sign at `now`. */
export function currentKey<K extends Dated>(keys: readonly K[], alg: SigningAlgorithm, now: Date): K | undefined {
  return of(keys, alg)
    .filter(({ signsFrom, publishedUntil: until }) => isPast(signsFrom, now) && !(until && isPast(until, now)))
    .at(-1);
}

/** The published key that does not sign yet. */
export function nextKey<K extends Dated>(keys: readonly K[], alg: SigningAlgorithm, now: Date): K | undefined {
  return of(keys, alg).find((key) => !isPast(key.signsFrom, now));
}

/** Time at which a successor to be published now starts to sign; undefined if none is due. */
export function succession(
  keys: readonly Dated[],
  alg: SigningAlgorithm,
  now: Date,
  schedule: Schedule,
): Date | undefined {
  const current = currentKey(keys, alg, now);
  if (!current || nextKey(keys, alg, now)) return undefined;
  const due = secondsLater(current.signsFrom, schedule.rotationSeconds);
  const earliest = secondsLater(now, schedule.noticeSeconds);
  if (due > earliest) return undefined;
  return earliest;
}

function of<K extends Dated>(keys: readonly K[], alg: SigningAlgorithm): K[] {
  return keys
    .filter((key) => key.alg === alg && !key.withdrawnAt)
    .sort((a, b) => a.signsFrom.getTime() - b.signsFrom.getTime());
}

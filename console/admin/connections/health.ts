import type { ConnectionRowFragment } from '../generated/operations.ts';

type Health = Pick<ConnectionRowFragment, 'state' | 'lastSuccessAt' | 'lastFailureAt'>;

/** Whether the last sign-in by an enabled connection failed. */
export function isFailing({ state, lastSuccessAt, lastFailureAt }: Health): boolean {
  if (state !== 'ENABLED' || lastFailureAt === null) return false;
  return lastSuccessAt === null || Date.parse(lastFailureAt) > Date.parse(lastSuccessAt);
}

/** Failures by reason, most frequent first. */
export function byCount<Failure extends { count: number }>(failures: readonly Failure[]): Failure[] {
  return [...failures].sort((one, other) => other.count - one.count);
}

/** When the last certificate expires; undefined: there is none. */
export const lastExpiry = (certificates: readonly { expiresAt: string }[]): string | undefined =>
  certificates
    .map(({ expiresAt }) => expiresAt)
    .sort()
    .at(-1);

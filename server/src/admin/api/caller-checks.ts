import { type AdminScope, mayUse } from '../../domain/kernel/admin-api.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { freshUntil } from '../../domain/policy/freshness.ts';
import type { AdminCaller } from './caller.ts';

/** Maximum age of the sign-in proof for sensitive operations. */
export const freshSeconds = 15 * 60;

/** Expiry of the caller's sign-in proof; null for tokens, which have none. Without a proof (device key only): 1970. */
export function callerFreshUntil({ freshAt }: AdminCaller, now: Date): Date | null {
  return freshAt === undefined ? null : freshUntil(freshAt, freshSeconds, now);
}

/** A client's token permits only its scopes; admins need none. */
export function checkScope({ scopes }: AdminCaller, need: readonly AdminScope[]): void {
  if (!scopes || need.some((scope) => mayUse(scopes, scope))) return;
  const reason = need.length === 0 ? 'applications may not use it' : `it requires the scope ${need.join(' or ')}`;
  refuse({ code: 'forbidden', reason });
}

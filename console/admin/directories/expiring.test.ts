import { describe, expect, it } from 'vitest';
import { expiringOf } from './expiring.ts';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const token = (name: string, days: number | null, revokedAt: string | null = null) => ({
  ...{ id: name, name, revokedAt },
  expiresAt: days === null ? null : inDays(days),
});
const named = (...tokens: ReturnType<typeof token>[]) => {
  const { soon, last } = expiringOf(tokens);
  return [soon.map(({ name }) => name), last?.name];
};

describe('the tokens to warn about', () => {
  it('are live ones that expire within 30 days, soonest first', () => {
    const tokens = [token('next month', 29.9), token('later', 30.1), token('never', null), token('tomorrow', 1)];
    expect(named(...tokens)).toEqual([['tomorrow', 'next month'], undefined]);
    expect(named(token('revoked', 3, inDays(-1)), token('expired', -1), token('live', 300))).toEqual([[], undefined]);
  });

  it('include the one that expired last, unless one is live', () => {
    const tokens = [token('older', -9), token('newer', -2), token('revoked', -1, inDays(-3))];
    expect(named(...tokens)).toEqual([[], 'newer']);
    expect(named(...tokens, token('live', 10))).toEqual([['live'], undefined]);
    expect(named(token('revoked', 10, inDays(-1)))).toEqual([[], undefined]);
    expect(named()).toEqual([[], undefined]);
  });
});

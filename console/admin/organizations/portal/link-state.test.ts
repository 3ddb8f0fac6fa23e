import { describe, expect, it } from 'vitest';
import { isOpen, linkState } from './link-state.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const [before, after] = ['2026-11-30T11:59:59Z', '2026-11-30T12:00:01Z'];
const link = { usedAt: null, expiresAt: after, completedAt: null, revokedAt: null };

describe('a portal link', () => {
  it.each([
    ['sent', link, true],
    ['opened', { ...link, usedAt: before }, true],
    ['completed', { ...link, usedAt: before, completedAt: before }, true],
    ['completed', { ...link, expiresAt: before, completedAt: before }, false],
    ['expired', { ...link, expiresAt: before, usedAt: before }, false],
    ['expired', { ...link, expiresAt: '2026-11-30T12:00:00Z' }, false],
    ['revoked', { ...link, completedAt: before, revokedAt: before }, false],
  ] as const)('is %s', (state, of, opens) => {
    expect(linkState(of, now)).toBe(state);
    expect(isOpen(of, now)).toBe(opens);
  });
});

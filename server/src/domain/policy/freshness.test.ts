import { describe, expect, it } from 'vitest';
import type { MfaMethod } from '../projects/project.resource.ts';
import { freshSeconds, freshUntil, isFresh, isProvedSince, isWithinMaxAge } from './freshness.ts';

const proved = { freshAt: new Date('2026-01-01T00:00:00Z'), passkeyId: null };
const later = (seconds: number) => new Date(proved.freshAt.getTime() + seconds * 1000);
const having = (...methods: MfaMethod[]) => methods.map((method) => ({ method, besidePasskey: false }));

describe('a session', () => {
  it('is fresh for less than five minutes after a mail code', () => {
    const session = { ...proved, amr: ['swk', 'otp'] };
    expect(isFresh(session, [], false, later(freshSeconds - 1))).toBe(true);
    expect(isFresh(session, [], false, later(freshSeconds))).toBe(false);
  });

  it('is not fresh by a proof in the future, of a clock that was ahead', () => {
    const session = { ...proved, amr: ['swk', 'otp'] };
    expect(isFresh(session, [], false, later(-30))).toBe(true);
    expect(isFresh(session, [], false, later(-3600))).toBe(false);
  });

  it('begun or renewed only by a device key is never fresh', () => {
    expect(isFresh({ ...proved, freshAt: null, amr: ['swk'] }, [], false, later(0))).toBe(false);
    expect(isFresh({ ...proved, freshAt: null, amr: ['swk', 'otp', 'mfa'] }, [], false, later(0))).toBe(false);
  });

  it.each([
    ['totp', ['swk', 'otp'], false],
    ['sms', ['swk', 'otp'], false],
    ['totp', ['swk'], false],
    ['totp', ['swk', 'otp', 'mfa'], true],
    ['sms', ['swk', 'sms', 'mfa'], true],
    ['email', ['swk', 'otp'], true],
    ['email', ['swk', 'otp', 'mfa'], true],
  ] as const)('of a user with %s, proved by %s, is fresh: %s', (method, amr, expected) => {
    expect(isFresh({ ...proved, amr: [...amr] }, having(method), false, later(1))).toBe(expected);
  });

  it('of a user with a passkey is not fresh after a mail code alone', () => {
    expect(isFresh({ ...proved, amr: ['swk', 'otp'] }, [], true, later(1))).toBe(false);
    expect(isFresh({ ...proved, amr: ['hwk', 'user', 'pop', 'mfa'] }, [], true, later(1))).toBe(true);
  });

  it('of a user with a passkey does not count a factor that was added with only a mail code', () => {
    const factors = [{ method: 'totp' as const, besidePasskey: true }];
    const byFactor = { ...proved, amr: ['swk', 'otp', 'mfa'] };
    expect(isFresh(byFactor, factors, true, later(1))).toBe(false);
    expect(isFresh(byFactor, factors, true, later(1), true)).toBe(true);
    expect(isFresh({ ...byFactor, passkeyId: 'passkey' }, factors, true, later(1))).toBe(true);
    // Created after a mail code, but not used.
    expect(isFresh({ ...proved, passkeyId: 'passkey', amr: ['swk', 'otp'] }, factors, true, later(1))).toBe(false);
    expect(isFresh(byFactor, factors, false, later(1))).toBe(true);
    expect(isFresh(byFactor, having('totp'), true, later(1))).toBe(true);
    expect(isFresh(byFactor, [...factors, ...having('sms')], true, later(1))).toBe(false);
  });

  it('of a user with email and another factor is fresh only after the other one', () => {
    expect(isFresh({ ...proved, amr: ['swk', 'otp'] }, having('email', 'totp'), false, later(1))).toBe(false);
  });
});

describe('a proof by the person', () => {
  const at = proved.freshAt;

  it('ends after its lifetime; without one, or from a clock that was ahead, it has ended', () => {
    expect(freshUntil(at, 900, later(30))).toEqual(later(900));
    expect([freshUntil(null, 900, at), freshUntil(later(61), 900, at)]).toEqual([new Date(0), new Date(0)]);
    expect(freshUntil(later(60), 900, at)).toEqual(later(960));
  });

  it('is within max_age by whole seconds', () => {
    expect([isWithinMaxAge(at, 100, later(100.999)), isWithinMaxAge(at, 100, later(101))]).toEqual([true, false]);
    expect([isWithinMaxAge(null, 3600, at), isWithinMaxAge(later(61), 3600, at)]).toEqual([false, false]);
  });

  it('satisfies the request of its sign-in, and older ones', () => {
    expect([6, 7, 8].map((moment) => isProvedSince({ freshMoment: 7 }, moment))).toEqual([true, true, false]);
    expect(isProvedSince({ freshMoment: null }, 1)).toBe(false);
  });
});

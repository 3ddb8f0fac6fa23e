import { describe, expect, it } from 'vitest';
import type { MfaMethod } from '../mfa/enrolment.entity.ts';
import { freshSeconds, isFresh } from './freshness.ts';

const freshAt = new Date('2026-01-01T00:00:00Z');
const later = (seconds: number) => new Date(freshAt.getTime() + seconds * 1000);
const having = (...methods: MfaMethod[]) => methods.map((method) => ({ method }));

describe('a session', () => {
  it('is fresh for less than five minutes after a mail code', () => {
    const session = { freshAt, amr: ['swk', 'otp'] };
    expect(isFresh(session, [], false, later(freshSeconds - 1))).toBe(true);
    expect(isFresh(session, [], false, later(freshSeconds))).toBe(false);
  });

  it('begun or renewed by a device key alone is never fresh', () => {
    expect(isFresh({ freshAt: null, amr: ['swk'] }, [], false, later(0))).toBe(false);
    expect(isFresh({ freshAt: null, amr: ['swk', 'otp', 'mfa'] }, [], false, later(0))).toBe(false);
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
    expect(isFresh({ freshAt, amr: [...amr] }, having(method), false, later(1))).toBe(expected);
  });

  it('of a user with a passkey needs it, or a factor', () => {
    expect(isFresh({ freshAt, amr: ['swk', 'otp'] }, [], true, later(1))).toBe(false);
    expect(isFresh({ freshAt, amr: ['hwk', 'user', 'pop', 'mfa'] }, [], true, later(1))).toBe(true);
  });

  it('needs the other factor if the user has e-mail and another one', () => {
    expect(isFresh({ freshAt, amr: ['swk', 'otp'] }, having('email', 'totp'), false, later(1))).toBe(false);
  });
});

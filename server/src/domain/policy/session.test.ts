import { describe, expect, it } from 'vitest';
import {
  asksForFacts,
  begun,
  hasExpired,
  isByPasskey,
  meetsSignInPolicy,
  recordedUse,
  requiresPasskey,
  type SignInPolicy,
  type UserFacts,
  used,
} from './session.ts';

const now = new Date('2026-01-01T12:00:00Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const limits = { idleTimeoutSeconds: 1800, maxSessionSeconds: 28_800 };
const open: SignInPolicy = {
  mfaPolicy: 'optional',
  emailFactor: true,
  passkeys: true,
  passkeyPolicy: 'allowed',
  builtIn: null,
};
const withoutCredentials: UserFacts = { factors: [], holdsPasskey: false };

describe('a session', () => {
  const session = begun(limits, now);

  it('ends at its idle limit, which a use extends, and at its absolute limit, which none extends', () => {
    expect([hasExpired(session, limits, at(1799.999)), hasExpired(session, limits, at(1800))]).toEqual([false, true]);
    const later = { ...session, ...used(limits, at(1000)) };
    expect([hasExpired(later, limits, at(2799)), hasExpired(later, limits, at(2800))]).toEqual([false, true]);
    const last = { ...session, ...used(limits, at(28_799)) };
    expect([hasExpired(last, limits, at(28_799)), hasExpired(last, limits, at(28_800))]).toEqual([false, true]);
  });

  it.each([
    ['a shorter idle limit at once', { idleTimeoutSeconds: 100 }, 100],
    ['a shorter absolute limit at once', { maxSessionSeconds: 100 }, 100],
    ['a longer idle limit from the next use', { idleTimeoutSeconds: 9000 }, 1800],
  ])('has %s', (_, change, end) => {
    const changed = { ...limits, ...change };
    expect([hasExpired(session, changed, at(end - 1)), hasExpired(session, changed, at(end))]).toEqual([false, true]);
  });

  it.each([
    ['within a minute', 59.999, {}, false],
    ['after a minute', 60, {}, true],
    ['of a longer limit', 1, { idleTimeoutSeconds: 1801 }, true],
    ['of a shorter limit', 1, { idleTimeoutSeconds: 1799 }, true],
    ['by a clock that was set back', -1, {}, true],
  ])('records a use %s: %s s later', (_, seconds, change, isRecorded) => {
    const current = { ...limits, ...change };
    const expected = isRecorded ? used(current, at(seconds)) : null;
    expect(recordedUse(session, current, at(seconds))).toEqual(expected);
  });

  it.each([3, 60, 600])('with an idle limit of %s s ends at most a thirtieth too early', (idleTimeoutSeconds) => {
    const short = { ...limits, idleTimeoutSeconds };
    const begins = begun(short, now);
    const tolerated = idleTimeoutSeconds / 30;
    expect(recordedUse(begins, short, at(tolerated - 0.001))).toBeNull();
    expect(recordedUse(begins, short, at(tolerated))).toEqual(used(short, at(tolerated)));
  });

  it.each([
    [{ passkeyId: 'k', amr: ['swk', 'otp'] }, true],
    [{ passkeyId: null, amr: ['hwk', 'user', 'pop', 'mfa'] }, true],
    [{ passkeyId: null, amr: ['hwk', 'user', 'pop'] }, false],
    [{ amr: ['swk', 'otp', 'mfa'] }, false],
  ])('%j is by passkey: %s', (proof, expected) => {
    expect(isByPasskey(proof)).toBe(expected);
  });
});

describe('the policy', () => {
  const required = { mfaPolicy: 'required' } as const;
  const passkeyRequired = { passkeyPolicy: 'required' } as const;
  const admin = { builtIn: 'console' } as const;
  const holder = { holdsPasskey: true };

  it.each<[string, Partial<SignInPolicy>, Partial<UserFacts>, byPasskey: boolean, boolean]>([
    ['nothing required', {}, {}, false, true],
    ['a factor required, none', required, {}, false, false],
    ['a factor required, an app', required, { factors: ['totp'] }, false, true],
    ['a factor required, email', required, { factors: ['email'] }, false, true],
    ['a factor required, email is none', { ...required, emailFactor: false }, { factors: ['email'] }, false, false],
    [
      'a factor required, email and SMS',
      { ...required, emailFactor: false },
      { factors: ['email', 'sms'] },
      false,
      true,
    ],
    ['a factor required, a passkey', required, holder, false, true],
    ['a factor required, a passkey that is off', { ...required, passkeys: false }, holder, false, false],
    ['a passkey required, not used', passkeyRequired, holder, false, false],
    ['a passkey required, used', passkeyRequired, holder, true, true],
    ['a passkey required and passkeys off', { ...passkeyRequired, passkeys: false }, {}, false, true],
    ['an admin without a passkey', admin, {}, false, true],
    ['an admin with one, not used', admin, holder, false, false],
    ['an admin with one, used', admin, holder, true, true],
    ['an admin with one, passkeys off', { ...admin, passkeys: false }, holder, false, true],
  ])('%s', (_, policy, user, byPasskey, expected) => {
    const session = { passkeyId: byPasskey ? 'k' : null, amr: ['swk'] };
    const [rules, facts] = [
      { ...open, ...policy },
      { ...withoutCredentials, ...user },
    ];
    expect(meetsSignInPolicy(session, facts, rules)).toBe(expected);
    // Without rules, facts are not read.
    if (!asksForFacts(rules)) expect(meetsSignInPolicy(session, withoutCredentials, rules)).toBe(true);
  });

  it('requires a passkey of everyone, or of admins who have one', () => {
    expect(requiresPasskey({ ...open, ...passkeyRequired }, false)).toBe(true);
    expect(requiresPasskey({ ...open, ...passkeyRequired, passkeys: false }, true)).toBe(false);
    expect([requiresPasskey({ ...open, ...admin }, false), requiresPasskey({ ...open, ...admin }, true)]).toEqual([
      false,
      true,
    ]);
    expect(requiresPasskey(open, true)).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { hasExpiredIn, latestEndIn, type OrganizationPolicy, type Policy, strictest } from './organization.ts';

const project: Policy = {
  ...{ mfaPolicy: 'optional', emailFactor: true, passkeys: true, passkeyPolicy: 'allowed', builtIn: null },
  ...{ idleTimeoutSeconds: 1800, maxSessionSeconds: 28_800 },
};
const open: OrganizationPolicy = {
  ...{ mfaPolicy: null, idleTimeoutSeconds: null, maxSessionSeconds: null, connectionOf: null },
};

describe('the strictest policy', () => {
  it.each<[string, Partial<Policy>, Partial<OrganizationPolicy>, Partial<Policy>]>([
    ['of an organization without rules is that of the project', {}, {}, {}],
    ['requires factors where the organization does', {}, { mfaPolicy: 'required' }, { mfaPolicy: 'required' }],
    ['also where the project has none', { mfaPolicy: 'off' }, { mfaPolicy: 'required' }, { mfaPolicy: 'required' }],
    ['requires factors where the project does', { mfaPolicy: 'required' }, {}, { mfaPolicy: 'required' }],
    ['has a shorter idle timeout', {}, { idleTimeoutSeconds: 60 }, { idleTimeoutSeconds: 60 }],
    ['has no longer idle timeout', {}, { idleTimeoutSeconds: 3600 }, {}],
    ['has a shorter lifetime', {}, { maxSessionSeconds: 60 }, { maxSessionSeconds: 60 }],
    ['has no longer lifetime', {}, { maxSessionSeconds: 90_000 }, {}],
  ])('%s', (_, changes, rules, expected) => {
    const before = { ...project, ...changes };
    expect(strictest(before, { ...open, ...rules })).toEqual({ ...before, ...expected });
  });

  it('without an organization is the policy of the project itself', () => {
    expect(strictest(project, null)).toBe(project);
  });
});

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
/** Begun four hours ago, renewed by a sign-in an hour ago, used ten minutes ago. */
const session = {
  ...{ createdAt: ago(14_400), authTime: ago(3600), lastSeenAt: ago(600) },
  ...{ idleExpiresAt: ago(-1200), expiresAt: ago(-14_400) },
};

describe('in an organization, a session has ended', () => {
  it.each<[string, Partial<OrganizationPolicy>, boolean]>([
    ['not without rules', {}, false],
    ['after the idle timeout', { idleTimeoutSeconds: 600 }, true],
    ['not before', { idleTimeoutSeconds: 601 }, false],
    ['after its lifetime, counted from the last sign-in', { maxSessionSeconds: 3600 }, true],
    ['not before', { maxSessionSeconds: 3601 }, false],
  ])('%s', (_, rules, expected) => {
    expect(hasExpiredIn({ ...open, ...rules }, session, project, now)).toBe(expected);
  });

  it('where it has ended in the project', () => {
    expect(hasExpiredIn(open, { ...session, idleExpiresAt: now }, project, now)).toBe(true);
    expect(hasExpiredIn(null, { ...session, expiresAt: now }, project, now)).toBe(true);
  });
});

it('tokens of a sign-in end with the lifetime of the organization, if it has one', () => {
  const limited = { ...open, maxSessionSeconds: 100 };
  expect(latestEndIn(open, { authTime: ago(60) })).toBeNull();
  expect(latestEndIn(limited, { authTime: ago(60) })).toEqual(ago(-40));
  const connected = { acme: ago(90).toISOString(), globex: ago(10).toISOString() };
  const required = { ...limited, connectionOf: 'acme' };
  expect(latestEndIn(required, { authTime: ago(10), connected })).toEqual(ago(-10));
  expect(latestEndIn(limited, { authTime: ago(10), connected })).toEqual(ago(-90));
});

it('where a connection is required, the lifetime counts from its last sign-in', () => {
  const required = { ...open, maxSessionSeconds: 3600, connectionOf: 'acme' };
  const signedIn = (seconds: number) => ({
    ...session,
    authTime: ago(60),
    connected: { acme: ago(seconds).toISOString() },
  });
  expect(hasExpiredIn(required, signedIn(3600), project, now)).toBe(true);
  expect(hasExpiredIn(required, signedIn(3599), project, now)).toBe(false);
});

import { describe, expect, it } from 'vitest';
import type { Project } from '../projects/project.entity.ts';
import type { SessionCodeFacts } from './held-facts.ts';
import { decide, type SessionVerdict } from './session-code.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const project = {
  ...{ idleTimeoutSeconds: 1800, maxSessionSeconds: 28_800, mfaPolicy: 'optional', emailFactor: true },
  ...{ passkeys: true, passkeyPolicy: 'allowed', builtIn: null },
} as Project;
const session: SessionCodeFacts['session'] = {
  ...{ id: 's', moment: 1, passkeyId: null, amr: ['swk', 'otp'], authTime: ago(100), freshAt: ago(100) },
  ...{ createdAt: ago(100), lastSeenAt: ago(10), idleExpiresAt: ago(-1790), expiresAt: ago(-28_700) },
};
const user: SessionCodeFacts['user'] = {
  ...{ id: 'u', userNameKey: 'jo', emailKey: 'jo@example.com', factors: [], holdsPasskey: false },
  grantee: { ...{ user_is_active: true, user_version: 1, sub: 'u' }, ...{ email: null, phone: null, home_id: null } },
};
const client = { passkeyRequired: false, thirdParty: false };
const passkey = { amr: ['hwk', 'user', 'pop', 'mfa'], passkeyId: 'k' };
const phr = (essential: boolean) => ({ values: ['phr'], essential });

type Asked = Partial<Parameters<typeof decide>[1]>;
interface Changes {
  session?: Partial<SessionCodeFacts['session']>;
  user?: Partial<SessionCodeFacts['user']>;
  hasAccess?: boolean;
  choices?: SessionCodeFacts['choices'];
  isAllowed?: boolean;
  asked?: Asked;
  project?: Partial<Project>;
}

function verdict(changes: Changes): SessionVerdict {
  const asked = { client, asksConsent: false, hintedUserId: undefined, maxAgeSeconds: undefined, ...changes.asked };
  const facts = {
    session: { ...session, ...changes.session },
    user: { ...user, ...changes.user },
    hasAccess: changes.hasAccess ?? true,
    choices: changes.choices ?? [],
    isAllowed: changes.isAllowed ?? true,
  };
  return decide(facts, asked, { ...project, ...changes.project } as Project, now).verdict;
}

describe('a request under a session', () => {
  it.each<[string, Changes, SessionVerdict]>([
    ['gets a code', {}, 'issue'],
    ['whose user has no access', { hasAccess: false }, 'no-access'],
    ['whose user has no access, and is not asked', { hasAccess: false, isAllowed: false }, 'no-access'],
    ['whose session has expired', { session: { idleExpiresAt: now } }, 'login-required'],
    ['against the policy', { project: { mfaPolicy: 'required' } }, 'login-required'],
    [
      'against the policy, with an acr',
      { project: { mfaPolicy: 'required' }, asked: { acr: phr(true) } },
      'login-required',
    ],
    ['with a hint of its user', { asked: { hintedUserId: 'u' } }, 'issue'],
    ['with a hint of another user', { asked: { hintedUserId: 'v' } }, 'login-required'],
    ['with the login email', { asked: { loginHint: ' Jo@Example.com' } }, 'issue'],
    ['with the userName', { asked: { loginHint: 'JO' } }, 'issue'],
    ['with the id', { asked: { loginHint: 'u' } }, 'issue'],
    ['with another name', { asked: { loginHint: 'joe' } }, 'login-required'],
    [
      'with another name, of a user without email',
      { user: { emailKey: null }, asked: { loginHint: 'joe' } },
      'login-required',
    ],
    ['within max_age', { asked: { maxAgeSeconds: 100 } }, 'issue'],
    ['after max_age', { asked: { maxAgeSeconds: 99 } }, 'login-required'],
    ['with max_age, without a proof', { session: { freshAt: null }, asked: { maxAgeSeconds: 9999 } }, 'login-required'],
    [
      'with max_age, proved in the future',
      { session: { freshAt: ago(-61) }, asked: { maxAgeSeconds: 9 } },
      'login-required',
    ],
    ['that must have its acr', { asked: { acr: phr(true) } }, 'acr-unmet'],
    ['that prefers an acr', { asked: { acr: phr(false) } }, 'issue'],
    [
      'that prefers an acr, of a passkey’s owner',
      { user: { holdsPasskey: true }, asked: { acr: phr(false) } },
      'acr-unmet',
    ],
    [
      'that prefers an acr, while passkeys are off',
      { user: { holdsPasskey: true }, project: { passkeys: false }, asked: { acr: phr(false) } },
      'issue',
    ],
    ['whose acr is met', { session: passkey, asked: { acr: phr(true) } }, 'issue'],
    [
      'of a client that requires a passkey',
      { asked: { client: { ...client, passkeyRequired: true } } },
      'login-required',
    ],
    [
      'by passkey, of a client that requires one',
      { session: passkey, asked: { client: { ...client, passkeyRequired: true } } },
      'issue',
    ],
    ['without consent', { isAllowed: false }, 'ask-consent'],
    ['without consent, after max_age', { isAllowed: false, asked: { maxAgeSeconds: 99 } }, 'login-required'],
    ['of a third party', { asked: { client: { ...client, thirdParty: true } } }, 'issue'],
    [
      'of a third party with prompt=consent',
      { asked: { client: { ...client, thirdParty: true }, asksConsent: true } },
      'ask-consent',
    ],
    ['of a first party with prompt=consent', { asked: { asksConsent: true } }, 'issue'],
  ])('%s', (_, changes, expected) => {
    expect(verdict(changes)).toBe(expected);
  });
});

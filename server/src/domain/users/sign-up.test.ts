import { describe, expect, it } from 'vitest';
import { signUpVerdict } from './sign-up.ts';

const open = { signUp: 'open', signUpDomains: [], blockedSignUpDomains: [], blocksDisposableMail: false } as const;
const verdictOn = (settings: Partial<Parameters<typeof signUpVerdict>[0]>, address: string) =>
  signUpVerdict({ ...open, ...settings }, address);

describe('sign-up by the settings of the project', () => {
  it('is open, closed, or decided by an admin, for every address', () => {
    expect(verdictOn({ signUp: 'approval' }, 'ada@example.com')).toBe('approval');
    expect(verdictOn({ signUp: 'approval', blockedSignUpDomains: ['example.com'] }, 'ada@example.com')).toBe('domain');
    expect(verdictOn({}, 'ada@example.com')).toBe('open');
    expect(verdictOn({ signUp: 'provisioned_only', signUpDomains: ['example.com'] }, 'ada@example.com')).toBe('closed');
  });

  it.each([
    ['ada@example.com', 'open'],
    ['Ada@EXAMPLE.com', 'open'],
    [' ada@example.com ', 'open'],
    ['ada@eu.example.com', 'domain'],
    ['ada@example.com.evil.net', 'domain'],
    ['ada@notexample.com', 'domain'],
    ['ada@example.org', 'domain'],
    ['ada@eu.example.org', 'open'],
    ['ada@a.b.example.org', 'open'],
    ['ada@notexample.org', 'domain'],
    ['ada@bücher.example', 'open'],
    ['ada@xn--bcher-kva.example', 'open'],
    ['ada@BÜCHER.example', 'open'],
    ['ada', 'domain'],
    ['ada@', 'domain'],
    ['evil@example.net@example.com', 'open'],
  ])('of certain domains accepts or refuses %s', (address, verdict) => {
    const signUpDomains = ['*.example.org', 'bücher.example', 'example.com'];
    expect(verdictOn({ signUp: 'domains', signUpDomains }, address)).toBe(verdict);
  });

  it.each([
    ['ada@example.net', 'domain'],
    ['ada@eu.example.net', 'domain'],
    ['ada@example.network', 'open'],
    ['ada@myexample.net', 'open'],
    ['ada@xn--bcher-kva.example', 'domain'],
  ])('refuses blocked domains, with those below them: %s', (address, verdict) => {
    expect(verdictOn({ blockedSignUpDomains: ['bücher.example', 'example.net'] }, address)).toBe(verdict);
  });

  it('refuses a blocked domain that is also allowed', () => {
    const both = { signUp: 'domains', signUpDomains: ['example.com'], blockedSignUpDomains: ['example.com'] } as const;
    expect(verdictOn(both, 'ada@example.com')).toBe('domain');
  });

  it('refuses disposable mailboxes where the project blocks them', () => {
    const blocking = { blocksDisposableMail: true };
    expect(verdictOn({}, 'ada@mailinator.com')).toBe('open');
    expect(verdictOn(blocking, 'ada@mailinator.com')).toBe('domain');
    expect(verdictOn(blocking, 'ada@team.mailinator.com')).toBe('domain');
    expect(['gmail.com', 'outlook.com', 'example.com'].map((one) => verdictOn(blocking, `ada@${one}`))).toEqual([
      'open',
      'open',
      'open',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  accountOf,
  amrOf,
  type Evidence,
  freshAt,
  has,
  isRecovered,
  provedIn,
  vouchedBy,
  withPiece,
} from './evidence.ts';
import { counts, mayAddPasskey, meetsPolicy, nextRequirement, type SignInContext } from './requirements.ts';

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const mail: Evidence = { kind: 'mail-code', account: 'u', at: at(1), address: 'u@example.com', ceremony: 'c' };
const key: Evidence = { kind: 'device-key', account: 'u', at: at(2), device: 'd' };
const factor = (method: 'totp' | 'sms' | 'email'): Evidence => ({
  kind: 'factor',
  account: 'u',
  at: at(3),
  enrolment: 'e',
  method,
});
const recovery: Evidence = { kind: 'recovery-code', account: 'u', at: at(4) };
const grant: Evidence = { kind: 'recovery-grant', account: 'u', at: at(4), grant: 'g' };
const context = (some: Partial<SignInContext> = {}): SignInContext => ({
  policy: 'optional',
  emailFactor: false,
  factors: [],
  hasPasskey: false,
  changesAccount: false,
  needsPasskey: false,
  passkeyRequired: false,
  skipsFactor: false,
  personRequired: false,
  ...some,
});

describe('the account of evidence', () => {
  it('is the one account that all pieces name, and null without evidence', () => {
    expect(accountOf([])).toBeNull();
    expect(accountOf([mail, key, factor('totp')])).toBe('u');
  });

  it('throws if two pieces name different accounts, when read and when combined', () => {
    const other = { ...key, account: 'v' };
    expect(() => accountOf([mail, other])).toThrow('two accounts');
    expect(() => accountOf([mail, key, { ...recovery, account: 'v' }])).toThrow('two accounts');
    expect(() => withPiece([mail, key], { ...recovery, account: 'v' })).toThrow('transaction-expired');
    expect(() => withPiece([mail, { ...key, account: 'v' }], recovery)).toThrow('transaction-expired');
    expect(withPiece([mail], key)).toEqual([mail, key]);
    expect(withPiece([], key)).toEqual([key]);
  });
});

describe('proofs by the person', () => {
  it('are fresh at the time of the last one; a device key does not count', () => {
    expect(freshAt([])).toBeNull();
    expect(freshAt([key])).toBeNull();
    expect(freshAt([mail, key])).toEqual(new Date(at(1)));
    expect(freshAt([mail, key, factor('totp')])).toEqual(new Date(at(3)));
    expect(freshAt([mail, recovery, key])).toEqual(new Date(at(4)));
  });

  it('of the mailbox name the sign-ins of their mail codes', () => {
    expect(provedIn([mail, key, factor('email'), { ...mail, ceremony: 'd' }])).toEqual(['c', 'd']);
    expect([has([mail, key], 'device-key'), has([mail], 'device-key')]).toEqual([true, false]);
  });
});

describe('amr', () => {
  it('has mfa for a factor or a recovery code, never for a mailbox alone', () => {
    const table: [Evidence[], string[]][] = [
      [[key], ['swk']],
      [
        [mail, key],
        ['swk', 'otp'],
      ],
      [
        [key, factor('totp')],
        ['swk', 'otp', 'mfa'],
      ],
      [
        [mail, key, factor('totp')],
        ['swk', 'otp', 'mfa'],
      ],
      [
        [key, factor('sms')],
        ['swk', 'sms', 'mfa'],
      ],
      [
        [mail, key, factor('sms')],
        ['swk', 'sms', 'mfa'],
      ],
      [
        [key, factor('email')],
        ['swk', 'otp', 'mfa'],
      ],
      [
        [mail, key, factor('email')],
        ['swk', 'otp'],
      ],
      [
        [key, recovery],
        ['swk', 'otp', 'mfa'],
      ],
      [
        [mail, key, recovery],
        ['swk', 'otp', 'mfa'],
      ],
    ];
    for (const [evidence, amr] of table)
      expect([evidence.map(({ kind }) => kind), amrOf(evidence)]).toEqual([evidence.map(({ kind }) => kind), amr]);
  });
});

describe('the next requirement of a sign-in', () => {
  it('is a device first, regardless of other evidence', () => {
    expect(nextRequirement([], context())).toBe('device');
    expect(nextRequirement([mail, factor('totp'), recovery], context({ factors: ['totp'] }))).toBe('device');
  });

  it('is the enrolled factor, under every policy', () => {
    for (const policy of ['off', 'optional', 'required'] as const) {
      const mine = context({ policy, factors: ['totp'] });
      expect([policy, nextRequirement([mail, key], mine)]).toEqual([policy, 'factor']);
      expect([policy, nextRequirement([key], mine)]).toEqual([policy, 'factor']);
      expect([policy, nextRequirement([key, factor('totp')], mine)]).toEqual([policy, 'nothing']);
      expect([policy, nextRequirement([key, recovery], mine)]).toEqual([policy, 'nothing']);
    }
    // Email is sufficient if no factor is required.
    for (const policy of ['off', 'optional'] as const) {
      const mine = context({ policy, factors: ['email'], emailFactor: false });
      expect([nextRequirement([key], mine), nextRequirement([key, factor('email')], mine)]).toEqual([
        'factor',
        'nothing',
      ]);
    }
  });

  it('is skipped by a remembered device only, and not if a proof by the person is required', () => {
    const remembered = context({ factors: ['sms'], skipsFactor: true });
    expect(nextRequirement([key], remembered)).toBe('nothing');
    expect(nextRequirement([key], { ...remembered, personRequired: true })).toBe('factor');
    expect(nextRequirement([key, factor('sms')], { ...remembered, personRequired: true })).toBe('nothing');
  });

  it('is a mail code if a proof by the person is required and there is no factor', () => {
    expect(nextRequirement([key], context({ personRequired: true }))).toBe('mail-code');
    expect(nextRequirement([mail, key], context({ personRequired: true }))).toBe('nothing');
    expect(nextRequirement([key], context())).toBe('nothing');
    expect(nextRequirement([key], context({ skipsFactor: true, personRequired: true }))).toBe('mail-code');
  });

  it('is an enrolment if the project requires a factor and the user has no sufficient one', () => {
    const required = context({ policy: 'required' });
    expect(nextRequirement([mail, key], required)).toBe('enrolment');
    expect(nextRequirement([mail, key, recovery], required)).toBe('enrolment');
    expect(nextRequirement([key], { ...required, factors: ['email'] })).toBe('enrolment');
    expect(nextRequirement([key], { ...required, factors: ['email'], emailFactor: true })).toBe('factor');
    expect(nextRequirement([key], { ...required, factors: ['email', 'totp'] })).toBe('factor');
    // Passing an insufficient factor is not enough.
    expect(nextRequirement([key, factor('email')], { ...required, factors: ['email', 'totp'] })).toBe('factor');
    expect(nextRequirement([key, factor('totp')], { ...required, factors: ['email', 'totp'] })).toBe('nothing');
  });

  it('accepts email as a factor only if the project does', () => {
    const meets = (factors: SignInContext['factors'], emailFactor: boolean) =>
      meetsPolicy({ policy: 'required', factors, emailFactor });
    expect([meets(['email'], false), meets(['email'], true), meets([], true), meets(['sms'], false)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(meetsPolicy({ policy: 'optional', factors: [], emailFactor: false })).toBe(true);
    expect(meetsPolicy({ policy: 'off', factors: [], emailFactor: false })).toBe(true);
  });
});

describe('a recovery grant', () => {
  const lost = context({ policy: 'required', hasPasskey: true });

  it('replaces the passkey or factor together with a mail code only', () => {
    expect([isRecovered([key, grant]), isRecovered([mail, key]), isRecovered([mail, key, grant])]).toEqual([
      false,
      false,
      true,
    ]);
    expect(nextRequirement([mail, key, grant], lost)).toBe('nothing');
    expect(nextRequirement([key, grant], lost)).toBe('passkey');
    expect(nextRequirement([mail, grant], lost)).toBe('device');
    const withTotp = context({ factors: ['totp'] });
    expect(nextRequirement([mail, key, grant], withTotp)).toBe('nothing');
    expect(nextRequirement([key, grant], withTotp)).toBe('factor');
    expect(mayAddPasskey([mail, key, grant], lost)).toBe(true);
    expect(mayAddPasskey([key, grant], lost)).toBe(false);
  });

  it('is not a factor: neither for amr, nor for a required enrolment or an essential passkey', () => {
    expect(amrOf([mail, key, grant])).toEqual(['swk', 'otp']);
    expect(amrOf([key, grant])).toEqual(['swk']);
    expect(nextRequirement([mail, key, grant], context({ policy: 'required' }))).toBe('enrolment');
    expect(nextRequirement([mail, key, grant], { ...lost, needsPasskey: true })).toBe('passkey');
  });
});

describe('a factor that the mailbox added for a user with a passkey', () => {
  it('neither signs in nor adds a passkey', () => {
    const marked: Evidence[] = [
      { ...factor('totp'), kind: 'factor', enrolment: 'e', method: 'totp', besidePasskey: true },
    ];
    for (const evidence of [[key], [mail, key]]) {
      const before = context({ hasPasskey: true, factors: ['mailbox'] });
      expect(nextRequirement(evidence, before)).toBe('passkey');
      expect(nextRequirement([...evidence, ...marked], before)).toBe('passkey');
      expect(mayAddPasskey([...evidence, ...marked], before)).toBe(false);
      expect(nextRequirement(evidence, { ...before, policy: 'required', emailFactor: true, skipsFactor: true })).toBe(
        'passkey',
      );
    }
    expect(mayAddPasskey([mail, key, ...marked], context({ factors: ['totp'] }))).toBe(true);
  });
});

describe('a factor of a user with a passkey', () => {
  it('counts, unless it is the mailbox, which the mail code has proved', () => {
    const mine = context({ hasPasskey: true, factors: ['totp', 'email'] });
    expect([counts('totp', [mail, key], mine), counts('sms', [mail, key], mine)]).toEqual([true, true]);
    expect([counts('email', [mail, key], mine), counts('email', [key], mine)]).toEqual([false, true]);
  });

  it('that is added counts the mailbox once if there is another factor', () => {
    const adding = context({ changesAccount: true, factors: ['email', 'totp'] });
    expect([counts('email', [mail, key], adding), counts('totp', [mail, key], adding)]).toEqual([false, true]);
    expect(counts('email', [mail, key], context({ changesAccount: true, factors: ['email'] }))).toBe(true);
    expect(counts('email', [mail, key], context({ factors: ['email', 'totp'] }))).toBe(true);
  });
});

describe('an email factor of a user with a passkey', () => {
  it('is the mailbox: neither mfa nor another passkey, on any device', () => {
    for (const evidence of [
      [key, factor('email')],
      [mail, key, factor('email')],
    ]) {
      expect(amrOf(evidence, true)).toEqual(['swk', 'otp']);
      expect(mayAddPasskey(evidence, context({ hasPasskey: true, factors: ['email'] }))).toBe(false);
    }
    const adding = context({ hasPasskey: true, factors: ['email'], changesAccount: true, personRequired: true });
    expect([nextRequirement([key], adding), nextRequirement([key, factor('email')], adding)]).toEqual([
      'passkey',
      'passkey',
    ]);
    expect(mayAddPasskey([key, factor('email')], context({ factors: ['email'] }))).toBe(true);
    expect(amrOf([key, factor('totp')], true)).toEqual(['swk', 'otp', 'mfa']);
  });
});

describe('the answer of an organization’s provider about a guest (decisions/0407)', () => {
  const answer: Evidence = {
    ...{ kind: 'federated', account: 'u', at: at(5), connection: 'k', organization: 'o', version: 1, subject: 's' },
    ...{ ceremony: 'f', amr: ['hwk'], acr: null, authTime: at(5), isFresh: true },
  };
  const guest: Evidence = { ...answer, isGuest: true };
  const registered: Evidence = { ...key, isNew: true };

  it('proves nothing of the account, and meets the requirement of the organization', () => {
    expect([vouchedBy([answer]), vouchedBy([guest])]).toEqual([answer, undefined]);
    expect(nextRequirement([answer], context({ connectionOf: 'o' }))).toBe('nothing');
    expect(nextRequirement([guest], context({ connectionOf: 'o' }))).toBe('mail-code');
    expect(nextRequirement([guest, mail], context({ connectionOf: 'o' }))).toBe('nothing');
    expect(nextRequirement([mail, key], context({ connectionOf: 'o' }))).toBe('connection');
    expect([freshAt([guest]), mayAddPasskey([guest], context())]).toEqual([null, false]);
  });

  it.each<[string, Evidence[], string]>([
    ['a device that it registered', [guest, registered], 'mail-code'],
    ['the same device, used again', [guest, registered, key], 'mail-code'],
    ['a second factor', [guest, registered, factor('totp')], 'mail-code'],
    ['a recovery code', [guest, registered, recovery], 'mail-code'],
    ['a device that was trusted before', [guest, key], 'nothing'],
    ['a mail code', [guest, mail], 'nothing'],
  ])('with %s', (_, evidence, expected) => {
    expect(nextRequirement(evidence, context())).toBe(expected);
  });

  it('adds fed to amr, and no method of the provider', () => {
    expect(amrOf([answer])).toEqual(['fed', 'hwk']);
    expect(amrOf([guest, mail])).toEqual(['fed', 'swk', 'otp']);
    expect(amrOf([guest, key])).toEqual(['fed', 'swk']);
  });
});

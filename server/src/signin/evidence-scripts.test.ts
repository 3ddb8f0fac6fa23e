import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tab } from '../../test/walk/browsers.ts';
import type { Open } from '../../test/walk/commands.ts';
import { Processes } from '../../test/walk/processes.ts';
import { errorOf, Script } from '../../test/walk/script.ts';

let processes: Processes;
beforeAll(async () => {
  processes = await Processes.start();
});
afterAll(() => processes.close());

const refused = /^[A-Z_]+$/;
const entries: Open['entry'][] = ['sdk', 'hosted', 'console'];

describe.each(entries)('a code of my own mailbox (%s)', (entry) => {
  it('does not prove the address of another user with which the sign-in continues', async () => {
    const script = await Script.begin(processes);
    const { ann, ben, walker } = script;
    await script.step(await script.open(0, entry), 'authenticate', { userid: ann });
    const mine = await script.open(1, entry);
    await script.step(mine, 'authenticate', { userid: ben });
    const otp = await script.mail(ben);
    await script.step(mine, 'authenticate', { userid: ann });
    expect(errorOf(await script.step(mine, 'verify-email-otp', { userid: ann, otp }))).toMatch(refused);
    await script.step(mine, 'verify-email-otp', { userid: ben, otp });
    expect(errorOf(await script.step(mine, 'verify-device', { userid: ann }))).toMatch(refused);
    await script.step(mine, 'verify-device', { userid: ben });
    expect([...walker.world.model.devices.values()].some(({ user }) => user === script.user(ann))).toBe(false);
  });

  it('does not prove it if a rate limit rejected the other address', async () => {
    const script = await Script.begin(processes);
    const { ann, ben } = script;
    const mine = await script.open(1, entry);
    await script.step(mine, 'authenticate', { userid: ben });
    const otp = await script.mail(ben);
    await script.walker.take({ do: 'spend', pick: 0 });
    script.turn(1);
    expect(errorOf(await script.step(mine, 'authenticate', { userid: ann }))).toBe('RATE_LIMITED');
    expect(errorOf(await script.step(mine, 'verify-email-otp', { userid: ann, otp }))).toMatch(refused);
    expect(errorOf(await script.step(mine, 'verify-device', { userid: ann }))).toMatch(refused);
  });

  it('does not prove another address on processes with different clocks', async () => {
    const script = await Script.begin(processes);
    const { ann, ben } = script;
    processes.skew(0, 2000);
    processes.skew(1, -2000);
    const mine = await script.open(1, entry);
    await script.step(mine, 'authenticate', { userid: ben }, { process: 0 });
    const otp = await script.mail(ben);
    script.turn(1);
    await script.step(mine, 'authenticate', { userid: ann }, { process: 1 });
    for (const process of [0, 1] as const) {
      const answer = await script.step(mine, 'verify-email-otp', { userid: ann, otp }, { process });
      expect(errorOf(answer)).toMatch(refused);
    }
  });
});

describe('the account page', () => {
  it('does not accept the code of one number for another', async () => {
    const script = await Script.begin(processes);
    await script.settings({ scimAuthoritative: false });
    const tab = await script.open(0, 'hosted');
    await script.register(tab, script.ann);
    await script.resume(tab);
    const [, , mine = '', other = ''] = script.world.phones;
    await script.account(0, 'change-phone', { phone: mine });
    const code = await script.mail(mine);
    await script.walker.take({ do: 'spend', pick: 0 });
    await script.account(0, 'change-phone', { phone: other });
    await script.account(0, 'verify-phone', { code });
    expect(script.world.model.user(script.user(script.ann))['phone']).not.toBe(other);
  });

  it('requires user verification, not just a device key', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const tab = await script.open(0, 'hosted');
    await script.register(tab, script.ann);
    await script.resume(tab);
    script.turn(9 * 3600);
    const silent = await script.open(0, 'hosted');
    expect((await script.step(silent, 'authenticate', { userid: script.ann })).json['status']).toBe('SUCCESS');
    await script.resume(silent);
    expect(await script.account(0, 'renew-recovery-codes')).toBe(403);
    expect(await script.account(0, 'change-phone', { phone: script.world.phones[2] ?? '' })).toBe(403);
  });
});

describe('a new address of the account page', () => {
  /** Browsers 0 and 1 of Ann. */
  async function begin(): Promise<Script> {
    const script = await Script.begin(processes);
    for (const browser of [0, 1]) {
      const tab = await script.open(browser, 'hosted');
      await script.register(tab, script.ann);
      await script.resume(tab);
      script.turn(31);
    }
    return script;
  }

  it('is proved by its own code, in the session that requested it', async () => {
    const script = await begin();
    const { ann, world } = script;
    const id = script.user(ann);
    expect(await script.account(0, 'change-email', { email: world.spare })).toBe(303);
    const code = await script.mail(world.spare);
    expect(await script.account(1, 'verify-email', { code })).toBe(400);
    expect(await script.account(0, 'verify-email', { code: '000000' })).toBe(400);
    expect(script.user(ann)).toBe(id);
    expect(await script.account(0, 'verify-email', { code }), script.text).toBe(303);
    expect([script.user(world.spare), script.user(ann)]).toEqual([id, '']);
    const tab = await script.open(2, 'hosted');
    await script.register(tab, world.spare);
    await script.resume(tab);
    expect(script.session(2)?.user).toBe(id);
  });

  it.each([1, 2])('is refused if it leads to another user (%i)', async (holder) => {
    const script = await begin();
    const email = script.world.addresses[holder] ?? '';
    expect(await script.account(0, 'change-email', { email })).toBe(303);
    const code = await script.mail(email);
    expect(await script.account(0, 'verify-email', { code }), script.text).toBe(409);
    expect(script.user(script.ann)).not.toBe('');
  });
});

describe('an authenticator app of the account page', () => {
  /** A browser of Ann adds an app: after a sign-in by mail code, its session may verify it. */
  async function begin(script: Script, browser: number): Promise<string> {
    const { ann } = script;
    await script.account(browser, 'add-authenticator');
    const tab = script.walker.signin.tabs[0] as Tab;
    await script.prove(tab, ann);
    await script.step(tab, 'verify-device', { userid: ann });
    await script.resume(tab);
    return (await script.app(browser)) ?? '';
  }

  it('is verified in the session that began it, and later sign-ins ask for it', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    for (const browser of [0, 1]) {
      const tab = await script.open(browser, 'hosted');
      await script.register(tab, ann);
      await script.resume(tab);
      script.turn(31);
    }
    const secret = await begin(script, 0);
    expect(secret, script.text).not.toBe('');
    expect(await script.app(1)).toBeUndefined();
    expect(await script.account(1, 'verify-authenticator', { code: script.totp(secret) })).toBe(409);
    expect(script.world.model.factorsOf(script.user(ann))).toEqual([]);
    expect(await script.account(0, 'verify-authenticator', { code: '000000' })).toBe(400);
    expect(await script.account(0, 'verify-authenticator', { code: script.totp(secret) })).toBe(200);
    expect(script.world.model.factorsOf(script.user(ann))).toHaveLength(1);
    script.turn(9 * 3600);
    const next = await script.open(1, 'hosted');
    expect((await script.step(next, 'authenticate', { userid: ann })).json['method'], script.text).toBe('totp');
  });

  it('cannot be added after a sign-in by mail code alone if the person has another factor', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    const tab = await script.open(0, 'hosted');
    await script.register(tab, ann);
    await script.resume(tab);
    script.turn(31);
    const secret = await begin(script, 0);
    await script.account(0, 'verify-authenticator', { code: script.totp(secret) });
    script.turn(31);
    expect(await begin(script, 0), script.text).toBe('');
  });
});

describe('a device of a user whom the directory deactivates', () => {
  it('is trusted again after the activation, but its remembered factor is cleared', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const { ann } = script;
    await script.register(await script.open(0), ann);
    await script.patch(ann, { active: false });
    script.turn(31);
    expect((await script.step(await script.open(0), 'authenticate', { userid: ann })).json['status']).toBe('ERROR');
    await script.patch(ann, { active: true });
    script.turn(31);
    expect((await script.step(await script.open(0), 'authenticate', { userid: ann })).json['status']).toBe('SUCCESS');
  });

  it('is not trusted for another login address', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const { ann } = script;
    await script.register(await script.open(0), ann);
    await script.patch(ann, { active: false });
    await script.patch(ann, {
      userName: `next-${ann}`,
      emails: [{ value: `next-${ann}`, type: 'work', primary: true }],
    });
    const user = script.user(`next-${ann}`);
    await script.walker.step(() => script.walker.admin.patch(0, script.first, user, { active: true }, 'next'));
    expect([...script.world.model.devices.values()].filter((device) => device.user === user)).toEqual([]);
  });
});

/** Pages of the users of a directory; the account page signs in through the hosted one. */
const pagesOfUsers = entries.filter((entry) => entry !== 'console');

describe.each(pagesOfUsers)('a user name that moves while its code is in transit (%s)', (entry) => {
  it('signs in neither the old nor the new holder', async () => {
    const script = await Script.begin(processes);
    const { ann, carl } = script;
    const tab = await script.open(0, entry);
    await script.step(tab, 'authenticate', { userid: ann });
    const otp = await script.mail(ann);
    const [annId, carlId] = [script.user(ann), script.user(carl)];
    const work = (value: string) => ({ emails: [{ value, type: 'work', primary: true }] });
    await script.patch(ann, { userName: 'former', ...work('former@example.com') });
    expect(script.user(ann)).toBe('');
    await script.patch(carl, { userName: ann, ...work(ann) });
    expect(script.user(ann)).toBe(carlId);
    expect(errorOf(await script.step(tab, 'verify-email-otp', { userid: ann, otp }))).toMatch(refused);
    expect(errorOf(await script.step(tab, 'verify-device', { userid: ann }))).toMatch(refused);
    const registered = [...script.world.model.devices.values()].map(({ user }) => user);
    expect(registered.filter((user) => user === annId || user === carlId)).toEqual([]);
  });

  it('sends the code only to this address', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    const tab = await script.open(0, entry);
    await script.step(tab, 'authenticate', { userid: ann });
    const next = `next-${ann}`;
    await script.patch(ann, { emails: [{ value: next, type: 'work', primary: true }] });
    expect(await script.mail(next)).toBe('');
  });
});

describe('ending a credential ends pending work', () => {
  const endings: [string, (script: Script) => Promise<void>][] = [
    ['END_SESSIONS', (script) => script.admin('END_SESSIONS', script.ann)],
    ['RESET_FACTORS', (script) => script.admin('RESET_FACTORS', script.ann)],
    ['DEACTIVATE', (script) => script.admin('DEACTIVATE', script.ann)],
    [
      'a new login address',
      (script) => script.patch(script.ann, { emails: [{ value: `next-${script.ann}`, type: 'work', primary: true }] }),
    ],
    [
      'a new phone number',
      (script) =>
        script.patch(script.ann, { phoneNumbers: [{ value: script.world.phones[3], type: 'mobile', primary: true }] }),
    ],
    [
      'the revocation of a device',
      (script) =>
        script.walker.step(() => script.walker.admin.people({ app: 0, project: 0, person: 0, action: 4, pick: 2 })),
    ],
  ];

  describe.each(pagesOfUsers)('at a page of %s', (entry) => {
    it.each(endings)('%s: a transaction that had proved a mail code', async (_name, end) => {
      const script = await Script.begin(processes);
      const { ann } = script;
      await script.register(await script.open(2), ann);
      script.turn(31);
      const tab = await script.open(1, entry);
      await script.prove(tab, ann);
      await end(script);
      expect(errorOf(await script.step(tab, 'verify-device', { userid: ann }))).toMatch(refused);
    });
  });

  it.each(endings)('%s: a code and an access token', async (_name, end) => {
    const script = await Script.begin(processes);
    await script.register(await script.open(2), script.ann);
    await script.exchange();
    expect(script.last).toContain('200');
    script.turn(31);
    await script.step(await script.open(2), 'authenticate', { userid: script.ann });
    await end(script);
    await script.exchange();
    expect(script.last).not.toContain(': 200');
    await script.userInfo();
    expect(script.last).not.toContain(': 200');
  });

  it('a revoked key gets an error, and can never register again', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    await script.register(await script.open(0), ann);
    script.turn(31);
    await endings[5]?.[1](script);
    const tab = await script.open(0);
    const asked = await script.step(tab, 'authenticate', { userid: ann }, { proves: false });
    expect(asked.json['status']).toBe('OTP_NEEDED');
    await script.step(tab, 'verify-email-otp', { userid: ann, otp: await script.mail(ann) });
    expect(errorOf(await script.step(tab, 'verify-device', { userid: ann })), script.text).toBe('DEVICE_REVOKED');
  });
});

describe('a second factor', () => {
  it('cannot be replaced with the device key alone', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    await script.register(await script.open(0), ann, { mfa_method: 'totp' });
    script.turn(31);
    const copied = await script.open(0);
    await script.step(copied, 'authenticate', { userid: ann });
    const mine = { userid: ann, mfa_method: 'sms', phone_number: script.world.phones[3] };
    expect(errorOf(await script.step(copied, 'verify-device', mine))).toMatch(refused);
  });

  it('that is added does not count as step-up', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    await script.register(await script.open(0), ann, { mfa_method: 'totp' });
    script.turn(31);
    const copied = await script.open(0);
    await script.step(copied, 'authenticate', { userid: ann, step_up: 'change_phone_number' });
    await script.step(copied, 'verify-device', { userid: ann, mfa_method: 'totp' });
    const fields = { userid: ann, phone_number: script.world.phones[3] };
    expect(errorOf(await script.step(copied, 'change-phone-number', fields))).toMatch(refused);
  });
});

describe('freshness', () => {
  it.each(['login', 'now', 'minutes'] as const)('%s is not met by a device key', async (ask) => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const { ann } = script;
    const tab = await script.open(0, 'hosted');
    await script.register(tab, ann);
    await script.resume(tab);
    script.turn(9 * 3600);
    const silent = await script.open(0, 'hosted', { ask });
    const answer = await script.step(silent, 'authenticate', { userid: ann });
    expect(answer.json['status']).toBe('OTP_NEEDED');
    await script.resume(silent);
    expect(script.last).not.toContain('with code');
    await script.step(silent, 'verify-email-otp', { userid: ann, otp: await script.mail(ann) });
    await script.step(silent, 'verify-device', { userid: ann });
    await script.resume(silent);
    expect(script.last).toContain('with code');
  });

  it('max_age is not met by a new session from a device key', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const { ann, walker } = script;
    const tab = await script.open(0, 'hosted');
    await script.register(tab, ann);
    await script.resume(tab);
    script.turn(9 * 3600);
    const silent = await script.open(0, 'hosted');
    await script.step(silent, 'authenticate', { userid: ann });
    await script.resume(silent);
    await walker.take({ do: 'authorize', app: 0, browser: 0, client: 0, ask: 'minutes', access: 'base' });
    expect(script.last).toContain('to /signin');
  });

  it('of the console is not met by a device key', async () => {
    const script = await Script.begin(processes);
    const { ann, walker } = script;
    const tab = await script.open(0, 'console');
    await script.register(tab, ann);
    await walker.take({ do: 'console', app: 0, browser: 0, operation: 1 });
    expect(script.last).toContain('done');
    script.turn(9 * 3600);
    await script.step(await script.open(0, 'console'), 'authenticate', { userid: ann });
    await walker.take({ do: 'console', app: 0, browser: 0, operation: 0 });
    expect(script.last).toContain('done');
    await walker.take({ do: 'console', app: 0, browser: 0, operation: 1 });
    expect(script.last).toContain('refused');
  });
});

describe('a policy is evaluated at use', () => {
  it('a shorter trust period of devices', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const { ann } = script;
    await script.register(await script.open(0), ann);
    script.turn(7200);
    await script.settings({ deviceTrustSeconds: 3600 });
    const answer = await script.step(await script.open(0), 'authenticate', { userid: ann });
    expect(answer.json['status']).toBe('OTP_NEEDED');
  });

  it('a shorter period for remembered factors', async () => {
    const script = await Script.begin(processes, { rememberMfaSeconds: 86_400 });
    const { ann } = script;
    const tab = await script.open(0);
    await script.register(tab, ann, { mfa_method: 'totp' });
    const then = await script.proceed(tab, ann);
    const otp = script.totp(then.reply.json['totp']?.secret ?? '');
    await script.step(then.tab, 'verify-mfa', { userid: ann, otp, remember_me: true });
    script.turn(3600);
    const skips = await script.step(await script.open(0), 'authenticate', { userid: ann });
    expect(skips.json['status']).toBe('SUCCESS');
    await script.settings({ rememberMfaSeconds: 60 });
    const asks = await script.step(await script.open(0), 'authenticate', { userid: ann });
    expect(asks.json['status']).toBe('MFA_REQUIRED');
  });

  it('REQUIRED, for sessions of users without a factor', async () => {
    const script = await Script.begin(processes, { mfaPolicy: 'off' });
    const { ann, walker } = script;
    const tab = await script.open(0, 'hosted');
    await script.register(tab, ann);
    await script.resume(tab);
    await script.settings({ mfaPolicy: 'required' });
    await walker.take({ do: 'authorize', app: 0, browser: 0, client: 0, ask: 'plain', access: 'base' });
    expect(script.last).toContain('to /signin');
  });

  it('REQUIRED, for a session of the console', async () => {
    const script = await Script.begin(processes);
    const { ann, walker } = script;
    await script.register(await script.open(0, 'console'), ann);
    await script.settings({ mfaPolicy: 'required' }, script.world.console);
    await walker.take({ do: 'console', app: 0, browser: 0, operation: 0 });
    expect(script.last).toContain('refused');
  });

  it('a factor that is no longer offered, for a pending enrolment', async () => {
    const script = await Script.begin(processes);
    const { ann } = script;
    const tab = await script.open(0);
    await script.register(tab, ann, { mfa_method: 'totp' });
    const then = await script.proceed(tab, ann);
    await script.settings({ offeredFactors: ['sms'] });
    const otp = script.totp(then.reply.json['totp']?.secret ?? '');
    expect(errorOf(await script.step(then.tab, 'verify-mfa', { userid: ann, otp }))).toMatch(refused);
  });
});

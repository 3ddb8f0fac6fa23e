/** Recovery grants of admins (decisions/0108), and each row of the recovery table in docs/incidents.md. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Visit } from '../../test/account-visit.ts';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import type { StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { type Actor, system } from '../domain/kernel/actor.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests();
const admin: Actor = { kind: 'user', id: '00000000-0000-7000-8000-0000000000ad', name: 'admin@example.com' };
let userid: string;
let authenticator: SoftAuthenticator;

beforeEach(() => {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
});

async function open(hosted = new HostedBrowser(world, authenticator)): Promise<HostedBrowser> {
  world.app.clock.turn(31);
  await hosted.open();
  return hosted;
}

/** A user with a passkey, and the browser that added it. */
async function withPasskey(): Promise<HostedBrowser> {
  const hosted = await open();
  expectStatus(await hosted.register(userid), 'SUCCESS');
  expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  return hosted;
}

const idOf = async () => (await world.findUser(userid))?.id ?? '';

async function grant(hours = 1): Promise<string> {
  const requested = { reason: 'Lost the security key; called back.', hours };
  return (await world.app.services.recoveries.grant(world.project.id, await idOf(), requested, admin)).code;
}

const passed = (hours = 1) => world.app.clock.turn(hours * 3600);

/** Signs in by mail code in a new browser, up to the prompt for the passkey or factor. */
async function asked(): Promise<HostedBrowser> {
  const hosted = await open();
  await world.verifyAddress(hosted.page, userid);
  expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
  expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  return hosted;
}

const enter = async (hosted: HostedBrowser, otp: string) =>
  hosted.keep(await hosted.page.step('verify-mfa', { userid, otp }, 'use'));

/** The account page in the browser that has just signed in. */
async function visitOf(hosted: HostedBrowser, done: StepAnswer): Promise<Visit> {
  await hosted.follow(done);
  const secret = hosted.browser.cookies.get(`lk-session-${world.project.id}`) ?? '';
  return new Visit(world.app.url, world.project.id, { id: '', secret });
}

const passkeys = async () => {
  const { db, passkeys } = world.app.services;
  return passkeys.list(db.reader(), { projectId: world.project.id, userId: await idOf() });
};

const cancelLink = async () => {
  await world.app.runJobs();
  const mail = world.app.mailbox.findLast(({ to, text }) => to === userid && text.includes('/account/recovery'));
  return new URL(/https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '');
};

describe('a recovery grant', () => {
  beforeEach(async () => {
    await withPasskey();
    await world.set({ mfaPolicy: 'required' });
  });

  it('replaces the passkey, once, together with a mail code, and is not a second factor', async () => {
    const code = await grant();
    passed();
    const hosted = await asked();
    const done = expectStatus(await enter(hosted, code.toUpperCase()), 'SUCCESS');
    expect(await hosted.claims(done)).toMatchObject({ amr: ['swk', 'otp'], sub: await idOf() });
    const again = await asked();
    expect(await enter(again, code)).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await world.events()).toEqual(expect.arrayContaining(['recovery.granted', 'recovery.used']));
    // The device that it registered is not trusted because of it.
    hosted.browser.cookies.clear();
    const trusted = await open(hosted);
    await trusted.page.challenge();
    expectStatus(await trusted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
  });

  it('finishes one sign-in if it is used in twenty concurrent requests', async () => {
    const code = await grant();
    passed();
    const all = [await asked(), await asked(), await asked(), await asked()];
    const answers = await Promise.all(all.flatMap((hosted) => Array.from({ length: 5 }, () => enter(hosted, code))));
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
  });

  it('works only after its waiting time, and expires a day later', async () => {
    const code = await grant(2);
    const early = await asked();
    expect(await enter(early, code)).toMatchObject(refusal('CODE_REJECTED', 400));
    passed(2);
    passed(24);
    expect(await enter(await asked(), code)).toMatchObject(refusal('CODE_REJECTED', 400));
    await world.app.services.recoveries.expire();
    await world.app.services.recoveries.expire();
    expect((await world.events()).filter((type) => type.startsWith('recovery.'))).toEqual([
      'recovery.granted',
      'recovery.expired',
    ]);
  });

  it('is not enough on a trusted device alone: a mail code is required', async () => {
    const hosted = await asked();
    const code = await grant();
    passed();
    const trusted = await open(hosted);
    await trusted.page.challenge();
    const answer = await trusted.page.step('authenticate', { userid }, 'use');
    expectStatus(answer, 'OTP_NEEDED');
    expect(await enter(trusted, code)).toMatchObject(refusal('OUT_OF_ORDER', 409));
    const otp = await world.codeFor(userid);
    expectStatus(await trusted.page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    expectStatus(await trusted.page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await trusted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expectStatus(await enter(trusted, code), 'SUCCESS');
  });

  it('of one user, project or time does not count for another', async () => {
    const code = await grant();
    passed();
    userid = newAddress();
    authenticator = new SoftAuthenticator();
    await world.set({ mfaPolicy: 'optional' });
    await withPasskey();
    await world.set({ mfaPolicy: 'required' });
    expect(await enter(await asked(), code)).toMatchObject(refusal('CODE_REJECTED', 400));
    const newer = await grant();
    const newest = await grant();
    passed();
    expect(await enter(await asked(), newer)).toMatchObject(refusal('CODE_REJECTED', 400));
    expectStatus(await enter(await asked(), newest), 'SUCCESS');
  });

  it('leads to a new passkey if one is required, and is used with it or not at all', async () => {
    const code = await grant();
    await world.set({ passkeyPolicy: 'required' });
    passed();
    authenticator = new SoftAuthenticator();
    const hosted = await asked();
    expectStatus(await enter(hosted, code), 'PASSKEY_ENROLLMENT_NEEDED');
    expect(await enter(await asked(), code)).toMatchObject(refusal('CODE_REJECTED', 400));
    const done = expectStatus(await hosted.addPasskey(), 'SUCCESS');
    expect(await hosted.claims(done)).toMatchObject({ amr: ['swk', 'otp'] });
    expect(await passkeys()).toHaveLength(2);
  });

  it('allows five attempts per sign-in', async () => {
    const code = await grant();
    passed();
    const hosted = await asked();
    for (let tries = 0; tries < 5; tries += 1) {
      expect(await enter(hosted, 'aaaa-aaaa-aaaa-aaaa')).toMatchObject(refusal('CODE_REJECTED', 400));
    }
    expect(await enter(hosted, code)).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it.each([
    ['deactivation', () => world.app.services.accountAccess.deactivate(world.project.id, id, system)],
    ['a reset of factors', () => world.app.services.accountAccess.resetFactors(world.project.id, id, system)],
    ['a cancellation', () => world.app.services.recoveries.cancel(world.project.id, id, system)],
    [
      'another login address',
      () => {
        const userName = (userid = newAddress());
        const emails = [{ value: userid, type: 'work', primary: true }];
        return world.app.services.accounts.change(
          world.project.id,
          id,
          (current) => ({ ...valuesOf(current), userName, attributes: { ...current.attributes, emails } }) as never,
          system,
        );
      },
    ],
  ])('ends with %s', async (_, end) => {
    id = await idOf();
    const code = await grant();
    passed();
    await end();
    await world.app.services.accountAccess.activate(world.project.id, id, system);
    expect(await enter(await asked(), code)).toMatchObject(refusal('CODE_REJECTED', 400));
  });
  let id: string;

  it('is announced at all addresses, in the language of the user, with a link that cancels it', async () => {
    id = await idOf();
    const other = newAddress();
    const emails = [
      { value: userid, type: 'work', primary: true },
      { value: other, type: 'home' },
    ];
    await world.app.services.accounts.change(
      world.project.id,
      id,
      (current) =>
        ({ ...valuesOf(current), attributes: { ...current.attributes, emails, preferredLanguage: 'de_AT' } }) as never,
      system,
    );
    const code = await grant();
    passed();
    for (const to of [userid, other]) {
      expect(await world.subjectsFor(to)).toContain('Kontowiederherstellung für Example begonnen');
    }
    const link = await cancelLink();
    // A mail scanner opens the link.
    for (let opened = 0; opened < 2; opened += 1) {
      const page = await fetch(link);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Cancel the recovery')]);
    }
    const cancel = (body: Record<string, string>) =>
      fetch(`${link.origin}${link.pathname}`, { method: 'POST', body: new URLSearchParams(body) });
    const all = Object.fromEntries(link.searchParams);
    expect((await cancel({ ...all, cancel: 'x' })).status).toBe(404);
    expect((await cancel({ ...all, project: crypto.randomUUID() })).status).toBe(404);
    expect((await cancel({})).status).toBe(404);
    const done = await cancel(all);
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('The recovery is cancelled')]);
    expect((await cancel(all)).status).toBe(404);
    expect((await fetch(link)).status).toBe(404);
    expect(await world.events()).toContain('recovery.cancelled');
    expect(await enter(await asked(), code)).toMatchObject(refusal('CODE_REJECTED', 400));
  });

  it('can be cancelled on the account page, and its use is announced', async () => {
    const hosted = await open();
    const visit = await visitOf(hosted, expectStatus(await hosted.usePasskey(), 'SUCCESS'));
    await grant();
    expect(await visit.page()).toContain('Cancel the recovery');
    await visit.change('cancel-recovery');
    expect(await visit.page()).not.toContain('Cancel the recovery');
    const code = await grant();
    passed();
    expectStatus(await enter(await asked(), code), 'SUCCESS');
    const subjects = await world.subjectsFor(userid);
    expect(subjects.some((subject) => subject.startsWith('Account recovery was used'))).toBe(true);
  });

  it('is refused if the reason is missing, the waiting time is not offered, or the user cannot get mail', async () => {
    const { recoveries, admissions } = world.app.services;
    const [project, user] = [world.project.id, await idOf()];
    const tried = (userId: string, reason: string, hours: number) =>
      recoveries
        .grant(project, userId, { reason, hours }, admin)
        .catch((error) => error.problem?.field ?? error.problem?.code);
    expect(await tried(user, ' ', 1)).toBe('reason');
    expect(await tried(user, 'x'.repeat(501), 1)).toBe('reason');
    for (const hours of [0, 73, 1.5]) expect(await tried(user, 'x', hours)).toBe('waitHours');
    expect(await tried(crypto.randomUUID(), 'x', 1)).toBe('not-found');
    const values = { userName: `badge-${crypto.randomUUID()}`, active: true, attributes: {} } as never;
    const { id: mute } = await admissions.provision(project, values, system);
    expect(await tried(mute, 'x', 1)).toBe('userId');
    expect((await world.events()).filter((type) => type === 'recovery.granted')).toEqual([]);
  });

  it('keeps its code and its link out of the database and the events', async () => {
    const code = await grant();
    const secret = (await cancelLink()).searchParams.get('cancel') ?? '';
    const dump = JSON.stringify([
      await world.app.services.db.reader().execute('select * from recovery_grants'),
      await world.app.services.db.reader().execute('select detail from audit_log'),
    ]);
    for (const text of [code, code.replaceAll('-', ''), secret]) expect(dump).not.toContain(text);
  });
});

describe('a user who lost', () => {
  it('a device revokes it after a mail code on another one', async () => {
    const lost = await open();
    expectStatus(await lost.register(userid), 'SUCCESS');
    const hosted = await open();
    const visit = await visitOf(hosted, expectStatus(await hosted.register(userid), 'SUCCESS'));
    const { db, devices } = world.app.services;
    const all = await devices.list(db.reader(), { projectId: world.project.id, userId: await idOf() });
    await visit.change('revoke-device', { id: all.at(-1)?.id ?? '' });
    await open(lost);
    await lost.page.challenge();
    expectStatus(await lost.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('a passkey, and has another second factor, removes it with that', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const first = await open();
    const { secret, done } = await world.enrolTotp(first.page, userid);
    first.keep(done);
    expectStatus(await first.addPasskey(), 'PASSKEY_REGISTERED');
    const [lost] = await passkeys();
    const hosted = await open();
    await world.verifyAddress(hosted.page, userid);
    expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    await world.meetFactor(hosted.page, userid);
    const visit = await visitOf(hosted, expectStatus(await enter(hosted, world.totp(secret)), 'SUCCESS'));
    const removed = await visit.change('revoke-device', { id: lost?.id ?? '' });
    expect(removed.headers.get('location')).toContain('saved');
    expect(await passkeys()).toEqual([]);
  });

  it('the only passkey, adds another with a grant and removes the lost one', async () => {
    await withPasskey();
    await world.set({ mfaPolicy: 'required' });
    const [lost] = await passkeys();
    const code = await grant();
    passed();
    authenticator = new SoftAuthenticator();
    const hosted = await asked();
    const done = expectStatus(await enter(hosted, code), 'SUCCESS');
    expect(done['passkey_offer']).toBe(true);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    const visit = await visitOf(hosted, done);
    const removed = await visit.change('revoke-device', { id: lost?.id ?? '' });
    expect(removed.headers.get('location')).toContain('saved');
    expect((await passkeys()).map(({ id }) => id)).not.toContain(lost?.id);
    expectStatus(await (await open()).usePasskey(), 'SUCCESS');
    // The grant allowed it for five minutes, in this session.
    world.app.clock.turn(301);
    const [left] = await passkeys();
    expect((await visit.change('revoke-device', { id: left?.id ?? '' })).status).toBe(403);
  });

  it('the only passkey, if no second factor is required, begins on the account page', async () => {
    await withPasskey();
    const [lost] = await passkeys();
    const code = await grant();
    passed();
    authenticator = new SoftAuthenticator();
    const hosted = await open();
    const visit = await visitOf(hosted, expectStatus(await hosted.register(userid), 'SUCCESS'));
    expect((await visit.change('revoke-device', { id: lost?.id ?? '' })).status).toBe(403);
    world.app.clock.turn(31);
    const asking = await visit.change('add-passkey');
    for (const [name, value] of visit.browser.cookies) hosted.browser.cookies.set(name, value);
    await hosted.show(new URL(asking.headers.get('location') ?? '', world.app.url));
    await world.verifyAddress(hosted.page, userid);
    expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'DEVICE_REGISTERED');
    const required = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(required['method']).toBe('passkey');
    expect(expectStatus(await enter(hosted, code), 'SUCCESS')['passkey_offer']).toBe(true);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  });

  it('an authenticator app and the recovery codes, removes it with a grant', async () => {
    await world.set({ mfaPolicy: 'optional', passkeyPolicy: 'off' });
    await world.enrolTotp(await world.page(), userid);
    const code = await grant();
    passed();
    const hosted = await asked();
    const done = expectStatus(await enter(hosted, code), 'SUCCESS');
    const visit = await visitOf(hosted, done);
    const { db, mfa } = world.app.services;
    const [factor] = await mfa.factors(db.reader(), (await world.findUser(userid)) as never);
    expect((await visit.change('remove-factor', { id: factor?.id ?? '' })).headers.get('location')).toContain('saved');
  });

  it('the mailbox, signs in by passkey, and at a new address after the directory has changed it', async () => {
    await withPasskey();
    const id = await idOf();
    const userName = newAddress();
    const emails = [{ value: userName, type: 'work', primary: true }];
    await world.app.services.accounts.change(
      world.project.id,
      id,
      (current) => ({ ...valuesOf(current), userName, attributes: { ...current.attributes, emails } }) as never,
      system,
    );
    userid = userName;
    const hosted = await open();
    expect(await hosted.claims(expectStatus(await hosted.usePasskey(), 'SUCCESS'))).toMatchObject({ sub: id });
    const other = await open();
    expect(await other.claims(expectStatus(await other.register(userid), 'SUCCESS'))).toMatchObject({ sub: id });
  });

  it('everything, needs the directory for the mailbox and a grant for the rest', async () => {
    await withPasskey();
    await world.set({ mfaPolicy: 'required' });
    const id = await idOf();
    const userName = newAddress();
    const emails = [{ value: userName, type: 'work', primary: true }];
    await world.app.services.accounts.change(
      world.project.id,
      id,
      (current) => ({ ...valuesOf(current), userName, attributes: { ...current.attributes, emails } }) as never,
      system,
    );
    userid = userName;
    const code = await grant();
    passed();
    authenticator = new SoftAuthenticator();
    const hosted = await asked();
    const done = expectStatus(await enter(hosted, code), 'SUCCESS');
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    expect(await hosted.claims(done)).toMatchObject({ sub: id });
  });
});

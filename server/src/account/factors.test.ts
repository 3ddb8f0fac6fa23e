import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { changed } from '../../test/rows.ts';
import { otherCode, SigninWorld } from '../../test/signin-world.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { visitOf, registeredUser, giveFactor } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();
const isThere = async (factor: Enrolment) => (await reader().count(Enrolment, { id: factor.id })) === 1;
const locationOf = (response: Response) => response.headers.get('location') ?? '';

describe('a second factor', () => {
  it('is removed after a fresh sign-in with a factor; the user is notified by email', async () => {
    const { address, user } = await registeredUser();
    const factor = await giveFactor(user);
    const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
    expect(await visit.page()).toContain('Remove this second step');
    expect(locationOf(await visit.change('remove-factor', { id: factor.id }))).toContain('saved');
    expect(await isThere(factor)).toBe(false);
    expect(await world.subjectsFor(address)).toContain('Second step changed for Example');
    expect(await world.events()).toContain('mfa.removed');
    expect((await visit.change('remove-factor', { id: factor.id })).status).toBe(303);
    expect((await world.events()).filter((type) => type === 'mfa.removed')).toHaveLength(1);
  });

  it('is kept if the sign-in is older than five minutes, without a code, or without a factor', async () => {
    const { device, user } = await registeredUser();
    const factor = await giveFactor(user);
    const old = await visitOf(user, ['swk', 'otp', 'mfa']);
    app.clock.turn(5 * 60 + 1);
    const silent = await visitOf(user, ['swk', 'otp', 'mfa'], device.id, 'device-key');
    for (const visit of [old, silent, await visitOf(user, ['swk', 'otp'])]) {
      expect(await visit.page()).toContain('confirm that it is you');
      for (const change of ['remove-factor', 'renew-recovery-codes']) {
        const response = await visit.change(change, { id: factor.id });
        expect(response.status).toBe(403);
        expect(await response.text()).toContain('confirm that it is you');
      }
    }
    expect(await isThere(factor)).toBe(true);
    expect(await app.services.mfa.recoveryCodes.left(reader(), user)).toBe(0);
  });

  it('by email alone is removed after a mail code: both prove the same mailbox', async () => {
    const { user } = await registeredUser();
    const factor = await giveFactor(user, 'email');
    const visit = await visitOf(user, ['swk', 'otp']);
    expect(locationOf(await visit.change('remove-factor', { id: factor.id }))).toContain('saved');
    expect(await isThere(factor)).toBe(false);
  });

  it('by SMS is shown with the number that its codes go to: the directory’s, if the directory is authoritative', async () => {
    await world.begin({ scimEnabled: true, scimAuthoritative: true });
    const { user, visit } = await registeredUser();
    const factor = await giveFactor(user, 'sms');
    await giveFactor(user);
    const { db } = app.services;
    await changed(db, 'update enrolments set phone = ? where id = ?', ['+41791110011', factor.id]);
    await changed(db, 'update users set phone = ? where id = ?', ['+41791110022', user.id]);
    // One is the phone number of the profile.
    const shown = async () => (await visit.page()).match(/…00(11|22)/g);
    expect((await shown())?.sort()).toEqual(['…0011', '…0022']);
    await changed(db, "update users set provenance = 'scim' where id = ?", [user.id]);
    expect(await shown()).toEqual(['…0022', '…0022']);
  });

  it('is removed together with remembered browsers, and with recovery codes only if it is the last one', async () => {
    const { user } = await registeredUser();
    const [first, last] = [await giveFactor(user), await giveFactor(user, 'sms')];
    const { db, mfa } = app.services;
    const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
    await visit.change('renew-recovery-codes');
    const until = new Date(app.clock.now().getTime() + 3600_000);
    await changed(db, 'update credentials set mfa_remembered_until = ? where user_id = ?', [until, user.id]);
    for (const [factor, left] of [
      [first, 10],
      [last, 0],
    ] as const) {
      expect(locationOf(await visit.change('remove-factor', { id: factor.id }))).toContain('saved');
      expect(await mfa.recoveryCodes.left(reader(), user)).toBe(left);
      const remembered = 'update credentials set mfa_remembered_until = null where mfa_remembered_until = ?';
      expect(await changed(db, remembered, [until])).toBe(0);
    }
  });

  it('of another user is kept', async () => {
    const victim = await registeredUser();
    const factor = await giveFactor(victim.user);
    await (await registeredUser()).visit.change('remove-factor', { id: factor.id });
    expect(await isThere(factor)).toBe(true);
  });
});

describe('the phone number', () => {
  let serial = 0;
  const phone = () => `+4917066${String(++serial).padStart(5, '0')}`;
  const phoneOf = async (user: User) => (await reader().findOneOrFail(User, { id: user.id })).phone ?? null;

  it('changes once the new one is verified; the user is notified by email and at the old number', async () => {
    const { address, user, visit } = await registeredUser();
    expect(await visit.page()).toContain('Add a number');
    const [old, number] = [phone(), phone()];
    for (const to of [old, number]) {
      const before = await phoneOf(user);
      app.clock.turn(31);
      const asked = await visit.change('change-phone', { phone: ` ${to.slice(0, 6)} ${to.slice(6)} ` });
      expect([asked.status, locationOf(asked)]).toEqual([303, `/account?project=${world.project.id}#phone`]);
      expect(await visit.page()).toContain(`…${to.slice(-4)}`);
      const code = await world.codeFor(to);
      const wrong = await visit.change('verify-phone', { code: otherCode(code) });
      expect(wrong.status).toBe(400);
      expect(await wrong.text()).toContain('This code is wrong');
      expect(await phoneOf(user)).toBe(before);
      expect(locationOf(await visit.change('verify-phone', { code: ` ${code}` }))).toContain('saved');
      expect(await phoneOf(user)).toBe(to);
    }
    expect((await visit.change('verify-phone', { code: '000000' })).status).toBe(400);
    expect(await world.subjectsFor(address)).toContain('Phone number changed for Example');
    expect(app.mailbox.filter(({ to, text }) => to === old && text.includes('was changed'))).toHaveLength(1);
    expect((await world.events()).filter((type) => type === 'user.phone_changed')).toHaveLength(2);
    expect(await visit.page()).not.toContain(number);
  });

  it('does not change without a fresh sign-in, or without the factor of the user', async () => {
    const { user, visit } = await registeredUser();
    const number = phone();
    await visit.change('change-phone', { phone: number });
    const code = await world.codeFor(number);
    await giveFactor(user);
    for (const change of ['change-phone', 'verify-phone']) {
      const response = await visit.change(change, { phone: number, code });
      expect([change, response.status]).toEqual([change, 403]);
      expect(await response.text()).toContain('confirm that it is you');
    }
    expect(await phoneOf(user)).toBeNull();
  });

  it('change can be cancelled, and its code is invalid in other sessions', async () => {
    const { user, visit } = await registeredUser();
    const elsewhere = await visitOf(user);
    const number = phone();
    await visit.change('change-phone', { phone: number });
    const code = await world.codeFor(number);
    expect((await elsewhere.change('verify-phone', { code })).status).toBe(400);
    expect((await visit.change('drop-phone')).status).toBe(303);
    expect((await visit.change('verify-phone', { code })).status).toBe(400);
    expect(await phoneOf(user)).toBeNull();
  });

  it('change reports errors: invalid number, too soon, taken, managed by the directory', async () => {
    const { user, visit } = await registeredUser();
    const problemAfter = async (change: string, fields: Record<string, string>) => {
      const response = await visit.change(change, fields);
      return [response.status, await response.text()] as const;
    };
    expect(await problemAfter('change-phone', { phone: '0170 1' })).toEqual([
      400,
      expect.stringContaining('country code'),
    ]);
    const taken = phone();
    await app.make.user(world.project, { phone: taken });
    await visit.change('change-phone', { phone: taken });
    expect(await problemAfter('change-phone', { phone: phone() })).toEqual([
      429,
      expect.stringContaining('Too many codes requested'),
    ]);
    const code = await world.codeFor(taken);
    expect(await problemAfter('verify-phone', { code })).toEqual([
      409,
      expect.stringContaining('Another account already uses'),
    ]);
    app.clock.turn(31);
    const own = phone();
    await app.services.db.transaction((em) =>
      em.execute("update users set provenance = 'scim', phone = ? where id = ?", [own, user.id]),
    );
    const locked = expect.stringContaining('Your organization manages it');
    expect(await problemAfter('change-phone', { phone: phone() })).toEqual([403, locked]);
    expect(await visit.page()).not.toMatch(/value="(change|verify)-phone"/);
    expect(await phoneOf(user)).toBe(own);
  });

  it('gets no more codes than the daily limit of the project, which is recorded in the audit log', async () => {
    await world.set({ smsPerDay: 1 });
    const [one, two] = [await visitOf((await registeredUser()).user), await visitOf((await registeredUser()).user)];
    expect((await one.change('change-phone', { phone: phone() })).status).toBe(303);
    expect((await two.change('change-phone', { phone: phone() })).status).toBe(429);
    expect((await world.events()).filter((type) => type === 'sms.limit_reached')).toHaveLength(1);
  });

  it('change shows the code in test mode, and is not offered if SMS cannot be sent', async () => {
    await world.begin({ testMode: true });
    const { senders } = app.services;
    const sms = senders.sms;
    senders.sms = null;
    try {
      const user = await app.make.user(world.project);
      const visit = await visitOf(user);
      const page = await (await visit.change('change-phone', { phone: phone() })).text();
      const code = /the code is (\d{6})/.exec(page)?.[1] ?? '';
      expect((await visit.change('verify-phone', { code })).status).toBe(303);
      await world.set({ testMode: false });
      expect(await visit.page()).not.toContain('Change the number');
      expect((await visit.change('change-phone', { phone: phone() })).status).toBe(503);
    } finally {
      senders.sms = sms;
    }
  });
});

it('the app that another one replaces has the button and its consequence, not the last factor of the list', async () => {
  await world.set({ mfaPolicy: 'optional' });
  const { user } = await registeredUser();
  await giveFactor(user, 'totp');
  await giveFactor(user, 'sms');
  const page = await (await visitOf(user, ['swk', 'otp', 'mfa'])).page();
  const rows = page.split('<li class="row">').map((row) => row.split('</li>')[0] as string);
  const [named, ...others] = rows.filter((row) => row.includes('It replaces your current app.'));
  expect(others).toEqual([]);
  expect(named).toMatch(/<h3>Authenticator app[\s\S]*Set up another authenticator app/);
  expect(page.split('It replaces your current app.')).toHaveLength(2);
});

describe('recovery codes', () => {
  it('are replaced by ten new ones, shown once; the user is notified by email', async () => {
    const { address, user } = await registeredUser();
    await giveFactor(user);
    const visit = await visitOf(user, ['swk', 'otp', 'mfa']);
    const codesOf = async (response: Response) =>
      [...(await response.text()).matchAll(/<li>([\w-]{19})<\/li>/g)].map(([, code]) => code as string);
    const first = await codesOf(await visit.change('renew-recovery-codes'));
    const second = await codesOf(await visit.change('renew-recovery-codes'));
    expect(new Set([...first, ...second]).size).toBe(20);
    const page = await visit.page();
    expect(page).toContain('10 of 10 codes left');
    for (const code of second) expect(page).not.toContain(code);
    const { db, mfa } = app.services;
    const use = (code: string | undefined) => db.transaction((em) => mfa.recoveryCodes.use(em, user, code ?? ''));
    expect([await use(first[0]), await use(second[0])]).toEqual([false, true]);
    expect(await visit.page()).toContain('9 of 10 codes left');
    expect(await world.subjectsFor(address)).toContain('New recovery codes for Example');
    expect((await world.events()).filter((type) => type === 'mfa.recovery_codes_renewed')).toHaveLength(2);
    for (const code of [...first, ...second]) expect(app.logLines.join()).not.toContain(code);
  });
});

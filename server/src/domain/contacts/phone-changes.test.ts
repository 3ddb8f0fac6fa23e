/** Changes of the login phone on the account page: ownership, lifetime and notices. */

import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type Visit } from '../../../test/account-visit.ts';
import type { TestApp } from '../../../test/build-app.ts';
import { changed, rows } from '../../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { system } from '../kernel/actor.ts';
import { User } from '../users/user.entity.ts';
import { valuesOf } from '../users/user-record.ts';

const world = SigninWorld.ofTests();
const { giveFactor, registeredUser, visitOf } = peopleOf(world);
let app: TestApp;
let serial = 0;
const phone = () => `+4917077${String(++serial).padStart(5, '0')}`;
const phoneOf = async ({ id }: User) => (await app.services.db.reader().findOneOrFail(User, { id })).phone ?? null;
const statusOf = async (visit: Visit, change: string, fields: Record<string, string>) =>
  (await visit.change(change, fields)).status;

beforeAll(() => {
  ({ app } = world);
});

/** Requests a code for the number. */
async function begin(visit: Visit, number = phone()) {
  expect(await statusOf(visit, 'change-phone', { phone: number })).toBe(303);
  return { number, code: await world.codeFor(number) };
}

describe('a new number', () => {
  it('is pending in its own session only, until it is replaced or dropped', async () => {
    const [user, other] = [await world.user(), await world.user()];
    const [here, there, theirs] = [await visitOf(user), await visitOf(user), await visitOf(other)];
    const first = await begin(here);
    app.clock.turn(31);
    const [mine, elsewhere, foreign] = [await begin(here), await begin(there), await begin(theirs)];
    expect(await here.page()).toContain(`…${mine.number.slice(-4)}`);
    expect(await statusOf(here, 'verify-phone', { code: first.code })).toBe(400);
    expect(await statusOf(here, 'drop-phone', {})).toBe(303);
    expect(await statusOf(here, 'verify-phone', { code: mine.code })).toBe(400);
    expect(await statusOf(theirs, 'verify-phone', { code: foreign.code })).toBe(303);
    expect(await statusOf(there, 'verify-phone', { code: elsewhere.code })).toBe(303);
    expect([await phoneOf(user), await phoneOf(other)]).toEqual([elsewhere.number, foreign.number]);
  });

  it('is normalized: punctuation is removed, full-width digits are converted', async () => {
    const user = await world.user();
    const visit = await visitOf(user);
    expect(await visit.page()).toContain('value="change-phone"');
    expect(await statusOf(visit, 'change-phone', { phone: '＋49 (170) 77/７７-77.7' })).toBe(303);
    const code = await world.codeFor('+491707777777');
    expect(await visit.page()).toContain('value="verify-phone"');
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(303);
    const page = await visit.page();
    expect(page).toContain('…7777');
    expect(page).not.toContain('value="verify-phone"');
    expect(await phoneOf(user)).toBe('+491707777777');
  });

  it('is pending for five minutes', async () => {
    const visit = await visitOf(await world.user());
    const { number, code } = await begin(visit);
    app.clock.turn(299);
    expect(await visit.page()).toContain(`…${number.slice(-4)}`);
    app.clock.turn(1);
    const fresh = [app.clock.now(), visit.sessionId];
    await changed(app.services.db, 'update sessions set fresh_at = ? where id = ?', fresh);
    expect(await visit.page()).not.toContain(`…${number.slice(-4)}`);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(400);
  });

  it('is the number that the code was sent to', async () => {
    const user = await world.user();
    const visit = await visitOf(user);
    const { code } = await begin(visit);
    await changed(app.services.db, 'update phone_changes set phone = ? where user_id = ?', [phone(), user.id]);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(400);
    expect(await phoneOf(user)).toBeNull();
  });

  it('allows fifty attempts a day, over all its codes', async () => {
    const user = await world.user();
    const visit = await visitOf(user);
    const { code } = await begin(visit);
    const { db, limits } = app.services;
    const rule = { name: 'otp-try:phone', max: 50, windowSeconds: 24 * 3600 };
    const spend = () => db.transaction((em) => limits.spend(em, rule, `${world.project.id}:${user.id}`));
    for (let tried = 0; tried < 50; tried += 1) expect((await spend()).allowed).toBe(true);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(429);
    expect(await phoneOf(user)).toBeNull();
  });

  it('is accepted from a user without an email address', async () => {
    const userName = `ada ${++serial}`;
    const user = await world.user({ userName, userNameKey: userName, email: null, emailKey: null, attributes: {} });
    const visit = await visitOf(user);
    const { number, code } = await begin(visit);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(303);
    expect(await phoneOf(user)).toBe(number);
  });

  it('leaves a new email address of the same session pending, until other work of the user ends', async () => {
    const user = await world.user();
    const [visit, other, third] = [await visitOf(user), await visitOf(user), await visitOf(user)];
    const email = newAddress();
    expect(await statusOf(visit, 'change-email', { email })).toBe(303);
    const mailed = await world.codeFor(email);
    const { code } = await begin(visit);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(303);
    expect(await visit.page()).toContain(`Enter the code sent to ${email}.`);
    expect(await statusOf(other, 'end-session', { id: third.sessionId })).toBe(303);
    expect(await visit.page()).not.toContain(email);
    expect(await statusOf(visit, 'verify-email', { code: mailed })).toBe(403);
    const confirmed = [app.clock.now(), visit.sessionId];
    await changed(app.services.db, 'update sessions set fresh_at = ? where id = ?', confirmed);
    expect(await statusOf(visit, 'verify-email', { code: mailed })).toBe(400);
  });

  it.each([
    ['a directory has taken over the user and their number', 403],
    ['another user has received it', 409],
  ])('is refused and audited if, in the meantime, %s', async (_, status) => {
    const user = await world.user();
    const visit = await visitOf(user);
    const { number, code } = await begin(visit);
    const theirs = status === 403 ? phone() : null;
    const takeOver = "update users set provenance = 'scim', phone = ? where id = ?";
    if (theirs === null) await world.user({ phone: number });
    else await changed(app.services.db, takeOver, [theirs, user.id]);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(status);
    expect(await phoneOf(user)).toBe(theirs);
    const events = await rows(
      app.services.db,
      `select type, result, client_id, subject_id from audit_log where project_id = ? and type like 'user.phone%'
       order by id`,
      [world.project.id],
    );
    const about = { client_id: null, subject_id: user.id };
    expect(events).toEqual([
      { ...about, type: 'user.phone_change_begun', result: 'success' },
      { ...about, type: 'user.phone_change_refused', result: 'failure' },
    ]);
  });

  it('ends no open sign-in if it is the number on record', async () => {
    const user = await world.user({ phone: phone() });
    const visit = await visitOf(user);
    const open = await world.page();
    await open.challenge();
    const userid = user.email as string;
    expectStatus(await open.step('authenticate', { userid }), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    const { code } = await begin(visit, user.phone as string);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(303);
    expectStatus(await open.step('verify-email-otp', { userid, otp }), 'SUCCESS');
  });
});

it('a new number from a directory moves the SMS factor, and ends its remembered browsers', async () => {
  const { device, user } = await registeredUser();
  const directory = { kind: 'scim', name: 'Okta' } as const;
  const set = (value: string) =>
    app.services.accounts.change(
      world.project.id,
      user.id,
      (current) => ({ ...valuesOf(current), attributes: { phoneNumbers: [{ value, type: 'mobile' }] } }),
      directory,
    );
  const [old, number] = [phone(), phone()];
  await set(old);
  const { id } = await giveFactor(user, 'sms');
  await changed(app.services.db, 'update enrolments set phone = ? where id = ?', [old, id]);
  await changed(app.services.db, 'update credentials set mfa_remembered_at = ? where id = ?', [
    app.clock.now(),
    device.id,
  ]);
  await set(number);
  const moved = await rows(
    app.services.db,
    `select e.phone, d.mfa_remembered_at as remembered from enrolments e join credentials d on d.user_id = e.user_id
      where e.id = ?`,
    [id],
  );
  expect(moved).toEqual([{ phone: number, remembered: null }]);
});

describe('the notice of a change', () => {
  it('goes to the email and the old number, and shows only the end of the new number', async () => {
    const [old, userName, email] = [phone(), newAddress(), newAddress()];
    const attributes = { emails: [{ value: email, primary: true }], phoneNumbers: [{ value: old, type: 'mobile' }] };
    const named = { userName, userNameKey: userName, email, emailKey: email };
    const user = await world.user({ ...named, phone: old, attributes });
    const visit = await visitOf(user);
    const { number, code } = await begin(visit);
    const before = app.mailbox.length;
    await visit.change('verify-phone', { code });
    await app.runJobs();
    const notices = app.mailbox.slice(before);
    expect(notices.map(({ to }) => to).sort()).toEqual([old, email].sort());
    for (const { text } of notices) {
      expect(text).toContain(number.slice(-4));
      expect(text).not.toContain(number.slice(-5));
    }
  });

  it.each([
    ['the number on record', false],
    ['a new number', true],
  ])('also goes to the number of the SMS factor that %s replaces, with an event', async (_, isNew) => {
    const [recorded, factorNumber] = [phone(), phone()];
    const user = await world.user({ phone: recorded });
    const { id } = await giveFactor(user, 'sms');
    await changed(app.services.db, 'update enrolments set phone = ? where id = ?', [factorNumber, id]);
    const visit = await visitOf(user, ['swk', 'sms', 'mfa']);
    const { code } = await begin(visit, isNew ? phone() : recorded);
    const open = await world.page();
    await open.challenge();
    expectStatus(await open.step('authenticate', { userid: user.email }), 'OTP_NEEDED');
    await app.runJobs();
    const before = app.mailbox.length;
    await visit.change('verify-phone', { code });
    expect((await open.step('authenticate', { userid: user.email })).httpStatus).toBe(410);
    await app.runJobs();
    const recipients = app.mailbox.slice(before).map(({ to }) => to);
    expect(recipients.sort()).toEqual([factorNumber, user.email as string, ...(isNew ? [recorded] : [])].sort());
    expect(await world.events()).toContain('user.phone_changed');
  });

  it.each([
    ['may receive no SMS', '+881623456789', {}],
    ['is in a country that the project excludes', '+33612345678', { smsCountries: ['DE'] }],
    ['would exceed the daily SMS limit', '', { smsPerDay: 1 }],
  ])('goes by mail only if the old number %s', async (_, number, settings) => {
    const { id } = world.project;
    await app.services.projects.update(id, settings, system);
    const user = await world.user({ phone: number || phone() });
    const visit = await visitOf(user);
    const { code } = await begin(visit);
    const before = app.mailbox.length;
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(303);
    await app.runJobs();
    expect(app.mailbox.slice(before).map(({ to }) => to)).toEqual([user.email]);
  });

  it('goes to an old number that is a landline', async () => {
    const landline = '+41440000000';
    const user = await world.user({ phone: landline });
    const visit = await visitOf(user);
    const { code } = await begin(visit);
    const before = app.mailbox.length;
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(303);
    await app.runJobs();
    expect(app.mailbox.slice(before).map(({ to }) => to)).toContain(landline);
  });

  it('is not sent for the same number, and goes by mail only if SMS is unavailable', async () => {
    const user = await world.user({ phone: phone() });
    const visit = await visitOf(user);
    const same = await begin(visit, user.phone as string);
    const before = app.mailbox.length;
    await visit.change('verify-phone', { code: same.code });
    await app.runJobs();
    expect(app.mailbox.slice(before)).toEqual([]);
    app.clock.turn(31);
    const { code } = await begin(visit);
    const { senders } = app.services;
    const { sms } = senders;
    senders.sms = null;
    try {
      await visit.change('verify-phone', { code });
    } finally {
      senders.sms = sms;
    }
    const since = app.mailbox.length;
    await app.runJobs();
    expect(app.mailbox.slice(since).map(({ to }) => to)).toEqual([user.email]);
  });
});

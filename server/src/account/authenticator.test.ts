import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type Visit } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { changed, rows } from '../../test/rows.ts';
import { type DeviceKey, newDeviceKey } from '../../test/signin-browser.ts';
import { expectStatus, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';
import { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const { afterwards, giveFactor, givePasskey, pageOf, registeredUser, visitOf } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const secretOn = (page: string) => /secret=([A-Z2-7]{32})/.exec(page)?.[1] ?? '';
const codesOn = (page: string) => [...page.matchAll(/<li>([\w-]{19})<\/li>/g)].map(([, code]) => code as string);
const all = (user: User) => app.services.db.reader().find(Enrolment, { user }, { orderBy: { createdAt: 'asc' } });
const verified = async (user: User) => (await all(user)).filter(({ verifiedAt }) => verifiedAt);

/** Clicks the button, and signs in with a mail code. */
async function begin(visit: Visit, address: string, key?: DeviceKey): Promise<void> {
  app.clock.turn(31);
  const page = await pageOf(visit, 'add-authenticator', key ?? (await newDeviceKey()));
  await afterwards(visit, expectStatus(await world.register(page, address), 'SUCCESS'));
}

async function begun() {
  const one = await registeredUser();
  await begin(one.visit, one.address);
  const secret = secretOn(await one.visit.page());
  return { ...one, secret, code: () => world.totp(secret) };
}

/** A session with an app that a sign-in has begun for it. */
async function begunIn(user: User, amr: string[]) {
  const visit = await visitOf(user, amr);
  const { db, mfa } = app.services;
  const enrolment = { user, ceremonyId: visit.sessionId, deviceId: null, method: 'totp', phone: null } as const;
  await db.transaction((em) => mfa.begin(em, enrolment));
  const secret = secretOn(await visit.page());
  return { visit, confirm: () => visit.change('verify-authenticator', { code: world.totp(secret) }) };
}

/** A sign-in of the user that has verified the address. */
async function openSignIn(address: string) {
  app.clock.turn(31);
  const page = await world.page();
  await world.verifyAddress(page, address);
  return page;
}

describe('an authenticator app on the account page', () => {
  it('is added after a mail code for this purpose and the first code; recovery codes are shown once', async () => {
    const { address, code, secret, user, visit } = await begun();
    expect(secret).not.toBe('');
    const shown = await visit.change('verify-authenticator', { code: ` ${code()}` });
    expect(shown.status).toBe(200);
    const page = await shown.text();
    expect(codesOn(page)).toHaveLength(10);
    expect(page).not.toContain('previous codes');
    expect(await verified(user)).toMatchObject([{ method: 'totp', besidePasskey: false }]);
    const after = await visit.page();
    expect(after).toContain('Set up another authenticator app');
    for (const text of [secret, ...codesOn(page)]) expect(after + app.logLines.join()).not.toContain(text);
    expect((await world.events()).filter((type) => type === 'mfa.enrolled')).toHaveLength(1);
    expect(await world.subjectsFor(address)).toContain('Second step changed for Example');
    app.clock.turn(31);
    const own = await world.page();
    await world.verifyAddress(own, address);
    expectStatus(await own.step('verify-device', { userid: address }, 'registration'), 'DEVICE_REGISTERED');
    await world.meetFactor(own, address);
    expectStatus(await own.step('verify-mfa', { userid: address, otp: code() }, 'use'), 'SUCCESS');
  });

  it('replaces the previous one only once it is verified, after a code of the previous one', async () => {
    const { address, code, key, secret, user, visit } = await begun();
    await visit.change('verify-authenticator', { code: code() });
    app.clock.turn(31);
    const page = await pageOf(visit, 'add-authenticator', key);
    await page.challenge();
    const required = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'MFA_REQUIRED');
    await page.step('initiate-mfa', { userid: address, session_id: required['session_id'] }, 'use');
    const done = await page.step('verify-mfa', { userid: address, otp: code() }, 'use');
    await afterwards(visit, expectStatus(done, 'SUCCESS'));
    const next = secretOn(await visit.page());
    expect(next).not.toBe(secret);
    const [before] = await verified(user);
    const replaced = await visit.change('verify-authenticator', { code: world.totp(next) });
    expect(replaced.headers.get('location')).toContain('saved');
    const left = await verified(user);
    expect([left.length, left[0]?.id === before?.id]).toEqual([1, false]);
    expect((await world.events()).filter((type) => type === 'mfa.removed')).toHaveLength(1);
  });

  it('beside another factor ends no factor, remembered browser or open sign-in; a replacement ends the latter two', async () => {
    const { address, user, visit } = await registeredUser();
    await giveFactor(user, 'sms');
    expect(await visit.page()).toContain('Add an authenticator app');
    const { db } = app.services;
    const until = new Date(app.clock.now().getTime() + 24 * 3600 * 1000);
    const remember = 'update credentials set mfa_remembered_at = ?, mfa_remembered_until = ? where user_id = ?';
    await changed(db, remember, [app.clock.now(), until, user.id]);
    const remembered = () =>
      rows(db, 'select id from credentials where user_id = ? and mfa_remembered_until is not null', [user.id]);

    const kept = await openSignIn(address);
    expect((await (await begunIn(user, ['swk', 'otp', 'mfa'])).confirm()).status).toBe(200);
    expect((await verified(user)).map(({ method }) => method)).toEqual(['sms', 'totp']);
    expect(await remembered()).toHaveLength(1);
    expectStatus(await kept.step('verify-device', { userid: address }, 'registration'), 'DEVICE_REGISTERED');

    const ended = await openSignIn(address);
    expect((await (await begunIn(user, ['swk', 'otp', 'mfa'])).confirm()).status).toBe(303);
    expect((await verified(user)).map(({ method }) => method)).toEqual(['sms', 'totp']);
    expect(await remembered()).toEqual([]);
    const late = await ended.step('verify-device', { userid: address }, 'registration');
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));

    await app.runJobs();
    const texts = app.mailbox.flatMap((one) => (one.to === address && 'subject' in one ? [one.text] : []));
    expect(texts.filter((text) => text.includes('A second step was added'))).toHaveLength(1);
    expect(
      texts.filter((text) => text.includes('The second step of your sign-in to Example was replaced')),
    ).toHaveLength(1);
  });

  it('is required in a sign-in that began before it', async () => {
    const { address, user } = await registeredUser();
    const open = await openSignIn(address);
    expect((await (await begunIn(user, ['swk', 'otp'])).confirm()).status).toBe(200);
    expectStatus(await open.step('verify-device', { userid: address }, 'registration'), 'DEVICE_REGISTERED');
    expectStatus(await world.meetFactor(open, address), 'MFA_INITIATED');
  });

  it('is labelled with the address of the user, or with the user name of a user without one', async () => {
    const { address, user } = await registeredUser();
    await changed(app.services.db, 'update users set user_name = ? where id = ?', ['mira.k', user.id]);
    const label = async () => {
      const { visit } = await begunIn(user, ['swk', 'otp']);
      return /otpauth:..totp\/Example:([^?]+)\?/.exec(await visit.page())?.[1];
    };
    expect(await label()).toBe(encodeURIComponent(address));
    await changed(app.services.db, 'update users set email = null, email_key = null where id = ?', [user.id]);
    expect(await label()).toBe('mira.k');
  });

  it('needs more than the device key: its holder gets neither the secret nor a factor', async () => {
    const { address, device, key, user } = await registeredUser();
    const thief = await visitOf(user, ['swk'], device.id, 'device-key');
    app.clock.turn(31);
    const page = await pageOf(thief, 'add-authenticator', key);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'OTP_NEEDED');
    expect(secretOn(await thief.page())).toBe('');
    await thief.change('verify-authenticator', { code: '000000' });
    expect(await all(user)).toEqual([]);
  });

  it('needs a proof for this purpose: a fresh session is not enough', async () => {
    const { user } = await registeredUser();
    const fresh = await visitOf(user, ['swk', 'otp']);
    await fresh.change('add-authenticator');
    expect(secretOn(await fresh.page())).toBe('');
    await fresh.change('verify-authenticator', { code: '000000' });
    expect(await all(user)).toEqual([]);
  });

  it('is neither shown nor verified in another session of the user, or in that of another user', async () => {
    const { code, user } = await begun();
    for (const other of [await visitOf(user, ['swk', 'otp']), (await registeredUser()).visit]) {
      expect(secretOn(await other.page())).toBe('');
      await other.change('verify-authenticator', { code: code() });
      expect((await other.change('drop-authenticator')).status).toBe(303);
    }
    expect(await verified(user)).toEqual([]);
    expect(await all(user)).toHaveLength(1);
  });

  it('needs another confirmation after five minutes, and expires after thirty', async () => {
    const { code, secret, user, visit } = await begun();
    app.clock.turn(5 * 60 + 1);
    expect(secretOn(await visit.page())).toBe('');
    expect(await visit.page()).toContain('finish setting up');
    expect((await visit.change('verify-authenticator', { code: code() })).status).toBe(403);
    const page = await pageOf(visit, 'confirm', await newDeviceKey());
    const address = user.email ?? '';
    await afterwards(visit, expectStatus(await world.register(page, address), 'SUCCESS'));
    expect(secretOn(await visit.page())).toBe(secret);
    app.clock.turn(25 * 60);
    expect(await visit.page()).toContain('Add an authenticator app');
    const late = await visit.change('verify-authenticator', { code: code() });
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('This setup has ended')]);
    expect(await verified(user)).toEqual([]);
  });

  it('is not verified by the mailbox alone once the user has a passkey or another factor', async () => {
    const { code, user, visit } = await begun();
    await giveFactor(user, 'sms');
    expect((await visit.change('verify-authenticator', { code: code() })).status).toBe(403);
    const other = await begun();
    await givePasskey(other.user);
    expect((await other.visit.change('verify-authenticator', { code: other.code() })).status).toBe(403);
    expect(await verified(other.user)).toEqual([]);
  });

  it('stores only the count of wrong codes, and locks after five', async () => {
    const { code, user, visit } = await begun();
    const [before] = await all(user);
    for (let tries = 1; tries <= 5; tries++) {
      const wrong = await visit.change('verify-authenticator', { code: otherCode(code()) });
      expect([wrong.status, (await wrong.text()).includes('This code is wrong')]).toEqual([400, true]);
    }
    const waiting = await visit.change('verify-authenticator', { code: code() });
    expect([waiting.status, await waiting.text()]).toEqual([429, expect.stringContaining('data-wait="30"')]);
    app.clock.turn(29);
    expect((await visit.change('verify-authenticator', { code: code() })).status).toBe(429);
    const [after] = await all(user);
    const { failures, lockedUntil, ...same } = { ...before } as Enrolment;
    expect([failures, lockedUntil]).toEqual([0, null]);
    expect(after).toMatchObject({ id: same.id, verifiedAt: null, lastStep: null, failures: 5 });
    const { db } = app.services;
    const events = await db.reader().find(AuditEvent, { projectId: world.project.id, type: 'mfa.rejected' });
    expect(events).toMatchObject([{ detail: { method: 'totp', change: true }, subjectId: user.id }]);
    app.clock.turn(2);
    expect((await visit.change('verify-authenticator', { code: code() })).status).toBe(200);
    expect(await verified(user)).toMatchObject([{ failures: 0 }]);
  });

  it('is verified once if concurrent requests send its code', async () => {
    const { code, user, visit } = await begun();
    const [csrf, first] = [await visit.csrf(), code()];
    const fields = { change: 'verify-authenticator', project: world.project.id, csrf, code: first };
    const race = Array.from({ length: 20 }, () => visit.browser.post(`${app.url}/account`, fields));
    const shown = await Promise.all((await Promise.all(race)).map((response) => response.text()));
    expect(shown.filter((page) => codesOn(page).length === 10)).toHaveLength(1);
    expect(await verified(user)).toHaveLength(1);
    expect((await world.events()).filter((type) => type === 'mfa.enrolled')).toHaveLength(1);
  });

  it('is not verified after a session of the user has ended, or after it was cancelled', async () => {
    const ended = await begun();
    const elsewhere = await visitOf(ended.user, ['swk', 'otp']);
    await elsewhere.change('end-session', { id: elsewhere.sessionId });
    const dropped = await begun();
    await dropped.visit.change('drop-authenticator');
    for (const { code, user, visit } of [ended, dropped]) {
      expect((await visit.change('verify-authenticator', { code: code() })).status).toBe(409);
      expect(await all(user)).toEqual([]);
    }
  });

  it('is offered only if the policy allows it', async () => {
    const other = await registeredUser();
    await world.set({ passkeyPolicy: 'off' });
    expect(await other.visit.page()).toContain('Add an authenticator app');
    await world.set({ passkeyPolicy: 'allowed' });
    const { code, user, visit } = await begun();
    for (const policy of [
      { mfaPolicy: 'off' },
      { mfaPolicy: 'optional', offeredFactors: ['sms'] },
      { offeredFactors: ['totp'], passkeyPolicy: 'required' },
    ] as const) {
      await world.set(policy as Parameters<typeof world.set>[0]);
      const fresh = await visitOf(user, ['swk', 'otp', 'mfa']);
      const page = await fresh.page();
      if (policy.passkeyPolicy === undefined) {
        expect(page).not.toContain('Add an authenticator app');
        const refused = await fresh.change('add-authenticator');
        expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('not available to you')]);
      }
      expect((await visit.change('verify-authenticator', { code: code() })).status).not.toBe(200);
    }
    expect(await verified(user)).toEqual([]);
  });
});

describe('an attacker who reads the mail of a user with an email factor', () => {
  /** The user adds an app in another browser. */
  async function addApp(user: User, address: string): Promise<void> {
    app.clock.turn(31);
    const visit = await visitOf(user);
    const page = await pageOf(visit, 'add-authenticator', await newDeviceKey());
    expectStatus(await world.register(page, address), 'DEVICE_REGISTERED');
    const required = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'MFA_REQUIRED');
    await page.step('initiate-mfa', { userid: address, session_id: required['session_id'] }, 'use');
    const done = await page.step('verify-mfa', { userid: address, otp: await world.codeFor(address) }, 'use');
    await afterwards(visit, expectStatus(done, 'SUCCESS'));
    app.clock.turn(1);
    const shown = await visit.change('verify-authenticator', { code: world.totp(secretOn(await visit.page())) });
    expect(codesOn(await shown.text())).toHaveLength(10);
  }

  it('cannot finish a sign-in begun before the user adds an app, and so cannot remove the app', async () => {
    const { address, device, key, user } = await registeredUser();
    await giveFactor(user, 'email');
    const attacker = await visitOf(user, ['swk'], device.id, 'device-key');
    const page = await pageOf(attacker, 'confirm', key);
    await page.challenge();
    const required = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'MFA_REQUIRED');
    await addApp(user, address);
    app.clock.turn(31);
    const late = await page.step('initiate-mfa', { userid: address, session_id: required['session_id'] }, 'use');
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    const [mine] = (await verified(user)).filter(({ method }) => method === 'totp');
    expect((await attacker.change('remove-factor', { id: mine?.id ?? '' })).status).toBe(403);
  });

  it('keeps no remembered device once the user adds an app', async () => {
    await world.set({ rememberMfaSeconds: 24 * 3600 });
    const { address, key, user } = await registeredUser();
    await giveFactor(user, 'email');
    const page = await world.page(key);
    await world.meetFactor(page, address);
    const fields = { userid: address, otp: await world.codeFor(address), remember_me: true };
    expectStatus(await page.step('verify-mfa', fields, 'use'), 'SUCCESS');
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'SUCCESS');
    await addApp(user, address);
    await page.challenge();
    const required = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'MFA_REQUIRED');
    expect(required['method']).toBe('totp');
  });
});

describe('the owner of a passkey', () => {
  it('adds an authenticator app by the passkey, not by the mailbox', async () => {
    const { address, user, visit } = await registeredUser();
    const passkey = await givePasskey(user);
    app.clock.turn(31);
    const page = await pageOf(visit, 'add-authenticator', await newDeviceKey());
    const answer = await world.register(page, address);
    expect(answer.status).not.toBe('SUCCESS');
    expect(await all(user)).toEqual([]);
    await world.set({ passkeyPolicy: 'off' });
    const isOffered = async () => (await visit.page()).includes('value="add-authenticator"');
    expect(await isOffered()).toBe(false);
    const factor = await giveFactor(user, 'email');
    expect(await isOffered()).toBe(false);
    await changed(
      app.services.db,
      "update enrolments set method = 'sms', phone = '+41790000000', beside_passkey = true where id = ?",
      [factor.id],
    );
    expect(await isOffered()).toBe(false);
    await changed(app.services.db, 'update enrolments set beside_passkey = false where id = ?', [factor.id]);
    expect(await isOffered()).toBe(true);
    await changed(app.services.db, 'delete from enrolments where id = ?', [factor.id]);
    await world.set({ passkeyPolicy: 'allowed' });
    const { confirm } = await begunIn(user, ['swk', 'user', 'mfa']);
    // Without recovery codes, which could replace the passkey.
    expect((await confirm()).status).toBe(303);
    expect(await app.services.mfa.recoveryCodes.left(app.services.db.reader(), user)).toBe(0);
    expect(await verified(user)).toMatchObject([{ besidePasskey: false }]);
    await world.set({ passkeyPolicy: 'required' });
    const byPasskey = await visitOf(user, ['swk', 'user', 'pop', 'mfa'], passkey.id);
    expect(await byPasskey.page()).not.toContain('value="add-authenticator"');
    expect((await byPasskey.change('add-authenticator')).status).toBe(409);
  });

  it('marks an app as proving only the mailbox if an admin’s grant replaced the passkey; it gives no recovery codes', async () => {
    const { user } = await registeredUser();
    await givePasskey(user);
    const { db, recoveries } = app.services;
    const { grant } = await recoveries.grant(world.project.id, user.id, { reason: 'Lost', hours: 1 }, system);
    const { visit } = await begunIn(user, ['swk', 'otp']);
    expect((await visit.change('verify-authenticator', { code: '000000' })).status).toBe(403);
    const use = 'update recovery_grants set used_at = ?, session_id = ? where id = ?';
    await changed(db, use, [app.clock.now(), visit.sessionId, grant.id]);
    const secret = secretOn(await visit.page());
    const done = await visit.change('verify-authenticator', { code: world.totp(secret) });
    expect([done.status, done.headers.get('location')]).toEqual([303, expect.stringContaining('saved')]);
    expect(await verified(user)).toMatchObject([{ besidePasskey: true }]);
  });
});

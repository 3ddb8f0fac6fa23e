/** Changes of the login address at the account page (decisions/0242). */
import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type Visit } from '../../test/account-visit.ts';
import { atOnce } from '../../test/at-once.ts';
import type { TestApp } from '../../test/build-app.ts';
import { arabicIndic } from '../../test/other-digits.ts';
import { changed, rows, tablesThatHold } from '../../test/rows.ts';
import { expectStatus, newAddress, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';
import { personExport } from '../domain/accounts/person-export.ts';
import { type Actor, system } from '../domain/kernel/actor.ts';
import { inProject } from '../domain/kernel/scope.ts';
import { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests();
const { visitOf, registeredUser, giveFactor, givePasskey } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const directory = { kind: 'scim', id: '0198f3a0-0000-7000-8000-000000000001', name: 'Okta' } as Actor;
const loginOf = async ({ id }: User) => {
  const { email, emailKey, userName, attributes } = await app.services.db.reader().findOneOrFail(User, { id });
  return { email, emailKey, userName, emails: attributes['emails'] };
};
const outcomeOf = async (visit: Visit, change: string, fields: Record<string, string> = {}) => {
  const response = await visit.change(change, fields);
  return [response.status, response.status === 303 ? response.headers.get('location') : await response.text()] as const;
};
const statusOf = async (visit: Visit, change: string, fields: Record<string, string> = {}) =>
  (await outcomeOf(visit, change, fields))[0];

/** Requests a code for the address. */
async function begin(visit: Visit, typed = newAddress()) {
  const email = typed.trim();
  expect(await statusOf(visit, 'change-email', { email: typed })).toBe(303);
  return { email, code: await world.codeFor(email) };
}

describe('the email address', () => {
  it('changes once a code that went to the new one is entered; every address before gets a notice', async () => {
    const { address, user, visit } = await registeredUser();
    const other = newAddress();
    const emails = [{ value: address, type: 'work', primary: true }, { value: other }];
    await changed(app.services.db, 'update users set attributes = ? where id = ?', [
      JSON.stringify({ emails }),
      user.id,
    ]);
    const before = await visit.page();
    expect(before).toContain(`Sign-in codes go to ${address}.`);
    expect(before).not.toContain('directory may overwrite');
    const { email, code } = await begin(visit, ` ${newAddress()} `);
    expect(app.mailbox.at(-1)?.text).toContain('5 minutes');
    expect(await visit.page()).toContain(`Enter the code sent to ${email}.`);
    const [status, wrong] = await outcomeOf(visit, 'verify-email', { code: otherCode(code) });
    expect([status, wrong]).toEqual([400, expect.stringContaining('This code is wrong')]);
    expect(await loginOf(user)).toMatchObject({ email: address });
    expect(await outcomeOf(visit, 'verify-email', { code: ` ${arabicIndic(code)}` })).toEqual([
      303,
      expect.stringContaining('notice=saved'),
    ]);
    expect(await loginOf(user)).toMatchObject({ email, userName: email });
    expect(await visit.page()).toContain(`Sign-in codes go to ${email}.`);
    const notice = 'Email address changed for Example';
    for (const previous of [address, other]) expect(await world.subjectsFor(previous)).toContain(notice);
    expect(await world.subjectsFor(email)).not.toContain(notice);
    const notices = app.mailbox.filter((one) => 'subject' in one && one.subject === notice);
    expect(notices.map(({ to }) => to).sort()).toEqual([address, other].sort());
    for (const one of notices) {
      // Without the word joiner that keeps mail programs from linking a domain.
      const text = one.text.replaceAll('\u2060', '');
      expect(text).toContain(`was changed to ${email[0]}…@example.com.`);
      expect(text).not.toContain(email);
    }
    expect((await world.events()).filter((type) => type.startsWith('user.email_'))).toEqual([
      'user.email_change_begun',
      'user.email_changed',
    ]);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(400);
  });

  it('leads the next sign-in to the same user, and ends one that began with the previous address', async () => {
    const { address, user, visit } = await registeredUser();
    app.clock.turn(31);
    const open = await world.page();
    await open.challenge();
    expectStatus(await open.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    const { email, code } = await begin(visit);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    const late = await open.step('verify-email-otp', { userid: address, otp });
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    app.clock.turn(31);
    expectStatus(await world.register(await world.page(), email), 'SUCCESS');
    expect((await world.findUser(email))?.id).toBe(user.id);
    expect(await world.findUser(address)).toBeNull();
  });

  it('needs a fresh sign-in, with the factor or passkey of the user', async () => {
    const { device, user, visit } = await registeredUser();
    const { code } = await begin(visit);
    const silent = await visitOf(user, ['swk'], device.id, 'device-key');
    const before = await loginOf(user);
    const isRefused = async (by: Visit) => {
      for (const [change, fields] of [
        ['change-email', { email: newAddress() }],
        ['verify-email', { code }],
      ] as const) {
        const [status, text] = await outcomeOf(by, change, fields);
        expect([change, status, text]).toEqual([change, 403, expect.stringContaining('confirm that it is you')]);
      }
    };
    await isRefused(silent);
    await giveFactor(user);
    await isRefused(visit);
    await changed(app.services.db, 'delete from enrolments where user_id = ?', [user.id]);
    await givePasskey(user);
    await isRefused(visit);
    await changed(app.services.db, "delete from credentials where user_id = ? and kind = 'passkey'", [user.id]);
    app.clock.turn(5 * 60 + 1);
    await isRefused(visit);
    expect(await loginOf(user)).toEqual(before);
  });

  it('is pending only in the session that requested it, until it is replaced, cancelled or five minutes old', async () => {
    const [user, other] = [await world.user(), await world.user()];
    const [here, there, theirs] = [await visitOf(user), await visitOf(user), await visitOf(other)];
    const first = await begin(here);
    for (const visit of [there, theirs]) {
      expect(await visit.page()).not.toContain(first.email);
      expect(await statusOf(visit, 'verify-email', { code: first.code })).toBe(400);
    }
    app.clock.turn(31);
    const second = await begin(here);
    expect(await statusOf(here, 'verify-email', { code: first.code })).toBe(400);
    expect(await statusOf(here, 'drop-email')).toBe(303);
    expect(await statusOf(here, 'verify-email', { code: second.code })).toBe(400);
    app.clock.turn(31);
    const third = await begin(here);
    app.clock.turn(300);
    await changed(app.services.db, 'update sessions set fresh_at = ? where id = ?', [app.clock.now(), here.sessionId]);
    expect(await statusOf(here, 'verify-email', { code: third.code })).toBe(400);
    expect((await loginOf(user)).email).toBe(user.email);
  });

  it('is not changed by a code that was sent to another address', async () => {
    const { user, visit } = await registeredUser();
    const { code } = await begin(visit);
    const moved = [newAddress(), user.id];
    expect(await changed(app.services.db, 'update email_changes set email = ? where user_id = ?', moved)).toBe(1);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(400);
    expect((await loginOf(user)).email).toBe(user.email);
  });

  it('is stored as the code was sent to it, in one of its Unicode spellings', async () => {
    const { user, visit } = await registeredUser();
    const email = newAddress().replace('@', '\u00e9@');
    expect(await statusOf(visit, 'change-email', { email: email.normalize('NFD') })).toBe(303);
    expect(await statusOf(visit, 'verify-email', { code: await world.codeFor(email) })).toBe(303);
    expect(await loginOf(user)).toMatchObject({ email, userName: email });
    app.clock.turn(31);
    const hidden = email.replace('@', '\u202e@');
    expect(await statusOf(visit, 'change-email', { email: hidden })).toBe(400);
  });

  it('is not changed by the correct code after five wrong ones', async () => {
    const { user, visit } = await registeredUser();
    const { code } = await begin(visit);
    for (const wrong of Array(5).fill(otherCode(code))) {
      expect(await statusOf(visit, 'verify-email', { code: wrong })).toBe(400);
    }
    expect(await statusOf(visit, 'verify-email', { code })).toBe(400);
    expect((await loginOf(user)).email).toBe(user.email);
  });

  it('is announced even if another user gets the previous one and the user is deactivated immediately', async () => {
    const { address, user, visit } = await registeredUser();
    const { code } = await begin(visit);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    const { accounts, newUsers } = app.services;
    await newUsers.add(world.project.id, { email: address }, { invite: false }, system);
    await accounts.setActive(world.project.id, user.id, false, system);
    expect((await world.subjectsFor(address)).at(-1)).toBe('Email address changed for Example');
  });

  it('is not changed by a code for another purpose, and its code serves no other purpose', async () => {
    const { address, visit, user } = await registeredUser();
    app.clock.turn(31);
    const page = await world.page();
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const signIn = await world.codeFor(address);
    const { code } = await begin(visit);
    const phone = '+491706600001';
    expect(await statusOf(visit, 'change-phone', { phone })).toBe(303);
    const sms = await world.codeFor(phone);
    for (const wrong of [signIn, sms]) expect(await statusOf(visit, 'verify-email', { code: wrong })).toBe(400);
    expect(await statusOf(visit, 'verify-phone', { code })).toBe(400);
    const other = await page.step('verify-email-otp', { userid: address, otp: code });
    expect(other).toMatchObject(refusal('CODE_REJECTED', 400));
    expect(await loginOf(user)).toMatchObject({ email: address });
  });

  it.each([
    ['email', (taken: string) => ({ email: taken, emailKey: taken })],
    ['user name', (taken: string) => ({ userName: taken, userNameKey: taken })],
  ])('is refused if it is the %s of another user, after the correct code only', async (_, values) => {
    const taken = newAddress();
    const holder = await world.user(values(taken));
    const { user, visit } = await registeredUser();
    // A user name that does not follow the address cannot collide.
    const own = `own ${user.id}`;
    await changed(app.services.db, 'update users set user_name = ?, user_name_key = ? where id = ?', [
      own,
      own,
      user.id,
    ]);
    const before = [await loginOf(user), await loginOf(holder)];
    const { code } = await begin(visit, taken);
    expect(await outcomeOf(visit, 'verify-email', { code: otherCode(code) })).toEqual([
      400,
      expect.stringContaining('This code is wrong'),
    ]);
    const taking = await outcomeOf(visit, 'verify-email', { code });
    expect(taking).toEqual([409, expect.stringContaining('Another account already uses this address')]);
    expect([await loginOf(user), await loginOf(holder)]).toEqual(before);
    expect((await world.events()).at(-1)).toBe('user.email_change_refused');
  });

  it('is refused if it is malformed, requested too soon, or mail is not configured', async () => {
    const { user, visit } = await registeredUser();
    for (const email of ['', 'name', 'a@b@example.com', '"quoted"@example.com', `${'x'.repeat(250)}@example.com`]) {
      const [status, text] = await outcomeOf(visit, 'change-email', { email });
      expect([email, status, text]).toEqual([email, 400, expect.stringContaining('Enter a complete email address')]);
    }
    await begin(visit);
    const soon = await outcomeOf(visit, 'change-email', { email: newAddress() });
    expect(soon).toEqual([429, expect.stringContaining('Too many codes requested')]);
    app.clock.turn(31);
    const { senders } = app.services;
    const { mail } = senders;
    senders.mail = null;
    try {
      const off = await outcomeOf(visit, 'change-email', { email: newAddress() });
      expect(off).toEqual([503, expect.stringContaining('Emails cannot be sent')]);
    } finally {
      senders.mail = mail;
    }
    expect((await loginOf(user)).email).toBe(user.email);
  });

  it('is not sent from a network that has requested too many codes, and the page names the reason', async () => {
    const { visit } = await registeredUser();
    const { db, sends } = app.services;
    const ofOthers = { projectId: world.project.id, purpose: 'sign-in', ip: '127.0.0.1', provenKey: null } as const;
    await db.transaction(async (em) => {
      for (let sent = 0; sent < 30; sent += 1)
        await sends.spend(em, { ...ofOthers, address: newAddress(), ceremonyId: newAddress() });
    });
    const [status, page] = await outcomeOf(visit, 'change-email', { email: newAddress() });
    expect(status).toBe(429);
    const reason = 'Too many codes were requested from your network. Please wait 60 minutes, or use another network';
    expect(page).toContain(`<span class="spoken">${reason}`);
    expect(page).not.toContain('Too many codes requested');
    const german = await visit.change('change-email', { email: newAddress() }, { 'Accept-Language': 'de' });
    expect(await german.text()).toContain(
      'Aus Ihrem Netzwerk wurden zu viele Codes angefordert. Bitte warten Sie 60 Minuten',
    );
    expect(await world.events()).toContain('signin.network_limited');
  });

  it('has its code on the page in test mode only, which needs no mail', async () => {
    await world.begin({ testMode: true });
    const user = await app.make.user(world.project);
    const visit = await visitOf(user);
    const email = newAddress();
    const { senders } = app.services;
    const { mail } = senders;
    senders.mail = null;
    try {
      const [, page] = await outcomeOf(visit, 'change-email', { email });
      const code = /the code is (\d{6})/.exec(page ?? '')?.[1] ?? '';
      expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    } finally {
      senders.mail = mail;
    }
    expect((await loginOf(user)).email).toBe(email);
  });

  it('gets at most ten codes a day, from all users of the project together', async () => {
    const target = newAddress();
    for (let sent = 0; sent < 10; sent += 1) await begin(await visitOf(await world.user()), target);
    const eleventh = await visitOf(await world.user());
    expect(await statusOf(eleventh, 'change-email', { email: target })).toBe(429);
    await begin(eleventh);
    app.clock.turn(24 * 3600);
    await begin(await visitOf(await world.user()), target);
  });

  it('changes once if equal requests run concurrently', async () => {
    const { address, user, visit } = await registeredUser();
    const { email, code } = await begin(visit);
    const csrf = await visit.csrf();
    const calls = Array.from({ length: 8 }, () => outcomeOf(visit, 'verify-email', { code, csrf }));
    const statuses = (await Promise.all(calls)).map(([status]) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect((await loginOf(user)).email).toBe(email);
    const notices = (await world.subjectsFor(address)).filter((subject) => subject.startsWith('Email address changed'));
    expect(notices).toHaveLength(1);
  });

  it('goes to one of two users who verify it at the same time', async () => {
    const people = [await registeredUser(), await registeredUser()];
    const target = newAddress();
    const calls = [];
    for (const { visit } of people) {
      const { code } = await begin(visit, target);
      const csrf = await visit.csrf();
      calls.push(() => statusOf(visit, 'verify-email', { code, csrf }));
    }
    const outcomes = await atOnce(app.services.db, 'users', calls);
    const statuses = outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value);
    expect(statuses.toSorted()).toEqual([303, 409]);
    const expected = people.map(({ address }, at) => (statuses[at] === 303 ? target : address));
    expect(await Promise.all(people.map(async ({ user }) => (await loginOf(user)).email))).toEqual(expected);
  });

  it('may be the current one, which changes nothing', async () => {
    const { address, user, visit } = await registeredUser();
    const before = await loginOf(user);
    const { code } = await begin(visit, address);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    expect(await loginOf(user)).toEqual(before);
    expect(await visit.page()).not.toContain('value="verify-email"');
    expect(await world.events()).not.toContain('user.email_changed');
  });

  it('keeps the session and the devices', async () => {
    const { user, visit } = await registeredUser();
    const devices = () =>
      rows(app.services.db, 'select id from credentials where user_id = ? and revoked_at is null', [user.id]);
    const before = await devices();
    const { code } = await begin(visit);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    expect(await visit.isSignedIn()).toBe(true);
    expect(await devices()).toEqual(before);
  });
});

describe('an erasure after changes of the email address', () => {
  it('removes the earlier and unconfirmed addresses, which an export contains, and no messages of others', async () => {
    const { db, accountAccess } = app.services;
    const { address, user, visit } = await registeredUser();
    const { email, code } = await begin(visit);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    app.clock.turn(31);
    const unconfirmed = await begin(visit);
    app.clock.turn(301);
    const traces = [address, email, unconfirmed.email];
    const other = await registeredUser();
    await begin(other.visit);
    const messages = (id: string) => rows(db, 'select id from messages where user_id = ? order by id', [id]);
    const others = await messages(other.user.id);
    expect(others).not.toEqual([]);

    const reader = () => db.reader();
    const stored = await reader().findOneOrFail(User, { id: user.id });
    let exported = '';
    for await (const chunk of personExport(reader, stored, {})) exported += chunk;
    for (const trace of traces) expect(exported).toContain(trace);
    expect(await tablesThatHold(db, traces, world.project.id)).toContain('messages');
    await inProject(world.project.id, () => accountAccess.erase(world.project.id, user.id, system));
    expect(await tablesThatHold(db, traces, world.project.id)).toEqual([]);
    expect(await messages(other.user.id)).toEqual(others);
  });
});

describe('the email address of a directory user', () => {
  it('can be changed even if the directory is authoritative; the user name stays, and the directory may overwrite it', async () => {
    await world.set({ scimEnabled: true, scimAuthoritative: true });
    const address = newAddress();
    const user = await world.user({ ...named(address), provenance: 'scim' });
    const visit = await visitOf(user);
    expect(await visit.page()).toContain('Your organization’s directory may overwrite a change.');
    const { email, code } = await begin(visit);
    expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
    expect(await loginOf(user)).toMatchObject({ email, userName: address });
    const synced = [{ value: address, primary: true }];
    const { accounts } = app.services;
    const edit = (current: Parameters<typeof valuesOf>[0]) => {
      const values = valuesOf(current);
      return { ...values, attributes: { ...values.attributes, emails: synced } };
    };
    await accounts.change(world.project.id, user.id, edit, directory);
    expect(await loginOf(user)).toMatchObject({ email: address, userName: address });
  });
});

it('leaves the user name of a directory as it sent it', async () => {
  const address = newAddress();
  // Spaces and decomposed letters, which the name of an admin must not have.
  const userName = ` Jose\u0301 ${address} `;
  const names = { userName, userNameKey: userName.normalize('NFC').toLowerCase() };
  const user = await world.user({ ...named(address), ...names, provenance: 'scim' });
  const visit = await visitOf(user);
  const { email, code } = await begin(visit);
  expect(await statusOf(visit, 'verify-email', { code })).toBe(303);
  expect(await loginOf(user)).toMatchObject({ email, userName });
});

function named(address: string) {
  const attributes = { emails: [{ value: address, type: 'work', primary: true }] };
  return { userName: address, userNameKey: address, email: address, emailKey: address, attributes };
}

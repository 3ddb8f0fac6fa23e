/** A suspended user whom the directory or an admin gives to another person (decisions/0300). */
import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../test/account-visit.ts';
import { PasskeyUser } from '../../test/passkey-user.ts';
import { changed, rows } from '../../test/rows.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { User } from '../domain/users/user.entity.ts';

const day = 24 * 3600;
const world = SigninWorld.ofTests({ mfaPolicy: 'optional', deviceTrustSeconds: 90 * day, deviceTrustDays: 365 });
const { registeredUser, giveFactor, givePasskey } = peopleOf(world);
const person = PasskeyUser.ofTests(world);
let token: string;

beforeEach(async () => {
  const { directories } = world.app.services;
  token = (await directories.issueScimToken({ projectId: world.project.id, name: 'Directory' }, system)).token;
});

async function scim(method: string, path: string, body?: object) {
  const response = await fetch(`${world.app.url}/v1/scim/${world.project.id}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const patch = (id: string, values: object) =>
  scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: values }] });

/** Another person, as a directory describes them. */
function successor(over: object = {}) {
  const userName = newAddress();
  const names = { userName, emails: [{ value: userName, type: 'work', primary: true }] };
  return { ...names, externalId: 'successor', name: { givenName: 'Berta' }, ...over };
}

/** Live credentials, consents and grants of a user: counts by table. */
async function holdings({ id }: Pick<User, 'id'>): Promise<Record<string, number>> {
  const live: Record<string, string> = {
    devices: `credentials where kind = 'device-key' and revoked_at is null and`,
    passkeys: `credentials where kind = 'passkey' and revoked_at is null and`,
    factors: 'enrolments where',
    recoveryCodes: 'recovery_codes where',
    recoveryGrants: 'recovery_grants where used_at is null and ended_at is null and',
    factorChanges: 'factor_changes where finished_at is null and',
    consents: 'consents where',
    sessions: 'sessions where ended_at is null and',
    codes: 'authorization_codes where revoked_at is null and',
    refreshGrants: 'refresh_grants where revoked_at is null and',
    oneTimeCodes: 'one_time_codes where used_at is null and',
    phoneChanges: 'phone_changes where',
    emailChanges: 'email_changes where',
    networks: 'known_networks where',
  };
  const count = async ([name, from]: [string, string]) => {
    const [row] = await rows<{ n: number }>(
      world.app.services.db,
      `select count(*)::int as n from ${from} project_id = ? and user_id = ?`,
      [world.project.id, id],
    );
    return [name, row?.n ?? 0] as const;
  };
  return Object.fromEntries(await Promise.all(Object.entries(live).map(count)));
}

/** A user with a device, a passkey, an authenticator app, recovery codes, a consent and a known network. */
async function equipped(): Promise<RegisteredUser> {
  const one = await registeredUser();
  const { db, mfa } = world.app.services;
  await giveFactor(one.user);
  await givePasskey(one.user);
  await db.transaction((em) => mfa.recoveryCodes.issue(em, one.user));
  const [project, now] = [world.project.id, world.app.clock.now()];
  await changed(
    db,
    `insert into consents (project_id, id, client_id, user_id, scopes, created_at, updated_at)
      values (?, gen_random_uuid(), ?, ?, '{openid}', ?, ?)`,
    [project, world.client.id, one.user.id, now, now],
  );
  const network = `insert into known_networks (project_id, user_id, network, last_at) values (?, ?, 'network', ?)`;
  await changed(db, network, [project, one.user.id, now]);
  return one;
}

const nothing = expect.objectContaining({
  devices: 0,
  passkeys: 0,
  factors: 0,
  recoveryCodes: 0,
  consents: 0,
  networks: 0,
});
const kept = expect.objectContaining({
  devices: 1,
  passkeys: 1,
  factors: 1,
  recoveryCodes: 10,
  consents: 1,
  networks: 1,
});

type Path = (id: string, after: ReturnType<typeof successor>) => Promise<unknown>;

/** Every path by which a suspended user becomes another person. */
const paths: Record<string, Path> = {
  'PUT with the reactivation': async (id, after) => {
    await patch(id, { active: false });
    await scim('PUT', `/Users/${id}`, { ...after, active: true });
  },
  'PUT, then a reactivation': async (id, after) => {
    await patch(id, { active: false });
    await scim('PUT', `/Users/${id}`, { ...after, active: false });
    await patch(id, { active: true });
  },
  'PUT with the deactivation': async (id, after) => {
    await scim('PUT', `/Users/${id}`, { ...after, active: false });
    await patch(id, { active: true });
  },
  PATCH: async (id, after) => {
    await patch(id, { active: false });
    await patch(id, { ...after, active: true });
  },
  Bulk: async (id, after) => {
    const operation = (data: object) => ({
      method: 'PATCH',
      path: `/Users/${id}`,
      data: { Operations: [{ op: 'replace', value: data }] },
    });
    await scim('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [operation({ active: false }), operation(after), operation({ active: true })],
    });
  },
  'the admin API': async (id, { userName }) => {
    const { accountAccess, userEdits } = world.app.services;
    await accountAccess.deactivate(world.project.id, id, system);
    await userEdits.edit(world.project.id, id, { email: userName }, system);
    await accountAccess.activate(world.project.id, id, system);
  },
};

describe('a suspended user who becomes another person', () => {
  it.each(Object.keys(paths))('by %s keeps nothing of the former one', async (path) => {
    const { user } = await equipped();
    expect(await holdings(user)).toEqual(kept);
    await paths[path]?.(user.id, successor());
    expect(await holdings(user)).toEqual(nothing);
  });

  it('is not signed in by the passkey of the former one', async () => {
    const hosted = await person.enrolled();
    const id = (await world.findUser(person.userid))?.id ?? '';
    await patch(id, { active: false });
    await scim('PUT', `/Users/${id}`, { ...successor(), active: true });
    await hosted.open({ prompt: 'login' });
    expect(await hosted.usePasskey()).toMatchObject(refusal('PASSKEY_UNKNOWN', 401));
  });

  it('without any login address is not signed in by the passkey of the former one', async () => {
    const hosted = await person.enrolled();
    const id = (await world.findUser(person.userid))?.id ?? '';
    await patch(id, { userName: `ada-${id}`, emails: [] });
    await patch(id, { active: false });
    await scim('PUT', `/Users/${id}`, { userName: `berta-${id}`, name: { givenName: 'Berta' }, active: true });
    await hosted.open({ prompt: 'login' });
    expect(await hosted.usePasskey()).toMatchObject(refusal('PASSKEY_UNKNOWN', 401));
  });

  it('with the same address and another externalId can enroll a factor of their own', async () => {
    const address = newAddress();
    const { body } = await scim('POST', '/Users', {
      ...successor({ externalId: 'former' }),
      userName: address,
      emails: [{ value: address }],
    });
    const page = await world.page();
    await world.enrolTotp(page, address);
    await patch(body.id, { active: false });
    await patch(body.id, { active: true, externalId: 'successor', name: { givenName: 'Berta' } });
    world.app.clock.turn(31);
    const other = await world.page();
    await world.enrolTotp(other, address);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'OTP_NEEDED');
  });
});

describe('a user who is inactive for more than 30 days', () => {
  it('becomes another person by another externalId alone, and by a rename that was taken back too late', async () => {
    const [linked, renamed, relinked] = [await equipped(), await equipped(), await equipped()];
    await patch(relinked.user.id, { externalId: 'former' });
    await patch(relinked.user.id, { active: false });
    await scim('PATCH', `/Users/${relinked.user.id}`, { Operations: [{ op: 'remove', path: 'externalId' }] });
    await patch(linked.user.id, { externalId: 'former' });
    await patch(linked.user.id, { active: false });
    await patch(renamed.user.id, { active: false, userName: `0123456789abcdef0123456789abcdef${renamed.address}` });
    world.app.clock.turn(30 * day);
    await patch(linked.user.id, { externalId: 'successor' });
    await patch(renamed.user.id, { active: true, userName: renamed.address });
    await patch(relinked.user.id, { active: true, externalId: 'successor' });
    const left = await Promise.all([linked, renamed, relinked].map(({ user }) => holdings(user)));
    expect(left).toEqual([nothing, nothing, nothing]);
  });

  it('returns as the same person if nothing has changed', async () => {
    const { user } = await equipped();
    await patch(user.id, { active: false });
    world.app.clock.turn(365 * day);
    await patch(user.id, { active: true });
    expect(await holdings(user)).toEqual(kept);
  });
});

describe('a suspended user who returns as the same person', () => {
  it('keeps device, passkey, factor, codes and consents, also after a rename away and back', async () => {
    const { user, address } = await equipped();
    const emails = [{ value: address, type: 'work', primary: true }];
    await patch(user.id, { active: false, userName: `0123456789abcdef0123456789abcdef${address}` });
    await patch(user.id, { emails: [], externalId: 'x' });
    world.app.clock.turn(29 * day);
    await patch(user.id, { active: true, userName: address, emails });
    expect(await holdings(user)).toEqual(kept);
  });

  it('with a phone added or removed keeps everything', async () => {
    const { user } = await equipped();
    await patch(user.id, { active: false, phoneNumbers: [{ value: '+41790001122', type: 'mobile' }] });
    await patch(user.id, { active: true });
    await patch(user.id, { active: false, phoneNumbers: [] });
    await patch(user.id, { active: true });
    expect(await holdings(user)).toEqual(kept);
  });
});

describe('an active user', () => {
  it('whose address changes keeps everything, also right after a reactivation', async () => {
    const { user } = await equipped();
    await patch(user.id, { active: false });
    await patch(user.id, { active: true });
    await patch(user.id, successor());
    expect(await holdings(user)).toEqual(kept);
  });
});

describe('a suspended user’s address', () => {
  /** Signs up with the address in a new browser; the subjects of the mails that it got. */
  async function signUp(address: string) {
    world.app.clock.turn(31);
    const page = await world.page();
    await page.challenge();
    const answer = await page.step('authenticate', { userid: address });
    return { answer, mails: await world.subjectsFor(address), page };
  }
  const shape = (answer: object) => Object.keys(answer).sort();

  it('is reserved after a rename, without revealing that, and the directory restores the user', async () => {
    const address = newAddress();
    const { body } = await scim('POST', '/Users', { userName: address });
    await patch(body.id, { active: false, userName: `0123456789abcdef0123456789abcdef${address}` });
    const stranger = await signUp(address);
    expectStatus(stranger.answer, 'OTP_NEEDED');
    expect(stranger.mails).toEqual([]);
    const unknown = await signUp(newAddress());
    expect(shape(stranger.answer)).toEqual(shape(unknown.answer));
    const [admin] = await newUsers(address);
    expect(admin).toMatchObject({ isKnown: false, refused: { code: 'taken', field: 'email', isReserved: true } });
    const restored = await patch(body.id, { active: true, userName: address });
    expect(restored.status).toBe(200);
    expectStatus((await signUp(address)).answer, 'OTP_NEEDED');
    expect(await world.subjectsFor(address)).toHaveLength(1);
  });

  it('goes to no one who signs up while the directory frees it', async () => {
    const { db, users } = world.app.services;
    for (let round = 0; round < 10; round += 1) {
      const address = newAddress();
      const { body } = await scim('POST', '/Users', { userName: address });
      const sign = () => db.transaction((em) => users.signUp(em, world.project.id, address, { kind: 'anonymous' }));
      const [freed, ...signedUp] = await Promise.all([
        patch(body.id, { active: false, userName: `0123456789abcdef0123456789abcdef${address}` }),
        ...Array.from({ length: 8 }, () => problemOf(sign())),
      ]);
      expect(freed.status).toBe(200);
      expect(signedUp.map((problem) => problem?.code)).toEqual(Array(8).fill('taken'));
      expect((await patch(body.id, { active: true, userName: address })).status).toBe(200);
    }
  });

  it('signs up no one in test mode, as in a project without sign-up', async () => {
    await world.set({ testMode: true });
    const address = newAddress();
    const { body } = await scim('POST', '/Users', { userName: address });
    await patch(body.id, { active: false, userName: `0123456789abcdef0123456789abcdef${address}` });
    const withCode = async (userid: string) => {
      const { answer, page } = await signUp(userid);
      const { code: otp } = expectStatus(answer, 'OTP_NEEDED');
      return page.step('verify-email-otp', { userid, otp });
    };
    const { error, httpStatus } = await withCode(address);
    await world.set({ signUp: 'provisioned_only' });
    const unprovisioned = await withCode(newAddress());
    const id = expect.any(String);
    expect(error).toEqual({ ...unprovisioned['error'], request_id: id });
    expect([error?.code, httpStatus]).toEqual(['CODE_REJECTED', unprovisioned.httpStatus]);
  });

  it('is free after 30 days, after an erasure, and for the directory at once', async () => {
    const addresses = [newAddress(), newAddress(), newAddress()] as const;
    const ids = [];
    for (const userName of addresses) {
      const { body } = await scim('POST', '/Users', { userName });
      await patch(body.id, { active: false, userName: `0123456789abcdef0123456789abcdef${userName}` });
      ids.push(body.id);
    }
    const [waiting, erased, given] = addresses;
    await scim('DELETE', `/Users/${ids[1]}`);
    expect((await newUsers(erased))[0]).toHaveProperty('userId');
    expect((await scim('POST', '/Users', { userName: given })).status).toBe(201);
    expect((await patch(ids[2], { active: true, userName: given })).status).toBe(409);
    expect((await newUsers(waiting))[0]).toMatchObject({ refused: { isReserved: true } });
    world.app.clock.turn(30 * day);
    expect((await newUsers(waiting))[0]).toHaveProperty('userId');
  });

  it('and phone are given to no other user by an admin or a change of their own', async () => {
    const [address, phone] = [newAddress(), '+41790003344'];
    const { body } = await scim('POST', '/Users', {
      userName: address,
      phoneNumbers: [{ value: phone, type: 'mobile' }],
    });
    await scim('PUT', `/Users/${body.id}`, { userName: `0123456789abcdef0123456789abcdef${address}`, active: false });
    const { db, userEdits, users } = world.app.services;
    const { user } = await registeredUser();
    const taken = (field: string) => ({ problem: { code: 'taken', field, isReserved: true } });
    const edit = (values: object) => userEdits.edit(world.project.id, user.id, values, system);
    await expect(edit({ email: address })).rejects.toMatchObject(taken('email'));
    await expect(edit({ phone })).rejects.toMatchObject(taken('phone'));
    const own = db.transaction((em) => users.changePhone(em, user, phone, system));
    await expect(own).rejects.toMatchObject({ problem: { code: 'taken', field: 'phone' } });
    await edit({ givenName: 'Ada' });
  });
});

const newUsers = (email: string) =>
  world.app.services.newUsers.addMany(world.project.id, [{ email }], { invite: false }, system);

describe('an SMS factor', () => {
  const [former, later] = ['+41790005511', '+41790005522'];
  const phones = (value: string) => [{ value, type: 'mobile', primary: true }];

  /** Paths that set or remove the login phone of a user. */
  const setters: Record<string, (user: User, phone: string | null) => Promise<unknown>> = {
    PATCH: (user, phone) => patch(user.id, { phoneNumbers: phone === null ? [] : phones(phone) }),
    PUT: (user, phone) =>
      scim('PUT', `/Users/${user.id}`, { userName: user.userName, ...(phone && { phoneNumbers: phones(phone) }) }),
    'PATCH remove': (user, phone) =>
      phone === null
        ? scim('PATCH', `/Users/${user.id}`, { Operations: [{ op: 'remove', path: 'phoneNumbers' }] })
        : patch(user.id, { phoneNumbers: phones(phone) }),
    'the admin API': (user, phone) => world.app.services.userEdits.edit(world.project.id, user.id, { phone }, system),
  };

  it.each(Object.keys(setters))('follows the login phone in two steps by %s', async (by) => {
    await world.set({ mfaPolicy: 'required' });
    const set = setters[by] as (user: User, phone: string | null) => Promise<unknown>;
    const { user, key, address } = await registeredUser();
    await set(user, former);
    const factor = await giveFactor(user, 'sms');
    await changed(world.app.services.db, 'update enrolments set phone = ? where id = ?', [former, factor.id]);
    const phoneOf = async () =>
      (
        await rows<{ phone: string }>(world.app.services.db, 'select phone from enrolments where id = ?', [factor.id])
      )[0];
    await set(user, null);
    expect(await phoneOf()).toEqual({ phone: null });
    const page = await world.page(key);
    world.app.clock.turn(31);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    expectStatus(await page.step('verify-email-otp', { userid: address, otp }), 'SUCCESS');
    const next = await page.step('verify-device', { userid: address }, 'registration');
    expectStatus(next, 'MFA_ENROLLMENT_NEEDED');
    await set(user, later);
    expect(await phoneOf()).toEqual({ phone: later });
  });
});

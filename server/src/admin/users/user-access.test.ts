import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { changed } from '../../../test/rows.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { User } from '../../domain/users/user.entity.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let project: Project;
let clientId: string;
let count = 0;
let userId: string;
let session: string;
let device: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await harness.services.projects.create({ name: 'Acme' }, system);
  clientId = (await harness.services.clients.create({ projectId: project.id, name: 'App' }, system)).client.id;
});
afterAll(() => harness.close());

beforeEach(async () => {
  userId = await person();
  const signedIn = await harness.signedIn(project, { id: userId }, clientId);
  session = signedIn.session.id;
  device = signedIn.device.id;
});

async function person(): Promise<string> {
  const { db, users } = harness.services;
  count += 1;
  return (await db.transaction((em) => users.signUp(em, project.id, `user-${count}@example.com`, system))).id;
}

async function withFactor(method: 'email' | 'sms' | 'totp'): Promise<void> {
  const { db, mfa, users } = harness.services;
  await db.transaction(async (em) => {
    const phone = method === 'sms' ? '+12025550143' : null;
    const user = await users.find(em, project.id, userId);
    if (!user) throw new Error('no such user');
    const enrolment = await mfa.begin(em, { user, deviceId: null, method, phone });
    await mfa.verify(em, enrolment, user, system);
  });
}

const access = async (id = userId) => {
  const query = `query ($id: ID!) { userAccess(userId: $id) {
    sessions { id amr deviceId expiresAt } devices { id name remembered client { name } }
    passkeys { id name aaguid attested synced userVerified createdBy createdAt lastUsedAt }
    consents { id scopes createdAt client { id } } factors { method phone } recoveryCodesLeft } }`;
  return (await harness.call(query, { id })).data.userAccess;
};

const change = async (action: string, userIds = [userId], headers?: Record<string, string>) => {
  const query = `mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { userId done code message } }`;
  return harness.call(query, { input: { projectId: project.id, userIds, action } }, headers);
};

describe('Query.userAccess', () => {
  it('shows active sessions, devices with their clients, and verified factors', async () => {
    await withFactor('sms');
    expect(await access()).toEqual({
      sessions: [{ id: session, amr: ['swk', 'otp'], deviceId: device, expiresAt: expect.any(String) }],
      devices: [{ id: device, name: 'Browser', remembered: true, client: { name: 'App' } }],
      passkeys: [],
      consents: [],
      factors: [{ method: 'SMS', phone: '+12025550143' }],
      recoveryCodesLeft: expect.any(Number),
    });
  });

  it('shows the trust of a device by the current policy, not by that of its last use', async () => {
    const query = `query ($id: ID!) { userAccess(userId: $id) { devices { trustedUntil lastUsedAt } } }`;
    const seconds = async () => {
      const [shown] = (await harness.call(query, { id: userId })).data.userAccess.devices;
      return (Date.parse(shown.trustedUntil) - Date.parse(shown.lastUsedAt)) / 1000;
    };
    const { projects } = harness.services;
    const before = await seconds();
    await projects.update(project.id, { deviceTrustSeconds: 600 }, system);
    expect(before).toBeGreaterThan(600);
    expect(await seconds()).toBe(600);
    await projects.update(project.id, { deviceTrustSeconds: before }, system);
    expect(await seconds()).toBe(before);
  });

  it('omits expired sessions', async () => {
    harness.clock.turn(project.maxSessionSeconds + 1);
    expect((await access()).sessions).toEqual([]);
  });
});

describe('Mutation.endUserSession, Mutation.revokeUserDevice', () => {
  it('ends one session and leaves the others', async () => {
    const other = await harness.signedIn(project, { id: userId }, clientId);
    await harness.call(`mutation { endUserSession(id: "${session}") }`);
    expect((await access()).sessions).toMatchObject([{ id: other.session.id }]);
    const again = await harness.call(`mutation { endUserSession(id: "${session}") }`);
    expect(again.data).toEqual({ endUserSession: session });
  });

  it('revokes a device and ends its sessions', async () => {
    const other = await harness.signedIn(project, { id: userId }, clientId);
    await harness.call(`mutation { revokeUserDevice(id: "${device}") }`);
    const left = await access();
    expect(left.devices).toMatchObject([{ id: other.device.id }]);
    expect(left.sessions).toMatchObject([{ id: other.session.id }]);
  });

  it('refuses unknown ids', async () => {
    const none = '00000000-0000-7000-8000-000000000000';
    expect((await harness.call(`mutation { endUserSession(id: "${none}") }`)).code).toBe('not-found');
    expect((await harness.call('mutation { revokeUserDevice(id: "x") }')).code).toBe('not-found');
  });
});

describe('passkeys', () => {
  let passkey: string;
  beforeEach(async () => {
    passkey = await harness.passkeyOf(project, { id: userId }, true);
  });

  const revoke = (id: string, headers?: Record<string, string>) =>
    harness.call('mutation ($id: ID!) { revokeUserPasskey(id: $id) }', { id }, headers);
  const readers = 'query ($id: ID!) { userAccess(userId: $id) { devices { id } passkeys { id } } }';

  it('are listed like the devices, for the same roles', async () => {
    const now = harness.clock.now().toISOString();
    const shown = await access();
    expect(shown.devices).toMatchObject([{ id: device }]);
    expect(shown.passkeys).toEqual([
      {
        ...{
          id: passkey,
          name: 'iCloud Keychain',
          synced: true,
          attested: false,
          aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd',
          userVerified: true,
        },
        ...{ createdBy: 'MAIL_CODE', createdAt: now, lastUsedAt: now },
      },
    ]);
    const viewer = await harness.call(readers, { id: userId }, await harness.tokenOf('project_viewer', project.id));
    expect(viewer.data.userAccess).toEqual({ devices: [{ id: device }], passkeys: [{ id: passkey }] });
    const other = await harness.services.projects.create({ name: 'Other' }, system);
    const stranger = await harness.call(readers, { id: userId }, await harness.tokenOf('project_admin', other.id));
    expect([stranger.data, stranger.code]).toEqual([null, 'not-found']);
    await changed(harness.services.db, "update credentials set attested_root = 'apple' where id = ?", [passkey]);
    expect((await access()).passkeys).toMatchObject([{ attested: true }]);
  });

  it('are counted separately from devices', async () => {
    const query = `{ userHoldings(userId: "${userId}") { devices passkeys secondFactors } }`;
    expect((await harness.call(query)).data.userHoldings).toEqual({ devices: 1, passkeys: 1, secondFactors: 0 });
  });

  it('are revoked one by one with their sessions, and recorded', async () => {
    const other = await harness.passkeyOf(project, { id: userId });
    expect((await revoke(passkey)).data).toEqual({ revokeUserPasskey: passkey });
    expect(await access()).toMatchObject({
      passkeys: [{ id: other }],
      devices: [{ id: device }],
      sessions: [{ id: session }],
    });
    const query = `{ auditEvents(projectId: "${project.id}", filter: { subjectId: "${passkey}" }) {
      edges { node { type subject { kind name } actor { kind } detail } } } }`;
    const { data } = await harness.call(query);
    const subject = { kind: 'passkey', name: 'iCloud Keychain' };
    expect(data.auditEvents.edges.map(({ node }: any) => node)).toEqual([
      { type: 'passkey.revoked', subject, actor: { kind: 'bootstrap-token' }, detail: { userId } },
      { type: 'passkey.registered', subject, actor: { kind: 'system' }, detail: expect.objectContaining({ userId }) },
    ]);
  });

  it('are not devices: each has its own mutation', async () => {
    expect((await harness.call(`mutation { revokeUserDevice(id: "${passkey}") }`)).code).toBe('not-found');
    for (const id of [device, 'x']) expect((await revoke(id)).code).toBe('not-found');
    expect(await access()).toMatchObject({ passkeys: [{ id: passkey }], devices: [{ id: device }] });
  });

  it('are revoked by project admins with a fresh sign-in', async () => {
    expect((await revoke(passkey, await harness.tokenOf('project_viewer', project.id))).code).toBe('forbidden');
    const email = `passkeys-${count}@example.com`;
    const adminId = await harness.person(email);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
    const headers = await harness.sessionOf(adminId);
    harness.clock.turn(freshSeconds + 1);
    expect((await revoke(passkey, headers)).code).toBe('reauthentication-required');
    expect((await revoke(passkey, await harness.sessionOf(adminId))).data).toEqual({ revokeUserPasskey: passkey });
  });

  it('count as second factors of users, while the project uses passkeys', async () => {
    const figures = async (passkeys: boolean) => {
      await harness.services.projects.update(project.id, { passkeyPolicy: passkeys ? 'allowed' : 'off' }, system);
      const query = `{ factorStanding(projectId: "${project.id}") { withFactor withPasskey }
        users(projectId: "${project.id}", first: 100, filter: { hasFactor: true }) { edges { node { id } } } }`;
      const { factorStanding, users } = (await harness.call(query)).data;
      return { ...factorStanding, isListed: users.edges.some(({ node }: any) => node.id === userId) };
    };
    const off = await figures(false);
    const on = await figures(true);
    expect([off.withPasskey, off.isListed, on.isListed]).toEqual([on.withPasskey, false, true]);
    expect(off.withFactor).toBe(on.withFactor - on.withPasskey);
    expect(on.withPasskey).toBeGreaterThan(0);
    expect(on.withFactor).toBeGreaterThan(off.withFactor);
    await revoke(passkey);
    const after = await figures(true);
    expect(after).toEqual({ withFactor: on.withFactor - 1, withPasskey: on.withPasskey - 1, isListed: false });
  });

  it('are announced to the user when an admin revokes one, and not a second time', async () => {
    const noticesSent = async () => {
      const sql = `select recipient from messages where project_id = ? and template = 'passkey-changed' and recipient = ?`;
      return (await harness.services.db.reader().execute(sql, [project.id, `user-${count}@example.com`])).length;
    };
    expect(await noticesSent()).toBe(0);
    await harness.call(`mutation { revokeUserDevice(id: "${device}") }`);
    expect(await noticesSent()).toBe(0);
    await revoke(passkey);
    expect(await noticesSent()).toBe(1);
    await revoke(passkey);
    expect(await noticesSent()).toBe(1);
  });

  it('are announced to the login address without limit; notices to others, perhaps strangers, are limited', async () => {
    const loud = await harness.services.projects.create({ name: 'Loud' }, system);
    const emails = ['login@example.com', 'Victim@example.org'].map((value) => ({ value }));
    const names = { externalId: null, displayName: null, givenName: null, familyName: null };
    const values = { userName: 'loud', ...names, active: true, attributes: { emails } };
    const user = await harness.services.admissions.provision(loud.id, values, system);
    const admin = await harness.tokenOf('project_admin', loud.id);
    const removals = async (times: number) => {
      for (let at = 0; at < times; at += 1) {
        expect((await revoke(await harness.passkeyOf(loud, user), admin)).code).toBeUndefined();
      }
    };
    const notices = async (recipient: string) => {
      const sql = `select from messages where project_id = ? and template = 'passkey-changed' and recipient = ?`;
      return (await harness.services.db.reader().execute(sql, [loud.id, recipient])).length;
    };
    await removals(12);
    expect([await notices('login@example.com'), await notices('Victim@example.org')]).toEqual([12, 10]);
    harness.clock.turn(24 * 3600 - 1);
    await removals(1);
    expect([await notices('login@example.com'), await notices('Victim@example.org')]).toEqual([13, 10]);
    harness.clock.turn(1);
    await removals(1);
    expect([await notices('login@example.com'), await notices('Victim@example.org')]).toEqual([14, 11]);
  });

  it('are announced to at most a thousand other addresses a day in a project', async () => {
    const { admissions, db, projects } = harness.services;
    const large = await projects.create({ name: 'Large' }, system);
    const admin = await harness.tokenOf('project_admin', large.id);
    const names = { externalId: null, displayName: null, givenName: null, familyName: null };
    /** The addresses of a new user that get a notice. */
    const notified = async (userName: string) => {
      const emails = [`${userName}@example.com`, `${userName}@example.org`].map((value) => ({ value }));
      const values = { userName, ...names, active: true, attributes: { emails } };
      const user = await admissions.provision(large.id, values, system);
      await revoke(await harness.passkeyOf(large, user), admin);
      const sql = `select recipient from messages where project_id = ? and user_id = ? order by recipient`;
      return (await db.reader().execute<{ recipient: string }[]>(sql, [large.id, user.id])).map(({ recipient }) =>
        recipient.slice(-3),
      );
    };
    harness.clock.turn(7);
    expect(await notified('a')).toEqual(['com', 'org']);
    const day = new Date(harness.clock.now().getTime() + 24 * 3600 * 1000);
    expect(await changed(db, 'update budgets set spent = 999 where resets_at = ?', [day])).toBe(2);
    expect([await notified('b'), await notified('c')]).toEqual([['com', 'org'], ['com']]);
    harness.clock.turn(24 * 3600 - 1);
    expect(await notified('d')).toEqual(['com']);
    harness.clock.turn(1);
    expect(await notified('e')).toEqual(['com', 'org']);
  });

  it('are revoked without a notice if the user has no address', async () => {
    const names = { externalId: null, displayName: null, givenName: null, familyName: null };
    const values = { userName: 'badge 7', ...names, active: true, attributes: {} };
    const user = await harness.services.admissions.provision(project.id, values, system);
    const own = await harness.passkeyOf(project, user);
    expect((await revoke(own)).data).toEqual({ revokeUserPasskey: own });
  });

  it('stay when factors are reset and when the user is deactivated', async () => {
    await change('RESET_FACTORS');
    await change('DEACTIVATE');
    expect(await access()).toMatchObject({ devices: [], sessions: [], passkeys: [{ id: passkey }] });
  });
});

describe('Mutation.changeUsers', () => {
  it('deactivates users, which ends their sessions, and activates them again', async () => {
    const other = await person();
    const { data } = await change('DEACTIVATE', [userId, other, userId]);
    expect(data.changeUsers).toEqual(
      [userId, other].map((id) => ({ userId: id, done: true, code: null, message: null })),
    );
    expect((await access()).sessions).toEqual([]);
    const active = async () => (await harness.call(`{ user(id: "${userId}") { active } }`)).data.user.active;
    expect(await active()).toBe(false);
    await change('ACTIVATE');
    expect(await active()).toBe(true);
  });

  it('ends all sessions and leaves the devices', async () => {
    await harness.signedIn(project, { id: userId }, clientId);
    await change('END_SESSIONS');
    expect(await access()).toMatchObject({ sessions: [], devices: [{}, {}] });
  });

  it('removes all second factors', async () => {
    await withFactor('totp');
    await withFactor('email');
    await change('RESET_FACTORS');
    expect((await access()).factors).toEqual([]);
  });

  it('counts users whose factors satisfy the policy: email only if the project allows it', async () => {
    const usage = async (emailFactor: boolean) => {
      await harness.services.projects.update(project.id, { emailFactor }, system);
      const query = `{ factorStanding(projectId: "${project.id}") { withFactor email } }`;
      return (await harness.call(query)).data.factorStanding as { withFactor: number; email: number };
    };
    const [allowed, refused] = [await usage(true), await usage(false)];
    await withFactor('email');
    expect(await usage(true)).toEqual({ withFactor: allowed.withFactor + 1, email: allowed.email + 1 });
    expect(await usage(false)).toEqual({ withFactor: refused.withFactor, email: refused.email + 1 });
  });

  it('erases users, with a result for each', async () => {
    const none = '00000000-0000-7000-8000-000000000000';
    const { data } = await change('ERASE', [none, userId]);
    expect(data.changeUsers).toEqual([
      { userId: none, done: false, code: 'not-found', message: expect.stringContaining('user') },
      { userId, done: true, code: null, message: null },
    ]);
    expect((await harness.call(`{ user(id: "${userId}") { id } }`)).code).toBe('not-found');
  });

  it('affects no users of other projects', async () => {
    const stranger = await harness.person(`stranger-${count}@example.com`);
    const { data } = await change('ERASE', [stranger]);
    expect(data.changeUsers).toMatchObject([{ done: false, code: 'not-found' }]);
    expect((await harness.call(`{ user(id: "${stranger}") { active } }`)).data.user.active).toBe(true);
  });

  it('refuses zero users and more than 100', async () => {
    expect((await change('DEACTIVATE', [])).code).toBe('invalid');
    const many = Array.from({ length: 101 }, (_, index) => `id-${index}`);
    expect((await change('DEACTIVATE', many)).code).toBe('invalid');
  });

  it('refuses unknown projects', async () => {
    const query = 'mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done } }';
    for (const projectId of ['x', '00000000-0000-7000-8000-000000000000']) {
      const input = { projectId, userIds: [userId], action: 'ERASE' };
      expect((await harness.call(query, { input })).code).toBe('not-found');
    }
  });

  it('refuses to remove the last owner, but no other', async () => {
    const { admins } = harness.services;
    const owner = await harness.person('owner@example.com');
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    const first = await admins.grantRole({ email: 'owner@example.com', role: 'owner' }, by);
    const inConsole = (action: string, userIds: string[]) =>
      harness.call('mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done code } }', {
        input: { projectId: harness.builtIn.console.id, userIds, action },
      });
    for (const action of ['DEACTIVATE', 'ERASE']) {
      const { data } = await inConsole(action, [owner]);
      expect(data.changeUsers).toEqual([{ done: false, code: 'forbidden' }]);
      const inUpperCase = await inConsole(action, [owner.toUpperCase()]);
      expect(inUpperCase.data.changeUsers).toEqual([{ done: false, code: 'not-found' }]);
    }
    await harness.services.db.transaction(async (em) => {
      const user = await em.findOneOrFail(User, { id: owner });
      Object.assign(user, { invitedAt: harness.clock.now(), lastSignInAt: null });
    });
    const revoke = 'mutation ($id: ID!) { revokeInvitation(userId: $id) { active } }';
    expect((await harness.call(revoke, { id: owner })).code).toBe('forbidden');
    await admins.grantRole({ email: 'second@example.com', role: 'owner' }, by);
    expect((await inConsole('DEACTIVATE', [owner])).data.changeUsers).toEqual([{ done: true, code: null }]);
    expect(first.role).toBe('owner');
  });

  it('requires a fresh sign-in for irreversible actions only', async () => {
    const { admins } = harness.services;
    const adminId = await harness.person(`admin-${count}@example.com`);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await admins.grantRole({ email: `admin-${count}@example.com`, role: 'project_admin', projectId: project.id }, by);
    const headers = await harness.sessionOf(adminId);
    harness.clock.turn(freshSeconds + 1);
    for (const action of ['ERASE', 'RESET_FACTORS', 'DEACTIVATE']) {
      expect((await change(action, [userId], headers)).code).toBe('reauthentication-required');
    }
    const [stale, invited] = [{ id: device }, { id: userId }];
    const revokeDevice = await harness.call('mutation ($id: ID!) { revokeUserDevice(id: $id) }', stale, headers);
    expect(revokeDevice.code).toBe('reauthentication-required');
    const revokeInvitation = 'mutation ($id: ID!) { revokeInvitation(userId: $id) { id } }';
    expect((await harness.call(revokeInvitation, invited, headers)).code).toBe('reauthentication-required');
    expect(await access()).toMatchObject({ sessions: [{ id: session }], devices: [{ id: device }] });
    expect((await change('END_SESSIONS', [userId], headers)).data.changeUsers).toMatchObject([{ done: true }]);
  });

  it('records the admin in the audit log', async () => {
    await change('DEACTIVATE');
    const query = `{ auditEvents(projectId: "${project.id}", filter: { subjectId: "${userId}" }) {
      edges { node { type actor { kind } } } } }`;
    const { data } = await harness.call(query);
    expect(data.auditEvents.edges[0].node).toEqual({ type: 'user.updated', actor: { kind: 'bootstrap-token' } });
  });
});

describe('Mutation.revokeConsent', () => {
  it("ends an application's access to one user, with one event of the admin", async () => {
    const { clients, db, refreshGrants, users } = harness.services;
    const user = async (id: string) => (await users.find(db.reader(), project.id, id)) as User;
    const settings = {
      projectId: project.id,
      name: 'Calendar',
      thirdParty: true,
      grantTypes: ['refresh_token' as const],
    };
    const { client } = await clients.create(settings, system);
    const [own, other] = [await user(userId), await user(await person())];
    for (const one of [own, other]) await harness.refreshGrantOf(client, one);
    const [id] = [await harness.consentOf(client, own), await harness.consentOf(client, other)];
    expect((await access()).consents).toEqual([
      {
        id,
        scopes: expect.arrayContaining(['openid', 'offline_access']),
        createdAt: expect.any(String),
        client: { id: client.id },
      },
    ]);
    const revoke = (headers?: Record<string, string>) =>
      harness.call('mutation ($id: ID!) { revokeConsent(id: $id) }', { id }, headers);
    expect((await revoke(await harness.tokenOf('project_viewer', project.id))).code).toBe('forbidden');
    expect((await revoke()).data.revokeConsent).toBe(id);
    expect((await revoke()).code).toBe('not-found');
    expect((await access()).consents).toEqual([]);
    expect((await access(other.id)).consents).toHaveLength(1);
    const left = await refreshGrants.list(
      db.reader(),
      { projectId: project.id, clientId: client.id },
      { first: 9, after: null },
    );
    expect(left.items.map((grant) => grant.userId)).toEqual([other.id]);
    const events = await db
      .reader()
      .execute(
        `select actor_kind as "actorKind", detail from audit_log where type = 'access.removed' and project_id = ?`,
        [project.id],
      );
    expect(events).toEqual([{ actorKind: 'bootstrap-token', detail: { grants: 1, consent: true } }]);
  });
});

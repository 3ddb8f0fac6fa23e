/** Which applications get a logout token when a person's access ends, by whom, and at which issuer. */
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import { bootstrapToken } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import { RelyingParty } from '../../../test/relying-party.ts';
import { changed, rows, tablesThatHold } from '../../../test/rows.ts';
import { expectStatus, SigninWorld } from '../../../test/signin-world.ts';
import { csrfHeader } from '../../admin/api/server.ts';
import { system } from '../kernel/actor.ts';
import { keyIn } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';

const world = SigninWorld.ofTests();
const { registeredUser } = peopleOf(world);

/** An application with a logout URI, at the base issuer or that of the project. */
type Settings = Parameters<(typeof world.app)['make']['client']>[1];
async function party(name: string, at: 'base' | 'project', settings: Settings = {}): Promise<RelyingParty> {
  const backchannelLogoutUri = `https://${name}.example.com/logout`;
  const kind = { backchannelLogoutUri, backchannelLogoutSessionRequired: false, ...settings, name };
  const { client } = await world.app.make.client(world.project, kind);
  return at === 'base' ? new RelyingParty(world.app, client) : partyAt(world.app, world.project, client);
}

let base: RelyingParty;
let own: RelyingParty;
let user: User;
let scim: (method: string, path: string, body?: unknown) => Promise<number>;

beforeAll(() => world.app.services.seed.create({ demo: false }));

beforeEach(async () => {
  const { app, project } = world;
  base = await party('base', 'base');
  own = await party('own', 'project');
  user = await app.make.user(project, { provenance: 'scim' });
  await signIn(user, base, own);
  const { token } = await app.services.directories.issueScimToken({ projectId: project.id, name: 'Okta' }, system);
  scim = async (method, path, body) => {
    const response = await fetch(`${app.url}/v1/scim/${project.id}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await response.text();
    return response.status;
  };
});

/** One session that these applications join. */
async function signIn(of: User, ...parties: RelyingParty[]): Promise<string> {
  const [first] = parties as [RelyingParty];
  first.signOut();
  const sid = await first.signIn(of);
  for (const each of parties) {
    for (const [name, value] of first.browser.cookies) each.browser.cookies.set(name, value);
    await each.tokens();
  }
  // Logout tokens at the same time would count as later than this use.
  world.app.clock.turn(1);
  return sid;
}

interface SentToken {
  by: string;
  iss: unknown;
  sub: unknown;
  sid: unknown;
}

/** The tokens that were sent since the last call, by host of the receiver. */
async function sentTokens(): Promise<SentToken[]> {
  const { app } = world;
  await app.runJobs();
  await app.runJobs();
  const sent = app.logoutTokens.splice(0).map(({ uri, token }): SentToken => {
    const { iss, sub, sid } = decodeJwt(token);
    return { by: new URL(uri).hostname.split('.')[0] ?? '', iss, sub, sid };
  });
  return sent.sort((a, b) => `${a.by} ${a.sid ?? ''}`.localeCompare(`${b.by} ${b.sid ?? ''}`));
}
const receivers = async () => (await sentTokens()).map(({ by }) => by);

async function admin(query: string, variables: object) {
  const response = await fetch(`${world.app.url}/admin/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bootstrapToken}`, 'content-type': 'application/json', [csrfHeader]: '1' },
    body: JSON.stringify({ query, variables }),
  });
  const answer = (await response.json()) as { data: any; errors?: object[] };
  expect([response.status, answer.errors]).toEqual([200, undefined]);
  return answer.data;
}
const set = (notifyOnDeactivation: boolean | null) =>
  admin('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { notifyOnDeactivation } }', {
    input: { id: world.project.id, notifyOnDeactivation },
  });
async function changeUsers(action: string, ...userIds: string[]): Promise<void> {
  const mutation = 'mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done code } }';
  const { changeUsers: outcomes } = await admin(mutation, { input: { projectId: world.project.id, action, userIds } });
  expect(outcomes).toEqual(userIds.map(() => ({ done: true, code: null })));
}

const patchOp = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
const inactive = { schemas: patchOp, Operations: [{ op: 'replace', path: 'active', value: false }] };
const bulk = (operation: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
  Operations: [{ bulkId: '1', ...operation }],
});

/** Requests of a directory. */
const directoryActions: Record<string, () => Promise<number>> = {
  'deactivates a user by PATCH': () => scim('PATCH', `/Users/${user.id}`, inactive),
  'deactivates a user by PUT': () => scim('PUT', `/Users/${user.id}`, { userName: user.userName, active: false }),
  'deactivates a user by Bulk': () =>
    scim('POST', '/Bulk', bulk({ method: 'PATCH', path: `/Users/${user.id}`, data: inactive })),
  'deletes a user': () => scim('DELETE', `/Users/${user.id}`),
  'deletes a user by Bulk': () => scim('POST', '/Bulk', bulk({ method: 'DELETE', path: `/Users/${user.id}` })),
};

const omissions = () =>
  rows<{ type: string; subject_id: string; subject_name: string | null; detail: object }>(
    world.app.services.db,
    `select subject_id, subject_name, detail from audit_log where project_id = ? and type = 'logout-delivery.omitted'`,
    [world.project.id],
  );

describe.each(Object.keys(directoryActions))('when a directory %s', (name) => {
  const act = async () => expect([200, 204]).toContain(await directoryActions[name]?.());

  it('applications at the project issuer get a logout token, those of the base issuer get none, and an event records it', async () => {
    await act();
    expect(await sentTokens()).toEqual([{ by: 'own', iss: own.issuer, sub: user.id, sid: undefined }]);
    const detail = { reason: 'base-issuer', applications: ['base'] };
    expect(await omissions()).toEqual([{ subject_id: user.id, subject_name: null, detail }]);
  });

  it('all applications get one if the setting is on', async () => {
    expect((await set(true)).updateProject).toEqual({ notifyOnDeactivation: true });
    await act();
    expect((await sentTokens()).map(({ by, iss }) => [by, iss])).toEqual([
      ['base', base.issuer],
      ['own', own.issuer],
    ]);
    expect(await omissions()).toEqual([]);
  });

  it('none gets one if the setting is off, and an event records it', async () => {
    await set(false);
    await act();
    expect(await sentTokens()).toEqual([]);
    expect((await omissions()).map(({ detail }) => detail)).toEqual([{ reason: 'off', applications: ['base', 'own'] }]);
  });
});

describe('the setting notifyOnDeactivation', () => {
  const stored = async () =>
    (
      await rows<{ it: boolean | null }>(
        world.app.services.db,
        'select notify_on_deactivation as it from projects where id = ?',
        [world.project.id],
      )
    )[0]?.it;

  it('is null in new projects, can be set back to null, and stays unless it is named', async () => {
    expect(await stored()).toBe(null);
    for (const value of [true, false, null]) {
      expect((await set(value)).updateProject).toEqual({ notifyOnDeactivation: value });
      await admin('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
        input: { id: world.project.id, smsPerDay: 7 },
      });
      expect(await stored()).toBe(value);
    }
  });

  it('is off in projects from before release 1.0', async () => {
    const [project] = await rows<{ it: boolean }>(
      world.app.services.db,
      `insert into projects (id, name, created_at, updated_at) values (gen_random_uuid(), 'Earlier', now(), now())
        returning notify_on_deactivation as it`,
    );
    expect(project?.it).toBe(false);
  });

  it('refuses other values, naming the field', () => {
    expect(() => world.app.services.projects.check({ notifyOnDeactivation: 'yes' as unknown as boolean })).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ code: 'invalid', field: 'notifyOnDeactivation' }) }),
    );
  });
});

describe.each(['DEACTIVATE', 'ERASE', 'END_SESSIONS'])('when an admin chooses %s', (action) => {
  it('all applications get a logout token, regardless of the setting', async () => {
    await set(false);
    await changeUsers(action, user.id);
    expect((await sentTokens()).map(({ by, iss, sub, sid }) => [by, iss, sub, sid])).toEqual([
      ['base', base.issuer, user.id, undefined],
      ['own', own.issuer, user.id, undefined],
    ]);
    expect(await omissions()).toEqual([]);
  });

  it('for several users, each gets tokens about each of them, and other users and projects get none', async () => {
    const other = await world.app.make.user(world.project);
    const stays = await world.app.make.user(world.project);
    await signIn(other, own);
    await signIn(stays, own);
    await changeUsers(action, user.id, other.id);
    const pairs = (await sentTokens()).map(({ by, sub }) => [by, sub]).sort();
    expect(pairs).toEqual([['base', user.id], ...[user.id, other.id].sort().map((id) => ['own', id])]);
  });

  it('an application that requires sid gets one more token for each session', async () => {
    const strict = await party('strict', 'project', {
      backchannelLogoutSessionRequired: true,
      logoutTokenType: 'logout',
    });
    const sids = [await signIn(user, strict), await signIn(user, strict)].sort();
    await changeUsers(action, user.id);
    await world.app.runJobs();
    const types = world.app.logoutTokens.map(({ uri, token }) => [uri, decodeProtectedHeader(token).typ]);
    expect(types).toContainEqual(['https://strict.example.com/logout', 'logout+jwt']);
    expect(types).toContainEqual(['https://own.example.com/logout', 'secevent+jwt']);
    const ofStrict = (await sentTokens()).filter(({ by }) => by === 'strict');
    expect(ofStrict.map(({ sid, sub }) => [sid, sub])).toEqual([undefined, ...sids].map((sid) => [sid, user.id]));
  });

  it('its tokens verify with the keys of the issuer', async () => {
    await changeUsers(action, user.id);
    await world.app.runJobs();
    const sent = world.app.logoutTokens.splice(0);
    expect(sent).toHaveLength(2);
    for (const { uri, token } of sent) {
      const at = uri.includes('own') ? own : base;
      const keys = await (await fetch(`${at.issuer}/.well-known/jwks.json`)).json();
      const options = { issuer: at.issuer, audience: at.client.id, currentDate: world.app.clock.now() };
      await jwtVerify(token, createLocalJWKSet(keys as Parameters<typeof createLocalJWKSet>[0]), options);
    }
  });
});

describe('when the account of a deactivated user changes hands', () => {
  const login = 'next@example.com';
  const handOver = {
    directory: () => scim('PUT', `/Users/${user.id}`, { userName: login, externalId: 'next', active: true }),
    admin: async () => {
      const mutation = 'mutation ($input: UpdateUserInput!) { updateUser(input: $input) { id } }';
      await admin(mutation, { input: { id: user.id, email: login, userName: login } });
      await changeUsers('ACTIVATE', user.id);
    },
  };

  it.each([
    ['admin', ['base', 'own']],
    ['directory', []],
  ] as const)(
    'by the %s, the same rule applies to applications that were not notified before',
    async (by, expected) => {
      await set(false);
      await scim('PATCH', `/Users/${user.id}`, inactive);
      expect(await receivers()).toEqual([]);
      await handOver[by]();
      expect(await receivers()).toEqual(expected);
    },
  );

  it('applications that were notified at the deactivation get no second token', async () => {
    await set(true);
    await scim('PATCH', `/Users/${user.id}`, inactive);
    expect(await receivers()).toEqual(['base', 'own']);
    await handOver.directory();
    expect(await receivers()).toEqual([]);
  });
});

describe('the applications that a person used', () => {
  it('include one with a refresh token whose session has ended and was deleted', async () => {
    const { app, project } = world;
    const offline = await party('offline', 'project', { grantTypes: ['refresh_token'] });
    await offline.signIn(user);
    await offline.tokens({ scope: 'openid offline_access' });
    app.clock.turn(40 * 24 * 3600);
    await app.services.retention.sweep();
    expect(await rows(app.services.db, 'select from sessions where user_id = ?', [user.id])).toEqual([]);
    await app.services.accountAccess.deactivate(project.id, user.id, system);
    expect(await sentTokens()).toEqual([{ by: 'offline', iss: offline.issuer, sub: user.id, sid: undefined }]);
  });

  it('include one that redeemed codes of the browser SDK, which have no session', async () => {
    const { app, client, project } = world;
    await app.services.clients.update(client, { backchannelLogoutUri: 'https://sdk.example.com/logout' }, system);
    const { user: person, address, key } = await registeredUser();
    const page = await world.page(key);
    await page.challenge();
    const { code } = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'SUCCESS');
    expect((await world.exchange(code as string)).status).toBe(200);
    await changed(app.services.db, 'delete from sessions where user_id = ?', [person.id]);
    app.clock.turn(2 * 24 * 3600);
    await app.services.retention.sweep();
    expect(await rows(app.services.db, 'select from authorization_codes where user_id = ?', [person.id])).toEqual([]);
    await app.services.accountAccess.erase(project.id, person.id, system);
    expect(await sentTokens()).toEqual([{ by: 'sdk', iss: app.url, sub: person.id, sid: undefined }]);
  });

  it('include one of a session that another person ended by signing in', async () => {
    const next = await world.app.make.user(world.project);
    await own.signIn(next);
    world.app.clock.turn(1);
    await changeUsers('DEACTIVATE', user.id);
    expect((await sentTokens()).map(({ by, sub }) => [by, sub])).toEqual([
      ['base', user.id],
      ['own', user.id],
    ]);
  });

  it('do not include one that was notified since the last use', async () => {
    await scim('PATCH', `/Users/${user.id}`, inactive);
    expect(await receivers()).toEqual(['own']);
    await changeUsers('DEACTIVATE', user.id);
    expect(await receivers()).toEqual(['base']);
    await changeUsers('ERASE', user.id);
    expect(await receivers()).toEqual([]);
  });

  it('do not include a disabled one, nor one without a logout URI', async () => {
    await world.app.make.disable(own.client);
    await world.app.services.clients.update(base.client, { backchannelLogoutUri: null }, system);
    await changeUsers('DEACTIVATE', user.id);
    expect(await sentTokens()).toEqual([]);
  });

  it('count by the issuer of their tokens: at a custom domain they get the token of the domain', async () => {
    const { db } = world.app.services;
    const domain = 'https://login.example.com';
    await changed(db, 'update participations set issuer = ? where client_id = ?', [domain, own.client.id]);
    await scim('PATCH', `/Users/${user.id}`, inactive);
    expect(await sentTokens()).toEqual([{ by: 'own', iss: domain, sub: user.id, sid: undefined }]);
  });
});

describe('a deletion', () => {
  it('leaves only the id of the user with the delivery, which is sent afterwards', async () => {
    const { db } = world.app.services;
    await scim('DELETE', `/Users/${user.id}`);
    expect(await rows(db, 'select from users where id = ?', [user.id])).toEqual([]);
    expect(await tablesThatHold(db, [user.userName], world.project.id)).toEqual([]);
    expect(await sentTokens()).toEqual([{ by: 'own', iss: own.issuer, sub: user.id, sid: undefined }]);
  });

  it('that is refused sends nothing', async () => {
    const { token } = await world.app.services.directories.issueScimToken(
      { projectId: world.project.id, name: 'Okta' },
      system,
    );
    const response = await fetch(`${world.app.url}/v1/scim/${world.project.id}/Users/${user.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}`, 'if-match': 'W/"99"' },
    });
    expect(response.status).toBe(412);
    expect(await sentTokens()).toEqual([]);
  });

  it('during an exchange gives either no tokens or a logout token', async () => {
    const { app, project } = world;
    const late = await party('late', 'project');
    for (const [name, value] of own.browser.cookies) late.browser.cookies.set(name, value);
    const code = await late.code();
    const { exchanging, erasing } = await app.services.db.transaction(async (em) => {
      // The exchange waits when it has redeemed the code: its rows refer to the client.
      await em.execute('select from clients where id = ? for update', [late.client.id]);
      const exchange = late.exchange(code);
      await untilLockWaits(app.services.db, 1);
      let isDone = false;
      const erasure = app.services.accountAccess.erase(project.id, user.id, system).finally(() => (isDone = true));
      await untilLockWaits(app.services.db, 2, () => isDone);
      return { exchanging: { exchange }, erasing: { erasure } };
    });
    const { status } = await exchanging.exchange;
    await erasing.erasure;
    expect([status, (await receivers()).includes('late')]).toEqual([200, true]);
  });

  it('of 200 requests at once sends one token to each application', async () => {
    const access = world.app.services.accountAccess;
    await Promise.all(
      Array.from({ length: 200 }, () =>
        access.deactivate(keyIn(world.project.id, user.id).project.id, user.id, system),
      ),
    );
    expect(await receivers()).toEqual(['base', 'own']);
  });
});

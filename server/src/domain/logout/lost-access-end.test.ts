/** Access that ends also ends refresh tokens, and the application's session by a logout token (decisions/0371). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessWays } from '../../../test/access-ways.ts';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import type { RelyingParty } from '../../../test/relying-party.ts';
import { changed, rows } from '../../../test/rows.ts';
import type { Client } from '../clients/client.entity.ts';
import { system } from '../kernel/actor.ts';
import { maxLost } from '../projects/lost-access.ts';
import type { Project } from '../projects/project.entity.ts';
import { keyIn } from '../projects/tenant.ts';
import type { User } from '../users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
/** The application, and another one of the project, which everyone may use. */
let party: RelyingParty;
let other: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  app.clock.turn(600);
  project = await app.make.project();
  const settings = { backchannelLogoutSessionRequired: false, grantTypes: ['refresh_token' as const] };
  const made = async (name: string, access: 'assigned' | 'everyone') =>
    (
      await app.make.client(project, {
        ...{ ...settings, name, access, backchannelLogoutUri: `https://${name}.example.com/logout` },
      })
    ).client;
  client = await made('wiki', 'assigned');
  party = partyAt(app, project, client);
  other = partyAt(app, project, await made('chat', 'everyone'));
  user = await app.make.user(project);
});

const rules = () => app.services.accessRules;
const ways = accessWays(() => ({ app, project, client, user }));
const lasting = { scope: 'openid offline_access' };

/** Signs in and gets tokens of these applications. */
async function use(of: User, ...parties: RelyingParty[]): Promise<void> {
  await (parties[0] as RelyingParty).signIn(of);
  for (const each of parties) {
    for (const [name, value] of parties[0]?.browser.cookies ?? []) each.browser.cookies.set(name, value);
    expect((await each.exchange(await each.code(lasting))).status).toBe(200);
  }
  // A logout token at the same time would count as later than this use.
  app.clock.turn(1);
}

/** The live refresh grants, by application and user. */
const live = async () =>
  (
    await rows<{ client_id: string; user_id: string }>(
      app.services.db,
      'select client_id, user_id from refresh_grants where project_id = ? and revoked_at is null order by created_at, id',
      [project.id],
    )
  ).map(({ client_id, user_id }) => [client_id, user_id]);

/** Runs the jobs. The logout tokens that they send: receiver and user. */
async function notified(): Promise<unknown[]> {
  await app.runJobs();
  return app.logoutTokens.splice(0).map(({ uri, token }) => {
    const { sub, sid, iss } = decodeJwt(token);
    return [new URL(uri).hostname.split('.')[0], sub, sid, iss];
  });
}

describe.each(ways)('if %s', (_how, give) => {
  it('the refresh tokens of the user at the application end, and it gets a logout token; all else stays', async () => {
    const take = await give();
    const colleague = await app.make.user(project);
    await rules().grant(client, { userId: colleague.id }, system);
    await use(colleague, party);
    await use(user, party, other);
    await take();
    expect(await notified()).toEqual([['wiki', user.id, undefined, party.issuer]]);
    expect(await live()).toEqual([
      [client.id, colleague.id],
      [other.client.id, user.id],
    ]);
    expect(await other.isSignedIn()).toBe(true);
    const codes = await rows<{ revoked: boolean }>(
      app.services.db,
      'select revoked_at is not null as revoked from authorization_codes where project_id = ? and client_id = ? and user_id = ?',
      [project.id, client.id, user.id],
    );
    expect(codes).toEqual([{ revoked: true }]);
  });

  it('nothing ends if the user has access again before the job runs', async () => {
    const take = await give();
    await use(user, party);
    await take();
    await rules().grant(client, { userId: user.id }, system);
    expect(await notified()).toEqual([]);
    expect(await live()).toEqual([[client.id, user.id]]);
  });
});

it('nothing ends if the user has access by another rule, or the application is open again', async () => {
  const { id } = await rules().grant(client, { userId: user.id }, system);
  const group = await app.services.groups.create(
    project.id,
    { displayName: 'Staff', externalId: null },
    [user.id],
    system,
  );
  const shared = await rules().grant(client, { groupId: group.id }, system);
  await use(user, party);
  await rules().revoke(keyIn(project.id, id), system);
  expect(await notified()).toEqual([]);
  await rules().revoke(keyIn(project.id, shared.id), system);
  await app.services.clients.update(client, { access: 'everyone' }, system);
  expect(await notified()).toEqual([]);
  expect(await live()).toEqual([[client.id, user.id]]);
});

describe('the job', () => {
  const lose = async () => {
    const { id } = await rules().grant(client, { userId: user.id }, system);
    return () => rules().revoke(keyIn(project.id, id), system);
  };
  const run = () => app.services.lostAccessEnd.end({ projectId: project.id, clientId: client.id });

  it('repeated, sends no second token', async () => {
    const take = await lose();
    await use(user, party);
    await take();
    expect(await notified()).toHaveLength(1);
    await run();
    expect(await notified()).toEqual([]);
  });

  it('names each session to an application that needs sid', async () => {
    await app.services.clients.update(client, { backchannelLogoutSessionRequired: true }, system);
    const take = await lose();
    await use(user, party);
    await take();
    const sid = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(await notified()).toEqual([
      ['wiki', user.id, undefined, party.issuer],
      ['wiki', user.id, sid, party.issuer],
    ]);
  });

  it('leaves a sign-in after access was given back while it ran', async () => {
    const take = await lose();
    await use(user, party);
    await take();
    const { running } = await app.services.db.transaction(async (em) => {
      // The job waits for the old grant.
      await em.execute('select from refresh_grants where project_id = ? for update', [project.id]);
      const job = run();
      await untilLockWaits(app.services.db, 1);
      await rules().grant(client, { userId: user.id }, system);
      await use(user, party);
      return { running: { job } };
    });
    await running.job;
    expect(await live()).toEqual([[client.id, user.id]]);
    expect(await notified()).toEqual([]);
  });

  it('ends the grant of a code that was being redeemed when access ended', async () => {
    const take = await lose();
    await party.signIn(user);
    const code = await party.code(lasting);
    const { exchanging, job } = await app.services.db.transaction(async (em) => {
      // The exchange waits when it has redeemed the code: its rows refer to the client.
      await em.execute('select from clients where id = ? for update', [client.id]);
      const exchange = party.exchange(code);
      await untilLockWaits(app.services.db, 1);
      await take();
      let isDone = false;
      const end = run().finally(() => (isDone = true));
      await untilLockWaits(app.services.db, 2, () => isDone);
      return { exchanging: { exchange }, job: { end } };
    });
    expect((await exchanging.exchange).status).toBe(200);
    await job.end;
    expect(await live()).toEqual([]);
    expect(await notified()).toEqual([['wiki', user.id, undefined, party.issuer]]);
  });

  it('reads the users of the application itself if a group has more members than a job names', async () => {
    const { db } = app.services;
    await app.services.clients.update(client, { backchannelLogoutUri: null }, system);
    await changed(
      db,
      `insert into users (project_id, id, user_name, user_name_key, attributes, created_at, updated_at)
        select ?, gen_random_uuid(), 'u' || n, 'u' || n, '{}', now(), now() from generate_series(1, ?) n`,
      [project.id, maxLost + 1],
    );
    const ids = (await rows<{ id: string }>(db, 'select id from users where project_id = ?', [project.id])).map(
      ({ id }) => id,
    );
    const values = { displayName: 'All', externalId: null };
    const { id: groupId } = await app.services.groups.create(project.id, values, ids, system);
    await rules().grant(client, { groupId }, system);
    await use(user, party);
    await changed(
      db,
      `insert into refresh_grants select (jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(), 'user_id', u.id,
          'session_id', null, 'family_hash', '\\x' || md5(u.id::text), 'hash', '\\x' || md5(u.id::text)))).*
        from refresh_grants g join users u on u.project_id = g.project_id and u.id <> g.user_id where g.project_id = ?`,
      [project.id],
    );
    expect(await live()).toHaveLength(maxLost + 2);
    await app.services.groups.remove(project.id, groupId, system);
    await app.runJobs();
    expect(await live()).toEqual([]);
  });
});

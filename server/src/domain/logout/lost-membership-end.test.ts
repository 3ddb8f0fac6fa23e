/** What a user has in an organization ends with the membership, and the applications get logout tokens (decisions/0382). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import type { RelyingParty } from '../../../test/relying-party.ts';
import { changed, rows } from '../../../test/rows.ts';
import { system } from '../kernel/actor.ts';
import type { Organization } from '../organizations/organization.entity.ts';
import type { OrganizationMembership } from '../organizations/organization-membership.entity.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let colleague: User;
let acme: Organization;
let globex: Organization;
let membership: OrganizationMembership;
/** Applications that are used in Acme, in Globex, and in no organization. */
let [wiki, chat, mail]: RelyingParty[] = [];

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  app.clock.turn(600);
  const { memberships, organizations } = app.services;
  project = await app.make.project({ name: 'Acme', organizationsEnabled: true });
  const made = async (name: string) => {
    const settings = { backchannelLogoutSessionRequired: false, grantTypes: ['refresh_token' as const] };
    const logout = { backchannelLogoutUri: `https://${name}.example.com/logout` };
    return partyAt(app, project, (await app.make.client(project, { ...settings, ...logout, name })).client);
  };
  [wiki, chat, mail] = [await made('wiki'), await made('chat'), await made('mail')];
  [user, colleague] = [await app.make.user(project), await app.make.user(project)];
  acme = await organizations.create(project.id, { slug: 'acme', name: 'Acme' }, system);
  globex = await organizations.create(project.id, { slug: 'globex', name: 'Globex' }, system);
  for (const organization of [globex, acme]) {
    await memberships.add(organization, { userId: colleague.id }, system);
    membership = await memberships.add(organization, { userId: user.id }, system);
  }
  for (const one of [colleague, user]) await use(one);
});

/** Signs in, and gets tokens of each application in its context. */
async function use(of: User): Promise<void> {
  const parties = [wiki, chat, mail] as RelyingParty[];
  await (parties[0] as RelyingParty).signIn(of);
  for (const [at, party] of parties.entries()) {
    for (const [name, value] of parties[0]?.browser.cookies ?? []) party.browser.cookies.set(name, value);
    const context = [acme.id, globex.id, null][at];
    const asked = { scope: 'openid offline_access', organization: context ?? acme.id };
    expect((await party.exchange(await party.code(asked))).status).toBe(200);
    for (const table of context ? [] : ['authorization_codes', 'refresh_grants']) {
      const where = 'project_id = ? and client_id = ? and user_id = ?';
      await changed(app.services.db, `update ${table} set organization_id = null where ${where}`, [
        ...[project.id, party.client.id, of.id],
      ]);
    }
  }
  // A logout token at the same time would count as later than this use.
  app.clock.turn(1);
}

/** The applications with a live refresh grant, by user. */
async function live(): Promise<Record<string, unknown[]>> {
  const found = await rows<{ name: string; user_id: string }>(
    app.services.db,
    `select c.name, g.user_id from refresh_grants g join clients c on c.project_id = g.project_id and c.id = g.client_id
      where g.project_id = ? and g.revoked_at is null and not exists (select 1 from authorization_codes k
        where k.project_id = g.project_id and k.grant_id = g.id and k.revoked_at is not null) order by 1`,
    [project.id],
  );
  const of = (one: User) => found.filter(({ user_id: id }) => id === one.id).map(({ name }) => name);
  return { user: of(user), colleague: of(colleague) };
}

/** Runs the jobs. The logout tokens that they send: application and user. */
async function notified(): Promise<unknown[]> {
  await app.runJobs();
  const sent = app.logoutTokens.splice(0).map(({ uri, token }) => {
    return [new URL(uri).hostname.split('.')[0], decodeJwt(token).sub];
  });
  return sent.sort((one, two) => (String(one) < String(two) ? -1 : 1));
}

const all = ['chat', 'mail', 'wiki'];

describe.each<[string, () => Promise<unknown>]>([
  ['is removed', () => app.services.memberships.remove(membership, system)],
  ['is suspended', () => app.services.memberships.setState(membership, 'suspended', system)],
])('if a member %s', (_how, end) => {
  it('what the user has in the organization ends, and its application gets a logout token; all else stays', async () => {
    await end();
    expect(await notified()).toEqual([['wiki', user.id]]);
    expect(await live()).toEqual({ user: ['chat', 'mail'], colleague: all });
  });

  it('and is a member again before the job runs, nothing ends', async () => {
    await end();
    if (_how === 'is removed') await app.services.memberships.add(acme, { userId: user.id }, system);
    else await app.services.memberships.setState(membership, 'active', system);
    expect(await notified()).toEqual([]);
    expect(await live()).toEqual({ user: all, colleague: all });
  });

  it('a repeated job sends no second token', async () => {
    await end();
    expect(await notified()).toHaveLength(1);
    await app.services.lostMembershipEnd.end({ projectId: project.id, organizationId: acme.id, userIds: [user.id] });
    expect(await notified()).toEqual([]);
  });
});

describe.each<[string, () => Promise<unknown>]>([
  ['is suspended', () => app.services.organizations.update(acme, { state: 'suspended' }, system)],
  ['is deleted', () => app.services.organizationEnds.delete(acme, null, system)],
])('if an organization %s', (_how, end) => {
  it('what all its members have in it ends, and the application gets logout tokens; all else stays', async () => {
    await end();
    expect(await notified()).toEqual(
      [
        ['wiki', colleague.id],
        ['wiki', user.id],
      ].sort(),
    );
    expect(await live()).toEqual({ user: ['chat', 'mail'], colleague: ['chat', 'mail'] });
  });
});

it('a new role, another name and a renewed activation end nothing', async () => {
  await app.services.organizationRoles.create(project.id, { key: 'admin', name: 'Admin' }, system);
  await app.services.memberships.assign(membership, 'admin', system);
  await app.services.memberships.setState(membership, 'active', system);
  await app.services.organizations.update(acme, { name: 'Acme Inc.' }, system);
  expect(await notified()).toEqual([]);
  expect(await live()).toEqual({ user: all, colleague: all });
});

it('a code that is not redeemed ends, too', async () => {
  const party = wiki as RelyingParty;
  const code = await party.code({ organization: acme.id });
  await app.services.memberships.remove(membership, system);
  await app.runJobs();
  expect((await party.exchange(code)).status).toBe(400);
});

/** Organizations on the account page: which a user belongs to, and leaving one. */
import { decodeJwt } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { answerOf, type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
const { registeredUser } = peopleOf(world);
let app: TestApp;
let places: Places;
let north: Place;
let person: RegisteredUser;
let party: RelyingParty;

beforeAll(() => {
  ({ app } = world);
});

beforeEach(async () => {
  await app.services.projects.update(world.project.id, { organizationsEnabled: true }, system);
  places = new Places(app, world.project);
  north = await places.organization('north', 'North <b>');
  person = await registeredUser();
  const logout = { backchannelLogoutUri: 'https://wiki.example.com/logout', backchannelLogoutSessionRequired: false };
  const settings = { ...logout, grantTypes: ['refresh_token' as const] };
  party = partyAt(app, world.project, (await app.make.client(world.project, settings)).client);
});

const section = (html: string) => /aria-labelledby="organizations".*?<\/section>/s.exec(html)?.[0] ?? '';
const shown = async (of = person) => section(await of.visit.page());
const ended = () =>
  rows<{ actor_kind: string; detail: object }>(
    app.services.db,
    "select actor_kind, detail from audit_log where project_id = ? and type = 'organization-membership.ended'",
    [world.project.id],
  );

describe('organizations of a user', () => {
  it('are listed by name, with roles; not suspended ones, nor those of others or of a project without', async () => {
    expect(await shown()).toBe('');
    await places.join(north, person.user, ['editor', 'admin']);
    await places.join(await places.organization('alpha', 'Alpha'), person.user);
    const asleep = await places.organization('asleep');
    await places.join(asleep, person.user);
    await places.set(asleep, 'state', 'suspended');
    await places.join(await places.organization('foreign'), (await registeredUser()).user);
    const html = await shown();
    expect([...html.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, name]) => name)).toEqual(['Alpha', 'North &lt;b&gt;']);
    expect(html).toContain('Roles: admin, editor');
    await app.services.projects.update(world.project.id, { organizationsEnabled: false }, system);
    expect(await shown()).toBe('');
  });
});

describe('leaving an organization', () => {
  it('ends the membership, its tokens, and the sessions of its applications', async () => {
    const membership = await places.join(north, person.user);
    await party.signIn(person.user);
    const tokens = await answerOf(await party.exchange(await party.code({ scope: 'openid offline_access' })));
    expect(decodeJwt(tokens['id_token'] ?? '')).toMatchObject({ org_id: north.id });
    app.clock.turn(1);
    await person.visit.change('leave-organization', { id: membership });
    expect(await shown()).toBe('');
    expect(await ended()).toMatchObject([{ actor_kind: 'user', detail: { organizationId: north.id } }]);
    expect((await party.userInfo(tokens['access_token'] ?? '')).status).toBe(401);
    await app.runJobs();
    expect(app.logoutTokens.splice(0).map(({ uri }) => uri)).toEqual(['https://wiki.example.com/logout']);
    const [live] = await rows<{ count: string }>(
      app.services.db,
      'select count(*) from refresh_grants where project_id = ? and user_id = ? and revoked_at is null',
      [world.project.id, person.user.id],
    );
    expect(live?.count).toBe('0');
    // Again, and with nothing: nothing changes.
    for (const id of [membership, 'x', '']) {
      expect((await person.visit.change('leave-organization', { id })).status).toBe(303);
    }
    expect(await ended()).toHaveLength(1);
  });

  it('ends no membership of another user, nor a suspended one', async () => {
    const other = await registeredUser();
    const foreign = await places.join(north, other.user);
    const own = await places.join(north, person.user);
    await changed(
      app.services.db,
      "update organization_memberships set state = 'suspended' where project_id = ? and id = ?",
      [...[world.project.id, own]],
    );
    for (const id of [foreign, own]) await person.visit.change('leave-organization', { id });
    expect(await ended()).toEqual([]);
  });
});

/** The claims of the organization of a sign-in, and refresh in another one (decisions/0384). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { fetchHere } from '../../test/fetch-here.ts';
import { apiOf, basic, type Machine, orders, send } from '../../test/machine.ts';
import { answerOf, noOrg, orgOf, type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { statementsDuring } from '../../test/statements.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let places: Places;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  app.clock.turn(600);
  project = await app.make.project({ name: 'Acme' });
  await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
  places = new Places(app, project);
  const made = await app.make.client(project, { name: 'Wiki', grantTypes: ['refresh_token', 'device_code'] });
  client = made.client;
  user = await app.make.user(project);
  party = partyAt(app, project, client);
  await party.signIn(user);
});

const claimsOf = async (code: string) => decodeJwt((await answerOf(await party.exchange(code)))['id_token'] ?? '');
const post = async (path: string, fields: Record<string, string>) => {
  const body = new URLSearchParams({ client_id: client.id, ...fields });
  const response = await fetchHere(`${party.issuer}/oauth2/${path}`, { method: 'POST', body });
  return (await response.json()) as Record<string, string>;
};
const refresh = (token: string | undefined, fields: Record<string, string> = {}) =>
  post('token', { grant_type: 'refresh_token', refresh_token: token ?? '', ...fields });
describe('refresh', () => {
  const lasting = { scope: 'openid offline_access', organization: 'north', prompt: 'none' };
  let north: Place;
  let south: Place;
  beforeEach(async () => {
    [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user, [`of-${place.slug}`]);
  });

  it('of a third party moves only with the scope that shows all organizations', async () => {
    await app.services.clients.update(client, { thirdParty: true }, system);
    const moved = async (scope: string) => {
      const asked = { ...lasting, scope };
      await app.services.db.transaction((em) =>
        app.services.consents.give(em, client, user, { scope, resources: [], organizationId: north.id }, system),
      );
      const { refresh_token: token } = await answerOf(await party.exchange(await party.code(asked)));
      return refresh(token, { organization: 'south' });
    };
    expect(await moved(lasting.scope)).toMatchObject({ error: 'invalid_grant' });
    const { id_token: token = '' } = await moved(`${lasting.scope} organizations`);
    expect(decodeJwt(token)).toMatchObject({ org_slug: 'south' });
  });

  it('stays in the organization, and moves to another one of the user', async () => {
    const first = await answerOf(await party.exchange(await party.code(lasting)));
    const second = await refresh(first['refresh_token']);
    expect(decodeJwt(second['id_token'] ?? '')).toMatchObject({ org_slug: 'north', org_roles: ['of-north'] });
    const third = await refresh(second['refresh_token'], { organization: 'south' });
    expect(decodeJwt(third['id_token'] ?? '')).toMatchObject({ org_slug: 'south', org_roles: ['of-south'] });
    const fourth = await refresh(third['refresh_token']);
    expect(decodeJwt(fourth['id_token'] ?? '')).toMatchObject({ org_slug: 'south' });
    expect(orgOf(await answerOf(await party.userInfo(fourth['access_token'] ?? '')))).toMatchObject({
      org_id: south.id,
    });
  });

  it('refuses an organization that is unknown, suspended or without the user alike, and the grant stays', async () => {
    const { refresh_token: token } = await answerOf(await party.exchange(await party.code(lasting)));
    const strange = await places.organization('strange');
    const asleep = await places.organization('asleep');
    await places.join(asleep, user);
    await places.set(asleep, 'state', 'suspended');
    const answers = [];
    for (const organization of ['nowhere', 'strange', strange.id, 'asleep'])
      answers.push(await refresh(token, { organization }));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ error: 'invalid_grant' });
    expect(decodeJwt((await refresh(token))['id_token'] ?? '')).toMatchObject({ org_slug: 'north' });
  });
});

describe('claims', () => {
  it('the scope lists the organizations of the user, at most 100', async () => {
    const inNone = await party.tokens({ scope: 'openid organizations' });
    expect(decodeJwt(inNone.id_token)).toMatchObject({ organizations: [] });
    for (const slug of ['b', 'a'])
      await places.join(await places.organization(slug, slug.toUpperCase()), user, ['reader']);
    const changes = { scope: 'openid organizations', organization: 'b' };
    const tokens = await party.tokens(changes);
    expect(tokens.scope).toBe('openid organizations');
    const listed = ['a', 'b'].map((slug) => ({
      id: expect.any(String),
      slug,
      name: slug.toUpperCase(),
      roles: ['reader'],
    }));
    expect(decodeJwt(tokens.id_token)).toMatchObject({ org_slug: 'b', organizations: listed });
    const info = await answerOf(await party.userInfo(tokens.access_token));
    expect(info).toMatchObject({ org_slug: 'b', organizations: listed });
    expect(info).not.toHaveProperty('organizations_overage');
    for (let n = 0; n < 99; n += 1) await places.join(await places.organization(`c${n}`), user);
    const many = decodeJwt((await party.tokens({ ...changes, organization: 'c98' })).id_token);
    expect(many).toMatchObject({ org_slug: 'c98', organizations_overage: true });
    expect(many['organizations']).toHaveLength(100);
  });

  it('an address is verified only if the home of the user has proved its domain', async () => {
    const north = await places.organization('north');
    const home = { projectId: project.id, organizationId: north.id };
    const eve = await app.services.db.transaction((em) =>
      app.services.users.create(em, home, newProfile('eve@corp.example', {}), 'scim', system, { source: 'directory' }),
    );
    const person = await app.services.db.transaction((em) => app.services.users.locked(em, project.id, eve.id));
    const theirs = partyAt(app, project, client);
    await theirs.signIn(person as User);
    const verified = async (of = theirs) => {
      const tokens = await of.tokens({ scope: 'openid email' });
      const info = await answerOf(await of.userInfo(tokens.access_token));
      return [decodeJwt(tokens.id_token)['email_verified'], info['email_verified']];
    };
    expect(await verified()).toEqual([false, false]);
    expect(await verified(party)).toEqual([true, true]);
    const domain = await app.services.organizationDomains.add(keyIn(project.id, north.id), 'corp.example', system);
    await app.services.organizationDomains.verify(domain, 'a customer of ours', system);
    expect(await verified()).toEqual([true, true]);
  });

  it('no mapping of an application sets them', async () => {
    const mappings = [{ claim: 'org_id', constant: 'forged', scope: null }];
    await app.services.claims.update(client, { mappings }, system);
    expect(orgOf(await claimsOf(await party.code()))).toEqual(noOrg);
    const north = await places.organization('north');
    await places.join(north, user);
    expect(await claimsOf(await party.code())).toMatchObject({ org_id: north.id });
    await app.services.projects.update(project.id, { organizationsEnabled: false }, system);
    expect(await claimsOf(await party.code())).toMatchObject({ org_id: 'forged' });
  });

  it('are in tokens for APIs, and in introspection', async () => {
    const north = await places.organization('north');
    await places.join(north, user, ['reader']);
    const { client: web, clientSecret } = await app.make.client(project, {
      ...{ tokenEndpointAuthMethod: 'client_secret_basic', grantTypes: ['refresh_token'] },
    });
    const machine: Machine = { app, client: web, secret: clientSecret ?? '', issuer: party.issuer };
    const api = await apiOf(app, project);
    await app.services.apis.grant(web, api.id, { scopes: ['read'], introspects: true }, system);
    const by = partyAt(app, project, web);
    await by.signIn(user);
    const code = await by.code({ scope: 'openid read offline_access organizations', resource: orders });
    const tokens = await answerOf(await by.exchange(code, {}, basic(machine)));
    const expected = { org_id: north.id, org_slug: 'north', org_name: 'north', org_roles: ['reader'] };
    expect(orgOf(decodeJwt(tokens['access_token'] ?? ''))).toEqual(expected);
    expect(decodeJwt(tokens['access_token'] ?? '')).not.toHaveProperty('organizations');
    for (const token of [tokens['access_token'], tokens['refresh_token']] as string[]) {
      const answer = await answerOf(await send(machine, '/oauth2/introspect', { token }));
      expect({ active: answer['active'], ...orgOf(answer) }).toEqual({ active: true, ...expected });
    }
  });

  it('are in discovery while the project has organizations', async () => {
    const read = async (issuer: string) => {
      app.clock.turn(61);
      const document = (await (await fetchHere(`${issuer}/.well-known/openid-configuration`)).json()) as Record<
        string,
        string[]
      >;
      const of = (name: string) => document[name]?.filter((one) => one.startsWith('org')) ?? [];
      return [...of('scopes_supported'), ...of('claims_supported')];
    };
    const claims = ['org_id', 'org_slug', 'org_name', 'org_roles', 'organizations', 'organizations_overage'];
    expect(await read(party.issuer)).toEqual(['organizations', ...claims]);
    expect(await read(app.url)).toEqual([]);
    await app.services.projects.update(project.id, { organizationsEnabled: false }, system);
    expect(await read(party.issuer)).toEqual([]);
    expect((await party.tokens({ scope: 'openid organizations' })).scope).toBe('openid');
  });
});

it('without organizations in the project, no statement of a sign-in reads their tables', async () => {
  await app.services.projects.update(project.id, { organizationsEnabled: false }, system);
  const seen = await statementsDuring(async () => {
    const first = await answerOf(await party.exchange(await party.code({ scope: 'openid offline_access' })));
    const { access_token = '' } = await refresh(first['refresh_token']);
    expect((await party.userInfo(access_token)).status).toBe(200);
  });
  expect(seen.filter((text) => /organization_memberships|from organizations/.test(text))).toEqual([]);
  await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
  await places.join(await places.organization('north'), user);
  const others = await statementsDuring(async () => void (await party.code({ prompt: 'none' })));
  expect(others.filter((text) => /organization_memberships/.test(text))).not.toEqual([]);
});

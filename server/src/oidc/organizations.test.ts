/** The organization of a sign-in (decisions/0384): asked for, the only one, or chosen. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { fetchHere } from '../../test/fetch-here.ts';
import { answerOf, noOrg, orgOf, type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
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

/** The page at the end of an authorization request. */
async function pageOf(response: Response, by = party): Promise<{ status: number; html: string }> {
  expect(locationOf(response).pathname).toMatch(/\/authorize\/resume$/);
  const page = await by.browser.get(locationOf(response).href);
  return { status: page.status, html: await page.text() };
}

const field = (html: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
/** The buttons of the chooser: id and name. */
const choicesOf = (html: string) =>
  [...html.matchAll(/name="organization" value="([^"]+)">([^<]*)</g)].map(([, id = '', name = '']) => ({ id, name }));

/** Sends the form of the chooser, and follows the redirect. */
async function choose(html: string, { id }: { id: string }, by = party): Promise<Response> {
  const action = new URL(/action="([^"]+)"/.exec(html)?.[1] ?? '', app.url).href;
  const form = { flow: field(html, 'flow'), csrf: field(html, 'csrf'), organization: id };
  const stored = await by.browser.post(action, form);
  expect(stored.status).toBe(303);
  return by.browser.get(locationOf(stored).href);
}

const codeOf = (response: Response) => locationOf(response).searchParams.get('code') ?? '';
const claimsOf = async (code: string, by = party) =>
  decodeJwt((await answerOf(await by.exchange(code)))['id_token'] ?? '');
const post = async (path: string, fields: Record<string, string>) => {
  const body = new URLSearchParams({ client_id: client.id, ...fields });
  const response = await fetchHere(`${party.issuer}/oauth2/${path}`, { method: 'POST', body });
  return (await response.json()) as Record<string, string>;
};
const errorOf = async (changes: Changes) => {
  const answer = await party.answer(changes);
  return [answer.get('error'), answer.get('error_description')];
};
const update = async (settings: Parameters<typeof app.services.clients.update>[1]) => {
  client = await app.services.clients.update(client, settings, system);
};

describe('without an organization in the request', () => {
  it('a user of none gets a code without one, and is refused where the application requires one', async () => {
    expect(orgOf(await claimsOf(await party.code()))).toEqual(noOrg);
    await update({ organizationRequired: true });
    expect((await errorOf({ prompt: 'none' }))[0]).toBe('access_denied');
    const { status, html } = await pageOf(await party.authorize());
    expect(status).toBe(403);
    for (const text of ['no access to Wiki', 'Ask the administrator of Acme for access.']) expect(html).toContain(text);
    const base = new RelyingParty(app, client);
    for (const [name, value] of party.browser.cookies) base.browser.cookies.set(name, value);
    expect((await base.answer({ prompt: 'none' })).get('error')).toBe('access_denied');
  });

  it('a user of one is in it', async () => {
    const north = await places.organization('north', 'North & Co');
    await places.join(north, user, ['editor', 'admin']);
    await update({ organizationRequired: true });
    const tokens = await party.tokens({ prompt: 'none' });
    const expected = { org_id: north.id, org_slug: 'north', org_name: 'North & Co', org_roles: ['admin', 'editor'] };
    expect(orgOf(decodeJwt(tokens.id_token))).toEqual(expected);
    expect(orgOf(await answerOf(await party.userInfo(tokens.access_token)))).toEqual(expected);
  });

  it('a user of several chooses, once the person is known', async () => {
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
    expect((await errorOf({ prompt: 'none' }))[0]).toBe('interaction_required');
    const asking = await party.authorize();
    const { status, html } = await pageOf(asking);
    expect(status).toBe(200);
    expect(choicesOf(html).map(({ name }) => name)).toEqual(['north', 'south']);
    expect(html).toContain(user.email ?? '');
    // Reloaded, it asks again.
    expect(choicesOf((await pageOf(asking)).html)).toHaveLength(2);
    expect(await claimsOf(codeOf(await choose(html, south)))).toMatchObject({ org_slug: 'south' });
    // The next time, the one used last comes first.
    const { html: next } = await pageOf(await party.authorize());
    expect(choicesOf(next).map(({ name }) => name)).toEqual(['south', 'north']);
    // After the code, the page is gone.
    expect((await party.browser.get(locationOf(asking).href)).status).toBe(400);
  });

  it('only organizations that the application accepts count', async () => {
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
    await update({ access: 'assigned' });
    expect((await errorOf({ prompt: 'none' }))[0]).toBe('access_denied');
    await rows(
      app.services.db,
      `insert into access_rules (project_id, id, client_id, organization_id, created_at)
        values (?, gen_random_uuid(), ?, ?, now()) returning id`,
      [project.id, client.id, south.id],
    );
    expect(await claimsOf(await party.code())).toMatchObject({ org_slug: 'south' });
    expect((await errorOf({ prompt: 'none', organization: 'north' }))[0]).toBe('access_denied');
  });

  it('a name is text, and a suspended organization is no choice', async () => {
    const [north, south] = [await places.organization('north', '<b>North</b>'), await places.organization('south')];
    const west = await places.organization('west');
    for (const place of [north, south, west]) await places.join(place, user);
    await places.set(west, 'state', 'suspended');
    const { html } = await pageOf(await party.authorize());
    expect(choicesOf(html).map(({ name }) => name)).toEqual(['&lt;b&gt;North&lt;/b&gt;', 'south']);
  });
});

describe('a choice', () => {
  let north: Place;
  let south: Place;
  beforeEach(async () => {
    [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
  });

  it('of another organization changes nothing, nor with the token of another page', async () => {
    const foreign = await places.organization('foreign');
    const { html } = await pageOf(await party.authorize());
    expect(choicesOf(await (await choose(html, foreign)).text())).toHaveLength(2);
    const { html: other } = await pageOf(await party.authorize());
    const mixed = html.replace(field(html, 'csrf'), field(other, 'csrf'));
    expect(choicesOf(await (await choose(mixed, north)).text())).toHaveLength(2);
    const form = { flow: field(html, 'flow'), csrf: field(html, 'csrf'), organization: 'north' };
    expect((await party.browser.post(`${party.issuer}/authorize/organization`, form)).status).toBe(400);
    // Another browser.
    const stranger = partyAt(app, project, client);
    expect(
      (await stranger.browser.post(`${party.issuer}/authorize/organization`, { ...form, organization: north.id }))
        .status,
    ).toBe(400);
  });

  it('counts only for the user who made it', async () => {
    await update({ thirdParty: true });
    const { html } = await pageOf(await party.authorize());
    const consent = await (await choose(html, north)).text();
    expect(consent).toContain('asks for access');
    const colleague = await app.make.user(project);
    for (const place of [north, south]) await places.join(place, colleague);
    await party.signIn(colleague);
    const resume = `${party.issuer}/authorize/resume?flow=${field(html, 'flow')}`;
    expect(choicesOf(await (await party.browser.get(resume)).text())).toHaveLength(2);
  });

  it('gives no code if the membership ends before it, or the organization of another project is named', async () => {
    await update({ thirdParty: true });
    const { html } = await pageOf(await party.authorize());
    const consent = await (await choose(html, north)).text();
    await rows(
      app.services.db,
      'delete from organization_memberships where project_id = ? and organization_id = ? returning id',
      [project.id, north.id],
    );
    const answer = { flow: field(consent, 'flow'), csrf: field(consent, 'csrf'), answer: 'allow' };
    const noted = await party.browser.post(`${party.issuer}/authorize/consent`, answer);
    expect((await party.browser.get(locationOf(noted).href)).status).toBe(403);
  });
});

describe('organization in the request', () => {
  it('is a slug or an id', async () => {
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
    for (const organization of [south.slug, south.id]) {
      expect(await claimsOf(await party.code({ organization, prompt: 'none' }))).toMatchObject({ org_id: south.id });
    }
  });

  it.each(['authorize', 'par', 'device_authorization'])(
    'that is unknown, suspended or of another project gets the same error at %s',
    async (path) => {
      const elsewhere = await app.make.project();
      await app.services.projects.update(elsewhere.id, { organizationsEnabled: true }, system);
      const foreign = await new Places(app, elsewhere).organization('foreign');
      const asleep = await places.organization('asleep');
      await places.set(asleep, 'state', 'suspended');
      const refused = ['invalid_request', 'organization is not the slug or id of an active organization.'];
      const named = ['nowhere', 'foreign', foreign.id, 'asleep', asleep.id, 'x'.repeat(300), 'Ünicode', "' or 1=1"];
      for (const organization of named) {
        if (path === 'authorize') expect(await errorOf({ organization })).toEqual(refused);
        else {
          const form = { ...authorizationParameters(client.id, party.proof.challenge), organization };
          const { error, error_description } = await post(path, form);
          expect([error, error_description]).toEqual(refused);
        }
      }
    },
  );

  it('of which the user is no member gets the page, and access_denied', async () => {
    await places.organization('north');
    expect((await errorOf({ organization: 'north', prompt: 'none' }))[0]).toBe('access_denied');
    expect((await pageOf(await party.authorize({ organization: 'north' }))).status).toBe(403);
    // Nor another way with the membership of another organization.
    await places.join(await places.organization('south'), user);
    expect((await pageOf(await party.authorize({ organization: 'north' }))).status).toBe(403);
  });

  it('is refused if repeated, and ignored at the base issuer', async () => {
    const query = new URLSearchParams(authorizationParameters(client.id, party.proof.challenge));
    query.append('organization', 'a');
    query.append('organization', 'b');
    const answer = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`)).searchParams;
    expect(answer.get('error_description')).toBe('organization is repeated or malformed.');
    const base = new RelyingParty(app, client);
    for (const [name, value] of party.browser.cookies) base.browser.cookies.set(name, value);
    expect(orgOf(await claimsOf(await base.code({ organization: 'nowhere' }), base))).toEqual(noOrg);
  });

  it('is remembered while the user signs in, and by a pushed request', async () => {
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
    const begun = await party.authorize({ organization: 'north', prompt: 'login' });
    expect(locationOf(begun).pathname).toBe('/signin');
    app.clock.turn(1);
    await party.signIn(user);
    const flow = locationOf(begun).searchParams.get('flow') ?? '';
    const done = await party.browser.get(`${party.issuer}/authorize/resume?${new URLSearchParams({ flow })}`);
    expect(await claimsOf(codeOf(done))).toMatchObject({ org_slug: 'north' });

    const pushed = { ...authorizationParameters(client.id, party.proof.challenge), organization: 'south' };
    const { request_uri = '' } = await post('par', pushed);
    const query = new URLSearchParams({ client_id: client.id, request_uri, organization: 'north' });
    const answer = await party.browser.get(`${party.issuer}/authorize?${query}`);
    expect(await claimsOf(codeOf(answer))).toMatchObject({ org_slug: 'south' });
  });
});

describe('a device', () => {
  const begin = (fields: Record<string, string> = {}) => post('device_authorization', { scope: 'openid', ...fields });
  const poll = (device_code: string | undefined) =>
    post('token', { grant_type: grantTypeNames.device_code, device_code: device_code ?? '' });

  it('gets tokens in the organization that it asked for, or that its user chooses', async () => {
    const [north, south] = [await places.organization('north'), await places.organization('south')];
    for (const place of [north, south]) await places.join(place, user);
    const device = new DeviceBrowser(app, party.issuer);
    for (const [name, value] of party.browser.cookies) device.browser.cookies.set(name, value);
    const asked = await begin({ organization: 'south' });
    expect((await device.allow(asked['user_code'] ?? '')).status).toBe(200);
    expect(decodeJwt((await poll(asked['device_code']))['id_token'] ?? '')).toMatchObject({ org_slug: 'south' });

    const open = await begin();
    const flow = await device.flowOf(open['user_code'] ?? '');
    const html = await (await device.approval(flow)).text();
    expect(choicesOf(html).map(({ name }) => name)).toEqual(['south', 'north']);
    // The decision before the choice decides nothing.
    await device.post(flow, { csrf: field(html, 'csrf'), decision: 'allow' });
    expect((await poll(open['device_code']))['error']).toBe('authorization_pending');
    await device.post(flow, { csrf: field(html, 'csrf'), organization: north.id });
    expect((await device.decide(flow, 'allow')).status).toBe(200);
    app.clock.turn(6);
    expect(decodeJwt((await poll(open['device_code']))['id_token'] ?? '')).toMatchObject({ org_slug: 'north' });
  });

  it('of a user who is no member gets nothing', async () => {
    await places.organization('north');
    const device = new DeviceBrowser(app, party.issuer);
    for (const [name, value] of party.browser.cookies) device.browser.cookies.set(name, value);
    const { user_code = '' } = await begin({ organization: 'north' });
    expect((await device.approval(await device.flowOf(user_code))).status).toBe(403);
  });
});

/** However a user loses an organization, no path gives a code or token in its context, and what was given ends (decisions/0384). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { basic, type Machine, send } from '../../test/machine.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

let app: TestApp;
let project: Project;
let client: Client;
let machine: Machine;
let user: User;
let places: Places;
let north: Place;
let membership: string;
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
  const made = await app.make.client(project, {
    ...{ name: 'Wiki', tokenEndpointAuthMethod: 'client_secret_basic', organizationRequired: true },
    grantTypes: ['refresh_token', 'device_code'],
  });
  client = made.client;
  user = await app.make.user(project);
  north = await places.organization('north');
  membership = await places.join(north, user);
  party = partyAt(app, project, client);
  machine = { app, client, secret: made.clientSecret ?? '', issuer: party.issuer };
  await party.signIn(user);
});

const change = (text: string, ...values: unknown[]) => changed(app.services.db, text, [...values, project.id]);

/** The ways to lose an organization, as rows where an admin, a directory or the user writes them. */
const ways: [how: string, lose: () => Promise<unknown>][] = [
  ['is removed', () => change('delete from organization_memberships where id = ? and project_id = ?', membership)],
  [
    'is suspended',
    () => change("update organization_memberships set state = 'suspended' where id = ? and project_id = ?", membership),
  ],
  ['has a suspended organization', () => places.set(north, 'state', 'suspended')],
  ['has a deleted organization', () => change('delete from organizations where id = ? and project_id = ?', north.id)],
  [
    'is in a project that switches organizations off',
    () => app.services.projects.update(project.id, { organizationsEnabled: false }, system),
  ],
  [
    'is deactivated',
    () => app.services.accounts.change(project.id, user.id, (now) => ({ ...valuesOf(now), active: false }), system),
  ],
];

const token = async (fields: Record<string, string>) => {
  const response = await send(machine, '/oauth2/token', fields);
  return (await response.json()) as Record<string, string>;
};
const exchange = (code: string, by = party) => by.exchange(code, { client_id: undefined }, basic(machine));
const exchanged = async (code: string) => (await (await exchange(code)).json()) as Record<string, string>;
const poll = (device_code = '') => token({ grant_type: grantTypeNames.device_code, device_code });
const begin = async (fields: Record<string, string> = {}) =>
  (await (await send(machine, '/oauth2/device_authorization', { scope: 'openid', ...fields })).json()) as Record<
    string,
    string
  >;
const activeOf = async (text = '') =>
  ((await (await send(machine, '/oauth2/introspect', { token: text })).json()) as { active: boolean }).active;
const lasting = { scope: 'openid offline_access' };

/** Credentials in the organization from before the loss, on each path. */
async function before() {
  const signedIn = await exchanged(await party.code(lasting));
  expect(decodeJwt(signedIn['id_token'] ?? '')).toMatchObject({ org_id: north.id });
  const device = new DeviceBrowser(app, party.issuer);
  for (const [name, value] of party.browser.cookies) device.browser.cookies.set(name, value);
  const approved = await begin();
  expect((await device.allow(approved['user_code'] ?? '')).status).toBe(200);
  const waiting = await begin({ organization: 'north' });
  const flow = await device.flowOf(waiting['user_code'] ?? '');
  const form = { ...authorizationParameters(client.id, party.proof.challenge), organization: 'north' };
  const pushed = (await (await send(machine, '/oauth2/par', form)).json()) as Record<string, string>;
  const pending = locationOf(await party.authorize({ prompt: 'login', organization: 'north' })).searchParams.get(
    'flow',
  );
  return {
    signedIn,
    device,
    approved,
    waiting,
    flow,
    pushed: pushed['request_uri'] ?? '',
    pending,
    code: await party.code(),
  };
}

describe.each(ways)('if the user %s', (how, lose) => {
  it('no path gives a code or token, and what was given ends', async () => {
    const had = await before();
    await lose();
    const isActive = how !== 'is deactivated';

    for (const changes of [{}, { organization: 'north' }, { organization: north.id }]) {
      const answer = await party.answer({ ...changes, prompt: 'none' });
      expect(answer.get('code')).toBeNull();
      expect(['access_denied', 'invalid_request', 'login_required']).toContain(answer.get('error'));
    }
    const refused = { error: 'invalid_grant' };
    expect(await exchanged(had.code)).toMatchObject(refused);
    for (const changes of [{}, { organization: 'north' }] as Record<string, string>[]) {
      const refresh = { grant_type: 'refresh_token', refresh_token: had.signedIn['refresh_token'] ?? '', ...changes };
      expect(await token(refresh)).toMatchObject(refused);
    }
    expect(await poll(had.approved['device_code'])).toMatchObject(refused);
    await had.device.post(had.flow, { decision: 'allow', csrf: '' });
    expect(await poll(had.waiting['device_code'])).toMatchObject({ error: 'authorization_pending' });
    expect((await party.userInfo(had.signedIn['access_token'] ?? '')).status).toBe(401);
    for (const name of ['access_token', 'refresh_token']) expect(await activeOf(had.signedIn[name])).toBe(false);

    // A pushed request and a flow from before, which end after it.
    const query = new URLSearchParams({ client_id: client.id, request_uri: had.pushed });
    const visit = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`));
    expect(visit.searchParams.get('code')).toBeNull();
    if (isActive) await party.signIn(user);
    const resume = `${party.issuer}/authorize/resume?${new URLSearchParams({ flow: had.pending ?? '' })}`;
    expect((await party.browser.get(resume)).status).toBe(isActive ? 403 : 303);
  });
});

describe('while other requests are under way', () => {
  const remove = () => change('delete from organization_memberships where id = ? and project_id = ?', membership);
  const codesOf = async () =>
    (await Promise.all(Array.from({ length: 200 }, () => party.answer({ prompt: 'none' })))).map((answer) =>
      answer.get('code'),
    );

  it('of 200 requests, those after the end of the membership get no code, and no code gives tokens', async () => {
    const [codes] = await Promise.all([codesOf(), remove()]);
    const given = codes.filter((code) => code !== null);
    const answers = await Promise.all(given.map(exchanged));
    expect(answers.filter((answer) => answer['error'] !== 'invalid_grant')).toEqual([]);
    expect((await codesOf()).filter((code) => code !== null)).toEqual([]);
  });

  it('of 200 redemptions, tokens that were given are refused after it', async () => {
    const codes = (await codesOf()).filter((code) => code !== null);
    expect(codes).toHaveLength(200);
    const [answers] = await Promise.all([Promise.all(codes.map(exchanged)), remove()]);
    const given = answers.flatMap((answer) => answer['access_token'] ?? []);
    const states = await Promise.all(given.map(async (one) => (await party.userInfo(one)).status));
    expect(new Set(states)).toEqual(given.length === 0 ? new Set() : new Set([401]));
    const refused = answers.filter((answer) => answer['access_token'] === undefined);
    expect(new Set(refused.map((answer) => answer['error']))).toEqual(
      refused.length === 0 ? new Set() : new Set(['invalid_grant']),
    );
  });
});

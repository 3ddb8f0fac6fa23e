/** Consent to a third-party application in one organization of the user is none in another one (decisions/0406). */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { basic, type Machine, send } from '../../test/machine.ts';
import { answerOf, type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;
let places: Places;
let machine: Machine;
let party: RelyingParty;
let north: Place;
let south: Place;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.turn(600);
  project = await app.make.project({ name: 'Acme' });
  await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
  places = new Places(app, project);
  const { client, clientSecret } = await app.make.client(project, {
    ...{ name: 'Calendar', tokenEndpointAuthMethod: 'client_secret_basic' },
    grantTypes: ['refresh_token', 'device_code'],
  });
  await app.services.clients.update(client, { thirdParty: true }, system);
  user = await app.make.user(project);
  [north, south] = [await places.organization('north', 'North'), await places.organization('south', 'South')];
  for (const place of [north, south]) await places.join(place, user, [`of-${place.slug}`]);
  party = partyAt(app, project, client);
  machine = { app, client, secret: clientSecret ?? '', issuer: party.issuer };
  await party.signIn(user);
});

const field = (html: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const lasting = { scope: 'openid offline_access' };

/** Opens the page that follows a request. */
async function page(changes: Record<string, string>): Promise<string> {
  const resume = locationOf(await party.authorize(changes));
  return (await party.browser.get(resume.href)).text();
}
async function answer(html: string, given: 'allow' | 'cancel'): Promise<URLSearchParams> {
  const form = { flow: field(html, 'flow'), csrf: field(html, 'csrf'), answer: given };
  const noted = await party.browser.post(`${party.issuer}/authorize/consent`, form);
  return locationOf(await party.browser.get(locationOf(noted).href)).searchParams;
}
const allow = async (changes: Record<string, string>) => (await answer(await page(changes), 'allow')).get('code') ?? '';
const silently = (changes: Record<string, string>) => party.answer({ ...changes, prompt: 'none' });
const exchanged = async (code: string) =>
  answerOf(await party.exchange(code, { client_id: undefined }, basic(machine)));
const refreshed = async (token = '', fields: Record<string, string> = {}) =>
  answerOf(await send(machine, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: token, ...fields }));
const isActive = async (token = '') =>
  ((await (await send(machine, '/oauth2/introspect', { token })).json()) as { active: boolean }).active;
const given = () =>
  rows<{ organization_ids: string[] }>(
    app.services.db,
    'select organization_ids from consents where project_id = ? order by id',
    [project.id],
  );
const take = () =>
  changed(app.services.db, `update consents set organization_ids = '{}' where project_id = ?`, [project.id]);
const refused = { error: 'invalid_grant' };

describe('consent in an organization', () => {
  it('is asked again in another one, which the page names', async () => {
    const html = await page({ organization: 'north' });
    expect(html).toContain('sign in for North');
    await answer(html, 'allow');
    expect((await silently({ organization: 'north' })).has('code')).toBe(true);
    expect((await silently({ organization: 'south' })).get('error')).toBe('consent_required');
    expect(await given()).toEqual([{ organization_ids: [north.id] }]);
    const other = await page({ organization: south.id });
    expect(other).toContain('sign in for South');
    expect((await answer(other, 'cancel')).get('error')).toBe('access_denied');
    expect(await given()).toEqual([{ organization_ids: [north.id] }]);
    expect(decodeJwt((await exchanged(await allow({ organization: 'south' })))['id_token'] ?? '')).toMatchObject({
      org_id: south.id,
    });
    for (const organization of ['north', 'south']) {
      expect((await silently({ organization })).has('code')).toBe(true);
    }
  });

  it('is not needed with the scope that shows all organizations', async () => {
    await allow({ organization: 'north', scope: 'openid organizations' });
    expect((await silently({ organization: 'south' })).has('code')).toBe(true);
  });

  it('is needed to redeem a code, to refresh, for UserInfo and introspection', async () => {
    const code = await allow({ ...lasting, organization: 'north' });
    const tokens = await exchanged(await allow({ ...lasting, organization: 'north', prompt: 'consent' }));
    const { access_token: access = '', refresh_token: token } = tokens;
    expect([(await party.userInfo(access)).status, await isActive(access), await isActive(token)]).toEqual([
      200,
      true,
      true,
    ]);
    await take();
    expect(await exchanged(code)).toMatchObject(refused);
    expect(await refreshed(token)).toMatchObject(refused);
    expect([(await party.userInfo(access)).status, await isActive(access), await isActive(token)]).toEqual([
      401,
      false,
      false,
    ]);
  });

  it('is needed to move to the organization by a refresh', async () => {
    const { refresh_token: token } = await exchanged(await allow({ ...lasting, organization: 'north' }));
    expect(await refreshed(token, { organization: 'south' })).toMatchObject(refused);
    await allow({ organization: 'south' });
    const moved = await refreshed(token, { organization: 'south' });
    expect(decodeJwt(moved['id_token'] ?? '')).toMatchObject({ org_id: south.id, org_roles: ['of-south'] });
  });

  it('is that of the page: a form for one organization consents to no other', async () => {
    const leave = ({ id }: Place) =>
      changed(app.services.db, 'delete from organization_memberships where project_id = ? and organization_id = ?', [
        project.id,
        id,
      ]);
    await leave(south);
    const html = await page({});
    expect(html).toContain('sign in for North');
    await leave(north);
    await places.join(south, user);
    const form = { flow: field(html, 'flow'), csrf: field(html, 'csrf'), answer: 'allow' };
    const noted = await party.browser.post(`${party.issuer}/authorize/consent`, form);
    expect(await (await party.browser.get(locationOf(noted).href)).text()).toContain('sign in for South');
    expect(await given()).toEqual([]);
  });

  it('is given for a pushed request, too', async () => {
    await allow({ organization: 'north' });
    const asked = { ...authorizationParameters(machine.client.id, party.proof.challenge), organization: 'south' };
    const { request_uri } = await answerOf(await send(machine, '/oauth2/par', { ...asked, prompt: 'none' }));
    const query = new URLSearchParams({ client_id: machine.client.id, request_uri: request_uri ?? '' });
    const back = locationOf(await party.browser.get(`${party.issuer}/authorize?${query}`));
    expect(back.searchParams.get('error')).toBe('consent_required');
  });
});

describe('a device', () => {
  it('names its organization, in which the decision consents', async () => {
    const device = new DeviceBrowser(app, party.issuer);
    for (const [name, value] of party.browser.cookies) device.browser.cookies.set(name, value);
    const asked = await answerOf(
      await send(machine, '/oauth2/device_authorization', { scope: 'openid', organization: 'south' }),
    );
    const flow = await device.flowOf(asked['user_code'] ?? '');
    expect(await (await device.approval(flow)).text()).toContain('sign in for South');
    expect((await device.decide(flow, 'allow')).status).toBe(200);
    const poll = { grant_type: grantTypeNames.device_code, device_code: asked['device_code'] ?? '' };
    const tokens = await answerOf(await send(machine, '/oauth2/token', poll));
    expect(decodeJwt(tokens['id_token'] ?? '')).toMatchObject({ org_id: south.id });
    expect(await given()).toEqual([{ organization_ids: [south.id] }]);
  });
});

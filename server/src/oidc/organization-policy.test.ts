/** The rules of an organization tighten those of the project, in its context only (decisions/0385). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { authorizationParameters, locationOf } from '../../test/browser.ts';
import type { TestApp } from '../../test/build-app.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty } from '../../test/relying-party.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
let app: TestApp;
let client: Client;
let user: User;
let places: Places;
let north: Place;
let south: Place;
let party: RelyingParty;

beforeAll(() => {
  ({ app } = world);
});

beforeEach(async () => {
  await app.services.projects.update(world.project.id, { organizationsEnabled: true }, system);
  places = new Places(app, world.project);
  client = (await app.make.client(world.project, { name: 'Wiki', grantTypes: ['refresh_token'] })).client;
  user = await app.make.user(world.project);
  [north, south] = [await places.organization('north'), await places.organization('south')];
  party = partyAt(app, world.project, client);
});

const joinBoth = async () => {
  for (const place of [north, south]) await places.join(place, user);
};
const silent = async (organization: string) => {
  const answer = await party.answer({ organization, prompt: 'none' });
  return answer.get('error') ?? (answer.has('code') ? 'code' : '');
};
const refresh = async (token: string) => {
  const form = { client_id: client.id, grant_type: 'refresh_token', refresh_token: token };
  const response = await fetch(`${party.issuer}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) });
  return (await response.json()) as Record<string, string>;
};
const grantOf = async (scope: string) => {
  const response = await party.exchange(await party.code({ organization: 'north', scope }));
  return ((await response.json()) as Record<string, string>)['refresh_token'] ?? '';
};

describe('a second factor that an organization requires', () => {
  const begin = async (person: HostedBrowser, over: Record<string, string> = {}) => {
    const query = new URLSearchParams(authorizationParameters(client.id, party.proof.challenge, over));
    return locationOf(await person.browser.get(`${party.issuer}/authorize?${query}`));
  };

  it('is asked for once the organization is known, and at once if the request names it', async () => {
    const person = new HostedBrowser(world, new SoftAuthenticator());
    const userid = newAddress();
    await person.show(await begin(person));
    const done = expectStatus(await person.register(userid), 'SUCCESS');
    expect((await person.follow(done)).searchParams.has('code')).toBe(true);
    user = (await app.services.users.findByAddress(app.services.db.reader(), world.project.id, userid)) as User;
    await places.join(north, user);
    await places.set(north, 'mfa_policy', 'required');
    party.browser.cookies.clear();
    for (const [name, value] of person.browser.cookies) party.browser.cookies.set(name, value);
    expect(await silent('north')).toBe('login_required');

    // The trusted browser is enough for the project, not for the only organization of the user.
    app.clock.turn(31);
    const to = await begin(person);
    expect(to.pathname).toBe('/signin');
    await person.show(to);
    await person.page.challenge();
    const signedIn = expectStatus(await person.page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    const again = await person.follow(signedIn);
    expect([again.pathname, again.searchParams.get('flow')]).toEqual(['/signin', to.searchParams.get('flow')]);
    expect((await person.browser.get(again.href)).status).toBe(200);
    await person.show(again);
    await person.page.challenge();
    expectStatus(await person.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');

    await person.show(await begin(person, { organization: 'north' }));
    await person.page.challenge();
    expectStatus(await person.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('refuses refresh tokens meanwhile, and no others', async () => {
    await joinBoth();
    await party.signIn(user);
    const token = await grantOf('openid offline_access');
    await places.set(north, 'mfa_policy', 'required');
    expect(await refresh(token)).toMatchObject({ error: 'invalid_grant' });
    expect([await silent('north'), await silent('south')]).toEqual(['login_required', 'code']);
    await places.set(north, 'mfa_policy', null);
    expect(await refresh(token)).toHaveProperty('refresh_token');
  });
});

describe('the limits of an organization', () => {
  beforeEach(async () => {
    await joinBoth();
    await party.signIn(user);
  });

  it('the idle timeout ends the session in it alone, and a new sign-in renews it', async () => {
    await places.set(north, 'idle_timeout_seconds', 600);
    app.clock.turn(599);
    expect(await silent('north')).toBe('code');
    app.clock.turn(600);
    expect([await silent('north'), await silent('south')]).toEqual(['login_required', 'code']);
    app.clock.turn(700);
    await party.signIn(user);
    expect(await silent('north')).toBe('code');
  });

  it('looking at the chooser is no use', async () => {
    await places.set(north, 'idle_timeout_seconds', 600);
    app.clock.turn(500);
    const begun = locationOf(await party.authorize());
    const html = await (await party.browser.get(begun.href)).text();
    expect(html).toContain('name="organization"');
    app.clock.turn(200);
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
    const form = { flow: field('flow'), csrf: field('csrf'), organization: north.id };
    const stored = await party.browser.post(`${party.issuer}/authorize/organization`, form);
    expect(locationOf(await party.browser.get(locationOf(stored).href)).pathname).toBe('/signin');
  });

  it('the lifetime counts from the last sign-in, for codes and refresh tokens of the session', async () => {
    await places.set(north, 'max_session_seconds', 3600);
    const [online, offline] = [await grantOf('openid'), await grantOf('openid offline_access')];
    app.clock.turn(1500);
    const next = (await refresh(online))['refresh_token'] ?? '';
    expect([await silent('north'), await silent('south')]).toEqual(['code', 'code']);
    app.clock.turn(1500);
    expect(await silent('south')).toBe('code');
    app.clock.turn(600);
    expect([await silent('north'), await silent('south')]).toEqual(['login_required', 'code']);
    expect(await refresh(next)).toMatchObject({ error: 'invalid_grant' });
    expect(await refresh(offline)).toHaveProperty('refresh_token');
    await party.signIn(user);
    expect(await silent('north')).toBe('code');
    expect(await refresh(next)).toHaveProperty('refresh_token');
  });
});

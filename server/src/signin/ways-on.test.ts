/**
 * Every page where a sign-in ends links to the application, at an address from its registration, never from the
 * request.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf } from '../../test/browser.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
let party: RelyingParty;
let user: User;

beforeEach(async () => {
  party = new RelyingParty(world.app, world.client);
  user = await world.user();
});

const start = 'href="https://app.example.com/"';
/** Not on a page with a link. */
const advice = 'Go back to the application and try again.';

async function begin(changes: Record<string, string> = {}): Promise<string> {
  return locationOf(await party.authorize(changes)).searchParams.get('flow') ?? '';
}

const open = (flow: string, browser = party.browser, more = '') =>
  browser.get(`${world.app.url}/signin?flow=${flow}${more}`);
const resume = (flow: string, browser = party.browser) => browser.get(`${world.app.url}/authorize/resume?flow=${flow}`);

/** The page that a browser gets at an address of this name. */
const pageAt = (name: string, path: string, headers: Record<string, string>) =>
  new Promise<string>((resolve, reject) => {
    const sent = request(`${world.app.url}${path}`, { headers: { Host: name, ...headers } }, (response) => {
      text(response).then(resolve, reject);
    });
    sent.on('error', reject).end();
  });

/** Signs in, and returns to the application. */
async function finish(flow: string): Promise<void> {
  world.app.clock.turn(1);
  await party.signIn(user);
  expect(locationOf(await resume(flow)).searchParams.has('code')).toBe(true);
}

describe('the page of a sign-in that has ended', () => {
  it('links to the application in a browser without the cookie of the flow', async () => {
    const flow = await begin();
    for (const answer of [await open(flow, new CookieBrowser()), await resume(flow, new CookieBrowser())]) {
      expect(answer.status).toBe(400);
      const html = await answer.text();
      expect(html).toContain(start);
      expect(html).toContain(`Continue to ${world.client.name}`);
    }
  });

  it('links to the application after it has expired', async () => {
    const flow = await begin();
    world.app.clock.turn(31 * 60);
    const answer = await open(flow);
    const html = await answer.text();
    expect([answer.status, html.includes(start), html.includes(advice)]).toEqual([400, true, false]);
  });

  it('links to the application after it was finished, without a session', async () => {
    const flow = await begin();
    await finish(flow);
    party.signOut();
    const answer = await open(flow);
    expect([answer.status, (await answer.text()).includes(start)]).toEqual([400, true]);
  });

  it.each(['', 'x', '%00', 'https://evil.example/'])('has no link for the unknown flow "%s"', async (flow) => {
    const html = await (await open(`${flow}&redirect_uri=https://evil.example/&client_id=${world.client.id}`)).text();
    expect(html).toContain('This sign-in has ended');
    expect(html).not.toContain('id="start"');
    expect(html).toContain(advice);
    expect(html).not.toContain('evil.example');
  });

  it('has no link to an address that is no longer registered, or of a disabled application', async () => {
    const flow = await begin();
    const { clients } = world.app.services;
    await clients.update(world.client, { redirectUris: ['https://other.example.com/cb'] }, system);
    expect(await (await open(flow, new CookieBrowser())).text()).not.toContain('id="start"');
    await clients.update(world.client, { redirectUris: ['https://app.example.com/cb'], disabled: true }, system);
    expect(await (await open(flow, new CookieBrowser())).text()).not.toContain('id="start"');
  });

  it('names the configured address to a browser at another one, and none from the request', async () => {
    const flow = await begin();
    const { host } = new URL(world.app.url);
    const at = (name: string, headers: Record<string, string> = {}) =>
      pageAt(name, `/signin?flow=${flow}&host=evil.example`, headers);
    const link = `id="host" href="${world.app.url}/"`;
    const html = await at('10.0.0.5:8080');
    expect([html.includes(link), html.includes(start), html.includes('10.0.0.5')]).toEqual([true, true, false]);
    expect(html).toContain(`This page works only at ${world.app.url}.`);
    for (const right of [await at(host), await at('proxy', { 'X-Forwarded-Host': host })])
      expect([right.includes(start), right.includes('id="host"')]).toEqual([true, false]);
  });

  it('also links to the application when it ends while the page is open', async () => {
    expect(await (await open(await begin())).text()).toContain(start);
  });
});

describe('Sign in again', () => {
  const again = (flow: string, browser = party.browser) =>
    browser.get(`${world.app.url}/signin/again?flow=${flow}&redirect_uri=https://evil.example/&scope=x&state=other`);
  const flowAt = (answer: Response) => locationOf(answer).searchParams.get('flow') ?? '';
  const expiry = 31 * 60;

  /** The flow of a pushed request (RFC 9126), in the same browser. */
  async function begunByPush(): Promise<string> {
    const { issuer } = partyAt(world.app, world.project, world.client);
    const parameters = authorizationParameters(world.client.id, party.proof.challenge, { prompt: 'login' });
    const pushed = await party.browser.post(`${issuer}/oauth2/par`, parameters);
    const { request_uri: uri } = (await pushed.json()) as Record<string, string>;
    const query = new URLSearchParams({ client_id: world.client.id, request_uri: uri ?? '' });
    return flowAt(await party.browser.get(`${issuer}/authorize?${query}`));
  }

  it('is offered once the sign-in has expired, and ends with the code of the same request', async () => {
    const flow = await begin({ state: 'kept', nonce: 'once', prompt: 'login', ui_locales: 'en' });
    expect(await (await open(flow)).text()).toContain(`href="/signin/again?flow=${flow}"`);
    world.app.clock.turn(10 * 3600);
    for (const ended of [await open(flow), await resume(flow)]) {
      const html = await ended.text();
      expect(html).toContain(`href="/signin/again?flow=${flow}"`);
      expect(html).toContain(start);
      expect(html).toContain('This sign-in was open too long.');
      expect(html).not.toContain(advice);
    }
    const renewed = flowAt(await again(flow));
    expect(renewed).not.toBe(flow);
    expect((await open(renewed)).status).toBe(200);
    world.app.clock.turn(1);
    await party.signIn(user);
    const back = locationOf(await resume(renewed));
    expect([back.origin, back.searchParams.get('state')]).toEqual(['https://app.example.com', 'kept']);
    const tokens = (await (await party.exchange(back.searchParams.get('code') ?? '')).json()) as TokenAnswer;
    expect(await party.claims(tokens.id_token)).toMatchObject({ nonce: 'once', sub: user.id });
  });

  it('requires a new sign-in if the request did, even after another one', async () => {
    const flow = await begin({ prompt: 'login' });
    world.app.clock.turn(expiry);
    await party.signIn(user);
    const renewed = flowAt(await again(flow));
    expect(renewed).not.toBe(flow);
    expect(locationOf(await resume(renewed)).pathname).toBe('/signin');
  });

  it('repeats a request only once', async () => {
    const flow = await begin();
    world.app.clock.turn(expiry);
    const cookies = new Map(party.browser.cookies);
    const answers = await Promise.all(
      [1, 2, 3].map(() => {
        const browser = new CookieBrowser();
        for (const [name, value] of cookies) browser.cookies.set(name, value);
        return again(flow, browser);
      }),
    );
    expect(answers.filter((answer) => flowAt(answer) !== flow)).toHaveLength(1);
  });

  it('works only in the browser of the flow', async () => {
    const [flow, other] = [await begin(), await begin()];
    const [stranger, cross] = [new CookieBrowser(), new CookieBrowser()];
    const name = `lk-flow-${flow.slice(0, 16)}`;
    cross.cookies.set(name, party.browser.cookies.get(`lk-flow-${other.slice(0, 16)}`) ?? '');
    world.app.clock.turn(expiry);
    for (const browser of [stranger, cross]) {
      expect(await (await open(flow, browser)).text()).not.toContain('/signin/again');
      expect(flowAt(await again(flow, browser))).toBe(flow);
    }
    expect(flowAt(await again(flow))).not.toBe(flow);
  });

  it('is not offered for a finished, open, pushed or old request, or an address that is no longer registered', async () => {
    const finished = await begin();
    await finish(finished);
    const current = await begin({ prompt: 'login' });
    const pushed = await begunByPush();
    expect(flowAt(await again(current))).toBe(current);
    world.app.clock.turn(expiry);
    for (const flow of [finished, pushed]) {
      const html = await (await open(flow)).text();
      expect([html.includes(start), html.includes('/signin/again')]).toEqual([true, false]);
      expect(flowAt(await again(flow))).toBe(flow);
    }
    await world.app.services.clients.update(world.client, { redirectUris: ['https://other.example.com/cb'] }, system);
    expect(flowAt(await again(current))).toBe(current);
    await world.app.services.clients.update(world.client, { redirectUris: ['https://app.example.com/cb'] }, system);
    world.app.clock.turn(12 * 3600);
    expect(flowAt(await again(current))).toBe(current);
  });

  it('is not offered once the application requires pushed requests, or PKCE that the request lacks', async () => {
    const { clients } = world.app.services;
    const set = (settings: Parameters<typeof clients.update>[1]) => clients.update(world.client, settings, system);
    await set({ tokenEndpointAuthMethod: 'client_secret_post', pkceOptional: true });
    const { issuer } = partyAt(world.app, world.project, world.client);
    const parameters = authorizationParameters(world.client.id, party.proof.challenge, { prompt: 'login' });
    const withPkce = flowAt(await party.browser.get(`${issuer}/authorize?${new URLSearchParams(parameters)}`));
    const query = new URLSearchParams(parameters);
    query.delete('code_challenge');
    query.delete('code_challenge_method');
    const without = flowAt(await party.browser.get(`${issuer}/authorize?${query}`));
    world.app.clock.turn(expiry);
    await set({ pkceOptional: false });
    expect(flowAt(await again(without))).toBe(without);
    await set({ pushedRequestsRequired: true });
    expect(flowAt(await again(withPkce))).toBe(withPkce);
    await set({ pushedRequestsRequired: false, pkceOptional: true });
    for (const flow of [withPkce, without]) expect(flowAt(await again(flow))).not.toBe(flow);
  });
});

describe('the sign-in page under a live session', () => {
  it('redirects to the application after the sign-in, when the user goes back or reloads', async () => {
    const flow = await begin();
    world.app.clock.turn(1);
    await party.signIn(user);
    const reloaded = await open(flow);
    expect([reloaded.status, locationOf(reloaded).pathname]).toEqual([303, '/authorize/resume']);
    expect(locationOf(await party.browser.get(locationOf(reloaded).href)).searchParams.has('code')).toBe(true);
    const back = await open(flow);
    expect([back.status, back.headers.get('location')]).toEqual([303, 'https://app.example.com/']);
  });

  it('asks for a sign-in if the session does not meet the request', async () => {
    await party.signIn(user);
    expect((await open(await begin({ prompt: 'login' }))).status).toBe(200);
    const flow = await begin({ prompt: 'login' });
    world.app.clock.turn(1);
    await party.signIn(user, 'device-key');
    expect((await open(flow)).status).toBe(200);
  });

  it('asks for a sign-in if the user wants another account', async () => {
    const flow = await begin();
    world.app.clock.turn(1);
    await party.signIn(user);
    expect((await open(flow, party.browser, '&other=')).status).toBe(200);
  });

  it('asks for a sign-in if the user of id_token_hint is not signed in', async () => {
    await party.signIn(user);
    const { id_token: hint } = await party.tokens();
    party.signOut();
    const flow = await begin({ id_token_hint: hint });
    world.app.clock.turn(1);
    await party.signIn(await world.user());
    expect((await open(flow)).status).toBe(200);
  });
});

describe('a page at a loopback name other than that of the base address', () => {
  const at = (name: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
      const all = { Host: name, Accept: 'text/html,*/*;q=0.8', ...headers };
      const sent = request(`${world.app.url}${path}`, { headers: all, method }, (response) => {
        response.resume();
        resolve([response.statusCode, response.headers.location]);
      });
      sent.on('error', reject).end();
    });

  it('redirects a browser to the base address, with path and query', async () => {
    const { port, hostname } = new URL(world.app.url);
    const other = hostname === 'localhost' ? '127.0.0.1' : 'localhost';
    const path = '/authorize?client_id=x&state=a%20b';
    expect(await at(`${other}:${port}`, path)).toEqual([307, `${world.app.url}${path}`]);
    expect((await at(`${other}:${port}`, '//evil.example/'))[1]).toBe(`${world.app.url}//evil.example/`);
    const elsewhere: Parameters<typeof at>[] = [
      [`${other}:1`, '/'],
      [`evil.example:${port}`, '/'],
      [`${other}:${port}`, '/', { Accept: 'application/json' }],
      [`${other}:${port}`, '/', { 'X-Forwarded-Host': hostname }],
      [`${other}:${port}`, '/', {}, 'POST'],
      [`${hostname}:${port}`, '/'],
    ];
    for (const one of elsewhere) expect((await at(...one))[0]).not.toBe(307);
  });
});

/** Sign-ins that an organization requires of its connection, and the way there by the typed address (decisions/0398). */
import { beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import { fetchHere } from '../../test/fetch-here.ts';
import type { HostedBrowser } from '../../test/hosted-browser.ts';
import { type Place, Places } from '../../test/organizations.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress } from '../../test/signin-world.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import { newProfile } from '../domain/connections/profile.ts';
import { system } from '../domain/kernel/actor.ts';
import { projectIssuerUrl } from '../domain/projects/issuer.ts';
import { keyIn } from '../domain/projects/tenant.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const services = () => world.app.services;
let places: Places;
let acme: Place;
let connection: Connection;

beforeEach(async () => {
  await world.set({ organizationsEnabled: true });
  places = new Places(world.app, world.project);
  acme = await places.organization('acme');
  await verify(acme, 'example.com');
  connection = await own.connect({ organizationId: acme.id });
  await configure({ signIn: 'connection' });
});

const keyOf = ({ id }: { id: string }) => keyIn(world.project.id, id);
const configure = (settings: Parameters<ReturnType<typeof services>['organizations']['update']>[1], place = acme) =>
  services().organizations.update(keyOf(place), settings, system);
const verify = async (place: Place, domain: string) => {
  const { organizationDomains } = services();
  return organizationDomains.verify(await organizationDomains.add(keyOf(place), domain, system), 'Test', system);
};
const employee = async (place: Place | null = acme, email = newAddress()) => {
  const home = { projectId: world.project.id, organizationId: place?.id ?? null };
  const { db, users } = services();
  const { id } = await db.transaction((em) => users.create(em, home, newProfile(email, {}), 'local', system));
  return { id, email };
};
const person = (email: string) => Object.assign(own.provider.person, { email, email_verified: undefined });
const issuer = () => projectIssuerUrl(world.app.url, world.project.slug);
const authorize = async (browser: HostedBrowser, parameters: Record<string, string> = {}) => {
  const wanted = { client_id: world.client.id, redirect_uri: world.client.redirectUris[0] ?? '', scope: 'openid' };
  const pkce = {
    response_type: 'code',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  };
  const query = new URLSearchParams({ ...wanted, ...pkce, state: 'x', ...parameters });
  return locationOf(await browser.browser.get(`${issuer()}/authorize?${query}`));
};
/** From a page that leads to the provider: the answer of the provider, and where the callback leads. */
const answered = async (browser: HostedBrowser, start: URL) => {
  const toProvider = locationOf(await browser.browser.get(start.href));
  return locationOf(await browser.browser.get(own.provider.agree(toProvider).href));
};
const contextOf = async (browser: HostedBrowser, resume: URL) => {
  const end = locationOf(await browser.browser.get(resume.href));
  const [code] = await rows<{ organization: string | null }>(
    services().db,
    'select organization_id as organization from authorization_codes where project_id = ? order by id desc limit 1',
    [world.project.id],
  );
  return end.searchParams.get('code') === null ? (end.searchParams.get('error') ?? end.pathname) : code?.organization;
};
const typed = async (address: string, browser?: HostedBrowser) => {
  const { page } = browser ?? (await own.browser());
  await page.challenge();
  return page.step('authenticate', { userid: address });
};
const postToken = async (form: Record<string, string>) => {
  const body = new URLSearchParams({ client_id: world.client.id, ...form });
  const response = await fetchHere(`${issuer()}/oauth2/token`, { method: 'POST', body });
  return (await response.json()) as { refresh_token?: string; error?: string };
};
/** The refresh token of a code in the context of the organization, under the session of the browser. */
const tokensOf = async (browser: HostedBrowser, scope: string) => {
  const code =
    (await authorize(browser, { organization: 'acme', prompt: 'none', scope })).searchParams.get('code') ?? '';
  const redirect = {
    redirect_uri: world.client.redirectUris[0] ?? '',
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  };
  return (await postToken({ grant_type: 'authorization_code', code, ...redirect })).refresh_token ?? '';
};
const refreshed = (token: string) => postToken({ grant_type: 'refresh_token', refresh_token: token });
type Failure = { error?: { code: string; category: string; url?: string } };

describe('the typed address', () => {
  it('in a domain of the organization leads to its connection, with or without an account, and sends no code', async () => {
    const { email } = await employee();
    const guest = await employee(null);
    const browser = await own.browser();
    const before = world.app.mailbox.length;
    const answers = [];
    for (const address of [email, guest.email, newAddress()]) {
      const { error } = (await typed(address, browser)) as unknown as Failure;
      const url = new URL(error?.url ?? '');
      expect(url.pathname).toBe(`/connect/${connection.id}/start`);
      expect(url.searchParams.get('login_hint')).toBe(address);
      answers.push({ ...error, url: undefined, request_id: undefined });
    }
    expect(answers[0]).toMatchObject({ code: 'CONNECTION_REQUIRED', category: 'user_action' });
    expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
    await world.app.runJobs();
    expect(world.app.mailbox.length).toBe(before);
    const start = new URL(((await typed(email, browser)) as unknown as Failure).error?.url ?? '');
    expect(locationOf(await browser.browser.get(start.href)).searchParams.get('login_hint')).toBe(email);
  });

  it('gets an address of the project issuer in the SDK', async () => {
    const page = await world.page();
    await page.challenge();
    const email = newAddress();
    const { error } = (await page.step('authenticate', { userid: email })) as unknown as Failure;
    expect(error?.code).toBe('CONNECTION_REQUIRED');
    const url = new URL(error?.url ?? '');
    expect(`${url.origin}${url.pathname}`).toBe(`${issuer()}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{ client_id: world.client.id, connection: connection.id, login_hint: email },
    });
  });

  it('also in a trusted browser', async () => {
    await configure({ signIn: 'any' });
    const [page, email] = [await world.page(), newAddress()];
    expectStatus(await world.register(page, email), 'SUCCESS');
    await configure({ signIn: 'connection' });
    await page.challenge();
    const { error } = (await page.step('authenticate', { userid: email }, 'use')) as unknown as Failure;
    expect(error?.code).toBe('CONNECTION_REQUIRED');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the organization does not require it', () => configure({ signIn: 'any' })],
    ['the organization is suspended', () => configure({ state: 'suspended' })],
    ['its connection is disabled', () => services().connections.setState(connection, 'disabled', system)],
    ['the project has no organizations', () => world.set({ organizationsEnabled: false })],
    [
      'the domain was removed',
      async () => {
        const [domain] = await rows<{ id: string }>(
          services().db,
          'select id from organization_domains where organization_id = ?',
          [acme.id],
        );
        await services().organizationDomains.remove(keyOf(domain ?? { id: '' }), system);
      },
    ],
  ])('gets a code where %s', async (_, change) => {
    await change();
    expectStatus(await typed(newAddress()), 'OTP_NEEDED');
  });

  it('in another domain gets a code', async () => {
    expectStatus(await typed('ada@eu.example.com'), 'OTP_NEEDED');
    expectStatus(await typed('ada@other.example'), 'OTP_NEEDED');
  });
});

describe('login_hint', () => {
  const pageOf = async (browser: HostedBrowser, hint: string) => {
    const page = await authorize(browser, { login_hint: hint });
    return browser.browser.get(page.href);
  };

  it('in a domain of the organization leads to its connection without the page', async () => {
    const browser = await own.browser();
    const start = locationOf(await pageOf(browser, newAddress()));
    expect(start.pathname).toBe(`/connect/${connection.id}/start`);
    expect((await pageOf(browser, 'ada@other.example')).status).toBe(200);
  });

  it('shows the connection first where the organization does not require it', async () => {
    await configure({ signIn: 'any' });
    const html = await (await pageOf(await own.browser(), newAddress())).text();
    const links = [...html.matchAll(/\/connect\/([^/]+)\/start/g)].map((match) => match[1]);
    expect(links).toEqual([connection.id, own.connection.id]);
    const other = await (await pageOf(await own.browser(), 'ada@other.example')).text();
    expect(other).not.toContain(connection.id);
  });
});

describe('the context of the organization', () => {
  it('is reached by its connection, without the page', async () => {
    const { email, id } = await employee();
    person(email);
    const browser = await own.browser();
    const page = await authorize(browser, { organization: 'acme' });
    const start = locationOf(await browser.browser.get(page.href));
    expect(start.pathname).toBe(`/connect/${connection.id}/start`);
    const resume = await answered(browser, start);
    expect(await contextOf(browser, resume)).toBe(acme.id);
    // The session keeps it: no question at the next request.
    const again = await authorize(browser, { organization: 'acme', prompt: 'none' });
    expect(again.searchParams.get('code')).not.toBeNull();
    expect((await own.identities())[0]?.[0]).toBe(id);
  });

  it('is not reached by a mail code, a passkey or a trusted browser', async () => {
    const guest = await employee(null, 'guest@other.example');
    await services().memberships.add(keyOf(acme), { userId: guest.id }, system);
    const browser = await own.browser();
    expectStatus(await browser.register(guest.email), 'SUCCESS');
    expect(await own.sessions()).toBe(1);
    const silent = await authorize(browser, { organization: 'acme', prompt: 'none' });
    expect(silent.searchParams.get('error')).toBe('login_required');
    const page = await authorize(browser, { organization: 'acme' });
    expect(locationOf(await browser.browser.get(page.href)).pathname).toBe(`/connect/${connection.id}/start`);
    // Without the context, the session is enough.
    await services().memberships.remove(
      keyOf(
        (
          await rows<{ id: string }>(services().db, 'select id from organization_memberships where user_id = ?', [
            guest.id,
          ])
        )[0] ?? { id: '' },
      ),
      system,
    );
    expect((await authorize(browser, { prompt: 'none' })).searchParams.get('code')).not.toBeNull();
  });

  it('is not reached by a connection of another organization or of the project', async () => {
    const globex = await places.organization('globex');
    await verify(globex, 'globex.example');
    const { email, id } = await employee(globex, 'ada@globex.example');
    await services().memberships.add(keyOf(acme), { userId: id }, system);
    person(email);
    const other = await own.connect({ organizationId: globex.id });
    const browser = await own.browser();
    await authorize(browser, { organization: 'acme' });
    const resume = await answered(browser, await authorize(browser, { connection: other.id, organization: 'globex' }));
    expect(await contextOf(browser, resume)).toBe(globex.id);
    const silent = await authorize(browser, { organization: 'acme', prompt: 'none' });
    expect(silent.searchParams.get('error')).toBe('login_required');
    // In a flow for acme, the answer of the other one leaves its requirement open.
    const flow = await authorize(browser, { organization: 'acme', connection: other.id });
    expect((await answered(browser, flow)).pathname).not.toBe('/authorize/resume');
  });

  it.each(['openid', 'openid offline_access'])(
    'is kept by refresh tokens with %s only after its connection',
    async (scope) => {
      await services().clients.update(world.client, { grantTypes: ['refresh_token'] }, system);
      await configure({ signIn: 'any' });
      const [byCode, byConnection] = [await employee(), await employee()];
      const first = await own.browser();
      expectStatus(await first.register(byCode.email), 'SUCCESS');
      const second = await own.browser();
      person(byConnection.email);
      const start = await authorize(second, { connection: connection.id });
      await second.browser.get((await answered(second, start)).href);
      const tokens = [await tokensOf(first, scope), await tokensOf(second, scope)];
      expect((await Promise.all(tokens.map((one) => refreshed(one)))).map(({ error }) => error)).toEqual([
        undefined,
        undefined,
      ]);
      await configure({ signIn: 'connection' });
      const later = [await tokensOf(second, scope), tokens[0] ?? ''];
      const [kept, ended] = [await refreshed(later[0] ?? ''), await refreshed(later[1] ?? '')];
      expect([kept.error, ended.error]).toEqual([undefined, 'invalid_grant']);
    },
  );
});

describe('connection of an authorization request', () => {
  it('begins there, and refuses any other id', async () => {
    const browser = await own.browser();
    const start = await authorize(browser, { connection: own.connection.id });
    expect(start.pathname).toBe(`/connect/${own.connection.id}/start`);
    await services().connections.setState(own.connection, 'disabled', system);
    const other = await world.app.make.project();
    for (const id of [own.connection.id, other.id, 'x']) {
      expect((await authorize(browser, { connection: id })).searchParams.get('error')).toBe('invalid_request');
    }
  });
});

describe('a connection that fails', () => {
  const unreachable = async () => {
    const broken = await own.connect({ organizationId: acme.id }, 'http://127.0.0.1:9');
    await services().connections.setState(connection, 'disabled', system);
    return broken;
  };
  const failing = async (browser: HostedBrowser) => {
    const page = await authorize(browser, { organization: 'acme' });
    const start = locationOf(await browser.browser.get(page.href));
    return locationOf(await browser.browser.get(start.href));
  };

  it('is not replaced by a mail code', async () => {
    await unreachable();
    const { email } = await employee();
    const browser = await own.browser();
    const failed = await failing(browser);
    expect(failed.searchParams.get('connect')).toBe('failed');
    await browser.show(failed);
    expect(((await typed(email, browser)) as unknown as Failure).error?.code).toBe('CONNECTION_REQUIRED');
  });

  it('is replaced by a mail code where the organization allows it, which is recorded', async () => {
    await configure({ fallback: true });
    await unreachable();
    const { email } = await employee();
    const browser = await own.browser();
    const failed = await failing(browser);
    await browser.show(failed);
    expectStatus(await browser.register(email), 'SUCCESS');
    expect(await world.events()).toContain('connection.fallback_used');
    const silent = await authorize(browser, { organization: 'acme', prompt: 'none' });
    expect(silent.searchParams.get('code')).not.toBeNull();
    // Another flow begins at the connection again.
    const other = await own.browser();
    expect(((await typed(email, other)) as unknown as Failure).error?.code).toBe('CONNECTION_REQUIRED');
  });

  it('is not replaced after an answer that a browser can cause', async () => {
    await configure({ fallback: true });
    const { email } = await employee();
    const browser = await own.browser();
    const page = await authorize(browser, { organization: 'acme' });
    const toProvider = locationOf(await browser.browser.get(locationOf(await browser.browser.get(page.href)).href));
    const state = toProvider.searchParams.get('state') ?? '';
    const forged = `${world.app.url}/connect/${connection.id}/callback?${new URLSearchParams({ state, error: 'server_error' })}`;
    const failed = locationOf(await browser.browser.get(forged));
    expect(failed.searchParams.get('connect')).toBe('failed');
    await browser.show(failed);
    expect(((await typed(email, browser)) as unknown as Failure).error?.code).toBe('CONNECTION_REQUIRED');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { AuthorizationRequest } from '../../domain/ceremonies/requests/authorization-request.entity.ts';
import type { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';

let harness: AdminHarness;
beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());

const send = (path: string, init: RequestInit = {}) => fetch(`${harness.url}${path}`, { redirect: 'manual', ...init });
const open = async () => {
  const link = await harness.services.admins.mintSetupLink(system);
  const response = await send(link.url.slice(harness.issuer.length));
  const cookie = response.headers.get('set-cookie') ?? '';
  return { link, response, cookie, jar: { Cookie: cookie.split(';')[0] ?? '' } };
};
const form = (email: string, headers: Record<string, string>) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
  body: new URLSearchParams({ email }).toString(),
});

describe('the setup link', () => {
  it('moves its token from the URL into an HttpOnly cookie', async () => {
    const { response, cookie, link } = await open();
    expect([response.status, response.headers.get('location')]).toEqual([303, '/setup']);
    expect(cookie).toMatch(new RegExp(`^lk-setup=${link.token}; Max-Age=900; Path=/; .*HttpOnly; SameSite=Lax$`));
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('is not consumed by a GET, e.g. of a mail scanner', async () => {
    const { link, jar } = await open();
    for (let n = 0; n < 3; n += 1) expect((await send(`/setup?token=${link.token}`)).status).toBe(303);
    const page = await send('/setup', { headers: jar });
    expect([page.status, await page.json()]).toEqual([
      200,
      { page: 'setup', issuer: harness.issuer, action: '/setup' },
    ]);
  });

  it("starts its holder's sign-in for the console only", async () => {
    const { link, jar } = await open();
    const response = await send(
      '/setup',
      form(' Ada@example.com ', { ...jar, Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }),
    );
    const [flow = ''] = harness.flows.keys();
    expect([response.status, response.headers.get('location')]).toEqual([303, `/signin?flow=${flow}`]);
    const { requests, db } = harness.services;
    const request = await requests.find(db.reader(), flow, harness.flows.get(flow) ?? '');
    expect(request).toMatchObject({
      setupLinkId: link.id,
      loginHint: 'Ada@example.com',
      redirectUri: `${harness.issuer}/admin/callback`,
    });
    expect(request?.client.id).toBe(harness.builtIn.consoleClient.id);
  });

  it('starts no sign-in without the link, from another site, or without an address', async () => {
    const { jar } = await open();
    const count = () => harness.services.db.reader().count(AuthorizationRequest, {});
    const before = await count();
    expect((await send('/setup', form('a@example.com', {}))).status).toBe(410);
    const wrong = await send('/setup', form('a@example.com', { Cookie: 'lk-setup=wrong' }));
    expect([wrong.status, await wrong.json()]).toMatchObject([410, { page: 'plain/closed' }]);
    expect((await send('/setup', form('a@example.com', { ...jar, Origin: 'https://evil.example' }))).status).toBe(403);
    const crossSite = { ...jar, Origin: 'null', 'Sec-Fetch-Site': 'cross-site' };
    expect((await send('/setup', form('a@example.com', crossSite))).status).toBe(403);
    expect((await send('/setup', form('nobody', jar))).status).toBe(400);
    expect((await send('/setup', { method: 'POST', headers: jar })).status).toBe(400);
    expect(await count()).toBe(before);
  });

  it('makes exactly one owner if 40 claims run concurrently', async () => {
    const { link } = await open();
    const { admins, db } = harness.services;
    const users = await Promise.all(Array.from({ length: 20 }, (_, n) => harness.person(`racer${n}@example.com`)));
    const claims = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        db.transaction((em) => admins.claim(em, link.id, users[n % users.length] as string, system)),
      ),
    );
    expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await admins.memberships(db.reader(), null)).toHaveLength(1);
    expect(await admins.hasOwner()).toBe(true);
    expect((await send(`/setup?token=${link.token}`)).status).toBe(410);
  });

  it('does not make a user of another project an owner, and stays valid', async () => {
    const { link } = await open();
    const { admins, db, projects, users } = harness.services;
    const project = await projects.create({ name: 'Tenant' }, system);
    const user = await db.transaction((em) => users.signUp(em, project.id, 'mallory@example.com', system));
    await expect(db.transaction((em) => admins.claim(em, link.id, user.id, system))).rejects.toThrow('not-found');
    expect(await admins.findSetupLink(db.reader(), link.token)).not.toBeNull();
  });

  it('ends after a quarter of an hour', async () => {
    const { link, jar } = await open();
    const userId = await harness.person('late@example.com');
    harness.clock.turn(15 * 60);
    expect((await send('/setup', { headers: jar })).status).toBe(410);
    const { admins, db } = harness.services;
    await expect(db.transaction((em) => admins.claim(em, link.id, userId, system))).rejects.toThrow('not-found');
  });

  it('is stored only as a hash', async () => {
    const { link } = await open();
    const rows = await harness.services.db.reader().execute('select * from setup_links');
    expect(JSON.stringify(rows)).not.toContain(link.token);
  });
});

describe('the dev mailbox', () => {
  const message = {
    id: '1',
    at: new Date(0),
    channel: 'mail' as const,
    to: 'a@example.com',
    subject: 'Code',
    text: '123456',
  };

  it('is for the holder of a link and for owners only', async () => {
    harness.mailbox.push(message);
    const { jar } = await open();
    const json = await send('/setup/mailbox.json', { headers: jar });
    expect(await json.json()).toEqual({ messages: [{ ...message, at: '1970-01-01T00:00:00.000Z' }] });
    expect((await send('/setup/mailbox', { headers: jar })).status).toBe(200);
    expect((await send('/setup/mailbox.json')).status).toBe(403);
    expect((await send('/setup/mailbox')).status).toBe(403);

    const { admins } = harness.services;
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await admins.grantRole({ email: 'owner@example.com', role: 'owner' }, by);
    const viewer = {
      email: 'viewer@example.com',
      role: 'project_viewer',
      projectId: harness.builtIn.demoClient?.project.id,
    } as const;
    await admins.grantRole(viewer, by);
    for (const [email, status] of [
      ['owner@example.com', 200],
      ['viewer@example.com', 403],
    ] as const) {
      const user = await harness.services.users.findByAddress(
        harness.services.db.reader(),
        harness.builtIn.console.id,
        email,
      );
      const headers = await harness.sessionOf(user?.id ?? '');
      expect([email, (await send('/setup/mailbox.json', { headers })).status]).toEqual([email, status]);
    }
  });

  it('is absent if messages are sent', async () => {
    const real = await openAdminHarness({ hasMailbox: false });
    const { token } = await real.services.admins.mintSetupLink(system);
    const response = await fetch(`${real.url}/setup/mailbox.json`, { headers: { Cookie: `lk-setup=${token}` } });
    expect(response.status).toBe(404);
    expect((await real.call('{ devMailbox { edges { cursor } } }')).code).toBe('forbidden');
    await real.close();
  });
});

describe('built-in projects and clients', () => {
  it('are created once by concurrent processes, and follow a changed base URL', async () => {
    const { services } = harness;
    const again = await Promise.all(Array.from({ length: 5 }, () => services.seed.create({ demo: true })));
    for (const { console, demoClient } of again) {
      expect([console.id, demoClient?.id]).toEqual([harness.builtIn.console.id, harness.builtIn.demoClient?.id]);
    }
    const { Seed } = await import('../../domain/admins/seed.ts');
    const { db, audit, projects, clients } = services;
    const demo = harness.builtIn.demoClient as Client;
    await clients.update(demo, { redirectUris: [`${harness.issuer}/demo`, 'https://mine.example/cb'] }, system);
    const moved = new Seed({ db, clock: harness.clock, audit, projects, clients, issuer: 'https://id.example.com' });
    const { consoleClient, demoClient } = await moved.create({ demo: true });
    expect(consoleClient.redirectUris).toEqual(['https://id.example.com/admin/callback']);
    expect(demoClient?.redirectUris).toEqual(['https://id.example.com/demo', 'https://mine.example/cb']);
    expect(demoClient?.postLogoutRedirectUris).toEqual(['https://id.example.com/demo']);
  });

  it('do not restore a deleted demo', async () => {
    const { projects, seed } = harness.services;
    const id = harness.builtIn.demoClient?.project.id ?? '';
    await projects.delete(id, 'demo', system);
    expect((await seed.create({ demo: true })).demoClient).toBeNull();
    expect((await send('/demo/config.json')).status).toBe(404);
  });
});

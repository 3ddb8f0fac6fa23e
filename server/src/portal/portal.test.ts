/** The set-up portal (decisions/0418): links, their sessions, the mail domains, and what each refuses. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DnsServer } from '../../test/dns-server.ts';
import { redirectUri } from '../../test/factories.ts';
import { changed, rows } from '../../test/rows.ts';
import { txtReader } from '../adapters/dns/txt.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Organization } from '../domain/organizations/organization.entity.ts';
import type { PortalLink } from '../domain/portal/portal-link.entity.ts';
import type { NewPortalLink } from '../domain/portal/portal-links.ts';
import { challengeName } from '../domain/projects/dns-proof.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { portalTexts } from './texts.ts';

const day = 24 * 3600;
const email = 'ivy@globex.example';
let dns: DnsServer;
let app: TestApp;
let project: Project;
let organization: Organization;
let name: string;
let made = 0;

beforeAll(async () => {
  dns = await DnsServer.open();
  app = await buildTestApp(undefined, { readTxt: txtReader({ servers: [dns.address] }) });
});
afterAll(async () => {
  await app.close();
  dns.close();
});

const newPlace = async (slug = 'globex') => {
  const of = await app.make.project({ name: 'Acme' });
  await app.make.client(of);
  await app.services.projects.update(of.id, { organizationsEnabled: true }, system);
  return { of, place: await app.services.organizations.create(of.id, { slug, name: 'Globex' }, system) };
};

beforeEach(async () => {
  ({ of: project, place: organization } = await newPlace());
  name = `mail-${(made += 1)}.example.com`;
});

const links = () => app.services.portalLinks;
const create = (over: Partial<NewPortalLink> = {}, of = organization) =>
  links().create(of, { email, can: ['domains'], ...over }, system);
const at = (url: string) => `${app.url}${new URL(url).pathname}`;

/** Opens a link in a browser. */
async function opened(url: string, browser = new CookieBrowser()) {
  const answer = await browser.post(at(url), { change: 'open' });
  return { answer, browser };
}

/** The page of the browser's session. */
async function pageOf(browser: CookieBrowser, headers: Record<string, string> = {}) {
  const answer = await browser.get(`${app.url}/portal`, headers);
  return { status: answer.status, text: await answer.text(), answer };
}

const csrfIn = (text: string) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
const idOf = (text: string) => /id="d-([^"]+)"/.exec(text)?.[1] ?? '';

/** Sends a form of the page. */
async function change(browser: CookieBrowser, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const csrf = csrfIn((await pageOf(browser)).text);
  const answer = await browser.post(`${app.url}/portal`, { csrf, ...fields }, headers);
  return { status: answer.status, text: await answer.text() };
}

const events = async (prefix = '') => {
  const text = `select type, actor_kind, actor_id, subject_name, detail ->> 'organizationId' as organization from audit_log
    where project_id = ? and type like ? order by id`;
  return rows<{
    type: string;
    actor_kind: string;
    actor_id: string | null;
    subject_name: string;
    organization: string;
  }>(app.services.db, text, [project.id, `${prefix}%`]);
};
const types = async (prefix: string) => (await events(prefix)).map(({ type }) => type.split('.')[1]);
const storedLinks = () =>
  rows(app.services.db, 'select to_jsonb(l) as row from portal_links l where project_id = ?', [project.id]);

async function session(over: Partial<NewPortalLink> = {}) {
  const { url, portalLink } = await create(over);
  const { browser } = await opened(url);
  return { url, portalLink, browser };
}

describe('a portal link', () => {
  it('names the organization, and is opened by a form only: a scanner opens nothing', async () => {
    const { url } = await create();
    expect(new URL(url).pathname).toMatch(/^\/portal\/[\w-]{65}$/);
    const browser = new CookieBrowser();
    const page = await browser.get(at(url));
    expect(page.status).toBe(200);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await page.text();
    expect(text).toContain('Set up Globex');
    expect(text).not.toContain(email);
    expect(browser.cookies.size).toBe(0);
    const { answer } = await opened(url, browser);
    expect(answer.status).toBe(303);
    expect(locationOf(answer).pathname).toBe('/portal');
    expect(answer.headers.getSetCookie()[0]).toMatch(/; HttpOnly; .*SameSite=Lax|SameSite=Lax.*HttpOnly|HttpOnly/i);
    expect((await pageOf(browser)).text).toContain('Mail domains');
    expect(await types('portal-link')).toEqual(['created', 'opened']);
  });

  it('is stored as a hash, as is its session', async () => {
    const { url, browser } = await session();
    const stored = JSON.stringify(await storedLinks());
    expect(stored).not.toContain(new URL(url).pathname.slice(-43));
    expect(stored).not.toContain([...browser.cookies.values()][0]?.slice(-43));
    expect(JSON.stringify(await rows(app.services.db, 'select to_jsonb(a) from audit_log a'))).not.toContain(
      url.slice(-43),
    );
  });

  it('is opened once: of 200 at once in two processes, one browser gets a session', async () => {
    const { url } = await create();
    const sibling = await buildSibling(app, app.url);
    const secret = { projectId: project.id, secret: url.slice(-43) };
    const open = (index: number) => (index % 2 === 0 ? app : sibling).services.portalLinks.open(secret, system);
    const sessions = await Promise.all(Array.from({ length: 200 }, (_, index) => open(index)));
    await sibling.close();
    expect(sessions.filter((one) => one !== null)).toHaveLength(1);
    expect(await types('portal-link.opened')).toEqual(['opened']);
    const { answer, browser } = await opened(url);
    expect(answer.status).toBe(409);
    expect(browser.cookies.size).toBe(0);
    expect(await answer.text()).toContain('i…@globex.example');
  });

  it('leads the browser that opened it to its page, whose progress is kept', async () => {
    const { url, browser } = await session();
    await change(browser, { change: 'add-domain', domain: name });
    expect(locationOf(await browser.get(at(url))).pathname).toBe('/portal');
    expect((await pageOf(browser)).text).toContain(name);
  });

  it('is not opened by the form of another site', async () => {
    const { url } = await create();
    const browser = new CookieBrowser();
    const answer = await browser.post(at(url), { change: 'open' }, { 'Sec-Fetch-Site': 'cross-site' });
    expect(answer.status).toBe(404);
    expect(browser.cookies.size).toBe(0);
    expect((await opened(url)).answer.status).toBe(303);
  });

  it('is sent again to the same address only; the new one ends the session of the former', async () => {
    const { url, browser } = await session();
    const other = new CookieBrowser();
    const answer = await other.post(at(url), { change: 'send', email: 'eve@example.com' });
    expect(await answer.text()).toContain('i…@globex.example');
    await app.runJobs();
    const mail = app.mailbox.findLast(({ to }) => to === email);
    expect(app.mailbox.filter(({ text }) => text.includes('/portal/')).map(({ to }) => to)).not.toContain(
      'eve@example.com',
    );
    const next = /https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    // The former link has ended; its session has not, until the new one is opened.
    expect((await other.get(at(url))).status).toBe(404);
    expect((await pageOf(browser)).status).toBe(200);
    expect((await opened(next, other)).answer.status).toBe(303);
    expect((await pageOf(other)).status).toBe(200);
    expect((await pageOf(browser)).status).toBe(404);
    expect(await types('portal-link')).toEqual(['created', 'opened', 'sent', 'opened']);
  });

  it('is sent once by 200 requests at once, and again by an admin', async () => {
    const { url, portalLink } = await create();
    const secret = { projectId: project.id, secret: url.slice(-43) };
    const sent = await Promise.all(Array.from({ length: 200 }, () => links().resend(secret, 'en', system)));
    expect(sent.filter(Boolean)).toHaveLength(1);
    expect(await types('portal-link.sent')).toEqual(['sent']);
    expect((await opened(url)).answer.status).toBe(404);
    await links().send(portalLink, 'de', system);
    await app.runJobs();
    const mail = app.mailbox.findLast(({ to }) => to === email);
    const next = /https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    expect((await opened(next)).answer.status).toBe(303);
    await links().revoke(portalLink, system);
    expect(await problemOf(links().send(portalLink, 'en', system))).toMatchObject({ code: 'conflict' });
    const elsewhere = await newPlace();
    const unknown = keyIn(elsewhere.of.id, portalLink.id);
    expect(await problemOf(links().send(unknown, 'en', system))).toMatchObject({ code: 'not-found' });
  });

  it('sends at most five mails to an address in an hour', async () => {
    let { url } = await create();
    const send = async () => (await new CookieBrowser().post(at(url), { change: 'send' })).status;
    for (let count = 0; count < 5; count += 1) {
      expect(await send()).toBe(200);
      await app.runJobs();
      const mail = app.mailbox.findLast(({ to, text }) => to === email && text.includes('/portal/'));
      url = /https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    }
    expect(await send()).toBe(429);
    // A refused mail leaves the link as it is.
    expect((await opened(url)).answer.status).toBe(303);
  });

  const ends: Record<string, (link: PortalLink) => Promise<unknown>> = {
    revoked: (link) => links().revoke(link, system),
    expired: async () => app.clock.turn(7 * day),
    'of a suspended organization': () =>
      app.services.organizations.update(organization, { state: 'suspended' }, system),
    'of a project without organizations': () =>
      app.services.projects.update(project.id, { organizationsEnabled: false }, system),
    'of a deleted organization': () =>
      changed(app.services.db, 'delete from organizations where project_id = ? and id = ?', [
        project.id,
        organization.id,
      ]),
  };
  it.each(Object.entries(ends))('that is %s neither opens, nor continues, nor is sent', async (_, end) => {
    const [first, second] = [await create(), await session()];
    const csrf = csrfIn((await pageOf(second.browser)).text);
    await end(first.portalLink);
    await end(second.portalLink);
    for (const url of [first.url, second.url]) {
      expect((await new CookieBrowser().get(at(url))).status).toBe(404);
      expect((await opened(url)).answer.status).toBe(404);
      expect((await new CookieBrowser().post(at(url), { change: 'send' })).status).toBe(404);
    }
    expect((await pageOf(second.browser)).status).toBe(404);
    const form = { csrf, change: 'add-domain', domain: name };
    expect((await second.browser.post(`${app.url}/portal`, form)).status).toBe(404);
    expect(
      await rows(app.services.db, 'select 1 from organization_domains where project_id = ?', [project.id]),
    ).toEqual([]);
  });

  it.each(['', 'x', 'a'.repeat(65), `${'A'.repeat(65)}\u00e9`, '../admin', '%00'])(
    '%j does not work',
    async (token) => {
      const url = `${app.url}/portal/${encodeURIComponent(token)}`;
      expect((await new CookieBrowser().get(url)).status).toBe(404);
    },
  );

  it('of one project does not open with its secret in another', async () => {
    const { url } = await create();
    const elsewhere = await newPlace();
    const theirs = (await create({}, elsewhere.place)).url;
    const mixed = `${theirs.slice(0, -43)}${url.slice(-43)}`;
    expect((await opened(mixed)).answer.status).toBe(404);
  });
});

describe('the creation of a link', () => {
  it.each<[string, Partial<NewPortalLink>]>([
    ['email', { email: 'nobody' }],
    ['can', { can: [] }],
    ['can', { can: ['people' as never] }],
    ['returnUrl', { returnUrl: 'https://evil.example/' }],
    ['returnUrl', { returnUrl: 'javascript:alert(1)' }],
    ['returnUrl', { returnUrl: `${new URL(redirectUri).origin}@evil.example/` }],
  ])('refuses a wrong %s', async (field, over) => {
    expect(await problemOf(create(over))).toMatchObject({ code: 'invalid', field });
  });

  it('refuses an expiry in the past or after 30 days, and more than 20 links', async () => {
    for (const seconds of [0, 30 * day + 1]) {
      const expiresAt = new Date(app.clock.now().getTime() + seconds * 1000);
      expect(await problemOf(create({ expiresAt }))).toMatchObject({ code: 'invalid', field: 'expiresAt' });
    }
    for (let count = 0; count < 20; count += 1) await create();
    expect(await problemOf(create())).toMatchObject({ code: 'invalid', field: 'organizationId' });
  });

  it('accepts a return address of an application, which the page links to', async () => {
    const returnUrl = `${new URL(redirectUri).origin}/settings?tab=sso`;
    const { browser } = await session({ returnUrl });
    expect((await pageOf(browser)).text).toContain(`<a href="${returnUrl}">Back to Acme</a>`);
  });
});

describe('the domains of the portal', () => {
  it('are added, proved and completed by the link as the actor', async () => {
    const { browser, portalLink } = await session();
    expect((await change(browser, { change: 'complete' })).status).toBe(404);
    expect((await change(browser, { change: 'add-domain', domain: ` ${name.toUpperCase()} ` })).status).toBe(303);
    const page = (await pageOf(browser)).text;
    const id = idOf(page);
    const [{ challenge }] = (await rows<{ challenge: string }>(
      app.services.db,
      'select challenge from organization_domains where id = ?',
      [id],
    )) as [{ challenge: string }];
    expect(page).toContain(`value="${challengeName(name)}"`);
    expect(page).toContain(`value="${challenge}"`);
    expect((await change(browser, { change: 'check-domain', id })).status).toBe(303);
    expect((await pageOf(browser)).text).toContain('found no record with this value');
    dns.records.set(challengeName(name), [challenge]);
    await change(browser, { change: 'check-domain', id });
    const verified = (await pageOf(browser)).text;
    expect(verified).toContain('Verified');
    expect(verified).toContain('All steps are done');
    expect((await change(browser, { change: 'remove-domain', id })).status).toBe(404);
    expect((await change(browser, { change: 'complete' })).status).toBe(303);
    await change(browser, { change: 'complete' });
    expect((await pageOf(browser)).text).toContain('The set-up is complete');
    const made = (await events()).filter(({ actor_kind }) => actor_kind === 'portal-link');
    expect(made.map(({ type }) => type)).toEqual([
      'portal-link.opened',
      'organization-domain.added',
      'organization-domain.verified',
      'portal-link.completed',
    ]);
    expect(new Set(made.map((one) => one.actor_id))).toEqual(new Set([portalLink.id]));
    expect(new Set(made.map((one) => one.organization))).toEqual(new Set([organization.id]));
  });

  it('refuse a name that is no mail domain, with script shown as text, and one in use', async () => {
    const { browser } = await session();
    for (const domain of ['gmail.com', 'co.uk', '192.0.2.1', '<script>alert(1)</script>', '"><img src=x>']) {
      const { status, text } = await change(browser, { change: 'add-domain', domain });
      expect(status).toBe(400);
      expect(text).toContain('Enter a mail domain of your company');
      expect(text).not.toMatch(/<script>|<img src=x/);
    }
    await change(browser, { change: 'add-domain', domain: name });
    expect((await change(browser, { change: 'add-domain', domain: name })).status).toBe(409);
  });

  it('of another organization are not seen, checked or removed', async () => {
    const { browser } = await session();
    const other = await app.services.organizations.create(project.id, { slug: 'initech', name: 'Initech' }, system);
    const theirs = await app.services.organizationDomains.add(other, name, system);
    expect((await pageOf(browser)).text).not.toContain(name);
    const before = await rows(app.services.db, 'select to_jsonb(d) as row from organization_domains d where id = ?', [
      theirs.id,
    ]);
    for (const act of ['check-domain', 'remove-domain']) {
      expect((await change(browser, { change: act, id: theirs.id })).status).toBe(404);
      expect((await change(browser, { change: act, id: 'x' })).status).toBe(404);
    }
    expect(
      await rows(app.services.db, 'select to_jsonb(d) as row from organization_domains d where id = ?', [theirs.id]),
    ).toEqual(before);
  });

  it('are refused to a link that does not allow them', async () => {
    const { browser, portalLink } = await session();
    await changed(app.services.db, `update portal_links set can = '{connection}' where id = ?`, [portalLink.id]);
    expect((await pageOf(browser)).text).not.toContain('Mail domains');
    const link = await app.services.portal.visit({
      projectId: project.id,
      secret: [...browser.cookies.values()][0]?.slice(-43) ?? '',
    });
    expect(await problemOf(app.services.portal.addDomain(link as never, name, system))).toMatchObject({
      code: 'forbidden',
    });
  });

  it('can be checked 30 times in ten minutes', async () => {
    const { browser } = await session();
    await change(browser, { change: 'add-domain', domain: name });
    const id = idOf((await pageOf(browser)).text);
    for (let count = 0; count < 30; count += 1) await change(browser, { change: 'check-domain', id });
    const { status, text } = await change(browser, { change: 'check-domain', id });
    expect(status).toBe(429);
    expect(text).toContain('Too many attempts');
  });
});

describe('a form of the portal', () => {
  it('needs the token of its own session, and its own site', async () => {
    const { browser } = await session();
    const other = await session();
    const foreign = csrfIn((await pageOf(other.browser)).text);
    const form = { change: 'add-domain', domain: name };
    for (const [fields, headers] of [
      [{ ...form, csrf: '' }, {}],
      [{ ...form, csrf: foreign }, {}],
      [form, { 'Sec-Fetch-Site': 'cross-site' }],
      [form, { Origin: 'https://evil.example' }],
      [{ change: 'constructor' }, {}],
    ] as [Record<string, string>, Record<string, string>][]) {
      expect((await change(browser, fields, headers)).status).toBe(403);
    }
    expect(
      await rows(app.services.db, 'select 1 from organization_domains where project_id = ?', [project.id]),
    ).toEqual([]);
  });

  it('without a session changes nothing', async () => {
    const answer = await new CookieBrowser().post(`${app.url}/portal`, { change: 'add-domain', domain: name });
    expect(answer.status).toBe(404);
  });

  it('is in the language of the browser', async () => {
    const { browser } = await session();
    for (const [header, text] of [
      ['de-AT,de;q=0.9', portalTexts.de.domains],
      ['ja', portalTexts.ja.domains],
      ['it,es;q=0.5', portalTexts.es.domains],
      ['ar', portalTexts.en.domains],
    ] as const) {
      expect((await pageOf(browser, { 'Accept-Language': header })).text).toContain(text);
    }
  });
});

it('texts have the same placeholders in all languages', () => {
  const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();
  for (const texts of Object.values(portalTexts)) {
    for (const [key, english] of Object.entries(portalTexts.en)) {
      expect(placeholders(texts[key as keyof typeof texts]), key).toEqual(placeholders(english));
    }
  }
});

it('old links are deleted 90 days after their expiry', async () => {
  await create();
  app.clock.turn(97 * day - 1);
  await links().sweep();
  expect(await storedLinks()).toHaveLength(1);
  app.clock.turn(1);
  await links().sweep();
  expect(await storedLinks()).toEqual([]);
});

/** The directory that a portal link connects: its token, the requests that the contact sees, and what is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CookieBrowser } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { PortalVisit, portalLinkOf } from '../../test/portal-visit.ts';
import { rows, tablesThatHold } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Organization } from '../domain/organizations/organization.entity.ts';
import type { OpenLink } from '../domain/portal/open-links.ts';
import type { PortalTask } from '../domain/portal/portal-link.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { directoryGuides } from './generated/directory-steps.ts';
import { portalTexts } from './texts.ts';

const day = 24 * 3600;
let app: TestApp;
let project: Project;
let organization: Organization;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project({ name: 'Acme' });
  await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
  organization = await app.services.organizations.create(project.id, { slug: 'globex', name: 'Globex' }, system);
});

const open = (can: readonly PortalTask[] = ['directory'], of = organization) => PortalVisit.of(app, of, can);
const linkOf = (of = organization): Promise<OpenLink> => portalLinkOf(app.services, of, ['directory']);
const issue = (link: OpenLink, seen = '', on = app) => on.services.portalDirectory.issue(link, seen, system);
const seenIn = (text: string) => /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? '';
const tokenIn = (text: string) => /id="scim-token" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** A new token, by the form of the page. */
async function issued(visit: PortalVisit): Promise<string> {
  const { status, text } = await visit.change('issue-token', { seen: seenIn(await visit.page()) });
  expect(status).toBe(200);
  return tokenIn(text);
}

/** What a refused step must not change. */
const state = () =>
  rows(
    app.services.db,
    `select (select jsonb_agg(t order by t.id) from scim_tokens t where t.project_id = ?) as tokens,
      (select jsonb_agg(l order by l.id) from portal_links l where l.project_id = ?) as links,
      (select count(*) from audit_log a where a.project_id = ?) as events`,
    [project.id, project.id, project.id],
  );

const liveTokens = (of = organization) =>
  rows<{ name: string }>(
    app.services.db,
    'select name from scim_tokens where project_id = ? and organization_id = ? and revoked_at is null',
    [of.project.id, of.id],
  );

async function scim(token: string, method: string, path: string, body?: object, of = organization): Promise<Response> {
  return fetch(`${app.url}/v1/scim/${of.id}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}
const person = (userName: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName,
  emails: [{ value: userName, primary: true }],
});
const events = () =>
  rows<{ type: string; actor_id: string | null; organization: string | null }>(
    app.services.db,
    `select type, actor_id, detail ->> 'organizationId' as organization from audit_log
      where project_id = ? and actor_kind = 'portal-link' order by id`,
    [project.id],
  );

describe('the directory of the portal', () => {
  it('has a token that is shown once, and works at the address of the page', async () => {
    const visit = await open();
    const before = await visit.page();
    expect(before).toContain(`/v1/scim/${organization.id}"`);
    expect(before).toContain('Waiting for requests');
    expect(seenIn(before)).toBe('');
    const token = await issued(visit);
    expect(token).toMatch(/^lk_scim_[\w-]{43}$/);
    const later = await visit.page();
    expect(later).not.toContain(token);
    expect(later).toContain('A token was created on');
    expect(await tablesThatHold(app.services.db, [token], project.id)).toEqual([]);
    expect((await scim(token, 'GET', '/Users')).status).toBe(200);
    const made = await events();
    expect(made.map(({ type }) => type)).toEqual(['portal-link.opened', 'scim-token.issued']);
    expect(new Set(made.map((one) => one.actor_id))).toEqual(new Set([visit.linkId]));
    expect(new Set(made.map((one) => one.organization))).toEqual(new Set([organization.id]));
  });

  it('is done when a request is served, not when all are refused, and completes the set-up', async () => {
    const visit = await open();
    expect((await visit.change('complete')).status).toBe(404);
    const token = await issued(visit);
    expect((await scim(token, 'POST', '/Users', { schemas: ['x'] })).status).toBe(400);
    const refused = await visit.page();
    expect(refused).toMatch(/<code>POST Users<\/code> <span class="refused">400 \w+</);
    expect(refused).toContain('Waiting for requests');
    expect((await visit.change('complete')).status).toBe(404);
    expect((await scim(token, 'POST', '/Users', person('peter@globex.example'))).status).toBe(201);
    const served = await visit.page();
    expect(served).toContain('<code>POST Users</code> <span>201 </span>');
    expect(served).toContain('Connected');
    expect((await visit.change('complete')).status).toBe(303);
    expect((await events()).map(({ type }) => type)).toContain('portal-link.completed');
  });

  it('shows of a request no person, address or text', async () => {
    const visit = await open();
    const token = await issued(visit);
    const { id } = (await (await scim(token, 'POST', '/Users', person('peter@globex.example'))).json()) as {
      id: string;
    };
    await scim(token, 'GET', `/Users?filter=${encodeURIComponent('userName eq "peter@globex.example"')}`);
    await scim(token, 'GET', `/Users/${id}`);
    await scim(token, 'GET', '/peter@globex.example');
    await scim(token, 'POST', '/Users', person('peter@globex.example'));
    const page = await visit.page();
    expect(page).not.toMatch(/peter/);
    expect(page).not.toContain(id);
    expect(page).toContain('409 uniqueness');
    expect(page).toContain('<code>GET /</code>');
  });

  it('shows the last ten requests of its own token only', async () => {
    const { token: theirs } = await app.services.directories.issueScimToken(
      { projectId: project.id, organizationId: organization.id, name: 'Of an admin' },
      system,
    );
    await scim(theirs, 'GET', '/Groups');
    const visit = await open();
    expect(await visit.page()).not.toContain('Of an admin');
    const token = await issued(visit);
    for (let count = 0; count < 12; count += 1) await scim(token, 'GET', '/Users');
    const page = await visit.page();
    expect(page.match(/<code>GET Users<\/code>/g)).toHaveLength(10);
    expect(page).not.toContain('GET Groups');
    expect(await liveTokens()).toHaveLength(2);
  });

  it('replaces the token, which ends at once', async () => {
    const visit = await open();
    const first = await issued(visit);
    await scim(first, 'GET', '/Users');
    expect(await visit.page()).toContain('Connected');
    const second = await issued(visit);
    expect(second).not.toBe(first);
    expect((await scim(first, 'GET', '/Users')).status).toBe(401);
    expect((await scim(second, 'GET', '/Users')).status).toBe(200);
    expect((await events()).map(({ type }) => type).slice(1)).toEqual([
      'scim-token.issued',
      'scim-token.revoked',
      'scim-token.issued',
    ]);
  });

  it('is continued by a later link of the organization, which replaces the token', async () => {
    const [former, next] = [await open(), await open()];
    const first = await issued(former);
    expect(await next.page()).toContain('A token was created on');
    await issued(next);
    expect((await scim(first, 'GET', '/Users')).status).toBe(401);
    expect(await liveTokens()).toHaveLength(1);
    expect(seenIn(await former.page())).toBe(seenIn(await next.page()));
  });

  it('says that the token was revoked by an admin', async () => {
    const visit = await open();
    const token = await issued(visit);
    await scim(token, 'GET', '/Users');
    await app.services.directories.revokeScimToken(keyIn(project.id, seenIn(await visit.page())), system);
    const page = await visit.page();
    expect(page).toContain('has expired or was revoked');
    expect(page).toContain('Waiting for requests');
    expect((await visit.change('complete')).status).toBe(404);
  });
});

describe('a token of the portal is not issued', () => {
  it('by a form that is sent twice, or again after a reload', async () => {
    const visit = await open();
    const token = await issued(visit);
    const before = await state();
    for (const seen of ['', 'x', '00000000-0000-0000-0000-000000000000']) {
      const { status, text } = await visit.change('issue-token', { seen });
      expect(status).toBe(409);
      expect(text).toContain('This form was already sent');
      expect(tokenIn(text)).toBe('');
    }
    expect(await state()).toEqual(before);
    expect((await scim(token, 'GET', '/Users')).status).toBe(200);
  });

  it('twice: of 200 forms at once in two processes, one is served', async () => {
    const sibling = await buildSibling(app, app.url);
    // Each within the limit of its link.
    const links = await Promise.all(Array.from({ length: 10 }, () => linkOf()));
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        problemOf(issue(links[index % 10] as OpenLink, '', index % 2 === 0 ? app : sibling)),
      ),
    );
    await sibling.close();
    expect(outcomes.filter((one) => one === null)).toHaveLength(1);
    expect(new Set(outcomes.map((one) => one?.code))).toEqual(new Set([undefined, 'conflict']));
    expect(await liveTokens()).toHaveLength(1);
    const of = await rows(
      app.services.db,
      'select 1 from portal_links where project_id = ? and scim_token_id is not null',
      [project.id],
    );
    expect(of).toHaveLength(1);
  });

  it('by a link without this task', async () => {
    const visit = await open(['domains', 'connection']);
    const before = await state();
    expect((await visit.change('issue-token', { seen: '' })).status).toBe(403);
    expect(await visit.page()).not.toContain('scim-address');
    expect(await state()).toEqual(before);
  });

  it('in place of a token of an admin, of another organization or of another project', async () => {
    const visit = await open();
    const other = await app.services.organizations.create(project.id, { slug: 'initech', name: 'Initech' }, system);
    const theirVisit = await open(['directory'], other);
    const theirs = await issued(theirVisit);
    const { scimToken } = await app.services.directories.issueScimToken(
      { projectId: project.id, organizationId: organization.id, name: 'Of an admin' },
      system,
    );
    const before = await state();
    for (const seen of [seenIn(await theirVisit.page()), scimToken.id]) {
      expect((await visit.change('issue-token', { seen })).status).toBe(409);
    }
    expect(await state()).toEqual(before);
    const token = await issued(visit);
    expect((await scim(token, 'GET', '/Users', undefined, other)).status).toBe(401);
    expect((await scim(theirs, 'GET', '/Users', undefined, other)).status).toBe(200);
    expect(await liveTokens()).toHaveLength(2);
  });

  const ends: Record<string, (visit: PortalVisit) => Promise<unknown>> = {
    'a revoked link': ({ linkId }) => app.services.portalLinks.revoke(keyIn(project.id, linkId), system),
    'an expired link': async () => app.clock.turn(7 * day),
    'a link of a suspended organization': () =>
      app.services.organizations.update(organization, { state: 'suspended' }, system),
  };
  it.each(Object.entries(ends))('by %s, neither by its page nor by one that had begun', async (_, end) => {
    const visit = await open();
    const first = await issued(visit);
    const page = await visit.page();
    const link = await app.services.portal.visit({
      projectId: project.id,
      secret: [...visit.browser.cookies.values()][0]?.slice(-43) ?? '',
    });
    await end(visit);
    const before = await state();
    expect((await visit.change('issue-token', { seen: seenIn(page) })).status).toBe(404);
    expect(await problemOf(issue(link as OpenLink, seenIn(page)))).toMatchObject({ code: 'not-found' });
    expect(await state()).toEqual(before);
    expect(first).not.toBe('');
  });

  it('without a session, its CSRF token, or by another site', async () => {
    const visit = await open();
    const csrf = /name="csrf" value="([^"]+)"/.exec(await visit.page())?.[1] ?? '';
    const before = await state();
    const form = { change: 'issue-token', seen: '', csrf };
    const url = `${app.url}/portal`;
    expect((await new CookieBrowser().post(url, form)).status).toBe(404);
    expect((await visit.browser.post(url, { ...form, csrf: '' })).status).toBe(403);
    expect((await visit.browser.post(url, form, { Origin: 'https://evil.example' })).status).toBe(403);
    expect(await state()).toEqual(before);
  });

  it('where directories are off, for which no link is created', async () => {
    const visit = await open();
    await app.services.projects.update(project.id, { scimEnabled: false }, system);
    const before = await state();
    expect((await visit.change('issue-token', { seen: '' })).status).toBe(403);
    expect(await visit.page()).toContain('Acme has switched directories off');
    const given = { email: 'ivy@globex.example', can: ['domains', 'directory'] } as const;
    expect(await problemOf(app.services.portalLinks.create(organization, given, system))).toMatchObject({
      code: 'invalid',
      field: 'can',
    });
    expect(await state()).toEqual(before);
  });

  it('beyond 100 tokens of the organization, or 30 forms in ten minutes', async () => {
    const visit = await open();
    const of = { projectId: project.id, organizationId: organization.id };
    for (let count = 0; count < 100; count += 1) {
      await app.services.directories.issueScimToken({ ...of, name: `${count}` }, system);
    }
    const before = await state();
    for (let count = 0; count < 30; count += 1) {
      const { status, text } = await visit.change('issue-token', { seen: '' });
      expect(status).toBe(400);
      expect(text).toContain('No more tokens can be created');
    }
    const { status, text } = await visit.change('issue-token', { seen: '' });
    expect(status).toBe(429);
    expect(text).toContain('Too many attempts');
    expect(await state()).toEqual(before);
  });
});

it('steps are in the language of the page, and name the address', async () => {
  const visit = await open();
  for (const [language, guides] of Object.entries(directoryGuides)) {
    const answer = await visit.browser.get(`${app.url}/portal`, { 'Accept-Language': language });
    const page = await answer.text();
    expect(guides.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Okta', 'Microsoft Entra ID', guides.at(-1)?.name]),
    );
    // Names of attributes are not translated.
    const values = guides.flatMap(({ steps }) => steps.flatMap(({ settings }) => settings.map(([, value]) => value)));
    expect(values).toEqual(expect.arrayContaining(['userName', 'active']));
    for (const { name, steps } of guides) {
      expect(page).toContain(`<summary>${name}</summary>`);
      expect(steps.flatMap(({ settings }) => settings.map(([, value]) => value))).toContain('{address}');
    }
    expect(page).toContain(portalTexts[language as keyof typeof portalTexts].issueToken);
    expect(page).not.toMatch(/\{\w+\}/);
  }
});

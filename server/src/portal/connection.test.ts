/** The connection that a portal link sets up: OpenID Connect and SAML, its test, and what is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAdminHarness } from '../../test/admin-harness.ts';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { PortalVisit, portalLinkOf } from '../../test/portal-visit.ts';
import { rows } from '../../test/rows.ts';
import { SamlProvider } from '../../test/saml-provider.ts';
import { UpstreamProvider } from '../../test/upstream-provider.ts';
import type { Connection } from '../domain/connections/connection.entity.ts';
import { connectionsOfOrganizations } from '../domain/connections/connections.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import type { Organization } from '../domain/organizations/organization.entity.ts';
import type { PortalTask } from '../domain/portal/portal-link.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';

let app: TestApp;
let oidc: UpstreamProvider;
let saml: SamlProvider;
let project: Project;
let organization: Organization;

beforeAll(async () => {
  app = await buildTestApp();
  oidc = await UpstreamProvider.open(() => app.clock.now());
  saml = await SamlProvider.open(() => app.clock.now());
});
afterAll(async () => {
  await app.close();
  await oidc.close();
  await saml.close();
});
beforeEach(async () => {
  project = await app.make.project({ name: 'Acme' });
  await app.services.projects.update(project.id, { organizationsEnabled: true }, system);
  organization = await app.services.organizations.create(project.id, { slug: 'globex', name: 'Globex' }, system);
});

const open = (can: readonly PortalTask[] = ['connection'], of = organization) => PortalVisit.of(app, of, can);
const stored = async (of = organization): Promise<Connection[]> =>
  connectionsOfOrganizations(app.services.db.reader(), [of]);
const own = async (): Promise<Connection> => (await stored())[0] as Connection;
const values = () => ({ issuer: oidc.issuer, clientId: oidc.clientId, clientSecret: oidc.secret });
const actors = async () =>
  rows<{ type: string; actor_id: string }>(
    app.services.db,
    `select type, actor_id from audit_log where project_id = ? and actor_kind = 'portal-link' order by id`,
    [project.id],
  );

/** A connection that can be enabled. */
async function tested(visit: PortalVisit): Promise<void> {
  await visit.change('create-connection', { provider: 'generic', kind: 'oidc' });
  await visit.change('save-connection', values());
  const provider = locationOf(await visit.browser.get(await visit.testUrl()));
  expect((await visit.browser.get(oidc.agree(provider).href)).status).toBe(200);
}

describe('an OpenID Connect provider', () => {
  it('is chosen, saved, tested and enabled by the link as the actor, and completes the set-up', async () => {
    const visit = await open();
    expect((await visit.change('create-connection', { provider: 'generic', kind: 'oidc' })).status).toBe(303);
    const draft = await own();
    expect(draft).toMatchObject({ state: 'draft', jit: true, organizationId: organization.id });
    expect(await visit.page()).toContain(`/connect/${draft.id}/callback"`);
    expect((await visit.change('test-connection')).status).toBe(400);
    expect((await visit.change('enable-connection')).status).toBe(409);
    expect((await visit.change('save-connection', values())).status).toBe(303);
    expect((await visit.change('enable-connection')).status).toBe(409);
    const page = await visit.page();
    expect(page).toContain(oidc.issuer);
    expect(page).toContain('A secret is stored');
    expect(page).not.toContain(oidc.secret);
    const provider = locationOf(await visit.browser.get(await visit.testUrl()));
    expect((await visit.browser.get(oidc.agree(provider).href)).status).toBe(200);
    expect(await visit.page()).toContain('Tested');
    expect((await visit.change('complete')).status).toBe(404);
    expect((await visit.change('enable-connection')).status).toBe(303);
    expect(await own()).toMatchObject({ state: 'enabled' });
    expect((await visit.change('complete')).status).toBe(303);
    const made = await actors();
    expect(made.map(({ type }) => type)).toEqual([
      'portal-link.opened',
      'connection.created',
      'connection.updated',
      'connection.enabled',
      'portal-link.completed',
    ]);
    expect(new Set(made.map((one) => one.actor_id))).toEqual(new Set([visit.linkId]));
  });

  it('is a draft again after a change, and needs its secret for another issuer', async () => {
    const visit = await open();
    await tested(visit);
    const moved = await visit.change('save-connection', { issuer: 'https://idp.example.com', clientId: oidc.clientId });
    expect(moved.status).toBe(400);
    expect(moved.text).toContain('It is needed again when the issuer changes');
    const plain = await visit.change('save-connection', { issuer: 'idp.example.com', clientId: oidc.clientId });
    expect([plain.status, plain.text.includes('It begins with https://')]).toEqual([400, true]);
    await visit.change('save-connection', { issuer: oidc.issuer, clientId: 'other' });
    expect((await visit.change('enable-connection')).status).toBe(409);
    expect(await own()).toMatchObject({ state: 'draft' });
  });

  it('that an admin has enabled or disabled is not changed, tested again or removed by the link', async () => {
    const visit = await open();
    await tested(visit);
    for (const state of ['enabled', 'disabled'] as const) {
      await app.services.connections.setState(await own(), state, system);
      const before = await own();
      expect((await visit.change('save-connection', { ...values(), clientId: 'evil' })).status).toBe(409);
      expect((await visit.change('remove-connection')).status).toBe(409);
      expect((await visit.change('create-connection', { provider: 'okta', kind: 'oidc' })).status).toBe(409);
      expect(await stored()).toEqual([before]);
    }
    expect((await visit.change('enable-connection')).status).toBe(409);
    expect(await visit.page()).toContain('has disabled the connection');
  });

  it('shows rejected values as text, and never a secret', async () => {
    const visit = await open();
    await visit.change('create-connection', { provider: 'okta', kind: 'oidc' });
    const secret = 'secret of the provider';
    const { status, text } = await visit.change('save-connection', {
      issuer: '"><script>alert(1)</script>',
      clientId: '<img src=x>',
      clientSecret: secret,
    });
    expect(status).toBe(400);
    expect(text).not.toMatch(/<script>|<img src=x/);
    expect(text).toContain('&lt;img src=x&gt;');
    expect(text).not.toContain(secret);
  });
});

describe('a SAML provider', () => {
  it('is connected by its metadata, as an address or a document', async () => {
    const visit = await open();
    await visit.change('create-connection', { provider: 'entra', kind: 'saml' });
    const { id } = await own();
    const page = await visit.page();
    for (const part of ['acs', 'metadata']) expect(page).toContain(`/connect/${id}/${part}"`);
    const wrong = await visit.change('save-connection', { metadataXml: '<html></html>' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('This is no metadata');
    expect((await visit.change('save-connection', { metadataXml: saml.metadata() })).status).toBe(303);
    expect((await visit.change('save-connection', { metadataUrl: saml.metadataUrl })).status).toBe(303);
    expect(await visit.page()).toContain('is stored');
    expect((await visit.change('enable-connection')).status).toBe(409);
    const { action, fields } = await saml.agree(locationOf(await visit.browser.get(await visit.testUrl())));
    const delivered = await new CookieBrowser().post(action, fields, { Origin: saml.origin });
    expect((await visit.browser.get(locationOf(delivered).href)).status).toBe(200);
    expect((await visit.change('enable-connection')).status).toBe(303);
    expect(await own()).toMatchObject({ state: 'enabled', kind: 'saml' });
  });
});

describe('a link', () => {
  it('continues the connection of a former link of its organization', async () => {
    await (await open()).change('create-connection', { provider: 'okta', kind: 'oidc' });
    const next = await open();
    expect(await next.page()).toContain('Okta');
    expect((await next.change('create-connection', { provider: 'okta', kind: 'oidc' })).status).toBe(409);
    expect((await next.change('remove-connection')).status).toBe(303);
    expect(await stored()).toEqual([]);
  });

  it('makes one connection of many at once', async () => {
    const visit = await open();
    const link = await portalLinkOf(app.services, organization, ['connection']);
    const chosen = { kind: 'oidc', provider: 'okta' };
    const made = Array.from({ length: 9 }, () =>
      problemOf(app.services.portalConnections.create(link, chosen, system)),
    );
    await Promise.all(made);
    expect(await stored()).toHaveLength(1);
    expect(await visit.page()).toContain('Okta');
  });

  it('neither sees nor changes connections of admins, or of another organization', async () => {
    const oidcSettings = { issuer: oidc.issuer, clientId: 'x', clientSecret: 'y' };
    const input = { projectId: project.id, kind: 'oidc', preset: 'generic', oidc: oidcSettings } as const;
    await app.services.connections.create({ ...input, organizationId: organization.id, name: 'Of an admin' }, system);
    const other = await app.services.organizations.create(project.id, { slug: 'initech', name: 'Initech' }, system);
    const theirs = await open(['connection'], other);
    await theirs.change('create-connection', { provider: 'onelogin', kind: 'oidc' });
    const visit = await open();
    expect(await visit.page()).not.toMatch(/Of an admin|<h3>OneLogin/);
    for (const change of ['save-connection', 'test-connection', 'enable-connection', 'remove-connection']) {
      expect((await visit.change(change, values())).status).toBe(404);
    }
    expect((await stored(other)).map(({ name }) => name)).toEqual(['OneLogin']);
  });

  it('without this task is refused, and one with it has no domains', async () => {
    const domains = await open(['domains']);
    for (const change of ['create-connection', 'save-connection', 'test-connection', 'enable-connection']) {
      expect((await domains.change(change, { provider: 'okta', kind: 'oidc' })).status).toBe(403);
    }
    const connection = await open(['connection']);
    expect((await connection.change('add-domain', { domain: 'globex.example' })).status).toBe(403);
    expect(await stored()).toEqual([]);
  });

  it('refuses unknown providers, and more than 30 changes in ten minutes', async () => {
    const visit = await open();
    for (const provider of ['toString', 'microsoft']) {
      expect((await visit.change('create-connection', { provider, kind: 'oidc' })).status).toBe(404);
    }
    expect((await visit.change('create-connection', { provider: 'okta', kind: 'ldap' })).status).toBe(404);
    await visit.change('create-connection', { provider: 'okta', kind: 'oidc' });
    for (let count = 0; count < 29; count += 1) await visit.change('save-connection', { clientId: `${count}` });
    expect((await visit.change('save-connection', { clientId: 'x' })).status).toBe(429);
  });
});

it('addresses inside the network are refused', async () => {
  const harness = await openAdminHarness();
  const { services } = harness;
  const { id } = await services.projects.create({ name: 'Acme' }, system);
  await services.projects.update(id, { organizationsEnabled: true }, system);
  const place = await services.organizations.create(id, { slug: 'globex', name: 'Globex' }, system);
  const link = await portalLinkOf(services, place, ['connection']);
  const { portalConnections } = services;
  await portalConnections.create(link, { kind: 'saml', provider: 'generic' }, system);
  for (const metadataUrl of [
    'https://169.254.169.254/',
    'https://10.0.0.1/m',
    'http://idp.example.com/',
    'https://[::1]/',
  ]) {
    const saving = portalConnections.save(link, () => ({ saml: { metadataUrl } }), system);
    expect(await problemOf(saving)).toMatchObject({ code: 'invalid', field: 'saml.metadataUrl' });
  }
  await portalConnections.remove(link, system);
  await portalConnections.create(link, { kind: 'oidc', provider: 'generic' }, system);
  for (const issuer of ['https://127.0.0.1', 'http://idp.example.com', 'https://192.168.0.1/realms/x']) {
    const saving = portalConnections.save(link, () => ({ oidc: { issuer, clientId: 'x' } }), system);
    expect(await problemOf(saving)).toMatchObject({ code: 'invalid', field: 'oidc.issuer' });
  }
  await harness.close();
});

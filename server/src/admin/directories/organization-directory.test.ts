/** The directory of an organization in the admin API (decisions/0401): tokens, requests, health and self-test. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapToken, buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { rows } from '../../../test/rows.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

let harness: TestApp;
let project: Project;
let organizationId: string;

beforeAll(async () => {
  harness = await buildTestApp();
  await harness.services.seed.create({ demo: false });
});
afterAll(() => harness.close());

beforeEach(async () => {
  project = await harness.make.project({ name: 'Acme' });
  const { organizations, projects } = harness.services;
  await projects.update(project.id, { organizationsEnabled: true }, system);
  organizationId = (await organizations.create(project.id, { slug: 'north', name: 'North' }, system)).id;
});

const call = async (query: string) => {
  const response = await fetch(`${harness.url}/admin/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bootstrapToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: any; errors?: { extensions: { code: string } }[] };
  return errors ? { code: errors[0]?.extensions.code } : data;
};
const issue = (whose: string, name = 'Okta') =>
  call(
    `mutation { issueScimToken(input: { ${whose}, name: "${name}" }) { token scimToken { id organization { id } } } }`,
  );
const ofOrganization = () => `organizationId: "${organizationId}"`;
const ofProject = () => `projectId: "${project.id}"`;
const health = async (whose: string) =>
  (await call(`{ directoryHealth(${whose}) { liveTokens lastRequestAt lastRefusedAt requests refused failed } }`))
    .directoryHealth;
const scim = (token: string, path = '/Users') =>
  fetch(`${harness.url}/v1/scim/${organizationId}${path}`, { headers: { authorization: `Bearer ${token}` } });

describe('the directory of an organization', () => {
  it('has tokens of its own, with events of the organization', async () => {
    const { issueScimToken: own } = await issue(ofOrganization(), 'Own');
    const { issueScimToken: other } = await issue(ofProject(), 'Other');
    expect([own.scimToken.organization, other.scimToken.organization]).toEqual([{ id: organizationId }, null]);
    const listed = async (whose: string) =>
      (await call(`{ scimTokens(${whose}) { id } }`)).scimTokens.map(({ id }: { id: string }) => id);
    expect(await listed(ofOrganization())).toEqual([own.scimToken.id]);
    expect(await listed(ofProject())).toEqual([other.scimToken.id]);
    await call(`mutation { revokeScimToken(id: "${own.scimToken.id}") { id } }`);
    const events = await rows<{ type: string; organization: string | null }>(
      harness.services.db,
      `select type, detail ->> 'organizationId' as organization from audit_log
        where project_id = ? and type like 'scim-token.%' order by id`,
      [project.id],
    );
    expect(events).toEqual([
      { type: 'scim-token.issued', organization: organizationId },
      { type: 'scim-token.issued', organization: null },
      { type: 'scim-token.revoked', organization: organizationId },
    ]);
    expect((await scim(own.token)).status).toBe(401);
  });

  it('is one of a project or of an organization, and of one that exists', async () => {
    const both = `${ofProject()}, ${ofOrganization()}`;
    for (const operation of [
      `{ scimTokens(${both}) { id } }`,
      `{ scimRequests(${both}) { edges { node { id } } } }`,
      `{ directoryHealth(${both}) { requests } }`,
      `mutation { testDirectory(${both}) { name } }`,
      `mutation { issueScimToken(input: { ${both}, name: "X" }) { token } }`,
    ]) {
      expect(await call(operation)).toEqual({ code: 'invalid' });
    }
    expect(await issue('organizationId: "00000000-0000-7000-8000-000000000000"')).toEqual({ code: 'not-found' });
    expect(await call('{ scimTokens { id } }')).toMatchObject({ code: expect.any(String) });
  });

  it('has the health of its own requests', async () => {
    expect(await health(ofOrganization())).toEqual({
      ...{ liveTokens: 0, lastRequestAt: null, lastRefusedAt: null, requests: 0, refused: 0, failed: 0 },
    });
    const { token } = (await issue(ofOrganization())).issueScimToken;
    await scim(token);
    await scim(token, '/Users?filter=x');
    const now = harness.clock.now().toISOString();
    expect(await health(ofOrganization())).toEqual({
      ...{ liveTokens: 1, lastRequestAt: now, lastRefusedAt: now, requests: 2, refused: 1, failed: 0 },
    });
    expect(await health(ofProject())).toMatchObject({ liveTokens: 0, requests: 0 });
    const paths = async (whose: string) =>
      (await call(`{ scimRequests(${whose}) { edges { node { path } } } }`)).scimRequests.edges.length;
    expect([await paths(ofOrganization()), await paths(ofProject())]).toEqual([2, 0]);
  });

  it('passes the self-test, which leaves nothing', async () => {
    const { testDirectory: steps } = await call(
      `mutation { testDirectory(${ofOrganization()}) { name passed fault } }`,
    );
    expect(steps.filter(({ passed }: { passed: boolean }) => !passed)).toEqual([]);
    const left = await rows(
      harness.services.db,
      'select id from users where project_id = ? union all select id from scim_tokens where project_id = ?',
      [project.id, project.id],
    );
    expect(left).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'the organization is suspended',
      () => harness.services.organizations.update(keyIn(project.id, organizationId), { state: 'suspended' }, system),
    ],
    [
      'organizations are off',
      () => harness.services.projects.update(project.id, { organizationsEnabled: false }, system),
    ],
  ])('has no self-test if %s', async (_name, change) => {
    await change();
    expect(await call(`mutation { testDirectory(${ofOrganization()}) { name } }`)).toEqual({ code: 'forbidden' });
    const { db } = harness.services;
    const tested = `select 1 from audit_log where project_id = ? and type = 'directory.tested'`;
    expect(await rows(db, tested, [project.id])).toEqual([]);
  });
});

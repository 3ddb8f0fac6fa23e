import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { pngOf } from '../../../test/pictures.ts';
import { system } from '../../domain/kernel/actor.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;
let admin: Record<string, string>;

beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());
beforeEach(async () => {
  project = await harness.services.projects.create({ name: 'Acme' }, system);
  admin = await harness.tokenOf('project_admin', project.id);
});

const content = '{ displayName accent logoId darkLogoId texts { locale key text } }';
const fields = `{ publishedNumber draftVersion published ${content} draft ${content} }`;
const read = () => harness.call(`query ($p: ID!) { experience(projectId: $p) ${fields} }`, { p: project.id }, admin);
const write = (name: string, input: object) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) ${fields} }`;
  return harness.call(query, { input: { projectId: project.id, ...input } }, admin);
};
const upload = (bytes: Uint8Array, headers: Record<string, string> = admin, projectId = project.id) =>
  fetch(`${harness.url}/admin/projects/${projectId}/logos`, {
    method: 'POST',
    headers: { 'Content-Type': 'image/png', ...headers },
    body: bytes as Uint8Array<ArrayBuffer>,
  });
const eventsOf = () =>
  query(
    harness.services.db.reader(),
    sql<{ type: string; detail: object }>`
      select type, detail from audit_log where project_id = ${project.id} and type like 'experience.%' order by id`,
  );

describe('the experience of a project', () => {
  it('is the default until it is published; a draft changes nothing', async () => {
    expect((await read()).data.experience).toMatchObject({
      publishedNumber: 0,
      published: { accent: null, texts: [] },
    });
    const texts = [{ locale: 'de', key: 'heading', text: 'Willkommen bei {app}' }];
    const { data } = await write('saveExperienceDraft', { accent: '#C81E3C', displayName: 'Acme Inc.', texts });
    expect(data.saveExperienceDraft).toMatchObject({
      publishedNumber: 0,
      published: { accent: null },
      draftVersion: 1,
      draft: { accent: '#c81e3c', displayName: 'Acme Inc.', texts },
    });
    expect(await eventsOf()).toEqual([]);
  });

  it('is published with its differences in the audit log, and restored', async () => {
    await write('saveExperienceDraft', { accent: '#c81e3c' });
    const first = await write('publishExperience', { expectedVersion: 1 });
    expect(first.data.publishExperience).toMatchObject({ publishedNumber: 1, published: { accent: '#c81e3c' } });
    await write('saveExperienceDraft', { accent: '#1d3890', displayName: 'Other' });
    await write('publishExperience', {});
    const back = await write('revertExperience', { number: 1 });
    expect(back.data.revertExperience).toMatchObject({
      publishedNumber: 3,
      published: { accent: '#c81e3c', displayName: null },
    });
    const own = await write('revertExperience', { number: 0 });
    expect(own.data.revertExperience).toMatchObject({ publishedNumber: 4, published: { accent: null } });
    const events = await eventsOf();
    expect(events.map(({ type }) => type)).toEqual([
      'experience.published',
      'experience.published',
      'experience.reverted',
      'experience.reverted',
    ]);
    expect(events[1]?.detail).toMatchObject({
      before: { accent: '#c81e3c', displayName: null },
      after: { accent: '#1d3890', displayName: 'Other' },
    });
    const versions = await harness.call(
      'query ($p: ID!) { experienceVersions(projectId: $p, first: 2) { edges { node { number revertedTo publishedBy } } pageInfo { hasNextPage } } }',
      { p: project.id },
      admin,
    );
    expect(versions.data.experienceVersions).toMatchObject({
      edges: [{ node: { number: 4, revertedTo: 0, publishedBy: 'a project_admin' } }, { node: { number: 3 } }],
      pageInfo: { hasNextPage: true },
    });
  });

  it('reports a conflict to the second of two admins, also after the draft was published', async () => {
    expect((await write('saveExperienceDraft', { expectedVersion: 0, accent: '#111111' })).code).toBeUndefined();
    expect((await write('saveExperienceDraft', { expectedVersion: 0, accent: '#222222' })).code).toBe('conflict');
    await write('publishExperience', { expectedVersion: 1 });
    expect((await write('publishExperience', { expectedVersion: 1 })).code).toBe('conflict');
    expect((await write('saveExperienceDraft', { expectedVersion: 2, accent: '#222222' })).code).toBeUndefined();
  });

  it('is published once by 20 concurrent requests, and not without differences', async () => {
    await write('saveExperienceDraft', { accent: '#333333' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => write('publishExperience', { expectedVersion: 1 })),
    );
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1);
    await write('saveExperienceDraft', { accent: '#333333' });
    expect((await write('publishExperience', {})).data.publishExperience.publishedNumber).toBe(1);
  });

  it('refuses invalid values with their field, and keeps the draft', async () => {
    const cases: [object, string][] = [
      [{ accent: 'red' }, 'accent'],
      [{ texts: [{ locale: 'en', key: 'supportUrl', text: 'javascript:alert(1)' }] }, 'texts.en.supportUrl'],
      [{ logoId: 'nobody' }, 'logoId'],
      [{ logoId: project.id }, 'logoId'],
    ];
    for (const [input, field] of cases) {
      const answer = await write('saveExperienceDraft', input);
      expect([answer.code, answer.errors[0].extensions.field]).toEqual(['invalid', field]);
    }
    expect((await read()).data.experience.draftVersion).toBe(0);
    expect((await write('revertExperience', { number: 7 })).code).toBe('not-found');
  });
});

describe('POST /admin/projects/{id}/logos', () => {
  it('stores an image, which only drafts of its project can use', async () => {
    const answer = await upload(pngOf(120, 40));
    const { id, ...rest } = (await answer.json()) as { id: string };
    expect([answer.status, rest]).toEqual([201, { type: 'image/png', width: 120, height: 40 }]);
    expect((await write('saveExperienceDraft', { logoId: id })).data.saveExperienceDraft.draft.logoId).toBe(id);
    project = await harness.services.projects.create({ name: 'Other' }, system);
    admin = await harness.tokenOf('project_admin', project.id);
    expect((await write('saveExperienceDraft', { logoId: id })).errors[0].extensions.field).toBe('logoId');
  });

  it("refuses other files and large ones, with errors in the API's shape", async () => {
    const svg = await upload(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
    expect([svg.status, await svg.json()]).toMatchObject([
      400,
      { errors: [{ extensions: { code: 'invalid', field: 'logo' } }] },
    ]);
    const huge = await upload(Buffer.alloc(300 * 1024, 1));
    expect([huge.status, await huge.json()]).toMatchObject([
      413,
      { errors: [{ message: 'logo must have at most 256 KB.' }] },
    ]);
  });

  it('is for admins of the project: not for unauthenticated callers, viewers, other projects, or forms of other sites', async () => {
    const picture = pngOf(20, 20);
    expect((await upload(picture, {})).status).toBe(401);
    expect((await upload(picture, await harness.tokenOf('project_viewer', project.id))).status).toBe(403);
    const other = await harness.services.projects.create({ name: 'Other' }, system);
    expect((await upload(picture, await harness.tokenOf('project_admin', other.id))).status).toBe(404);
    expect((await upload(picture, admin, 'nonsense')).status).toBe(404);
    const userId = await harness.person(`${project.id}@example.com`);
    await harness.services.admins.grantRole(
      { email: `${project.id}@example.com`, role: 'project_admin', projectId: project.id },
      { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system },
    );
    const { Cookie = '', ...own } = await harness.sessionOf(userId);
    expect((await upload(picture, { Cookie })).status).toBe(403);
    expect((await upload(picture, { Cookie, ...own, Origin: 'https://evil.example' })).status).toBe(403);
    expect((await upload(picture, { Cookie, ...own })).status).toBe(201);
  });

  it('is limited, and unused images are deleted after a day', async () => {
    const first = (await (await upload(pngOf(20, 20))).json()) as { id: string };
    const named = (await (await upload(pngOf(30, 30))).json()) as { id: string };
    await write('saveExperienceDraft', { darkLogoId: named.id });
    await write('publishExperience', {});
    await write('saveExperienceDraft', {});
    const statuses = await Promise.all(Array.from({ length: 70 }, async () => (await upload(pngOf(16, 16))).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(58);
    expect(statuses.filter((status) => status === 429)).toHaveLength(12);
    harness.clock.turn(25 * 3600);
    const { experiences, db } = harness.services;
    await db.transaction((em) => experiences.sweep(em));
    expect(await experiences.logo(db.reader(), first.id)).toBeNull();
    expect(await experiences.logo(db.reader(), named.id)).not.toBeNull();
  });
});

describe('GET /admin/preview/{page}', () => {
  const look = (path: string, headers = admin) => fetch(`${harness.url}/admin/preview/${path}`, { headers });

  it('requires a role in the project, and contains no flow', async () => {
    const path = `signin?project=${project.id}&step=code`;
    expect((await look(path, {})).status).toBe(401);
    const other = await harness.services.projects.create({ name: 'Other' }, system);
    expect((await look(path, await harness.tokenOf('project_admin', other.id))).status).toBe(404);
    const seen = await look(path, await harness.tokenOf('project_viewer', project.id));
    expect(await seen.json()).toMatchObject({ page: 'index', flow: '', preview: 'code', client_name: 'Acme' });
    expect((await look(`nonsense?project=${project.id}`)).status).toBe(400);
    expect((await look(`signin?project=${project.id}&look=9`)).status).toBe(404);
  });

  it('shows a mail that names the same application in its subject, HTML and text', async () => {
    await harness.services.clients.create({ projectId: project.id, name: 'Web shop' }, system);
    const query = `query ($id: ID!) { messagePreview(projectId: $id, template: SIGN_IN_CODE, locale: "en") { subject text } }`;
    const { messagePreview } = (await harness.call(query, { id: project.id }, admin)).data;
    const html = await (await look(`mail?project=${project.id}&template=sign-in-code&lang=en&look=published`)).text();
    for (const text of [messagePreview.subject, messagePreview.text, html]) {
      expect(text).toContain('Web shop');
      expect(text).not.toMatch(/(sign in to|sign-in code for) Acme/);
    }
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { configuredProject, receiverSecrets } from '../../../test/configured-project.ts';
import { readProjectFiles } from '../../adapters/files/project-yaml.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await configuredProject(harness.services);
});
afterAll(() => harness.close());

const exported = (headers?: Record<string, string>, id = project.id) =>
  harness.call('query ($id: ID!) { projectConfiguration(projectId: $id) }', { id }, headers);

it('a plan with the exported file finds no changes, logos included; the file contains no secret', async () => {
  const text: string = (await exported()).data.projectConfiguration;
  const folder = mkdtempSync(join(tmpdir(), 'lk-'));
  try {
    writeFileSync(join(folder, 'shop.yaml'), text);
    const { configurations } = harness.services;
    const [file] = readProjectFiles(folder, {});
    expect(await configurations.plan(configurations.read(file?.content))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  expect(text).toContain('logo: !!binary');
  for (const secret of Object.values(receiverSecrets)) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/lk_[a-z]+_|whsec_/);
});

it('the export is for admins of the project: it contains the addresses of receivers', async () => {
  const { id } = await harness.services.projects.create({ name: 'Other' }, system);
  const code = async (role: 'owner' | 'project_admin' | 'project_viewer', projectId?: string) => {
    const answer = await exported(await harness.tokenOf(role, projectId));
    expect(answer.body.includes('path-token')).toBe(answer.code === undefined);
    return answer.code ?? 'ok';
  };
  expect([
    await code('owner'),
    await code('project_admin', project.id),
    await code('project_viewer', project.id),
    await code('project_admin', id),
    (await exported({})).code,
  ]).toEqual(['ok', 'ok', 'forbidden', 'not-found', 'unauthenticated']);
});

it('the export is refused for the project of the admins', async () => {
  const console = await harness.services.db.reader().findOneOrFail(Project, { builtIn: 'console' });
  expect((await exported(undefined, console.id)).code).toBe('forbidden');
});

/** An admin is a user of the console's project, and has left traces in other projects. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { rows } from '../../../test/rows.ts';
import { newAddress } from '../../../test/signin-world.ts';
import { everything } from '../../domain/admins/permission.ts';
import { type Actor, system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await harness.services.projects.create({ name: 'Acme' }, system);
  await harness.services.admins.grantRole({ email: 'first@example.com', role: 'owner' }, by);
});
afterAll(() => harness.close());

const by = { grants: everything, actor: system };

/** Erases a user as the console does. */
async function erase(projectId: string, id: string): Promise<void> {
  const { data } = await harness.call(
    'mutation ($input: ChangeUsersInput!) { changeUsers(input: $input) { done message } }',
    { input: { projectId, userIds: [id], action: 'ERASE' } },
  );
  expect(data.changeUsers).toEqual([{ done: true, message: null }]);
}

/** The rows of a table that contain one of the texts. */
async function holding(table: string, ...texts: string[]): Promise<object[]> {
  const all = await rows(harness.services.db, `select * from ${table}`);
  return all.filter((row) => texts.some((text) => JSON.stringify(row).includes(text)));
}

it('an erased admin is not named in the events of any project', async () => {
  const { admins, projects } = harness.services;
  const address = newAddress();
  const { user } = await admins.grantRole({ email: address, role: 'project_admin', projectId: project.id }, by);
  const grace: Actor = { kind: 'admin', id: user.id, name: address, ip: '203.0.113.77', userAgent: 'Marked/1.0' };
  await projects.update(project.id, { mfaPolicy: 'required' }, grace);
  const { id } = await admins.grantRole({ email: address, role: 'owner' }, by);
  await admins.revokeRole(id, by);
  const traces = [address, '203.0.113.77', 'Marked/1.0'];
  expect(await holding('audit_log', ...traces)).not.toEqual([]);
  await erase(harness.builtIn.console.id, user.id);
  expect(await holding('audit_log', ...traces)).toEqual([]);
  const kept = await rows(harness.services.db, `select type from audit_log where detail->>'userId' = ? order by id`, [
    user.id,
  ]);
  expect(kept).toEqual([
    { type: 'membership.granted' },
    { type: 'membership.granted' },
    { type: 'membership.revoked' },
    { type: 'membership.revoked' },
  ]);
});

it('an erased admin is not named by the setup link that made them an owner', async () => {
  const { admins, db } = harness.services;
  const address = newAddress();
  const id = await harness.person(address);
  const link = await admins.mintSetupLink(system);
  const actor: Actor = { kind: 'anonymous', ip: '203.0.113.78', userAgent: 'Marked/2.0' };
  await db.transaction((em) => admins.claim(em, link.id, id, actor));
  const traces = [address, '203.0.113.78', 'Marked/2.0'];
  expect(await holding('audit_log', ...traces)).not.toEqual([]);
  await erase(harness.builtIn.console.id, id);
  expect(await holding('audit_log', ...traces)).toEqual([]);
});

it('an erasure removes the admin’s name from versions and drafts of an experience, and keeps other names', async () => {
  const { admins, experiences } = harness.services;
  const [mine, other] = [newAddress(), newAddress()];
  const { user } = await admins.grantRole({ email: mine, role: 'project_admin', projectId: project.id }, by);
  for (const [at, name] of [other, mine].entries()) {
    const actor: Actor = { kind: 'admin', id: user.id, name };
    await experiences.saveDraft({ projectId: project.id }, { accent: `#c81e3${at}` }, actor);
    await experiences.publish({ projectId: project.id }, actor);
  }
  expect(await holding('experience_versions', mine)).toHaveLength(1);
  expect(await holding('experience_drafts', mine)).toHaveLength(1);
  await erase(harness.builtIn.console.id, user.id);
  expect(await holding('experience_versions', mine)).toEqual([]);
  expect(await holding('experience_drafts', mine)).toEqual([]);
  expect(await holding('experience_versions', other)).toHaveLength(1);
});

/** A directory does not undo what an admin has decided about a guest (decisions/0402). */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { keyIn } from '../domain/projects/tenant.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(() => app.close());
let project: ScimProject;
let north: ScimProject;
let account: string;
const address = 'ada@example.com';
const ada = { userName: 'ada.north', emails: [{ value: address }] };

beforeEach(async () => {
  project = await app.project();
  north = await app.organization(project);
  account = (await project.request('POST', '/Users', { userName: address })).body.id;
});

const members = () =>
  rows<{ id: string; user_id: string; state: string; suspended_by_directory: boolean }>(
    app.services.db,
    `select id, user_id, state, suspended_by_directory from organization_memberships where project_id = ? and organization_id = ?`,
    [project.id, north.organizationId],
  );
const create = async (values: object = ada) =>
  (await north.request('POST', '/Users', values)).body as { id: string; active: boolean };
const setActive = async (id: string, active: boolean) => {
  const Operations = [{ op: 'replace', path: 'active', value: active }];
  const { body, status } = await north.request('PATCH', `/Users/${id}`, { Operations });
  expect([status, body.active]).toEqual([200, active]);
};
const set = async (state: 'active' | 'suspended') => {
  const [held] = await members();
  await app.services.memberships.setState(keyIn(project.id, held?.id ?? ''), state, system);
};
const suspendedByAdmin = { user_id: '', state: 'suspended', suspended_by_directory: false };

it('an admin’s suspension stays when the directory sets active to false and to true', async () => {
  const { id } = await create();
  await set('suspended');
  for (const active of [false, true]) {
    await setActive(id, active);
    expect(await members()).toMatchObject([{ ...suspendedByAdmin, user_id: account }]);
  }
  await set('active');
  expect(await members()).toMatchObject([{ state: 'active' }]);
});

it('an admin’s suspension of a member whom the directory has suspended stays, too, and is an event', async () => {
  const { id } = await create();
  await setActive(id, false);
  expect(await members()).toMatchObject([{ state: 'suspended', suspended_by_directory: true }]);
  await set('suspended');
  await set('suspended');
  const updates = await rows(
    app.services.db,
    `select detail from audit_log where project_id = ? and type = 'organization-membership.updated' and detail -> 'before' is not null`,
    [project.id],
  );
  expect(updates).toHaveLength(2);
  await setActive(id, true);
  expect(await members()).toMatchObject([{ ...suspendedByAdmin, user_id: account }]);
});

it('an admin’s suspension stays when the directory deletes the user and creates it again', async () => {
  const { id } = await create();
  await set('suspended');
  expect((await north.request('DELETE', `/Users/${id}`)).status).toBe(204);
  expect(await members()).toMatchObject([{ ...suspendedByAdmin, user_id: account }]);
  expect((await create()).active).toBe(true);
  expect(await members()).toMatchObject([{ ...suspendedByAdmin, user_id: account }]);
});

it('the directory’s own suspension ends with its word, also after the account has ended', async () => {
  const { id } = await create();
  await setActive(id, false);
  await app.services.accounts.remove(project.id, account, system);
  expect(await members()).toMatchObject([{ user_id: id, state: 'active', suspended_by_directory: false }]);
  const inactive = 'select active from users where project_id = ? and id = ?';
  expect(await rows(app.services.db, inactive, [project.id, id])).toEqual([{ active: false }]);
  await setActive(id, true);
  expect(await members()).toMatchObject([{ user_id: id, state: 'active' }]);
});

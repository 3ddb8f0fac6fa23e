import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { administer, machineOf, tokenOf } from '../../../test/machine.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';

let app: TestApp;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());

it('a client adds a domain, to which links in mails to users lead, only if it may change users', async () => {
  const project = await app.make.project();
  const holding = async (...adminScopes: AdminScope[]) => tokenOf(await machineOf(app, project, { adminScopes }));
  const add = async (...scopes: AdminScope[]) => {
    const change = `mutation { createCustomDomain(projectId: "${project.id}", host: "login.example.com") { id host } }`;
    return administer(app, await holding(...scopes), change);
  };
  expect((await add('projects:write', 'users:read')).code).toBe('forbidden');
  expect((await add('users:write')).code).toBe('forbidden');
  expect(await app.services.domains.list(app.services.db.reader(), project.id)).toEqual([]);
  const { id, host } = (await add('projects:write', 'users:write')).data.createCustomDomain;
  expect(host).toBe('login.example.com');
  // Checking and removing it give no rights.
  const own = await holding('projects:write');
  const check = await administer(app, own, `mutation { checkCustomDomain(id: "${id}") { state } }`);
  expect(check.data.checkCustomDomain).toEqual({ state: 'PENDING' });
  const remove = await administer(app, own, `mutation { deleteCustomDomain(id: "${id}") }`);
  expect(remove.data).toEqual({ deleteCustomDomain: id });
});

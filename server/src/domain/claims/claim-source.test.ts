import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { indexConditions, multiply } from '../../../test/plan.ts';
import { system } from '../kernel/actor.ts';
import { keyIn } from '../projects/tenant.ts';
import { claimSource } from './claim-source.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('reads the roles and groups of the user, not all assignments of the application', async () => {
  const { make, services } = app;
  const project = await make.project();
  const { client } = await make.client(project);
  const user = await make.user(project);
  const { id: role } = await services.roles.create(keyIn(project.id, client.id), { key: 'k', name: 'k' }, system);
  const group = await services.groups.create(project.id, { displayName: 'g', externalId: null }, [user.id], system);
  await services.roles.assign(keyIn(project.id, role), { userId: user.id }, system);
  const id = 'gen_random_uuid()';
  await multiply(services.db, 'users', { id, user_name_key: id, email_key: 'null', phone: 'null' });
  await services.db.transaction(async (em) => {
    await em.execute(`insert into role_assignments (project_id, id, role_id, user_id, created_at)
      select project_id, gen_random_uuid(), '${role}', id, now() from users where project_id = '${project.id}'
      on conflict do nothing`);
    await em.execute(`insert into group_members (project_id, group_id, user_id, created_at)
      select project_id, '${group.id}', id, now() from users where project_id = '${project.id}' on conflict do nothing`);
  });
  const conditions = await indexConditions(services.db, claimSource(client, user.id));
  expect(conditions['role_assignments']).toEqual(
    expect.arrayContaining(['((project_id = ?) AND (user_id = ?))', expect.stringContaining('group_id = held')]),
  );
  for (const condition of conditions['users'] ?? []) expect(condition).toContain('(id = ?)');
  expect(conditions['users']).not.toEqual([]);
  expect(
    await services.claims.forUserInfo(services.db.alone, { client, userId: user.id, scopes: ['roles', 'groups'] }),
  ).toEqual({
    ...{ roles: ['k'], groups: ['g'] },
  });
});

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenantRole } from '../src/adapters/postgres/row-security.ts';
import { inAllProjects, inProject, inRequest } from '../src/domain/kernel/scope.ts';
import { query, sql } from '../src/domain/kernel/sql.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { buildTestApp, type TestApp } from './build-app.ts';
import { administer } from './global-setup.ts';
import { tenant, tenantTables } from './tenant.ts';

describe('row security', () => {
  let app: TestApp;
  let projects: Project[];
  beforeAll(async () => {
    app = await buildTestApp();
    projects = [(await tenant(app)).project, (await tenant(app)).project];
  });
  afterAll(() => app.close());

  const users = () => query(app.services.db.alone, sql<{ project: string }>`select project_id as project from users`);

  it('covers every table of tenants', async () => {
    await administer(app.databaseUrl, async (client: pg.Client) => {
      const { rows } = await client.query<{ name: string }>(`select c.relname as name from pg_class c
        join pg_policy p on p.polrelid = c.oid where c.relrowsecurity and p.polcmd = '*' and not c.relispartition order by 1`);
      expect(rows.map(({ name }) => name)).toEqual(await tenantTables(client));
    });
  });

  it('shows no row to a statement without a project', async () => {
    expect(await inRequest(users)).toEqual([]);
    await administer(app.databaseUrl, async (client: pg.Client) => {
      await client.query(`set role ${tenantRole}`);
      for (const table of await tenantTables(client)) {
        expect(
          (await client.query(`select * from "${table}" where project_id = any($1)`, [projects.map(({ id }) => id)]))
            .rows,
        ).toEqual([]);
      }
    });
  });

  it('shows a request the rows of its project, alternately on the same connections', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const { id } of projects) {
        expect(await inProject(id, users)).toEqual([{ project: id }]);
        expect(await inRequest(users)).toEqual([]);
        expect((await inAllProjects(users)).map(({ project }) => project)).toEqual(
          expect.arrayContaining(projects.map((one) => one.id)),
        );
      }
    }
  });

  it('refuses statements that write a row of another project', async () => {
    const [one, other] = projects as [Project, Project];
    const write = (id: string) =>
      query(
        app.services.db.alone,
        sql`insert into logos (project_id, id, type, bytes, created_at) values (${id}, ${id}, 'image/png', '', now()) returning 1`,
      );
    await expect(inProject(one.id, () => write(other.id))).rejects.toThrow('row-level security');
    const { id } = other;
    const change = sql<{ id: string }>`update users set active = false where project_id = ${id} returning id`;
    expect(await inProject(one.id, () => query(app.services.db.alone, change))).toEqual([]);
    const removal = sql<{ id: string }>`delete from users where project_id = ${id} returning id`;
    expect(await inProject(one.id, () => query(app.services.db.alone, removal))).toEqual([]);
  });

  it('keeps the scope of a transaction that is rolled back, and of the next one', async () => {
    const [one, other] = projects as [Project, Project];
    const undone = inProject(one.id, () =>
      app.services.db.transaction(async (em) => {
        expect(await query(em, sql`select project_id as project from users`)).toEqual([{ project: one.id }]);
        throw new Error('undone');
      }),
    );
    await expect(undone).rejects.toThrow('undone');
    expect(await inProject(other.id, users)).toEqual([{ project: other.id }]);
  });
});

import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenantRole } from '../src/adapters/postgres/row-security.ts';
import { EventMonths } from '../src/domain/audit/months.ts';
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

  const users = () =>
    query(app.services.db.alone, sql<{ project: string }>`select distinct project_id as project from users`);

  it('covers every table with a project, partitions included', async () => {
    await administer(app.databaseUrl, async (client: pg.Client) => {
      const { rows } = await client.query<{ name: string }>(`select c.relname as name from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname in ('project_id', 'user_project_id') and not a.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid and p.polcmd = '*'))`);
      expect(rows).toEqual([]);
    });
  });

  it('covers the partition of a month when it is created', async () => {
    app.clock.turn(70 * 24 * 3600);
    await new EventMonths({ db: app.services.db, clock: app.clock }).prepare();
    await administer(app.databaseUrl, async (client: pg.Client) => {
      const { rows } = await client.query(`select inhrelid::regclass::text as name from pg_inherits
        where inhparent = 'audit_log'::regclass and not exists (select from pg_policy where polrelid = inhrelid)`);
      expect(rows).toEqual([]);
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
        expect(await query(em, sql`select distinct project_id as project from users`)).toEqual([{ project: one.id }]);
        throw new Error('undone');
      }),
    );
    await expect(undone).rejects.toThrow('undone');
    expect(await inProject(other.id, users)).toEqual([{ project: other.id }]);
  });
});

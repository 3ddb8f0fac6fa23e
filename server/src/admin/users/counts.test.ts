import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';
import { query, sql } from '../../domain/kernel/sql.ts';

const people = 10_050;
let harness: AdminHarness;
let projectId: string;
let groupId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  const project = await harness.services.projects.create({ name: 'Counted' }, system);
  projectId = project.id;
  const em = harness.services.db.reader();
  await em.execute(
    `insert into users (project_id, id, user_name, user_name_key, active, created_at, updated_at)
     select ?, gen_random_uuid(), 'user' || n, 'user' || n, n > 20, now(), now() from generate_series(1, ${people}) n`,
    [projectId],
  );
  await em.execute(
    `insert into enrolments (project_id, id, user_id, method, created_at, verified_at)
     select project_id, gen_random_uuid(), id, 'email', now(), now() from users where project_id = ?`,
    [projectId],
  );
  await em.execute(
    `insert into sessions (project_id, id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at)
     select project_id, gen_random_uuid(), id, id::text, now(), '{swk}', now(), now(), now() + interval '1 day', now() + interval '1 day'
     from users where project_id = ?`,
    [projectId],
  );
  groupId = (await harness.services.localGroups.create(projectId, 'Everyone', system)).id;
  await em.execute(
    `insert into group_members (project_id, group_id, user_id, created_at) select project_id, ?, id, now() from users where project_id = ?`,
    [groupId, projectId],
  );
  await em.execute('analyze users, enrolments, credentials, group_members');
});
afterAll(() => harness.close());

async function counted(filter: string) {
  const text = `query ($id: ID!) { users(projectId: $id ${filter}) { totalCount isTotalLimited } }`;
  const { data, errors } = await harness.call(text, { id: projectId });
  expect(errors).toEqual([]);
  const { totalCount, isTotalLimited } = data.users;
  return [totalCount, isTotalLimited];
}

describe('counts of a large project', () => {
  it('are exact without a filter, and up to 10,000 with one', async () => {
    expect(await counted('')).toEqual([people, false]);
    expect(await counted(', filter: { active: false }')).toEqual([20, false]);
    expect(await counted(', filter: { hasFactor: false }')).toEqual([0, false]);
    const most = [10_000, true];
    expect(await counted(', filter: { active: true }')).toEqual(most);
    expect(await counted(', filter: { hasFactor: true }')).toEqual(most);
    expect(await counted(`, filter: { groupId: "${groupId}" }`)).toEqual(most);
    expect(await counted(', search: "user"')).toEqual([1000, true]);
  });

  it('of members and sessions stop at 10,000, and report the limit', async () => {
    const shown = await harness.call(
      `query ($id: ID!) { groups(projectId: $id) { edges { node { memberCount isMemberCountLimited } } }
        project(id: $id) { contents { users sessions isSessionsLimited } } }`,
      { id: projectId },
    );
    expect(shown.data.groups.edges).toEqual([{ node: { memberCount: 10_000, isMemberCountLimited: true } }]);
    const contents = { users: people, sessions: 10_000, isSessionsLimited: true };
    expect(shown.data.project.contents).toEqual(contents);
  });

  it('are exact on request', async () => {
    const all = [people, false];
    expect(await counted(', exact: true')).toEqual(all);
    expect(await counted(', exact: true, filter: { active: true }')).toEqual([people - 20, false]);
    expect(await counted(', exact: true, filter: { hasFactor: true }')).toEqual(all);
    expect(await counted(`, exact: true, filter: { groupId: "${groupId}" }`)).toEqual(all);
    const shown = await harness.call(
      `query ($id: ID!, $groupId: ID!) { group(id: $groupId) { memberCount(exact: true) }
        project(id: $id) { contents(exact: true) { sessions isSessionsLimited } } }`,
      { id: projectId, groupId },
    );
    expect(shown.data.group).toEqual({ memberCount: people });
    expect(shown.data.project.contents).toEqual({ sessions: people, isSessionsLimited: false });
  });

  it('of an export are exact', async () => {
    const response = await fetch(`${harness.url}/admin/export/users?project=${projectId}&active=true`, {
      headers: bootstrap,
    });
    expect((await response.text()).trimEnd().split('\r\n')).toHaveLength(1 + people - 20);
    const events =
      '{ auditEvents(projectId: "%", filter: { types: ["users.exported"] }) { edges { node { detail } } } }';
    const { data } = await harness.call(events.replace('%', projectId));
    expect(data.auditEvents.edges[0].node.detail).toMatchObject({ users: people - 20 });
  });

  it('look factors up user by user, and never read all of them', async () => {
    const { db } = harness.services;
    const scans = async () => {
      await query(db.alone, sql`select pg_stat_force_next_flush()`);
      const [row] = await query(
        db.alone,
        sql<{ scans: number }>`select sum(seq_scan)::int as scans from pg_stat_user_tables
          where relname in ('enrolments', 'credentials')`,
      );
      return row?.scans;
    };
    const before = await scans();
    await counted(', filter: { hasFactor: true }');
    expect(await scans()).toBe(before);
  });
});

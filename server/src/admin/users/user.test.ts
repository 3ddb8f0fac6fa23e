import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import type { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let project: Project;
let other: Project;
let people: Record<'ada' | 'grace' | 'alan' | 'zoe', User>;
let staff: string;
const day = 86_400_000;

beforeAll(async () => {
  harness = await openAdminHarness();
  const make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme' });
  other = await make.project({ name: 'Other' });
  const now = harness.clock.now().getTime();
  const named = (userName: string, values: Partial<User>) =>
    make.user(project, { userName, userNameKey: userName, email: `${userName}@example.com`, ...values });
  people = {
    ada: await named('c.ada', { displayName: 'Ada Lovelace', familyName: 'Lovelace', lastSignInAt: new Date(now) }),
    grace: await named('a.grace', {
      displayName: 'grace hopper',
      provenance: 'scim',
      lastSignInAt: new Date(now - 40 * day),
    }),
    alan: await named('b.alan', { displayName: 'Alan Turing', provenance: 'scim', active: false }),
    zoe: await named('d.zoe', {}),
  };
  const { db, groups, mfa } = harness.services;
  await db.transaction(async (em) => {
    const enrolment = await mfa.begin(em, { user: people.ada, deviceId: null, method: 'email', phone: null });
    await mfa.verify(em, enrolment, people.ada, system);
  });
  const make3 = (displayName: string, members: string[]) =>
    groups.create(project.id, { displayName, externalId: null }, members, system);
  staff = (await make3('Staff', [people.ada.id, people.grace.id])).id;
  await make3('admins', [people.ada.id]);
  await make3('100% remote', []);
  await groups.create(other.id, { displayName: 'Staff elsewhere', externalId: null }, [], system);
});
afterAll(() => harness.close());

const users = async (args = '', headers?: Record<string, string>) => {
  const query = `{ users(projectId: "${project.id}" ${args}) { totalCount pageInfo { hasNextPage endCursor } edges { node { id } } } }`;
  return harness.call(query, {}, headers);
};
const names = Object.keys as (of: typeof people) => (keyof typeof people)[];
const found = async (args: string) => {
  const { data, errors } = await users(args);
  expect(errors).toEqual([]);
  const ids: string[] = data.users.edges.map((edge: { node: { id: string } }) => edge.node.id);
  expect(data.users.totalCount).toBe(ids.length);
  return ids.map((id) => names(people).find((name) => people[name].id === id));
};

describe('Query.users', () => {
  it('sorts users as requested; users without a value are last in both directions', async () => {
    expect(await found('')).toEqual(['zoe', 'alan', 'grace', 'ada']);
    expect(await found('orderBy: CREATED, direction: ASC')).toEqual(['ada', 'grace', 'alan', 'zoe']);
    expect(await found('orderBy: NAME')).toEqual(['ada', 'alan', 'grace', 'zoe']);
    expect(await found('orderBy: NAME, direction: DESC')).toEqual(['grace', 'alan', 'ada', 'zoe']);
    expect(await found('orderBy: USER_NAME')).toEqual(['grace', 'alan', 'ada', 'zoe']);
    expect(await found('orderBy: LAST_SIGN_IN')).toEqual(['ada', 'grace', 'zoe', 'alan']);
    expect(await found('orderBy: LAST_SIGN_IN, direction: ASC')).toEqual(['grace', 'ada', 'alan', 'zoe']);
  });

  it('filters by state, origin, second factor, last sign-in and group, and by all together', async () => {
    expect(await found('filter: { active: false }')).toEqual(['alan']);
    expect(await found('filter: { provenance: LOCAL }')).toEqual(['zoe', 'ada']);
    expect(await found('filter: { hasFactor: true }')).toEqual(['ada']);
    expect(await found('filter: { hasFactor: false }')).toEqual(['zoe', 'alan', 'grace']);
    expect(await found('filter: { hasSignedIn: false }')).toEqual(['zoe', 'alan']);
    const monthAgo = new Date(harness.clock.now().getTime() - 30 * day).toISOString();
    expect(await found(`filter: { signedInSince: "${monthAgo}" }`)).toEqual(['ada']);
    expect(await found(`filter: { notSignedInSince: "${monthAgo}" }`)).toEqual(['grace']);
    expect(await found(`filter: { groupId: "${staff}" }`)).toEqual(['grace', 'ada']);
    expect(await found(`filter: { groupId: "${staff}", provenance: SCIM }, search: "gra", orderBy: NAME`)).toEqual([
      'grace',
    ]);
    expect((await users('filter: { groupId: "x" }')).code).toBe('invalid');
  });

  it('finds users by a literal part of a name or address, case-insensitively', async () => {
    const { db, projects, users } = harness.services;
    const { id: projectId } = await projects.create({ name: 'Searched' }, system);
    const ids = await db.transaction(async (em) => {
      const made: string[] = [];
      for (const address of ['ada@example.com', 'Adam@example.org', '100%@example.net']) {
        made.push((await users.signUp(em, projectId, address, system)).id);
      }
      return made;
    });
    const search = async (text: string) => {
      const { data } = await harness.call(
        'query ($id: ID!, $q: String) { users(projectId: $id, search: $q) { totalCount edges { node { id } } } }',
        { id: projectId, q: text },
      );
      return data.users.edges.map((edge: { node: { id: string } }) => edge.node.id);
    };
    expect(await search('ada')).toEqual([ids[1], ids[0]]);
    expect(await search('ADAM')).toEqual([ids[1]]);
    expect(await search('100%')).toEqual([ids[2]]);
    expect(await search('0%')).toEqual([]);
    expect(await search('@')).toEqual([]);
    expect(await search('@example.org')).toEqual([ids[1]]);
    expect(await search('00%@')).toEqual([ids[2]]);
    expect(await search('_da@')).toEqual([]);
    expect(await search('DAM@EXAMPLE')).toEqual([ids[1]]);
    expect(await search('example.')).toEqual([...ids].reverse());
    expect(await search("' or 1=1 --")).toEqual([]);
    const one = await harness.call(
      'query ($id: ID!) { user(id: $id) { userName email provenance active project { id } } }',
      {
        id: ids[0],
      },
    );
    expect(one.data.user).toEqual({
      userName: 'ada@example.com',
      email: 'ada@example.com',
      provenance: 'LOCAL',
      active: true,
      project: { id: projectId },
    });
    const inactive = await harness.call(
      'query ($id: ID!) { users(projectId: $id, filter: { active: false }) { totalCount edges { cursor } } }',
      { id: projectId },
    );
    expect(inactive.data.users).toEqual({ totalCount: 0, edges: [] });
  });

  it('finds users by all words of a search, in any order and any field', async () => {
    expect(await found('search: "LOVE"')).toEqual(['ada']);
    expect(await found('search: "ovelace"')).toEqual(['ada']);
    expect(await found('search: "  turing   alan "')).toEqual(['alan']);
    expect(await found('search: "hop a.gra"')).toEqual(['grace']);
    expect(await found('search: "lovelace hopper"')).toEqual([]);
    expect(await found('search: "example.com"')).toEqual(['zoe', 'alan', 'grace', 'ada']);
    expect(await found('search: "example.com", filter: { active: false }')).toEqual(['alan']);
    expect(await found('search: "example.com", orderBy: NAME')).toEqual(['ada', 'alan', 'grace', 'zoe']);
    expect(await found(`search: "${'x '.repeat(50)}"`)).toEqual([]);
  });

  it('finds a word of one or two characters only at the beginning of a word', async () => {
    expect(await found('search: "ad"')).toEqual(['ada']);
    expect(await found('search: "tu"')).toEqual(['alan']);
    expect(await found('search: "a"')).toEqual(['alan', 'grace', 'ada']);
    expect(await found('search: "ov"')).toEqual([]);
    expect(await found('search: "al tu"')).toEqual(['alan']);
    expect(await found('search: "lovelace ad"')).toEqual(['ada']);
  });

  it('lists and counts 1,000 of the users that match a search, and reports that there are more', async () => {
    const { db, projects } = harness.services;
    const { id } = await projects.create({ name: 'Large' }, system);
    const fill = (from: number, to: number) =>
      db.transaction((em) =>
        em.execute(
          `insert into users (project_id, id, user_name, user_name_key, display_name, created_at, updated_at)
            select ?, gen_random_uuid(), 'person' || n, 'person' || n, 'Person ' || n, now(), now() from generate_series(${from}, ${to}) n`,
          [id],
        ),
      );
    const matches = async (search: string, more = '') => {
      const query = `query ($id: ID!, $search: String) { users(projectId: $id, search: $search ${more}) {
        totalCount isLimited pageInfo { hasNextPage } edges { node { displayName } } } }`;
      return (await harness.call(query, { id, search })).data.users;
    };
    await fill(1, 1000);
    const all = await matches('person', ', orderBy: NAME, first: 100');
    expect([all.totalCount, all.isLimited, all.pageInfo.hasNextPage]).toEqual([1000, false, true]);
    await fill(1001, 1500);
    const some = await matches('person');
    expect([some.totalCount, some.isLimited]).toEqual([1000, true]);
    expect(await matches('person1499')).toMatchObject({ totalCount: 1, isLimited: false });
    expect((await matches('')).totalCount).toBe(1500);
  });

  it('finds no user of another project', async () => {
    const make = new Factories(harness.services, harness.clock);
    await make.user(other, { displayName: 'Ada Lovelace' });
    expect(await found('search: "lovelace"')).toEqual(['ada']);
  });

  it.each(['CREATED', 'NAME', 'USER_NAME', 'EMAIL', 'LAST_SIGN_IN'])(
    'pages by %s return each row once, even if the last one is erased in the meantime',
    async (orderBy) => {
      const make = new Factories(harness.services, harness.clock);
      for (const direction of ['ASC', 'DESC']) {
        const extra = await make.user(project, { displayName: 'Ada Lovelace', lastSignInAt: harness.clock.now() });
        const all = (await users(`orderBy: ${orderBy}, direction: ${direction}`)).data.users.edges;
        const seen: string[] = [];
        let after = '';
        for (;;) {
          const { data } = await users(`orderBy: ${orderBy}, direction: ${direction}, first: 1 ${after}`);
          const [edge] = data.users.edges;
          seen.push(edge.node.id);
          if (edge.node.id === extra.id) {
            await harness.services.accountAccess.erase(project.id, extra.id, system);
          }
          if (!data.users.pageInfo.hasNextPage) break;
          after = `, after: "${data.users.pageInfo.endCursor}"`;
        }
        expect(seen).toEqual(all.map((one: { node: { id: string } }) => one.node.id));
      }
    },
  );

  it('orders the sign-ins of one hour by time', async () => {
    const make = new Factories(harness.services, harness.clock);
    const { db } = harness.services;
    const acme = await make.project();
    const moments = ['10:59:59.9', '10:00:00', '10:30:00', '09:59:59', '11:00:00'];
    const signedIn = new Map<string, string>();
    for (const moment of moments) {
      const { id } = await make.user(acme);
      await execute(
        db.alone,
        sql`update users set last_sign_in_at = ${`2026-03-01T${moment}Z`}::timestamptz where project_id = ${acme.id} and id = ${id}`,
      );
      signedIn.set(id, moment);
    }
    const pages = async (direction: string) => {
      const seen: (string | undefined)[] = [];
      for (let after = ''; ; ) {
        const query = `{ users(projectId: "${acme.id}", orderBy: LAST_SIGN_IN, direction: ${direction}, first: 2 ${after}) {
          pageInfo { hasNextPage endCursor } edges { node { id } } } }`;
        const { data } = await harness.call(query);
        for (const { node } of data.users.edges) seen.push(signedIn.get(node.id));
        if (!data.users.pageInfo.hasNextPage) return seen;
        after = `, after: "${data.users.pageInfo.endCursor}"`;
      }
    };
    const ordered = [...moments].sort();
    expect(await pages('ASC')).toEqual(ordered);
    expect(await pages('DESC')).toEqual(ordered.toReversed());
    const count = async (filter: string) =>
      (await harness.call(`{ users(projectId: "${acme.id}", filter: { ${filter} }) { totalCount } }`)).data.users
        .totalCount;
    expect(await count('signedInSince: "2026-03-01T10:30:00Z"')).toBe(3);
    expect(await count('notSignedInSince: "2026-03-01T10:30:00Z"')).toBe(2);
  });

  it('refuses a cursor of another order, and a modified one', async () => {
    const { data } = await users('orderBy: LAST_SIGN_IN, first: 1');
    const cursor: string = data.users.pageInfo.endCursor;
    expect((await users(`orderBy: NAME, after: "${cursor}"`)).code).toBe('invalid');
    expect((await users(`after: "${cursor}"`)).code).toBe('invalid');
    const [list, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    for (const parts of [
      [list, id, 'yesterday'],
      [list, id, '2026-02-31 00:00:00'],
      [list, id, '2026-01-01 24:00:00'],
      [list, id, '0000-01-01 00:00:00'],
      [list, id, '2026-19-01 00:00:00.5'],
      [list, id, 7],
      [list, id, '2026-01-01 00:00:00; drop table users'],
      [list, 'x', null],
      [list, id, null, 1],
      ['users', id],
      'x',
    ]) {
      const altered = Buffer.from(JSON.stringify(parts)).toString('base64url');
      expect((await users(`orderBy: LAST_SIGN_IN, after: "${altered}"`)).code).toBe('invalid');
    }
    expect((await users('after: "%%%"')).code).toBe('invalid');
    expect(harness.bugs).toEqual([]);
  });
});

describe('Query.groups', () => {
  const groups = async (args = '') => {
    const query = `{ groups(projectId: "${project.id}" ${args}) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { displayName memberCount } } } }`;
    const { data, errors } = await harness.call(query);
    expect(errors).toEqual([]);
    return data.groups;
  };
  const listed = async (args?: string) =>
    (await groups(args)).edges.map(({ node }: { node: { displayName: string; memberCount: number } }) => [
      node.displayName,
      node.memberCount,
    ]);

  it('lists the groups of one project by name, with member counts', async () => {
    expect(await listed()).toEqual([
      ['100% remote', 0],
      ['admins', 1],
      ['Staff', 2],
    ]);
  });

  it('searches within names, literally', async () => {
    expect(await listed(', search: "AFF"')).toEqual([['Staff', 2]]);
    expect(await listed(', search: "%"')).toEqual([['100% remote', 0]]);
  });

  it('lists those of one user', async () => {
    expect(await listed(`, userId: "${people.ada.id}"`)).toEqual([
      ['admins', 1],
      ['Staff', 2],
    ]);
    expect(await listed(`, userId: "${people.zoe.id}"`)).toEqual([]);
  });

  it('paginates', async () => {
    const first = await groups(', first: 2');
    expect(first.totalCount).toBe(3);
    const rest = await groups(`, first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(rest.edges).toEqual([{ node: { displayName: 'Staff', memberCount: 2 } }]);
    expect(rest.pageInfo.hasNextPage).toBe(false);
  });
});

describe('Query.auditEvents', () => {
  it('finds events with the user as actor or subject', async () => {
    const { audit, db } = harness.services;
    await db.transaction(async (em) => {
      const [about, by] = [people.zoe.id, people.alan.id];
      const actor = { kind: 'user', id: by, name: 'Alan' } as const;
      audit.record(em, { type: 'user.updated', projectId: project.id, actor, subject: { kind: 'user', id: about } });
    });
    const typesOf = async (userId: string) => {
      const query = `{ auditEvents(projectId: "${project.id}", filter: { userId: "${userId}" }) { edges { node { type } } } }`;
      return (await harness.call(query)).data.auditEvents.edges.map(
        (edge: { node: { type: string } }) => edge.node.type,
      );
    };
    expect(await typesOf(people.zoe.id)).toEqual(['user.updated']);
    expect(await typesOf(people.alan.id)).toEqual(['user.updated']);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { statementsDuring } from '../../test/statements.ts';
import { systemRandom } from '../adapters/system/random.ts';

let app: ScimApp;
let project: ScimProject;
let users: string[];
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  const made = await app.services.db.reader().execute<{ id: string }[]>(
    `insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
     select gen_random_uuid(), ?, 'member-' || n, 'member-' || n, now(), now() from generate_series(1, 1002) n returning id`,
    [project.id],
  );
  users = made.map(({ id }) => id);
});
afterAll(() => app.close());

const members = (ids: readonly string[]) => ids.map((value) => ({ value }));
const add = (...ids: string[]) => ({ Operations: [{ op: 'add', path: 'members', value: members(ids) }] });

describe('members who are not users', () => {
  it('are named in the refusal: the first ten, and how many more', async () => {
    const stale = Array.from({ length: 12 }, () => systemRandom.id()).sort();
    const body = { displayName: 'g', members: members([...users.slice(0, 500), ...stale]) };
    const { status, body: error } = await project.request('POST', '/Groups', body);
    expect([status, error.scimType]).toEqual([400, 'invalidValue']);
    expect(error.detail).toContain(`: ${stale.slice(0, 10).join(', ')} and 2 more.`);
    expect(error.detail).not.toContain(users[0]);
    const group = (await project.request('POST', '/Groups', { displayName: 'g', members: members(users.slice(0, 2)) }))
      .body;
    for (const [method, sent] of [
      ['PATCH', add(users[2] as string, stale[0] as string)],
      ['PUT', { displayName: 'g', members: members([stale[0] as string]) }],
    ] as const) {
      const refused = await project.request(method, `/Groups/${group.id}`, sent);
      expect(refused.body.detail).toMatch(new RegExp(`: ${stale[0]}\\.$`));
    }
    const odd = await project.request('PATCH', `/Groups/${group.id}`, add('no id', 'x'.repeat(500)));
    expect(odd.body.detail).toContain('no id, xxx');
    expect(odd.body.detail.length).toBeLessThan(300);
    expect((await project.request('GET', `/Groups/${group.id}`)).body.members).toHaveLength(2);
  });
});

describe('a PATCH of a large group', () => {
  it('costs the same statements as a small one, and returns 204', async () => {
    const make = async (count: number) =>
      (await project.request('POST', '/Groups', { displayName: 'g', members: members(users.slice(0, count)) })).body.id;
    const [small, large] = [await make(1), await make(1001)];
    const change = async (id: string) => {
      const replies: unknown[] = [];
      // Records of the requests above must not be written in the meantime.
      await app.services.requestRecords.settled();
      const statements = await statementsDuring(async () => {
        const reply = await project.request(
          'PATCH',
          `/Groups/${id}?excludedAttributes=members`,
          add(users[1001] as string),
        );
        replies.push(reply.status, reply.text, reply.headers.get('etag'));
      });
      return [replies, statements.length] as const;
    };
    const ofSmall = await change(small);
    expect(ofSmall[0]).toEqual([204, '', 'W/"2"']);
    expect(await change(large)).toEqual(ofSmall);
    const plain = await project.request('PATCH', `/Groups/${large}`, add(users[0] as string));
    expect([plain.status, plain.text]).toEqual([204, '']);
    const named = await project.request('PATCH', `/Groups/${large}?attributes=displayName`, add(users[0] as string));
    expect([named.status, named.body.members]).toEqual([200, undefined]);
    expect((await project.request('GET', `/Groups/${large}`)).body.members).toHaveLength(1002);
  });
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));

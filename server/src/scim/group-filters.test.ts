/** PATCH of those members of a group that match a filter (RFC 7644 §3.5.2). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';

type Name = 'a' | 'b' | 'c' | 'inner';

let app: ScimApp;
let project: ScimProject;
let group: string;
let ids: Record<Name, string>;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  const user = async (userName: string) => (await project.request('POST', '/Users', { userName })).body.id as string;
  const inner = (await project.request('POST', '/Groups', { displayName: 'inner' })).body.id as string;
  ids = { a: await user('a'), b: await user('b'), c: await user('c'), inner };
});
/** A group of a, b and another group; c is not a member. */
beforeEach(async () => {
  const members = [ids.a, ids.b, ids.inner].map((value) => ({ value }));
  group = (await project.request('POST', '/Groups', { displayName: 'g', members })).body.id;
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});

const patch = (...Operations: object[]) => project.request('PATCH', `/Groups/${group}`, { Operations });
const filled = (text: string) => text.replace(/\b(a|b|c|inner)\b(?=")/g, (name) => ids[name as Name]);

/** The members by their names, and the version. */
async function read(): Promise<string> {
  const { members, meta } = (await project.request('GET', `/Groups/${group}`)).body;
  const present = new Set(members.map(({ value }: { value: string }) => value));
  const names = (Object.keys(ids) as Name[]).filter((name) => present.has(ids[name]));
  return `${names.join(' ')} ${meta.version}`;
}

describe('PATCH of the members that match a filter', () => {
  it.each<[op: string, path: string, value: unknown, answer: string | number, after: string]>([
    ['replace', 'members[type eq "User"]', [], 200, 'inner W/"2"'],
    ['replace', 'members[type eq "User"]', null, 200, 'inner W/"2"'],
    ['replace', 'members[value eq "a"]', [], 200, 'b inner W/"2"'],
    ['replace', 'members[value eq "a"]', null, 200, 'b inner W/"2"'],
    ['replace', 'members[value eq "a"]', '', 200, 'b inner W/"2"'],
    ['replace', 'members[value eq "c"]', [], 200, 'a b inner W/"1"'],
    ['replace', 'members[value eq "c"]', null, 200, 'a b inner W/"1"'],
    ['replace', 'members[value eq "a"]', [{ value: 'c' }], 200, 'b c inner W/"2"'],
    ['replace', 'members[value eq "a"]', [{ value: 'a' }], 200, 'a b inner W/"1"'],
    ['replace', 'members[value eq "c"]', [{ value: 'c' }], 200, 'a b c inner W/"2"'],
    ['replace', 'members[type eq "Device"]', [{ value: 'c' }], 'noTarget', 'a b inner W/"1"'],
    ['replace', 'members[value eq "a"].value', 'c', 'mutability', 'a b inner W/"1"'],
    ['add', 'members[type eq "User"]', [{ value: 'c' }], 200, 'a b c inner W/"2"'],
    ['add', 'members[type eq "User"]', [], 200, 'a b inner W/"1"'],
    ['add', 'members[value eq "a"]', [{ value: 'c' }], 200, 'a b c inner W/"2"'],
    ['add', 'members[value eq "c"]', null, 200, 'a b c inner W/"2"'],
    ['add', 'members[type eq "Device"]', [{ value: 'c' }], 'noTarget', 'a b inner W/"1"'],
    ['add', 'members[value eq "a"].value', 'c', 'mutability', 'a b inner W/"1"'],
    ['remove', 'members[type eq "User"]', undefined, 200, 'inner W/"2"'],
    ['remove', 'members[type eq "Device"]', undefined, 200, 'a b inner W/"1"'],
  ])('%s %s: %j returns %s, and leaves %s', async (op, path, value, answer, after) => {
    const { status, body } = await patch(JSON.parse(JSON.stringify({ op, path, value }), revived));
    expect([typeof answer === 'number' ? status : body.scimType, await read()]).toEqual([answer, after]);
  });

  it('refuses 200,000 empty values, like a few', async () => {
    const values = Array.from({ length: 200_000 }, () => '');
    const refused = await patch(
      { op: 'add', path: 'members', value: [{ value: ids.c }] },
      { op: 'add', path: 'members', value: values },
    );
    expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidValue']);
    expect(await read()).toBe('a b inner W/"1"');
  });
});

/** Replaces names with ids, in paths and values. */
function revived(_: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return Object.hasOwn(ids, value) ? ids[value as Name] : filled(value);
}

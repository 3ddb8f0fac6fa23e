/** Requests that a directory, or a thief of its token, can make expensive. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { statementsDuring } from '../../test/statements.ts';
import { system } from '../domain/kernel/actor.ts';
import { customUrn } from '../domain/users/custom/definition.ts';

let app: ScimApp;
let project: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});

const created = async (userName: string, more: object = {}) =>
  (await project.request('POST', '/Users', { userName, ...more })).body.id as string;
const patch = (path: string, ...Operations: object[]) => project.request('PATCH', path, { Operations });

it.each([
  ['one word', 'a'.repeat(1_000_000)],
  ['words and spaces', `${'a '.repeat(400_000)}"`],
  ['a word and spaces', `a${' '.repeat(900_000)}`],
  ['comparisons that do not end', 'a eq "\\'.repeat(60_000)],
])('a refused filter of a megabyte costs no more than its length: %s', async (_, filter) => {
  for (const path of ['/Users/.search', '/.search']) {
    expect((await project.request('POST', path, { filter })).body).toMatchObject({ scimType: 'invalidFilter' });
  }
  await app.services.requestRecords.settled();
});

it('a user does not grow beyond 256 KB, and a larger one can shrink and be deactivated', async () => {
  const photos = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ value: `https://a.example/${from + at}/${'x'.repeat(60_000)}` }));
  const id = await created('grows', { photos: photos(0, 4) });
  const refused = await patch(`/Users/${id}`, { op: 'add', path: 'photos', value: photos(4, 1) });
  expect(refused.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
  expect(refused.body.detail).toMatch(/^The user is too large: its attributes may have at most 262144 bytes\.$/);
  expect((await project.request('GET', `/Users/${id}`)).body.photos).toHaveLength(4);
  expect((await project.request('POST', '/Users', { userName: 'large', photos: photos(0, 5) })).status).toBe(400);
  const put = { userName: 'grows', photos: photos(0, 5) };
  expect((await project.request('PUT', `/Users/${id}`, put)).status).toBe(400);
  // From an earlier release.
  await rows(app.services.db, `update users set attributes = ? where id = ? returning id`, [
    JSON.stringify({ photos: photos(0, 6) }),
    id,
  ]);
  expect((await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).status).toBe(200);
  expect((await patch(`/Users/${id}`, { op: 'add', path: 'title', value: 'T' })).status).toBe(400);
  const smaller = { op: 'replace', path: 'photos', value: photos(0, 5) };
  expect((await patch(`/Users/${id}`, smaller)).body.photos).toHaveLength(5);
});

it.each([
  ['comparisons', 'roles', 4000, `not(${Array.from({ length: 480 }, (_, at) => `value ew "${at}"`).join(' or ')})`, 19],
  ['operations', 'photos', 30_000, 'type eq "none"', 14_000],
])(
  'a PATCH of long values is refused before it compares them for seconds: many %s',
  async (what, name, length, filter, count) => {
    // Two UTF-16 units that are folded to one.
    const values = Array.from({ length: name === 'roles' ? 20 : 2 }, (_, at) => ({
      value: `${at}${'e\u0301'.repeat(length)}`,
    }));
    const id = await created(`long-${what}`, { [name]: values });
    const operations = Array.from({ length: count }, (_, at) => ({
      op: 'replace',
      path: `${name}[${filter}].display`,
      value: `${at}`,
    }));
    const { body } = await patch(`/Users/${id}`, ...operations);
    expect(body).toMatchObject({ status: '400', scimType: 'tooMany' });
    // Requests of real directories are not refused.
    const few = operations.slice(0, 2).map((operation) => ({ ...operation, path: `${name}[value sw "0"].display` }));
    expect((await patch(`/Users/${id}`, ...few)).status).toBe(200);
  },
);

it('one operation for each of thousands of members costs as many statements as one', async () => {
  const [a = '', b = '', c = ''] = await Promise.all(['a', 'b', 'c'].map((name) => created(name)));
  const { body } = await project.request('POST', '/Groups', { displayName: 'many', members: [{ value: c }] });
  const path = `/Groups/${body.id}`;
  const add = (value: string) => ({ op: 'add', path: 'members', value: [{ value }] });
  const remove = (value: string) => ({ op: 'remove', path: `members[value eq "${value}"]` });
  const many = <Each>(each: Each) => Array.from({ length: 5000 }, () => each);
  /** Statements that change members. */
  const costs = async (...operations: object[]) => {
    const all = await statementsDuring(async () => {
      expect((await patch(path, ...operations)).status).toBe(200);
    });
    return all.filter((text) => /\b(?:insert into|delete from) group_(?:members|nestings)/.test(text)).length;
  };
  const members = async () =>
    (await project.request('GET', path)).body.members.map(({ value }: { value: string }) => value).sort();
  const one = await costs(add(a), remove(c));
  expect(await members()).toEqual([a]);
  expect(await costs(...many(add(b)), ...many(remove(a)), remove('x'), remove(c.toUpperCase()))).toBe(one);
  expect(await members()).toEqual([b]);
  // The order of different operations stays.
  await patch(path, remove(b), add(b), remove(a), add(a), remove(a), { op: 'remove', path: 'members', value: [] });
  expect(await members()).toEqual([b]);
  expect((await patch(path, add(a), add('nobody'), remove(b))).body).toMatchObject({ scimType: 'invalidValue' });
  expect(await members()).toEqual([b]);
});

it('a PATCH of a group is refused before its filters compare members for minutes', async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, (_, at) => created(`filtered-${at}`)));
  const members = ids.map((value) => ({ value }));
  const { body } = await project.request('POST', '/Groups', { displayName: 'filtered', members });
  const path = `/Groups/${body.id}?excludedAttributes=members`;
  const remove = (filter: string) => ({ op: 'remove', path: `members[${filter}]` });
  const times = (count: number, filter: string) => Array.from({ length: count }, () => remove(filter));
  const comparisons = Array.from({ length: 400 }, (_, at) => `display co "x${at}"`).join(' or ');
  for (const operations of [times(2000, 'display co "x"'), times(60, comparisons)]) {
    const refused = await patch(path, remove(`value eq "${ids[0]}"`), ...operations);
    expect(refused.body).toMatchObject({ status: '400', scimType: 'tooMany' });
  }
  expect((await project.request('GET', `/Groups/${body.id}`)).body.members).toHaveLength(100);
  // A filter by id reads one member.
  const add = (value = '') => ({ op: 'add', path: `members[value eq "${value}"]`, value: [{ value }] });
  expect((await patch(path, ...ids.flatMap((id) => [add(id), remove(`value eq "${id}"`)]))).status).toBe(204);
  expect((await project.request('GET', `/Groups/${body.id}`)).body.members).toEqual([]);
});

it('keeps no value of an attribute that is never returned in the records of requests', async () => {
  const pin = `${customUrn}:pin`;
  await app.services.customAttributes.create(
    project.id,
    { name: 'pin', type: 'string', mutability: 'writeOnly' },
    system,
  );
  const id = await created('with-pin', { [customUrn]: { pin: 'S3cret-1' } });
  await patch(`/Users/${id}`, { op: 'replace', path: pin, value: 'S3cret-2' });
  await project.request('GET', `/Users?filter=${encodeURIComponent(`${pin} eq "S3cret-3"`)}`);
  await project.request('POST', '/Users/.search', { filter: `${pin} eq "S3cret-4"` });
  await app.services.requestRecords.settled();
  const kept = await rows(app.services.db, `select scim_request_records::text as row from scim_request_records`, []);
  expect(JSON.stringify(kept)).toContain('with-pin');
  expect(JSON.stringify(kept)).not.toContain('S3cret');
});

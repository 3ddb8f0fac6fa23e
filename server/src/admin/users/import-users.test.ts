import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { messageLanes } from '../../domain/delivery/lanes.ts';
import { Message } from '../../domain/delivery/message.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { customUrn } from '../../domain/users/custom/definition.ts';
import { User } from '../../domain/users/user.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(async () => {
  expect(harness.bugs).toEqual([]);
  await harness.close();
});
beforeEach(async () => {
  project = await make.project({ name: 'Acme' });
  await make.client(project);
});

const mutation = `mutation ($input: ImportUsersInput!) { importUsers(input: $input) {
  created known refused { row field code message } } }`;
const call = (rows: object[], more: object = {}) =>
  harness.call(mutation, { input: { projectId: project.id, rows, ...more } });
const imported = async (rows: object[], more: object = {}) => {
  const { data, errors } = await call(rows, more);
  expect(errors).toEqual([]);
  return data.importUsers;
};
const users = () =>
  harness.services.db.reader().find(User, { project: project.id }, { orderBy: { userNameKey: 'asc' } });
const define = (name: string, more: object = {}) =>
  harness.services.customAttributes.create(project.id, { name, type: 'string', ...more }, system);
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ email: `user-${n}@example.com` }));

describe('importUsers', () => {
  it('adds users with the values of the columns, each with an event; they are counted and indexed', async () => {
    await define('team', { indexed: true });
    await define('badges', { multiValued: true });
    const row = {
      ...{ email: ' Ada@Example.com ', displayName: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
      ...{ phone: '+41791234567', locale: 'de-ch', zoneinfo: 'europe/zurich', birthdate: '1990-12-31' },
      custom: [
        { name: 'team', value: 'Engines' },
        { name: 'badges', value: ['a', 'b'] },
      ],
    };
    expect(await imported([row, { userName: 'grace' }])).toEqual({ created: 2, known: [], refused: [] });
    const [ada, grace] = await users();
    expect(ada).toMatchObject({
      ...{ userName: 'Ada@Example.com', email: 'Ada@Example.com', displayName: 'Ada Lovelace', provenance: 'local' },
      ...{ phone: '+41791234567', active: true, invitedAt: null },
      attributes: { locale: 'de-CH', timezone: 'Europe/Zurich', birthdate: '1990-12-31' },
    });
    expect(ada?.attributes[customUrn]).toEqual({ team: 'Engines', badges: ['a', 'b'] });
    expect(grace).toMatchObject({ userName: 'grace', email: null });
    const log = `{ auditEvents(projectId: "${project.id}", filter: { types: ["user.created"] }) { edges { node {
      actor { kind } subject { id name } detail } } } }`;
    const events = (await harness.call(log)).data.auditEvents.edges.map(({ node }: { node: object }) => node);
    expect(events).toHaveLength(2);
    expect(events).toContainEqual({
      actor: { kind: 'bootstrap-token' },
      subject: { id: ada?.id, name: 'Ada@Example.com' },
      detail: { provenance: 'local' },
    });
    const list = `{ users(projectId: "${project.id}") { totalCount } }`;
    expect((await harness.call(list)).data.users.totalCount).toBe(2);
    // SCIM filters and unique attributes read these indexes.
    const { db } = harness.services;
    const index = sql`select 1 from user_emails where project_id = ${project.id} and value_key = 'ada@example.com'`;
    expect(await query(db.reader(), index)).toHaveLength(1);
    const values = sql`select 1 from custom_values where project_id = ${project.id} and key = 'engines'`;
    expect(await query(db.reader(), values)).toHaveLength(1);
  });

  it('refuses rows one by one, naming row, field and reason; the others are added', async () => {
    await define('level', { type: 'integer' });
    await make.user(project, { phone: '+41791234567' });
    const { created, known, refused } = await imported([
      { email: 'a@example.com' },
      { email: 'nobody' },
      {},
      { email: 'b@example.com', phone: '079' },
      { email: 'c@example.com', phone: '+41791234567' },
      { email: 'd@example.com', birthdate: '31.12.1990' },
      { email: 'e@example.com', custom: [{ name: 'level', value: 'high' }] },
      { email: 'f@example.com', custom: [{ name: 'unknown', value: 'x' }] },
      { email: 'g@example.com', givenName: 'a\nb' },
      { email: 'z@example.com' },
    ]);
    expect([created, known]).toEqual([2, []]);
    const seen = refused.map(({ row, field, code }: { row: number; field: string; code: string }) => [
      row,
      field,
      code,
    ]);
    expect(seen).toEqual([
      [1, 'email', 'invalid'],
      [2, 'email', 'invalid'],
      [3, 'phone', 'invalid'],
      [4, 'phone', 'taken'],
      [5, 'birthdate', 'invalid'],
      [6, `${customUrn}:level`, 'invalid'],
      [7, `${customUrn}:unknown`, 'invalid'],
      [8, 'givenName', 'invalid'],
    ]);
    expect((await users()).map(({ userName }) => userName)).toEqual(
      expect.arrayContaining(['a@example.com', 'z@example.com']),
    );
  });

  it('is idempotent: users who exist stay unchanged, also within one import', async () => {
    const rows = [{ email: 'a@example.com', givenName: 'Ada' }, { email: 'A@example.com' }, { userName: 'grace' }];
    expect(await imported(rows)).toEqual({ created: 2, known: [1], refused: [] });
    expect(await imported([{ email: 'A@Example.com', givenName: 'Other' }, { userName: 'GRACE' }])).toEqual({
      ...{ created: 0, known: [0, 1], refused: [] },
    });
    expect((await users()).map(({ givenName }) => givenName)).toEqual(['Ada', null]);
    // The name of one user and the address of another: ambiguous.
    const { refused } = await imported([{ email: 'new@example.com', userName: 'grace' }]);
    expect(refused).toMatchObject([{ row: 0, field: 'userName', code: 'taken' }]);
  });

  it('writes nothing in a dry run, and returns the outcome', async () => {
    await make.user(project, { userName: 'x', userNameKey: 'x', email: 'x@example.com', emailKey: 'x@example.com' });
    const rows = [{ email: 'a@example.com' }, { email: 'x@example.com' }, { email: '?' }];
    const expected = { created: 1, known: [1], refused: [expect.objectContaining({ row: 2, field: 'email' })] };
    expect(await imported(rows, { dryRun: true, invite: true })).toEqual(expected);
    const { db } = harness.services;
    expect([
      await db.reader().count(User, { project: project.id }),
      await db.reader().count(Message, { project: project.id }),
    ]).toEqual([1, 0]);
    expect(await imported(rows)).toEqual(expected);
  });

  it('keeps custom values unique, within an import and in a race', async () => {
    await define('badge', { uniqueness: 'server' });
    const badge = (email: string, value: string) => ({ email, custom: [{ name: 'badge', value }] });
    const first = await imported([badge('a@example.com', 'one'), badge('b@example.com', 'ONE')]);
    expect(first).toMatchObject({ created: 1, refused: [{ row: 1, field: `${customUrn}:badge`, code: 'taken' }] });
    const races = Array.from({ length: 20 }, (_, n) =>
      imported([badge(`r${n}@example.com`, 'same'), numbered(20)[n] as object]),
    );
    const outcomes = await Promise.all(races);
    expect(outcomes.filter(({ created }) => created === 2)).toHaveLength(1);
    expect(outcomes.filter(({ created }) => created === 1)).toHaveLength(19);
  });

  it('adds each user once if the same rows are imported concurrently', async () => {
    const rows = numbered(100);
    const outcomes = await Promise.all([rows, rows.toReversed(), rows, rows].map((some) => imported(some)));
    expect(outcomes.reduce((sum, { created }) => sum + created, 0)).toBe(100);
    for (const { refused } of outcomes) expect(refused).toEqual([]);
    expect(await users()).toHaveLength(100);
  });

  it('invites each new user once, in the lane of invitations', async () => {
    const rows = [...numbered(50), { userName: 'without-address' }];
    const { created, refused } = await imported(rows, { invite: true });
    expect([created, refused]).toEqual([50, [expect.objectContaining({ row: 50, field: 'email' })]]);
    expect(await imported(rows.slice(0, 50), { invite: true })).toMatchObject({ created: 0 });
    const mails = await harness.services.db.reader().find(Message, { project: project.id });
    expect(mails.map(({ template }) => template)).toEqual(Array.from({ length: 50 }, () => 'invitation'));
    expect(new Set(mails.map(({ lane }) => messageLanes[lane]?.name))).toEqual(new Set(['bulk']));
    for (const { invitedAt } of await users()) expect(invitedAt).toEqual(harness.clock.now());
  });

  it('accepts 500 rows in one request', async () => {
    const rows = Array.from({ length: 501 }, (_, n) => ({ userName: `u${n}` }));
    expect((await call(rows)).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'rows' });
    expect((await call([])).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'rows' });
    expect(await imported(rows.slice(1))).toMatchObject({ created: 500 });
  });
});

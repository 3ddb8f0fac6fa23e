import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { type Actor, system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
let other: Project;
let count = 0;
let id: string;
let ada: string;
let bob: string;
let stranger: string;
const directory = { kind: 'scim', id: '0198f3a0-0000-7000-8000-000000000001', name: 'Okta' } as Actor;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme' });
  other = await make.project({ name: 'Other' });
  const user = async (of: Project, name: string) => (await make.user(of, { userName: name, userNameKey: name })).id;
  [ada, bob, stranger] = [await user(project, 'ada'), await user(project, 'bob'), await user(other, 'eve')];
});
afterAll(() => harness.close());

beforeEach(async () => {
  count += 1;
  id = (await create({ projectId: project.id, displayName: `Staff ${count}` })).data.createGroup.id;
});

const shown = 'id displayName provenance memberCount';
const create = (input: object, headers?: Record<string, string>) =>
  harness.call(`mutation ($input: CreateGroupInput!) { createGroup(input: $input) { ${shown} } }`, { input }, headers);
const rename = (input: object, headers?: Record<string, string>) =>
  harness.call(`mutation ($input: UpdateGroupInput!) { updateGroup(input: $input) { ${shown} } }`, { input }, headers);
const members = (verb: 'add' | 'remove', userIds: string[], groupId = id, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: ${verb === 'add' ? 'Add' : 'Remove'}GroupMembersInput!) { done: ${verb}GroupMembers(input: $input) { ${shown} } }`,
    { input: { groupId, userIds } },
    headers,
  );
const remove = (groupId = id, headers?: Record<string, string>) =>
  harness.call('mutation ($id: ID!) { deleteGroup(id: $id) }', { id: groupId }, headers);
const ofDirectory = async () =>
  (await harness.services.groups.create(project.id, { displayName: 'Pushed', externalId: 'x' }, [ada], directory)).id;
const events = async (about: string) =>
  (await harness.services.db.reader().find(AuditEvent, { subjectId: about }, { orderBy: { id: 'asc' } })).map(
    ({ type, subjectName, detail }) => ({ type, subjectName, detail }),
  );

describe('a group that no directory owns', () => {
  it('is created, renamed, filled, emptied and deleted, each in the log', async () => {
    expect((await rename({ id, displayName: ' Team ' })).data.updateGroup).toEqual({
      ...{ id, displayName: 'Team', provenance: 'LOCAL', memberCount: 0 },
    });
    expect((await members('add', [ada, bob, ada])).data.done.memberCount).toBe(2);
    expect((await members('add', [ada])).data.done.memberCount).toBe(2);
    expect((await members('remove', [ada, stranger])).data.done.memberCount).toBe(1);
    expect((await remove()).data.deleteGroup).toBe(id);
    expect(await harness.services.groups.find(project.id, id)).toBeNull();
    const name = `Staff ${count}`;
    expect(await events(id)).toEqual([
      { type: 'group.created', subjectName: name, detail: { members: 0 } },
      {
        ...{ type: 'group.updated', subjectName: 'Team' },
        detail: { added: 0, removed: 0, before: { displayName: name }, after: { displayName: 'Team' } },
      },
      { type: 'group.updated', subjectName: 'Team', detail: { added: 2, removed: 0 } },
      { type: 'group.updated', subjectName: 'Team', detail: { added: 0, removed: 1 } },
      { type: 'group.deleted', subjectName: 'Team', detail: null },
    ]);
  });

  it('has a one-line name; a call takes 1 to 500 users of its project', async () => {
    for (const displayName of ['', ' ', 'x'.repeat(101), 'a\nb']) {
      const answer = await rename({ id, displayName });
      expect([answer.code, answer.errors[0].extensions.field]).toEqual(['invalid', 'displayName']);
    }
    expect((await create({ projectId: project.id, displayName: '' })).code).toBe('invalid');
    for (const userIds of [[], [stranger], [ada, stranger], ['nobody'], [id], Array<string>(501).fill(ada)]) {
      const answer = await members('add', userIds);
      expect([answer.code, answer.errors[0].extensions.field]).toEqual(['invalid', 'userIds']);
    }
    expect((await members('remove', [])).code).toBe('invalid');
    expect((await rename({ id, displayName: 'Team' })).data.updateGroup.memberCount).toBe(0);
  });

  it('is found by its source', async () => {
    const pushed = await ofDirectory();
    const list = async (provenance: string) =>
      (
        await harness.call(
          'query ($id: ID!, $provenance: Provenance) { groups(projectId: $id, provenance: $provenance, first: 100) { edges { node { id } } } }',
          { id: project.id, provenance },
        )
      ).data.groups.edges.map(({ node }: { node: { id: string } }) => node.id);
    expect(await list('LOCAL')).toContain(id);
    expect(await list('LOCAL')).not.toContain(pushed);
    expect(await list('SCIM')).toContain(pushed);
  });

  it('is taken over by a directory that changes it', async () => {
    await harness.services.groups.change(project.id, id, async (edit) => edit.set({ externalId: 'okta' }), directory);
    expect((await members('add', [bob])).code).toBe('forbidden');
  });

  it('stays with the admins if a directory only reads it, or changes nothing', async () => {
    await harness.services.groups.change(project.id, id, async (edit) => edit.set({}), directory);
    expect((await members('add', [bob])).data.done.provenance).toBe('LOCAL');
  });

  it('gets members in 40 concurrent requests without losing one', async () => {
    const users = await Promise.all(
      Array.from({ length: 20 }, (_, at) => make.user(project, { userName: `p${at}`, userNameKey: `p${at}` })),
    );
    const calls = Array.from({ length: 40 }, (_, at) => members('add', [users[at % 20]?.id ?? '']));
    for (const { errors } of await Promise.all(calls)) expect(errors ?? []).toEqual([]);
    expect((await members('add', [users[0]?.id ?? ''])).data.done.memberCount).toBe(20);
  });
});

describe('changing a group', () => {
  const changes = (groupId: string, headers?: Record<string, string>) => [
    () => rename({ id: groupId, displayName: 'Taken' }, headers),
    () => members('add', [ada], groupId, headers),
    () => members('remove', [ada], groupId, headers),
    () => remove(groupId, headers),
  ];

  it('is refused for a group of a directory, with the reason', async () => {
    const pushed = await ofDirectory();
    const before = await events(pushed);
    for (const change of changes(pushed)) {
      const { code, errors } = await change();
      expect(code).toBe('forbidden');
      expect(errors[0].message).toBe('This is not allowed: the directory manages this group: change it there.');
    }
    expect(await events(pushed)).toEqual(before);
    expect((await harness.services.groups.find(project.id, pushed))?.displayName).toBe('Pushed');
  });

  it('is refused to viewers; a group of another project is not found', async () => {
    const viewer = await harness.tokenOf('project_viewer', project.id);
    const foreign = await harness.tokenOf('project_admin', other.id);
    for (const change of changes(id, viewer)) expect((await change()).code).toBe('forbidden');
    for (const change of changes(id, foreign)) expect((await change()).code).toBe('not-found');
    for (const change of changes(id, {})) expect((await change()).code).toBe('unauthenticated');
    for (const change of changes('not-an-id')) expect((await change()).code).toBe('not-found');
    expect((await create({ projectId: project.id, displayName: 'X' }, viewer)).code).toBe('forbidden');
    expect((await create({ projectId: project.id, displayName: 'X' }, foreign)).code).toBe('not-found');
    expect((await rename({ id, displayName: 'Same' })).data.updateGroup.memberCount).toBe(0);
  });

  it('needs a fresh sign-in if members could gain rights, as assigning a role does', async () => {
    const email = `admin-${count}@example.com`;
    const admin = await harness.person(email);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
    const session = await harness.sessionOf(admin);
    expect((await members('add', [ada], id, session)).errors ?? []).toEqual([]);
    harness.clock.turn(freshSeconds + 1);
    const codes = [];
    for (const change of changes(id, session)) codes.push((await change()).code);
    const stale = 'reauthentication-required';
    expect(codes).toEqual([stale, stale, undefined, stale]);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { changed } from '../../../test/rows.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let project: Project;
let userId: string;
let count = 0;

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await harness.services.projects.create({ name: 'Acme' }, system);
});
afterAll(() => harness.close());
beforeEach(async () => {
  const { db, users } = harness.services;
  count += 1;
  userId = (await db.transaction((em) => users.signUp(em, project.id, `user-${count}@example.com`, system))).id;
});

const mutation = `mutation ($input: GrantUserRecoveryInput!) {
  grantUserRecovery(input: $input) { code usableAt expiresAt } }`;
const grant = (input: object = {}, headers?: Record<string, string>) =>
  harness.call(mutation, { input: { userId, reason: 'Lost phone', ...input } }, headers);
const cancel = (headers?: Record<string, string>) =>
  harness.call('mutation ($id: ID!) { cancelUserRecovery(userId: $id) }', { id: userId }, headers);
const open = async (headers?: Record<string, string>) => {
  const query = 'query ($id: ID!) { userAccess(userId: $id) { recovery { reason createdAt usableAt expiresAt } } }';
  return (await harness.call(query, { id: userId }, headers)).data.userAccess.recovery;
};

describe('Mutation.grantUserRecovery', () => {
  it('returns the code once, with a waiting time of a day by default, and records who granted it and why', async () => {
    const { data } = await grant();
    const { code, ...times } = data.grantUserRecovery;
    expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
    const now = harness.clock.now().getTime();
    const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
    expect(times).toEqual({ usableAt: at(24), expiresAt: at(48) });
    expect(await open()).toEqual({ reason: 'Lost phone', createdAt: at(0), ...times });
    const query = `{ auditEvents(projectId: "${project.id}", filter: { subjectId: "${userId}" }) {
      edges { node { type actor { kind } detail } } } }`;
    const { edges } = (await harness.call(query)).data.auditEvents;
    expect(edges[0].node).toEqual({
      type: 'recovery.granted',
      actor: { kind: 'bootstrap-token' },
      detail: { reason: 'Lost phone', ...times },
    });
    expect(JSON.stringify(edges)).not.toContain(code);
  });

  it('is for project admins with a fresh sign-in', async () => {
    const viewer = await harness.tokenOf('project_viewer', project.id);
    expect([(await grant({}, viewer)).code, (await cancel(viewer)).code]).toEqual(['forbidden', 'forbidden']);
    const other = await harness.services.projects.create({ name: 'Other' }, system);
    const stranger = await harness.tokenOf('project_admin', other.id);
    expect([(await grant({}, stranger)).code, (await cancel(stranger)).code]).toEqual(['not-found', 'not-found']);
    const email = `admin-${count}@example.com`;
    const adminId = await harness.person(email);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
    const headers = await harness.sessionOf(adminId);
    harness.clock.turn(freshSeconds + 1);
    expect((await grant({}, headers)).code).toBe('reauthentication-required');
    expect(await open()).toBeNull();
    expect((await grant({}, await harness.sessionOf(adminId))).code).toBeUndefined();
    // The viewer sees that a grant exists, but never its code.
    expect(await open(viewer)).toMatchObject({ reason: 'Lost phone' });
  });

  it('names the invalid field', async () => {
    const fields = async (input: object) => (await grant(input)).errors?.[0]?.extensions?.field;
    for (const reason of ['', '  ', 'x'.repeat(501)]) expect(await fields({ reason })).toBe('reason');
    for (const waitHours of [0, 73]) expect(await fields({ waitHours })).toBe('waitHours');
    for (const waitHours of [1, 72]) expect(await fields({ waitHours })).toBeUndefined();
    expect(await fields({ reason: ` ${'x'.repeat(500)} ` })).toBeUndefined();
    expect((await open()).reason).toBe('x'.repeat(500));
    expect((await grant({ userId: 'x' })).code).toBe('not-found');
  });

  it('is for active users with a mailbox, which gets the code and the notice', async () => {
    const { accounts, admissions } = harness.services;
    const fault = async (id: string) => (await grant({ userId: id })).errors[0]?.extensions.reason;
    await accounts.setActive(project.id, userId, false, system);
    expect(await fault(userId)).toBe('must be an active user');
    const names = { externalId: null, displayName: null, givenName: null, familyName: null };
    const values = { userName: 'no mailbox', ...names, active: true, attributes: {} };
    const { id } = await admissions.provision(project.id, values, system);
    expect(await fault(id)).toContain('must have an email address');
  });
});

describe('the notices of recoveries', () => {
  it('are limited for each address, even if several users share it; a refusal keeps the previous grant', async () => {
    const acme = await harness.services.projects.create({ name: 'Loud' }, system);
    const admin = await harness.tokenOf('project_admin', acme.id);
    const provision = (userName: string) => {
      const emails = [`${userName}@example.com`, 'Victim@example.org'].map((value) => ({ value }));
      const names = { externalId: null, displayName: null, givenName: null, familyName: null };
      return harness.services.admissions.provision(
        acme.id,
        { userName, ...names, active: true, attributes: { emails } },
        system,
      );
    };
    const [{ id: one }, { id: other }] = [await provision('one'), await provision('other')];
    const codes = [];
    for (let at = 0; at < 52; at += 1) codes.push((await grant({ userId: at % 2 === 0 ? one : other }, admin)).code);
    expect(codes).toEqual([...Array(50).fill(undefined), 'too-many', 'too-many']);
    const { recovery } = (await harness.call(`{ userAccess(userId: "${one}") { recovery { reason } } }`)).data
      .userAccess;
    expect(recovery).toEqual({ reason: 'Lost phone' });
    const sent = `{ messages(projectId: "${acme.id}", recipient: "Victim@example.org", first: 100) { edges { node { id } } } }`;
    expect((await harness.call(sent)).data.messages.edges).toHaveLength(50);
    harness.clock.turn(24 * 3600 - 1);
    expect((await grant({ userId: one }, admin)).code).toBe('too-many');
    harness.clock.turn(1);
    expect((await grant({ userId: one }, admin)).code).toBeUndefined();
  });

  it('are limited for each project, too', async () => {
    const { db, projects, users } = harness.services;
    const acme = await projects.create({ name: 'Large' }, system);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const user = await db.transaction((em) => users.signUp(em, acme.id, `${name}@large.example`, system));
      ids.push(user.id);
    }
    const codeFor = async (at: number) => (await grant({ userId: ids[at] })).code;
    harness.clock.turn(7);
    expect(await codeFor(0)).toBeUndefined();
    const day = new Date(harness.clock.now().getTime() + 24 * 3600 * 1000);
    expect(await changed(db, 'update budgets set spent = 9999 where resets_at = ?', [day])).toBe(2);
    expect([await codeFor(1), await codeFor(2)]).toEqual([undefined, 'too-many']);
    harness.clock.turn(24 * 3600 - 1);
    expect(await codeFor(2)).toBe('too-many');
    harness.clock.turn(1);
    expect(await codeFor(2)).toBeUndefined();
  });
});

describe('Mutation.cancelUserRecovery', () => {
  it('ends the grant, once', async () => {
    await grant();
    for (let times = 0; times < 2; times += 1) expect((await cancel()).data).toEqual({ cancelUserRecovery: userId });
    expect(await open()).toBeNull();
    const query = `{ auditEvents(projectId: "${project.id}", filter: { subjectId: "${userId}", types: ["recovery.cancelled"] }) {
      edges { node { type } } } }`;
    expect((await harness.call(query)).data.auditEvents.edges).toHaveLength(1);
  });
});

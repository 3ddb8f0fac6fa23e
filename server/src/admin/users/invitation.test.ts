import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { deliverDue } from '../../../test/relayed.ts';
import { changed } from '../../../test/rows.ts';
import { Message } from '../../domain/delivery/message.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
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

const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) { id active invitedAt lastSignInAt } }`;
const created = (input: object, headers?: Record<string, string>) =>
  harness.call(create, { input: { projectId: project.id, invite: true, ...input } }, headers);
const invited = async (input: object) => (await created(input)).data.createUser.id as string;
const onUser = (name: 'inviteUser' | 'revokeInvitation') => (id: string, headers?: Record<string, string>) =>
  harness.call(`mutation ($id: ID!) { ${name}(userId: $id) { active invitedAt } }`, { id }, headers);
const invite = onUser('inviteUser');
const revoke = onUser('revokeInvitation');
const change = (id: string, values: Partial<User>) =>
  harness.services.db.transaction(async (em) => void Object.assign(await em.findOneOrFail(User, { id }), values));
const mails = () =>
  harness.services.db
    .reader()
    .find(Message, { project: project.id, template: 'invitation' }, { orderBy: { id: 'asc' } });
const contentOf = ({ id, sealedContent }: Message) =>
  JSON.parse(harness.services.vault.open('message', id, sealedContent as Uint8Array).toString()).content;
const eventsOf = async (id: string) => {
  const query = `{ auditEvents(projectId: "${project.id}", filter: { subjectId: "${id}" }) { edges { node { type } } } }`;
  return (await harness.call(query)).data.auditEvents.edges.map(({ node }: { node: { type: string } }) => node.type);
};

describe('an invitation', () => {
  it('is a mail in the language of the user, with a link to the sign-in that fills in the address', async () => {
    const { data } = await created({ email: 'ada+1@example.com', locale: 'de-CH' });
    expect(data.createUser).toMatchObject({
      active: true,
      invitedAt: harness.clock.now().toISOString(),
      lastSignInAt: null,
    });
    const [mail, ...others] = await mails();
    expect([others, mail?.recipient, mail?.locale]).toEqual([[], 'ada+1@example.com', 'de']);
    const content = contentOf(mail as Message);
    expect(content).toMatchObject({ template: 'invitation', app: 'Acme' });
    const url = new URL(content.url);
    expect([url.origin, url.pathname]).toEqual([harness.issuer, '/account']);
    // The link has no other parameters: it contains no secret.
    expect([...url.searchParams]).toEqual([
      ['project', project.id],
      ['login_hint', 'ada+1@example.com'],
    ]);
    const events = await eventsOf(data.createUser.id);
    expect(events.toSorted()).toEqual(['user.created', 'user.invited']);
    await created({ email: 'grace@example.com', userName: 'grace' });
    expect((await mails()).map(({ recipient }) => recipient)).toEqual(['ada+1@example.com', 'grace@example.com']);
  });

  it('needs an address, and a project in which the user can sign in: otherwise nothing is created', async () => {
    expect((await created({ userName: 'grace' })).errors[0].extensions).toMatchObject({
      code: 'invalid',
      field: 'email',
    });
    const bare = await make.project({ name: 'Bare' });
    const refused = async () => {
      const { errors } = await created({ projectId: bare.id, email: 'a@example.com' });
      expect(errors[0].extensions).toMatchObject({ code: 'invalid', field: 'invite' });
    };
    await refused();
    const unusable = [(await make.client(bare)).client.id, (await make.client(bare)).client.id];
    await changed(harness.services.db, 'update clients set disabled_at = now() where id = ?', [unusable[0]]);
    await changed(harness.services.db, 'update clients set third_party = true where id = ?', [unusable[1]]);
    await refused();
    expect(await harness.services.db.reader().count(User, { project: [project.id, bare.id] })).toBe(0);
  });

  it('is sent again at most five times a day, even if the user is erased and added again', async () => {
    const id = await invited({ email: 'a@example.com' });
    for (let sent = 2; sent <= 3; sent += 1) {
      harness.clock.turn(1);
      expect((await invite(id)).data.inviteUser.invitedAt).toBe(harness.clock.now().toISOString());
      expect(await mails()).toHaveLength(sent);
    }
    await harness.services.accountAccess.erase(project.id, id, system);
    const again = await invited({ email: 'A@example.com' });
    expect((await invite(again)).errors).toEqual([]);
    expect((await invite(again)).code).toBe('too-many');
    await harness.services.accountAccess.erase(project.id, again, system);
    expect((await created({ email: 'a@example.com' })).code).toBe('too-many');
    expect((await created({ email: 'a@example.com', invite: false })).errors).toEqual([]);
    const { db, users } = harness.services;
    const { id: last } = (await users.findByAddress(db.reader(), project.id, 'a@example.com')) as User;
    // Two seconds have passed since the first.
    harness.clock.turn(24 * 3600 - 3);
    expect((await invite(last)).code).toBe('too-many');
    harness.clock.turn(1);
    expect((await invite(last)).errors).toEqual([]);
  });

  it('is sent at most 100,000 times a day in a project', async () => {
    harness.clock.turn(7);
    const id = await invited({ email: 'a@example.com' });
    const day = new Date(harness.clock.now().getTime() + 24 * 3600 * 1000);
    const spend = 'update budgets set spent = 99999 where resets_at = ?';
    expect(await changed(harness.services.db, spend, [day])).toBe(2);
    expect((await created({ email: 'b@example.com' })).errors).toEqual([]);
    expect((await created({ email: 'c@example.com' })).code).toBe('too-many');
    harness.clock.turn(24 * 3600 - 1);
    expect((await created({ email: 'c@example.com' })).code).toBe('too-many');
    harness.clock.turn(1);
    expect((await invite(id)).errors).toEqual([]);
  });

  it('is for active users with an address who have not signed in and whom no directory manages', async () => {
    const reasonOf = async (values: Partial<User>) => {
      const { id } = await make.user(project, values);
      const { errors } = await invite(id);
      return `${errors[0]?.extensions.field} ${errors[0]?.extensions.reason}`;
    };
    expect(await reasonOf({ active: false })).toBe('userId must be an active user');
    expect(await reasonOf({ lastSignInAt: harness.clock.now() })).toBe(
      'userId must be a user who has not signed in yet',
    );
    expect(await reasonOf({ email: null, emailKey: null })).toBe('userId must have an email address');
    expect(await reasonOf({ provenance: 'scim' })).toContain('must not be a user of the directory');
    expect(await mails()).toEqual([]);
  });

  it('is revoked by deactivating a user who has not signed in; the unsent mail is not sent', async () => {
    const id = await invited({ email: 'a@example.com' });
    expect((await revoke(id)).data.revokeInvitation).toEqual({ active: false, invitedAt: null });
    expect(await eventsOf(id)).toContain('user.invitation_revoked');
    await deliverDue(harness.services.delivery.relay);
    const [after] = await mails();
    expect([after?.state, after?.note]).toEqual(['suppressed', 'the user is not active']);
    expect((await revoke(id)).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'userId' });
    expect((await invite(id)).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'userId' });
  });

  it('cannot be revoked after the sign-in', async () => {
    const id = await invited({ email: 'a@example.com' });
    await change(id, { lastSignInAt: harness.clock.now() });
    expect((await revoke(id)).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'userId' });
    expect((await harness.services.db.reader().findOneOrFail(User, { id })).active).toBe(true);
  });

  it('cannot be revoked once a directory manages the user', async () => {
    const id = await invited({ email: 'a@example.com' });
    await change(id, { provenance: 'scim' });
    expect((await revoke(id)).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'userId' });
    expect((await harness.services.db.reader().findOneOrFail(User, { id })).active).toBe(true);
  });

  it('is available as a filter of the user list', async () => {
    const id = await invited({ email: 'a@example.com' });
    const signedIn = await invited({ email: 'b@example.com' });
    await change(signedIn, { lastSignInAt: harness.clock.now() });
    await created({ email: 'c@example.com', invite: false });
    const list = async (isInvited: boolean) => {
      const query = `query ($p: ID!, $f: UserFilter) { users(projectId: $p, filter: $f) { totalCount edges { node { id } } } }`;
      const { users } = (await harness.call(query, { p: project.id, f: { isInvited } })).data;
      return [users.totalCount, users.edges.map(({ node }: { node: { id: string } }) => node.id)];
    };
    expect(await list(true)).toEqual([1, [id]]);
    expect((await list(false))[0]).toBe(2);
  });

  it('is for admins of the project', async () => {
    const id = await invited({ email: 'a@example.com' });
    const viewer = await harness.tokenOf('project_viewer', project.id);
    const stranger = await harness.tokenOf('project_admin', (await make.project({ name: 'Other' })).id);
    const rows = { projectId: project.id, rows: [{ email: 'x@example.com' }] };
    const imported = (headers: Record<string, string>) =>
      harness.call('mutation ($i: ImportUsersInput!) { importUsers(input: $i) { created } }', { i: rows }, headers);
    for (const [headers, code] of [
      [viewer, 'forbidden'],
      [stranger, 'not-found'],
    ] as const) {
      expect((await created({ email: 'x@example.com' }, headers)).code).toBe(code);
      expect((await invite(id, headers)).code).toBe(code);
      expect((await revoke(id, headers)).code).toBe(code);
      expect((await imported(headers)).code).toBe(code);
    }
    expect(await mails()).toHaveLength(1);
    expect(await harness.services.db.reader().count(User, { project: project.id })).toBe(1);
  });
});

describe('the invitation of an admin', () => {
  const grant = (input: object, headers?: Record<string, string>) =>
    harness.call('mutation ($i: GrantRoleInput!) { grantRole(input: $i) { id role } }', { i: input }, headers);
  const mailsTo = (recipient: string) =>
    harness.services.db.reader().find(Message, { template: 'admin-invitation', recipient });

  it('names the project and the role, and leads to the console', async () => {
    const input = { email: 'pa@example.com', role: 'PROJECT_ADMIN', projectId: project.id };
    expect((await grant({ ...input, invite: true })).errors).toEqual([]);
    const [mail] = await mailsTo('pa@example.com');
    expect(contentOf(mail as Message)).toMatchObject({
      ...{ app: 'Acme', role: 'project_admin', url: `${harness.issuer}/admin` },
    });
    expect(mail?.project.id).toBe(harness.builtIn.console.id);
    await grant({ email: 'owner@example.com', role: 'OWNER', invite: true });
    expect(contentOf((await mailsTo('owner@example.com'))[0] as Message)).toMatchObject({ role: 'owner' });
  });

  it('is sent only on request, and not with a refused role', async () => {
    const input = { email: 'quiet@example.com', role: 'PROJECT_VIEWER', projectId: project.id };
    expect((await grant(input)).errors).toEqual([]);
    expect((await grant({ ...input, role: 'OWNER', invite: true })).code).toBe('invalid');
    expect(await mailsTo('quiet@example.com')).toEqual([]);
  });

  it('is limited per address; a refusal grants nothing', async () => {
    const input = { email: 'often@example.com', projectId: project.id, invite: true };
    for (let sent = 0; sent < 10; sent += 1) {
      expect((await grant({ ...input, role: sent % 2 ? 'PROJECT_ADMIN' : 'PROJECT_VIEWER' })).errors).toEqual([]);
    }
    expect((await grant({ ...input, role: 'PROJECT_VIEWER' })).code).toBe('too-many');
    const roles = await harness.call(`{ memberships(projectId: "${project.id}") { role admin { email } } }`);
    expect(roles.data.memberships).toEqual([{ role: 'PROJECT_ADMIN', admin: { email: 'often@example.com' } }]);
  });

  it('is not stopped by the admins of another project', async () => {
    const other = await make.project({ name: 'Other' });
    const adminOf = async ({ id }: Project) => ({ id, headers: await harness.tokenOf('project_admin', id) });
    const [ours, theirs] = [await adminOf(project), await adminOf(other)];
    const inviteTo = ({ id, headers }: typeof ours, role = 'PROJECT_VIEWER') =>
      grant({ email: 'shared@example.com', role, projectId: id, invite: true }, headers);
    for (let sent = 0; sent < 10; sent += 1) {
      expect((await inviteTo(theirs, sent % 2 ? 'PROJECT_ADMIN' : 'PROJECT_VIEWER')).errors).toEqual([]);
    }
    expect((await inviteTo(theirs)).code).toBe('too-many');
    expect((await inviteTo(ours)).errors).toEqual([]);
  });
});

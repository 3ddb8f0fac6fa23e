import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { system } from '../kernel/actor.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import { valuesOf } from '../users/user-record.ts';
import type { Admins, Granter } from './admins.ts';
import { lockRoles } from './ended-rights.ts';
import { everything, type Grants } from './permission.ts';
import type { BuiltIn } from './seed.ts';

let app: TestApp;
let admins: Admins;
let builtIn: BuiltIn;
let ours: Project;
let theirs: Project;

beforeEach(async () => {
  app = await buildTestApp();
  admins = app.services.admins;
  builtIn = await app.services.seed.create({ demo: false });
  ours = await app.make.project({ name: 'Ours' });
  theirs = await app.make.project({ name: 'Theirs' });
});
afterEach(() => app.close());

const owner = { grants: everything, actor: system };
const adminOf = (project: Project) => ({
  grants: {
    owner: false,
    projects: new Map([[project.id, 'project_admin']]),
    organizations: new Map(),
  } satisfies Grants,
  actor: system,
});
const reader = () => app.services.db.reader();
const grantsOf = (user: { id: string }) => admins.grantsOfUser(reader(), user.id);
const deactivate = (user: { id: string }) =>
  app.services.db.transaction((em) => em.execute('update users set active = false where id = ?', [user.id]));
const ownerNamed = async (email: string) => (await admins.grantRole({ email, role: 'owner' }, owner)).user;
/** Audit events of a type, oldest first. */
const eventsOf = async (type: string) => {
  const sql = 'select type, project_id, subject_name, detail from audit_log where type = ? order by id';
  return reader().execute<{ project_id: string; subject_name: string; detail: Record<string, unknown> }[]>(sql, [type]);
};
const nowhere = '00000000-0000-4000-8000-000000000000';

describe('the rights of a user of the console', () => {
  it('end when the user is deactivated', async () => {
    const user = await ownerNamed('ada@example.com');
    expect(await grantsOf(user)).toMatchObject({ owner: true });
    await deactivate(user);
    expect(await grantsOf(user)).toEqual({ owner: false, projects: new Map(), organizations: new Map() });
  });

  it('end, with the tokens that the admin made, when the account passes to another person', async () => {
    const { accounts } = app.services;
    const by = (user: { id: string }) => ({ grants: everything, userId: user.id, actor: system });
    await ownerNamed('boss@example.com');
    const user = await ownerNamed('ada@example.com');
    await admins.grantRole({ email: 'ada@example.com', role: 'project_admin', projectId: ours.id }, owner);
    const made = await admins.createToken({ name: 'Script', role: 'owner' }, by(user));
    const ofToken = async () => (await admins.byToken(reader(), made.token))?.grants.owner;
    expect(await ofToken()).toBe(true);
    const change = (values: object) =>
      accounts.change(builtIn.console.id, user.id, (is) => ({ ...valuesOf(is), ...values }), system);
    await change({ active: false });
    await change({ active: true });
    // The same person returns.
    expect([(await grantsOf(user)).owner, await ofToken()]).toEqual([true, true]);
    await change({ active: false });
    const address = 'berta@example.com';
    await change({ active: true, userName: address, attributes: { emails: [{ value: address, primary: true }] } });
    expect(await grantsOf(user)).toEqual({ owner: false, projects: new Map(), organizations: new Map() });
    expect(await ofToken()).toBeUndefined();
    app.clock.turn(60);
    await admins.grantRole({ email: address, role: 'owner' }, owner);
    expect((await grantsOf(user)).owner).toBe(true);
    expect(await ofToken()).toBeUndefined();
    const own = await admins.createToken({ name: 'Own', role: 'owner' }, by(user));
    expect((await admins.byToken(reader(), own.token))?.grants.owner).toBe(true);
  });

  it('are not those of another user, nor of a user of another project', async () => {
    await ownerNamed('ada@example.com');
    const other = await app.make.user(builtIn.console);
    expect((await grantsOf(other)).owner).toBe(false);
    const stranger = await app.make.user(ours);
    const sql =
      "insert into memberships (id, user_project_id, user_id, role, created_at) values (?, ?, ?, 'owner', now())";
    await app.services.db.transaction((em) => em.execute(sql, [nowhere, ours.id, stranger.id]));
    expect((await grantsOf(stranger)).owner).toBe(false);
  });
});

describe('a role', () => {
  it('is replaced by another role in the same project, and each change is audited once, with the value before', async () => {
    const grant = (role: 'project_admin' | 'project_viewer', project: Project) =>
      admins.grantRole({ email: 'ada@example.com', role, projectId: project.id }, owner);
    const first = await grant('project_viewer', ours);
    const again = await grant('project_viewer', ours);
    const second = await grant('project_admin', ours);
    await grant('project_viewer', theirs);
    expect([again.id, second.id]).toEqual([first.id, first.id]);
    expect((await grantsOf(first.user)).projects).toEqual(
      new Map([
        [ours.id, 'project_admin'],
        [theirs.id, 'project_viewer'],
      ]),
    );
    const userId = first.user.id;
    expect(await eventsOf('membership.granted')).toMatchObject([
      { project_id: ours.id, subject_name: 'ada@example.com', detail: { role: 'project_viewer', userId } },
      {
        project_id: ours.id,
        detail: { userId, before: { role: 'project_viewer' }, after: { role: 'project_admin' } },
      },
      { project_id: theirs.id, detail: { role: 'project_viewer', userId } },
    ]);
    expect((await eventsOf('membership.granted'))[0]?.detail).not.toHaveProperty('before');
  });

  it('is neither granted nor revoked by an admin of another project', async () => {
    const input = { email: 'ada@example.com', role: 'project_viewer', projectId: ours.id } as const;
    await expect(admins.grantRole(input, adminOf(theirs))).rejects.toThrow('forbidden');
    const { id } = await admins.grantRole(input, adminOf(ours));
    await expect(admins.revokeRole(id, adminOf(theirs))).rejects.toThrow('forbidden');
    expect(await admins.memberships(reader(), ours.id)).toHaveLength(1);
    await admins.revokeRole(id, adminOf(ours));
    expect(await admins.memberships(reader(), ours.id)).toEqual([]);
    expect(await eventsOf('membership.revoked')).toMatchObject([
      { project_id: ours.id, detail: { role: 'project_viewer' } },
    ]);
  });

  it('needs an existing project other than that of the admins', async () => {
    const grant = (projectId: string | undefined) =>
      admins.grantRole({ email: 'ada@example.com', role: 'project_admin', projectId }, owner);
    await expect(grant(undefined)).rejects.toMatchObject({ problem: { code: 'invalid', field: 'projectId' } });
    await expect(grant('no-uuid')).rejects.toThrow('not-found');
    await expect(grant(nowhere)).rejects.toThrow('not-found');
    await expect(grant(builtIn.console.id)).rejects.toMatchObject({ problem: { code: 'invalid', field: 'projectId' } });
    await expect(admins.revokeRole('no-uuid', owner)).rejects.toThrow('not-found');
  });

  it('of an owner is neither granted nor revoked by an admin of a project', async () => {
    const give = () => admins.grantRole({ email: 'eve@example.com', role: 'owner' }, adminOf(ours));
    await expect(give()).rejects.toThrow('forbidden');
    await expect(admins.createToken({ name: 'ci', role: 'owner' }, adminOf(ours))).rejects.toThrow('forbidden');
    const membership = await admins.grantRole({ email: 'ada@example.com', role: 'owner' }, owner);
    await ownerNamed('bob@example.com');
    await expect(admins.revokeRole(membership.id, adminOf(ours))).rejects.toThrow('forbidden');
    expect(await admins.memberships(reader(), null)).toHaveLength(2);
  });

  it('is audited with the user’s email, or the user name if there is none', async () => {
    const user = await app.make.user(builtIn.console, {
      userName: 'ada',
      userNameKey: 'ada',
      email: null,
      emailKey: null,
    });
    const { id } = await admins.mintSetupLink(system);
    await app.services.db.transaction((em) => admins.claim(em, id, user.id, system));
    const named = { userName: 'bob', userNameKey: 'bob', email: 'b@example.com', emailKey: 'b@example.com' };
    await app.make.user(builtIn.console, named);
    await ownerNamed('b@example.com');
    expect(await eventsOf('membership.granted')).toMatchObject([
      { subject_name: 'ada' },
      { subject_name: 'b@example.com' },
    ]);
    const sql = "select actor_name from audit_log where type = 'setup-link.used'";
    expect(await reader().execute(sql)).toEqual([{ actor_name: 'ada' }]);
  });

  it.each<[string, (by: Granter) => Promise<unknown>]>([
    ['grant a role', (by) => admins.grantRole({ email: 'eve@example.com', role: 'owner' }, by)],
    ['revoke a role', async (by) => admins.revokeRole((await admins.memberships(reader(), ours.id))[0]?.id ?? '', by)],
    ['create a token', (by) => admins.createToken({ name: 'Script', role: 'owner' }, by)],
  ])('that ends while a request waits cannot %s with it', async (_, request) => {
    const { db } = app.services;
    await ownerNamed('boss@example.com');
    await admins.grantRole({ email: 'vi@example.com', role: 'project_viewer', projectId: ours.id }, owner);
    const user = await ownerNamed('ada@example.com');
    let answer: Promise<unknown> | undefined;
    await db.transaction(async (em) => {
      await lockRoles(em);
      answer = request({ grants: everything, userId: user.id, actor: system }).catch((error: unknown) => error);
      await untilLockWaits(db, 1);
      await em.execute('delete from memberships where user_id = ?', [user.id]);
    });
    expect(await answer).toMatchObject({ problem: { code: 'forbidden' } });
  });

  it('is listed only in its scope', async () => {
    await ownerNamed('ada@example.com');
    await admins.grantRole({ email: 'bob@example.com', role: 'project_viewer', projectId: ours.id }, owner);
    const names = async (projectId: string | null) =>
      (await admins.memberships(reader(), projectId)).map(
        ({ user }) => (user as unknown as { unwrap(): User }).unwrap().email,
      );
    expect([await names(null), await names(ours.id), await names(theirs.id)]).toEqual([
      ['ada@example.com'],
      ['bob@example.com'],
      [],
    ]);
  });
});

describe('the last owner', () => {
  it('is the last active one: deactivated owners and admins of projects do not count', async () => {
    expect(await admins.hasOwner()).toBe(false);
    const user = await app.make.user(builtIn.console);
    await app.services.db.transaction((em) => admins.keepOwner(em, user.id));
    const [ada, bob] = [await ownerNamed('ada@example.com'), await ownerNamed('bob@example.com')];
    await admins.grantRole({ email: 'eve@example.com', role: 'project_admin', projectId: ours.id }, owner);
    await deactivate(bob);
    const keep = () => app.services.db.transaction((em) => admins.keepOwner(em, ada.id));
    await expect(keep()).rejects.toThrow('forbidden');
    const [own] = (await admins.memberships(reader(), null)).filter(({ user }) => user.id === ada.id);
    await expect(admins.revokeRole(own?.id ?? '', owner)).rejects.toThrow('forbidden');
    await ownerNamed('eve@example.com');
    await keep();
    await admins.revokeRole(own?.id ?? '', owner);
    expect(await admins.hasOwner()).toBe(true);
  });

  it('is looked up for admins only: users of projects do not wait for a change of roles', async () => {
    await ownerNamed('ada@example.com');
    const { accountAccess: access, db } = app.services;
    const [one, other] = [await app.make.user(theirs), await app.make.user(theirs)];
    await db.transaction(async (em) => {
      await admins.grantRoleIn(em, { email: 'eve@example.com', role: 'project_admin', projectId: ours.id }, owner);
      await access.deactivate(theirs.id, one.id, system);
      await access.erase(theirs.id, other.id, system);
    });
    expect((await eventsOf('user.erased')).map(({ project_id: id }) => id)).toEqual([theirs.id]);
  });

  it('may lose a role in a project', async () => {
    await ownerNamed('ada@example.com');
    const { id } = await admins.grantRole(
      { email: 'ada@example.com', role: 'project_admin', projectId: ours.id },
      owner,
    );
    await admins.revokeRole(id, owner);
    expect(await admins.memberships(reader(), ours.id)).toEqual([]);
  });
});

describe('a setup link', () => {
  it('is used once, other links stay valid, and both are audited', async () => {
    const [one, other] = [await admins.mintSetupLink(system), await admins.mintSetupLink(system)];
    const user = await app.make.user(builtIn.console);
    await app.services.db.transaction((em) => admins.claim(em, one.id, user.id, system));
    const found = await Promise.all([one, other].map(({ token }) => admins.findSetupLink(reader(), token)));
    expect(found.map((link) => link?.id ?? null)).toEqual([null, other.id]);
    expect(await eventsOf('setup-link.minted')).toHaveLength(2);
    expect(await eventsOf('setup-link.used')).toMatchObject([{ detail: { userId: user.id } }]);
    expect(await eventsOf('membership.granted')).toMatchObject([{ detail: { role: 'owner', userId: user.id } }]);
  });

  it('is valid for 15 minutes', async () => {
    const { token } = await admins.mintSetupLink(system);
    app.clock.turn(15 * 60 - 1);
    expect(await admins.findSetupLink(reader(), token)).not.toBeNull();
    app.clock.turn(1);
    expect(await admins.findSetupLink(reader(), token)).toBeNull();
  });
});

describe('an admin token', () => {
  const byToken = (token: string) => app.services.db.transaction((em) => admins.byToken(em, token));

  it('is valid until it expires or is revoked, in its exact spelling', async () => {
    const expiresAt = new Date(app.clock.now().getTime() + 60_000);
    const { token, adminToken } = await admins.createToken({ name: 'ci', role: 'owner', expiresAt }, owner);
    expect((await byToken(token))?.grants).toMatchObject({ owner: true });
    expect(await byToken(`${token}x`)).toBeNull();
    await admins.revokeToken(adminToken.id, owner);
    await admins.revokeToken(adminToken.id, owner);
    expect(await byToken(token)).toBeNull();
    const detail = { role: 'owner', expiresAt: expiresAt.toISOString() };
    expect(await eventsOf('admin-token.issued')).toMatchObject([{ subject_name: 'ci', detail }]);
    expect(await eventsOf('admin-token.revoked')).toHaveLength(1);
  });

  it('cannot expire in the past', async () => {
    for (const expiresAt of [app.clock.now(), new Date(app.clock.now().getTime() - 1)]) {
      const made = async () => admins.createToken({ name: 'ci', role: 'owner', expiresAt }, owner);
      await expect(made()).rejects.toMatchObject({ problem: { code: 'invalid', field: 'expiresAt' } });
    }
  });

  it('grants its role only in its project, and shows its last four characters', async () => {
    const input = { name: 'ci', role: 'project_viewer', projectId: ours.id } as const;
    await expect(admins.createToken(input, adminOf(theirs))).rejects.toThrow('forbidden');
    const { token, adminToken } = await admins.createToken(input, adminOf(ours));
    expect((await byToken(token))?.grants).toEqual({
      owner: false,
      projects: new Map([[ours.id, 'project_viewer']]),
      organizations: new Map(),
    });
    expect(adminToken.hint).toBe(token.slice(-4));
    const ids = async (projectId: string | null) => (await admins.tokens(reader(), projectId)).map(({ id }) => id);
    expect([await ids(ours.id), await ids(theirs.id), await ids(null)]).toEqual([[adminToken.id], [], []]);
  });

  it('is revoked by an admin of its project only', async () => {
    const { token, adminToken } = await admins.createToken(
      { name: 'ci', role: 'project_viewer', projectId: ours.id },
      owner,
    );
    await expect(admins.revokeToken(adminToken.id, adminOf(theirs))).rejects.toThrow('forbidden');
    await expect(admins.revokeToken('no-uuid', owner)).rejects.toThrow('not-found');
    expect(await byToken(token)).not.toBeNull();
    await admins.revokeToken(adminToken.id, adminOf(ours));
    expect(await byToken(token)).toBeNull();
  });

  it('updates its last use once a minute', async () => {
    const [one, other] = [
      await admins.createToken({ name: 'one', role: 'owner' }, owner),
      await admins.createToken({ name: 'other', role: 'owner' }, owner),
    ];
    const uses = async () => {
      const found = await admins.tokens(reader(), null);
      return [one, other].map(({ adminToken }) => found.find(({ id }) => id === adminToken.id)?.lastUsedAt ?? null);
    };
    const first = app.clock.now();
    await byToken(one.token);
    expect(await uses()).toEqual([first, null]);
    app.clock.turn(59);
    await byToken(one.token);
    expect(await uses()).toEqual([first, null]);
    app.clock.turn(1);
    await byToken(one.token);
    expect(await uses()).toEqual([app.clock.now(), null]);
  });
});

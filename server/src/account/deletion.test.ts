/** Deletion of accounts by their own users (decisions/0354). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, type Visit } from '../../test/account-visit.ts';
import { CookieBrowser } from '../../test/browser.ts';
import { buildSibling, type TestApp } from '../../test/build-app.ts';
import { changed } from '../../test/rows.ts';
import { newAddress, SigninWorld } from '../../test/signin-world.ts';
import { Membership } from '../domain/admins/membership.entity.ts';
import { AuditEvent } from '../domain/audit/audit-event.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

const world = SigninWorld.ofTests();
const { registeredUser, visitOf } = peopleOf(world);
let app: TestApp;
const day = 24 * 3600;

beforeAll(() => {
  ({ app } = world);
});
beforeEach(() => world.set({ accountDeletion: true, accountDeletionDays: 14 }));

const exists = async ({ id }: User) => (await app.services.accounts.find(world.project.id, id)) !== null;
const runDue = (by: TestApp = app) => by.services.accountDeletions.runDue();
const change = ({ id }: User, values: object) =>
  app.services.accounts.change(world.project.id, id, (now) => ({ ...valuesOf(now), ...values }), system);

/** The reasons of the user's cancelled deletions. */
async function cancelled({ id }: Pick<User, 'id'>, projectId = world.project.id): Promise<unknown[]> {
  const where = { projectId, subjectId: id, type: 'user.deletion_cancelled' };
  return (await app.services.db.reader().find(AuditEvent, where)).map(({ detail }) => detail?.['reason']);
}

/** The subjects of the mails to this address since the last call. */
let seen = 0;
async function mailsTo(address: string): Promise<string[]> {
  await app.runJobs();
  const fresh = app.mailbox.slice(seen);
  seen = app.mailbox.length;
  return fresh.flatMap((mail) =>
    mail.to === address && 'subject' in mail ? mail.subject.replace(/ for .+? (?=will|stays|is)/, ' … ') : [],
  );
}

async function cancelLink(address: string): Promise<URL> {
  await app.runJobs();
  const mail = app.mailbox.findLast(({ to, text }) => to === address && text.includes('/account/deletion'));
  return new URL(/https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? '');
}

async function post(link: URL, over: Record<string, string> = {}): Promise<Response> {
  const fields = { ...Object.fromEntries(link.searchParams), ...over };
  return new CookieBrowser().post(`${link.origin}${link.pathname}`, fields, {});
}

/** A user who has asked to be deleted. */
async function leaving() {
  const person = await registeredUser();
  await mailsTo(person.address);
  expect((await person.visit.change('delete-account')).status).toBe(303);
  return person;
}

const isPending = async (visit: Visit) => (await visit.page()).includes('Your account will be deleted');

describe('deletion of one’s own account', () => {
  it('happens after the waiting time, with a mail at the request and one at the end', async () => {
    const { address, user, visit } = await leaving();
    const page = await visit.page();
    const due = new Date(app.clock.now().getTime() + 14 * day * 1000).toISOString();
    expect(page).toContain(`datetime="${due.slice(0, 16)}`);
    expect(page).not.toContain('value="delete-account"');
    expect(await mailsTo(address)).toEqual(['Your account … will be deleted']);
    app.clock.turn(14 * day - 60);
    await runDue();
    expect(await exists(user)).toBe(true);
    app.clock.turn(61);
    await runDue();
    expect(await exists(user)).toBe(false);
    expect(await mailsTo(address)).toEqual(['Your account … is deleted']);
    const events = await app.services.db.reader().find(AuditEvent, { subjectId: user.id, type: 'user.erased' });
    expect(events.map(({ actorKind }) => actorKind)).toEqual(['system']);
    expect(JSON.stringify(await app.services.db.reader().find(AuditEvent, { subjectId: user.id }))).not.toContain(
      address,
    );
    await runDue();
  });

  it('needs a fresh sign-in, the form’s token, and is limited to five a day', async () => {
    const { user, device, visit } = await registeredUser();
    const stale = await visitOf(user, ['swk'], device.id, 'device-key');
    expect(await stale.page()).toContain('To delete your account, first confirm');
    expect((await stale.change('delete-account')).status).toBe(403);
    expect((await visit.change('delete-account', { csrf: 'x' })).status).toBe(403);
    expect(await isPending(visit)).toBe(false);
    for (let at = 0; at < 5; at++) {
      expect((await visit.change('delete-account')).status).toBe(303);
      // A second request changes nothing, and counts nothing.
      expect((await visit.change('delete-account')).status).toBe(303);
      await visit.change('cancel-deletion');
    }
    expect((await visit.change('delete-account')).status).toBe(429);
    expect(await isPending(visit)).toBe(false);
  });

  it('is cancelled at the account page, also by a session that is not fresh; signing in cancels nothing', async () => {
    const { address, device, user } = await leaving();
    const other = await visitOf(user, ['swk'], device.id, 'device-key');
    expect(await isPending(other)).toBe(true);
    await other.change('cancel-deletion');
    expect([await isPending(other), await cancelled(user)]).toEqual([false, ['requested']]);
    expect(await mailsTo(address)).toEqual(['Your account … will be deleted', 'Your account … stays']);
    app.clock.turn(15 * day);
    await runDue();
    expect(await exists(user)).toBe(true);
  });

  it('is cancelled by the link of the mail without a session, once, and not by opening it', async () => {
    const { address, user, visit } = await leaving();
    const link = await cancelLink(address);
    const opened = await new CookieBrowser().get(link.href);
    expect([opened.status, await isPending(visit)]).toEqual([200, true]);
    const foreign = await app.make.project();
    expect((await post(link, { project: foreign.id })).status).toBe(404);
    expect((await post(link, { cancel: 'x'.repeat(43) })).status).toBe(404);
    expect((await post(link, { project: 'x' })).status).toBe(404);
    expect([await isPending(visit), (await post(link)).status, (await post(link)).status]).toEqual([true, 200, 404]);
    expect((await new CookieBrowser().get(link.href)).status).toBe(404);
    expect(await cancelled(user)).toEqual(['requested']);
    // A later request has a link of its own.
    await visit.change('delete-account');
    expect([(await post(link)).status, await isPending(visit)]).toEqual([404, true]);
  });

  it('without a waiting time happens at once', async () => {
    await world.set({ accountDeletionDays: 0 });
    const { address, user, visit } = await registeredUser();
    await mailsTo(address);
    expect(await visit.page()).toContain('will be deleted immediately');
    const done = await visit.change('delete-account');
    expect([done.status, (await done.text()).includes('Your account is deleted')]).toEqual([200, true]);
    expect([await exists(user), await visit.isSignedIn()]).toEqual([false, false]);
    expect(await mailsTo(address)).toEqual(['Your account … is deleted']);
  });

  it('is not offered where the project does not allow it; a pending one stays', async () => {
    const pending = await leaving();
    await world.set({ accountDeletion: false });
    const { visit } = await registeredUser();
    expect(await visit.page()).not.toContain('Delete account');
    expect((await visit.change('delete-account')).status).toBe(409);
    expect([await isPending(visit), await isPending(pending.visit)]).toEqual([false, true]);
    app.clock.turn(15 * day);
    await runDue();
    expect(await exists(pending.user)).toBe(false);
  });

  it('is refused to users of an authoritative directory, with the reason', async () => {
    const { user, visit } = await registeredUser();
    await changed(app.services.db, `update users set provenance = 'scim' where id = ?`, [user.id]);
    await world.set({ scimAuthoritative: true });
    expect(await visit.page()).toContain('Your organization manages this account. Ask your administrator');
    expect((await visit.change('delete-account')).status).toBe(409);
    expect(await isPending(visit)).toBe(false);
    await world.set({ scimAuthoritative: false });
    expect((await visit.change('delete-account')).status).toBe(303);
    await world.set({ scimAuthoritative: true });
    expect(await isPending(visit)).toBe(true);
  });
});

describe('a pending deletion', () => {
  it('ends when the user is deactivated, and does not resume', async () => {
    const { address, user } = await leaving();
    await mailsTo(address);
    await change(user, { active: false });
    expect([await cancelled(user), await mailsTo(address)]).toEqual([['deactivated'], ['Your account … stays']]);
    await change(user, { active: true });
    app.clock.turn(15 * day);
    await runDue();
    expect(await exists(user)).toBe(true);
  });

  it('ends when the login address changes, with a mail to both', async () => {
    const { address, user } = await leaving();
    const [link, successor] = [await cancelLink(address), newAddress()];
    await mailsTo(address);
    await change(user, { userName: successor });
    expect(await cancelled(user)).toEqual(['login-changed']);
    await app.runJobs();
    const told = app.mailbox.filter(({ text }) => text.includes('is cancelled')).map(({ to }) => to);
    expect(told).toEqual(expect.arrayContaining([address, successor]));
    expect((await post(link)).status).toBe(404);
    app.clock.turn(15 * day);
    await runDue();
    expect(await exists(user)).toBe(true);
  });

  it('is cancelled when it is due if a directory took over, or an earlier release deactivated the user', async () => {
    const [managed, inactive] = [await leaving(), await leaving()];
    await world.set({ scimAuthoritative: true });
    await changed(app.services.db, `update users set provenance = 'scim' where id = ?`, [managed.user.id]);
    await changed(app.services.db, 'update users set active = false where id = ?', [inactive.user.id]);
    app.clock.turn(15 * day);
    await runDue();
    expect([await exists(managed.user), await exists(inactive.user)]).toEqual([true, true]);
    expect([await cancelled(managed.user), await cancelled(inactive.user)]).toEqual([['directory'], ['inactive']]);
    expect(await mailsTo(managed.address)).toContain('Your account … stays');
  });

  it('is cancelled or done, never both, if both happen at once', async () => {
    for (let at = 0; at < 6; at++) {
      const { address, user } = await leaving();
      const link = await cancelLink(address);
      app.clock.turn(15 * day);
      const both = at % 2 ? [post(link), runDue()] : [runDue(), post(link)];
      const answer = (await Promise.all(both)).find((done) => done instanceof Response);
      const isCancelled = answer?.status === 200;
      expect([await exists(user), (await cancelled(user)).length]).toEqual([isCancelled, isCancelled ? 1 : 0]);
    }
  });

  it('survives a restart, and is done once by several processes', async () => {
    const { address, user } = await leaving();
    await mailsTo(address);
    const sibling = await buildSibling(app);
    app.clock.turn(15 * day);
    await Promise.all([runDue(sibling), runDue(), runDue(sibling)]);
    expect(await exists(user)).toBe(false);
    expect(await mailsTo(address)).toEqual(['Your account … is deleted']);
    await sibling.close();
  });

  it('does not wait for one that fails', async () => {
    const [first, second] = [await leaving(), await leaving()];
    app.clock.turn(15 * day);
    const { users } = app.services;
    const locked = users.locked.bind(users);
    users.locked = async (em, projectId, userId) => {
      if (userId === first.user.id) throw new Error('no luck');
      return locked(em, projectId, userId);
    };
    await expect(runDue()).rejects.toThrow('no luck');
    users.locked = locked;
    expect([await exists(first.user), await exists(second.user)]).toEqual([true, false]);
    await runDue();
    expect(await exists(first.user)).toBe(false);
  });
});

describe('the last owner of the instance', () => {
  it('cannot ask, and is kept when a deletion is due', async () => {
    const { db, projects, seed, sessions } = app.services;
    await seed.create({ demo: false });
    const { id } = await db.reader().findOneOrFail(Project, { builtIn: 'console' });
    const project = await projects.update(id, { accountDeletion: true, accountDeletionDays: 14 }, system);
    const [one, other] = [await app.make.user(project), await app.make.user(project)];
    const { clock } = app;
    const own = (user: User) =>
      db.transaction(async (em) => {
        em.persist(
          em.create(Membership, { id: app.services.random.id(), user, role: 'owner', createdAt: clock.now() }),
        );
      });
    await own(one);
    const visitor = async (user: User) => {
      const now = clock.now();
      const signIn = { project, userId: user.id, amr: ['swk'], authTime: now, freshAt: now, actor: system };
      const { session } = await db.transaction((em) => sessions.signIn(em, signIn as never));
      return { actor: system, locale: 'en' as const, visitor: { project, user, session } };
    };
    const { accountDeletions } = app.services;
    const asked = async (user: User) => accountDeletions.request((await visitor(user)) as never);
    expect(await accountDeletions.state((await visitor(one)).visitor as never)).toMatchObject({
      blocker: 'last-owner',
    });
    await expect(asked(one)).rejects.toThrow('unavailable');
    await own(other);
    await asked(one);
    await asked(other);
    clock.turn(15 * day);
    await runDue();
    const left = await db.reader().find(Membership, { role: 'owner' }, { populate: ['user'] });
    expect(left).toHaveLength(1);
    expect(await cancelled({ id: left[0]?.user.id ?? '' }, project.id)).toEqual(['last-owner']);
  });
});

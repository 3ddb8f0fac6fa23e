/** Accounts at upstream providers on the account page, and the notices of their changes. */
import { describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import { changed, rows } from '../../test/rows.ts';
import { newAddress } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const { visitOf } = peopleOf(world);
const db = () => world.app.services.db;

async function linked(): Promise<{ user: User; id: string; email: string }> {
  const email = newAddress();
  Object.assign(own.provider.person, { email });
  const userId = String((await own.signIn())['sub']);
  const user = await db().transaction((em) => world.app.services.users.locked(em, world.project.id, userId));
  if (!user) throw new Error('no user');
  const [identity] = await rows<{ id: string }>(db(), 'select id from identities where user_id = ?', [userId]);
  return { user, id: identity?.id ?? '', email };
}

const section = (html: string) => /aria-labelledby="identities".*?<\/section>/s.exec(html)?.[0] ?? '';
const notices = (to: string) =>
  rows(db(), "select template from messages where project_id = ? and template = 'identity-changed' and recipient = ?", [
    world.project.id,
    to,
  ]);

describe('linked accounts', () => {
  it('are shown with their provider and address, to their user alone', async () => {
    const { user, email } = await linked();
    const html = section(await (await visitOf(user)).page());
    expect([...html.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, name]) => name)).toEqual(['Upstream']);
    expect(html).toContain(email);
    const other = await world.user();
    expect(section(await (await visitOf(other)).page())).toBe('');
  });

  it('are unlinked once, after which the account at the provider is a stranger; the user gets a mail', async () => {
    const { id, email, user } = await linked();
    const visit = await visitOf(user);
    for (const given of [id, id, 'x', '']) {
      expect((await visit.change('unlink-identity', { id: given })).status).toBe(303);
    }
    expect(await own.identities()).toEqual([]);
    expect(await notices(email)).toHaveLength(1);
    const events = await rows(db(), "select 1 from audit_log where project_id = ? and type = 'identity.unlinked'", [
      world.project.id,
    ]);
    expect(events).toHaveLength(1);
    expect((await own.through(await own.browser())).pathname).toBe('/signin');
  });

  it('end with the sessions that they began, except the one that unlinks them', async () => {
    const { id, user } = await linked();
    await visitOf(user);
    const visit = await visitOf(user, ['fed', 'pwd']);
    const live = () =>
      rows(db(), 'select amr from sessions where user_id = ? and ended_at is null order by amr', [user.id]);
    expect(await live()).toHaveLength(3);
    await visit.change('unlink-identity', { id: 'x' });
    expect(await live()).toHaveLength(3);
    await visit.change('unlink-identity', { id });
    expect(await live()).toEqual([{ amr: ['fed', 'pwd'] }, { amr: ['swk'] }]);
  });

  it('are not unlinked without a fresh sign-in, nor by another user', async () => {
    const { id, user } = await linked();
    const stale = await visitOf(user, ['swk'], undefined, 'device-key');
    expect((await stale.change('unlink-identity', { id })).status).toBe(403);
    const other = await world.user();
    await (await visitOf(other)).change('unlink-identity', { id });
    expect(await own.identities()).toHaveLength(1);
  });

  it('stay if they are the only way to sign in', async () => {
    const { id, user } = await linked();
    await changed(
      db(),
      "update users set email = null, email_key = null, user_name = 'ada', user_name_key = 'ada' where id = ?",
      [user.id],
    );
    const refused = await (await visitOf(user)).change('unlink-identity', { id });
    expect(refused.status).toBe(409);
    expect(await own.identities()).toHaveLength(1);
  });

  it('at a connection of a suspended organization are no way to sign in', async () => {
    const { id, user } = await linked();
    const { organizations } = world.app.services;
    const organization = await organizations.create(world.project.id, { slug: 'off', name: 'Off' }, system);
    const other = await own.connect({ name: 'Second' });
    for (const statement of [
      `update organizations set state = 'suspended' where id = '${organization.id}'`,
      `update connections set organization_id = '${organization.id}' where id = '${other.id}'`,
      `insert into identities (project_id, id, connection_id, user_id, issuer, subject, created_at)
        select project_id, gen_random_uuid(), '${other.id}', user_id, issuer, subject, created_at from identities where id = '${id}'`,
      `update users set email = null, email_key = null, user_name = 'ada', user_name_key = 'ada' where id = '${user.id}'`,
    ]) {
      await changed(db(), statement, []);
    }
    expect((await (await visitOf(user)).change('unlink-identity', { id })).status).toBe(409);
    expect(await own.identities()).toHaveLength(2);
  });

  it('are unlinked by their id, also if the user has 100 newer ones', async () => {
    const { id, user } = await linked();
    await changed(
      db(),
      `insert into identities (project_id, id, connection_id, user_id, issuer, subject, created_at)
        select project_id, ('ffffffff-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, connection_id, user_id, issuer, 's' || n, created_at
        from identities, generate_series(1, 100) as n where id = ?`,
      [id],
    );
    await (await visitOf(user)).change('unlink-identity', { id });
    expect(await rows(db(), 'select id from identities where id = ?', [id])).toEqual([]);
  });

  it('of an account that was proved here are announced by mail', async () => {
    const { email, user } = await linked();
    expect(await notices(email)).toEqual([]);
    const other = await own.connect({ name: 'Second' });
    const browser = await own.browser();
    const back = own.provider.agree(await own.start(browser, other));
    expect(locationOf(await browser.browser.get(back.href)).pathname).toBe('/signin');
    await browser.register(email);
    expect(await own.identities()).toHaveLength(2);
    expect((await own.identities()).every(([id]) => id === user.id)).toBe(true);
    expect(await notices(email)).toHaveLength(1);
  });
});

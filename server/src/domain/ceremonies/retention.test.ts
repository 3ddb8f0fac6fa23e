/** Retention periods of swept tables. */

import { beforeEach, expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import { authorizationParameters, CookieBrowser, pkce } from '../../../test/browser.ts';
import { changed, rows } from '../../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { Client } from '../clients/client.entity.ts';
import { system } from '../kernel/actor.ts';
import type { User } from '../users/user.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const [hour, day] = [3600, 24 * 3600];
let user: User;

/** Creates one row of one user in each swept table. */
beforeEach(async () => {
  const { app } = world;
  const userid = newAddress();
  await world.register(await world.page(), userid);
  user = (await world.findUser(userid)) as User;
  app.clock.turn(31);
  const guest = await world.page();
  await world.verifyAddress(guest, userid, { remember_device: false });
  const begun = await guest.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
  expectStatus(begun, 'DEVICE_REGISTERED');
  await peopleOf(world).giveFactor(user);
  const visit = await peopleOf(world).visitOf(user, ['swk', 'otp', 'mfa']);
  expect((await visit.change('change-phone', { phone: '+491701234567' })).status).toBe(303);
  expect((await visit.change('change-email', { email: newAddress() })).status).toBe(303);
  const client = await app.services.db
    .reader()
    .findOneOrFail(Client, { id: world.client.id }, { populate: ['project'] });
  await app.services.factorChanges.initiate(
    { client, actor: system },
    { userid: user.id, method: 'totp', phone: undefined },
  );
  const query = new URLSearchParams(authorizationParameters(client.id, pkce().challenge));
  await new CookieBrowser().get(`${app.url}/authorize?${query}`);
  const finished = 'update authorization_requests set finished_at = created_at where client_id = ?';
  await changed(app.services.db, finished, [client.id]);
  await new CookieBrowser().get(`${app.url}/authorize?${query}`);
  const assertion = 'insert into used_assertions (project_id, client_id, jti_hash, forget_at) values (?, ?, ?, ?)';
  await changed(app.services.db, assertion, [client.project.id, client.id, client.id, app.clock.now()]);
});

const ofUser = () => user.id;
const ofClient = () => world.client.id;

it.each<[table: string, column: string, graceSeconds: number, where: string, of: () => string]>([
  ['used_assertions', 'forget_at', day, 'client_id = ?', ofClient],
  ['authorization_codes', 'forget_at', 0, 'user_id = ?', ofUser],
  ['ceremonies', 'expires_at', hour, 'account_id = ?', ofUser],
  ['phone_changes', 'expires_at', 0, 'user_id = ?', ofUser],
  ['email_changes', 'expires_at', 0, 'user_id = ?', ofUser],
  ['factor_changes', 'expires_at', hour, 'user_id = ?', ofUser],
  ['authorization_requests', 'expires_at', hour, 'finished_at is not null and client_id = ?', ofClient],
  ['authorization_requests', 'expires_at', 12 * hour, 'finished_at is null and client_id = ?', ofClient],
  ['enrolments', 'created_at', day, 'verified_at is null and user_id = ?', ofUser],
  ['credentials', 'registered_at', 30 * day, 'not remembered and user_id = ?', ofUser],
  ['sessions', 'ended_at', 30 * day, 'user_id = ?', ofUser],
  ['sessions', 'idle_expires_at', 30 * day, 'user_id = ?', ofUser],
  ['sessions', 'expires_at', 30 * day, 'user_id = ?', ofUser],
])('%s are swept by %s after %i seconds', async (table, column, graceSeconds, where, of) => {
  const { clock, services } = world.app;
  const left = async () => (await rows(services.db, `select from ${table} where ${where}`, [of()])).length;
  const move = (seconds: number) => {
    const at = new Date(clock.now().getTime() - seconds * 1000);
    return changed(services.db, `update ${table} set ${column} = ? where ${where}`, [at, of()]);
  };
  const before = await left();
  expect(before).toBeGreaterThan(0);
  await move(graceSeconds - 1);
  await services.retention.sweep();
  expect(await left()).toBe(before);
  await move(graceSeconds);
  await services.retention.sweep();
  expect(await left()).toBe(0);
});

it('verified factors and remembered devices are kept at any age', async () => {
  const { services } = world.app;
  for (const table of ['enrolments', 'credentials']) {
    await changed(services.db, `update ${table} set created_at = '2000-01-01' where user_id = ?`, [user.id]);
  }
  await services.retention.sweep();
  const [kept] = await rows(
    services.db,
    `select (select count(*)::int from enrolments where user_id = u.id) as factors,
       (select count(*)::int from credentials where user_id = u.id and remembered) as devices from users u where id = ?`,
    [user.id],
  );
  expect(kept).toEqual({ factors: 1, devices: 1 });
});

it('a device that is not remembered is kept while its last registration is recent', async () => {
  const { clock, services } = world.app;
  const guests = 'not remembered and user_id = ?';
  await changed(services.db, `update credentials set created_at = '2000-01-01', registered_at = ? where ${guests}`, [
    clock.now(),
    user.id,
  ]);
  await services.retention.sweep();
  expect(await rows(services.db, `select from credentials where ${guests}`, [user.id])).not.toEqual([]);
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { system } from '../kernel/actor.ts';
import { Enrolment, type MfaMethod } from '../mfa/enrolment.entity.ts';
import type { User } from '../users/user.entity.ts';
import { factorUsage, passkeyModelUsage } from './factor-usage.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

const run = (statement: string, values: unknown[]) =>
  app.services.db.transaction((em) => em.execute(statement, values));
const begin = (user: User, method: MfaMethod) =>
  app.services.db.transaction((em) =>
    app.services.mfa.begin(em, {
      ...{ user, ceremonyId: null, deviceId: null, method },
      phone: method === 'sms' ? '+41790000000' : null,
    }),
  );
const verified = async (user: User, method: MfaMethod) => {
  const { id } = await begin(user, method);
  await app.services.db.transaction(async (em) =>
    app.services.mfa.verify(em, await em.findOneOrFail(Enrolment, { id }), user, system),
  );
};
const usage = (projectId: string) => factorUsage(app.services.db.reader(), projectId, app.clock.now());

it('counts the factors of the active users of a project', async () => {
  const own = await app.make.project();
  const [both, one, gone] = [await app.make.user(own), await app.make.user(own), await app.make.user(own)];
  await app.make.user(own);
  await verified(both, 'totp');
  await verified(both, 'sms');
  await verified(one, 'totp');
  await verified(gone, 'email');
  await begin(one, 'email');
  await run('update users set active = false where id = ?', [gone.id]);
  expect(await usage(own.id)).toEqual({
    ...{ activeUsers: 3, isLimited: false, withFactor: 2, email: 0, sms: 1, totp: 2 },
    ...{ withPasskey: 0, sessionsWithoutPasskey: 0 },
  });
});

it('counts the sessions that are live by the limits of now', async () => {
  const own = await app.make.project();
  const limits = { idleTimeoutSeconds: 1000, maxSessionSeconds: 2000 };
  await app.services.projects.updateSessionPolicy(own.id, limits, system);
  const user = await app.make.user(own);
  const begun = app.clock.now().getTime();
  const times = (...[created, seen, idle, end]: [number, number, number, number]) =>
    [created, seen, idle, end].map((at) => new Date(begun + at * 1000));
  // Each ends by one limit, at 1000: since its creation or last use, or as stored.
  for (const [n, at] of [
    times(-1000, 900, 5000, 5000),
    times(0, 0, 5000, 5000),
    times(0, 900, 1000, 5000),
    times(0, 900, 5000, 1000),
  ].entries()) {
    await run(
      `insert into sessions (project_id, id, user_id, secret_hash, auth_time, amr, created_at, last_seen_at, idle_expires_at, expires_at)
       values (?, gen_random_uuid(), ?, ?, now(), '{swk}', ?, ?, ?, ?)`,
      [own.id, user.id, `hash-${n}`, ...at],
    );
  }
  const live = async (seconds: number) =>
    (await factorUsage(app.services.db.reader(), own.id, new Date(begun + seconds * 1000))).sessionsWithoutPasskey;
  expect([await live(999), await live(1000)]).toEqual([4, 0]);
});

it('counts those who signed in last, in a project of more than 5,000 users', async () => {
  const own = await app.make.project();
  const insert = `insert into users (id, project_id, user_name, user_name_key, active, created_at, updated_at, last_sign_in_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ?, 'many-' || n, 'many-' || n, n <> 4000, now(), now(),
      case when n <= 2000 then now() - n * interval '1 hour' end from generate_series(1, ?::int) n`;
  await run(insert, [own.id, 5_001]);
  // All but the deactivated users: 2,000 have signed in, and of the others the newest come first.
  await run(
    `insert into enrolments (project_id, id, user_id, method, created_at, verified_at)
     select project_id, gen_random_uuid(), id, 'totp', now(), now() from users where project_id = ?
       and user_name in ('many-2000', 'many-2001', 'many-4000', 'many-5001')`,
    [own.id],
  );
  expect(await usage(own.id)).toMatchObject({ activeUsers: 5_000, isLimited: false, totp: 3, withFactor: 3 });
  await run('update users set active = true where project_id = ? and user_name = ?', [own.id, 'many-4000']);
  // Now the oldest of those who never signed in is left out.
  expect(await usage(own.id)).toMatchObject({ activeUsers: 5_000, isLimited: true, totp: 3, withFactor: 3 });
  const noModels = { aaguids: [], roots: [] };
  expect(await passkeyModelUsage(app.services.db.reader(), own.id, noModels)).toEqual({
    usersWithOthers: 0,
    usersWithOnlyOthers: 0,
  });
});

/** The sign-in of a trusted device: one statement reads the facts, one ends it, with a cached page (decisions/0085). */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, type TestApp } from '../../test/build-app.ts';
import { indexConditions, multiply } from '../../test/plan.ts';
import { rows as rowsOf } from '../../test/rows.ts';
import { type DeviceKey, SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { appOrigin, expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';
import type { CheckedPage } from '../domain/ceremonies/callers.ts';
import { beginningStatement, deviceFactsStatement } from '../domain/ceremonies/steps/trusted-device.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { sql } from '../domain/kernel/sql.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
/** A second process on the same database, without invalidation from the first. */
let there: TestApp;
let page: SigninPage;
let userid: string;

beforeAll(async () => {
  there = await buildSibling(world.app);
});
afterAll(() => there.close());
beforeEach(async () => {
  userid = newAddress();
  const first = await world.page();
  await world.register(first, userid);
  page = pageThere(first.key);
  world.app.clock.turn(60);
  // From here on the other process has cached the page.
  expectStatus(await signIn(), 'SUCCESS');
});

const error = (code: string, httpStatus: number) => ({
  status: 'ERROR',
  httpStatus,
  error: expect.objectContaining({ code }),
});

function pageThere(key: DeviceKey): SigninPage {
  const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
  return new SigninPage(there.url, { origin: appOrigin, apiKey: world.apiKey }, key, now);
}

async function signIn(fields: Record<string, unknown> = {}): Promise<StepAnswer> {
  await page.challenge();
  return page.step('authenticate', { userid, ...fields }, 'use');
}

function rows<T extends object>(sql: string, params: unknown[] = []): Promise<T[]> {
  return rowsOf<T>(world.app.services.db, sql, params);
}

/** A proof of a started sign-in, as input of the domain. */
async function asked(site: CheckedPage) {
  await page.challenge();
  const body = JSON.stringify({ txn: page.txn, userid });
  const proof = page.prove('authenticate', body, { kind: 'use' });
  const caller = { ...site, actor: { kind: 'anonymous' as const }, locale: 'en' as const };
  const input = { txn: page.txn, userid, proof, body: Buffer.from(body) };
  return { caller, input };
}

describe('a trusted device', () => {
  it('needs only the two statements and a cached page', async () => {
    const { ceremonies, callers } = world.app.services;
    const { caller, input } = await asked(await callers.byApiKey(world.apiKey, appOrigin));
    const statements = await statementsDuring(async () => {
      expect(await ceremonies.take('authenticate', caller, input)).toMatchObject({ status: 'SUCCESS' });
    });
    expect(statements).toHaveLength(2);
  });

  it('that skips the second factor needs only them, too, for as long as the project allows now', async () => {
    await world.set({ mfaPolicy: 'optional', rememberMfaSeconds: 3600 });
    const { ceremonies, callers, db, mfa } = world.app.services;
    const user = (await world.findUser(userid)) as User;
    const device = await db.reader().findOneOrFail(Device, { jkt: page.key.jkt });
    await db.transaction((em) => mfa.begin(em, { user, deviceId: device.id, method: 'email', phone: null }));
    await db.transaction((em) => em.nativeUpdate(Enrolment, { user }, { verifiedAt: new Date(0) }));
    const mfaRememberedAt = world.app.clock.now();
    await db.transaction((em) => em.nativeUpdate(Device, { id: device.id }, { mfaRememberedAt }));
    // Caches the page with the new settings.
    expectStatus(await signIn(), 'SUCCESS');
    const take = async () => {
      const { caller, input } = await asked(await callers.byApiKey(world.apiKey, appOrigin));
      let status = '';
      const statements = await statementsDuring(async () => {
        ({ status } = await ceremonies.take('authenticate', caller, input));
      });
      return [status, statements.length];
    };
    world.app.clock.turn(3599);
    await callers.byApiKey(world.apiKey, appOrigin);
    expect(await take()).toEqual(['SUCCESS', 2]);
    world.app.clock.turn(1);
    expect((await take())[0]).toBe('MFA_REQUIRED');
  });

  it('gets one code for one proof in 40 concurrent requests', async () => {
    await page.challenge();
    const body = JSON.stringify({ txn: page.txn, userid });
    const proof = page.prove('authenticate', body, { kind: 'use' });
    const before = await world.events();
    const pages = Array.from({ length: 40 }, (_, n) => (n % 2 ? page : atHome()));
    const answers = await Promise.all(pages.map((one) => one.post('authenticate', body, { 'Device-Proof': proof })));
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 'SUCCESS')) {
      expect(answer).toMatchObject(error('TRANSACTION_EXPIRED', 410));
    }
    const after = await world.events();
    // All refusals are one event.
    expect(after.slice(before.length).toSorted()).toEqual(['signin.refused', 'user.signed_in']);
    expect(
      await rows('select from authorization_codes c join users u on u.id = c.user_id where u.email_key = ?', [userid]),
    ).toHaveLength(3);
  });

  it('of a user whose userName is another user’s address does not sign in by that address', async () => {
    const taken = newAddress();
    const owner = await world.findUser(userid);
    await rows('update users set user_name_key = ? where id = ?', [taken, owner?.id]);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: taken }, 'use'), 'SUCCESS');
    await world.user({ userName: taken, userNameKey: newAddress(), email: taken, emailKey: taken });
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: taken }, 'use'), 'OTP_NEEDED');
  });

  it('that is not remembered completes one of many concurrent sign-ins', async () => {
    await rows('update credentials set remembered = false where jkt = ?', [page.key.jkt]);
    const pages = Array.from({ length: 10 }, () => pageThere(page.key));
    const answers = await Promise.all(
      pages.map(async (one) => {
        await one.challenge();
        return one.step('authenticate', { userid }, 'use');
      }),
    );
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
  });

  it('is found by its key, once the statistics of new tables are renewed', async () => {
    const { db } = world.app.services;
    const name = 'gen_random_uuid()';
    await multiply(db, 'users', { id: 'gen_random_uuid()', user_name_key: name, email_key: name, phone: 'null' });
    await multiply(db, 'credentials', { id: 'gen_random_uuid()', jkt: 'gen_random_uuid()' });
    const asked = { txn: 'txn', addressKey: userid, now: world.app.clock.now() };
    const { project, client } = world;
    const own = { project, client, origin: appOrigin, request: null, organization: null };
    const insertion = sql`insert into ceremonies (id, project_id, client_id, txn_hash, nonce_hash, nonce_expires_at, state, origin,
        jkt, amr, created_at, expires_at)
      select gen_random_uuid(), ${project.id}::uuid, ${client.id}::uuid, 'txn', 'nonce', now(), 'challenged', 'origin', 'jkt', '{}', now(), now()`;
    expect(await indexConditions(db, beginningStatement(own, insertion))).toMatchObject({
      credentials: ['(jkt = begun.jkt)'],
      users: [expect.stringContaining('(id = d.user_id)')],
    });
    expect(await indexConditions(db, deviceFactsStatement(own, asked))).toMatchObject({
      credentials: ['(jkt = begun.jkt)'],
      users: [
        '((project_id = ?) AND (email_key = ?))',
        expect.stringContaining('(id = d.user_id)'),
        '((project_id = ?) AND (user_name_key = ?))',
      ],
    });
  });

  function atHome(): SigninPage {
    const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
    return new SigninPage(world.app.url, { origin: appOrigin, apiKey: world.apiKey }, page.key, now);
  }
});

describe('a change by one process applies immediately in another that has cached the page', () => {
  const clients = () => world.app.services.clients;

  const changes: [string, () => Promise<unknown>, object][] = [
    [
      'a revoked key',
      async () => {
        const keys = await clients().apiKeysOf(world.app.services.db.reader(), [world.client]);
        for (const key of keys) await clients().revokeApiKey(key, system);
      },
      error('INVALID_API_KEY', 401),
    ],
    [
      'a disabled client',
      () => clients().update(world.client, { disabled: true }, system),
      error('INVALID_API_KEY', 401),
    ],
    [
      'a removed origin',
      () => clients().update(world.client, { redirectUris: ['https://elsewhere.example.com/'] }, system),
      error('ORIGIN_NOT_ALLOWED', 403),
    ],
  ];

  it.each(changes)('%s, at challenge and after it', async (_, change, refusal) => {
    await page.challenge();
    await change();
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(refusal);
    expect(await page.challenge()).toMatchObject(refusal);
    const [left] = await rows<{ n: number }>(
      `select count(*)::int as n from ceremonies where client_id = ? and state = 'challenged'`,
      [world.client.id],
    );
    expect(left?.n).toBe(1);
  });

  it('a new origin is accepted', async () => {
    await clients().update(
      world.client,
      { redirectUris: ['https://app.example.com/a', 'https://new.example.com/b'] },
      system,
    );
    const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
    page = new SigninPage(there.url, { origin: 'https://new.example.com', apiKey: world.apiKey }, page.key, now);
    expectStatus(await signIn(), 'SUCCESS');
  });

  it('a second factor that the project now requires', async () => {
    await page.challenge();
    await world.set({ mfaPolicy: 'required' });
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
  });

  it('a revoked device, a deactivated user', async () => {
    const { db, devices, accounts } = world.app.services;
    await page.challenge();
    const user = await world.findUser(userid);
    await accounts.setActive(world.project.id, user?.id ?? '', false, system);
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    await accounts.setActive(world.project.id, user?.id ?? '', true, system);
    await db.transaction(async (em) => {
      const device = await em.findOneOrFail(Device, { jkt: page.key.jkt });
      await devices.revoke(em, { projectId: world.project.id, userId: device.user.id }, device.id, system);
    });
    world.app.clock.turn(60);
    expectStatus(await signIn(), 'OTP_NEEDED');
  });

  it('a new factor, verified or pending', async () => {
    await world.set({ mfaPolicy: 'optional' });
    const user = (await world.findUser(userid)) as User;
    const { db, mfa } = world.app.services;
    const device = await db.reader().findOneOrFail(Device, { jkt: page.key.jkt });
    await db.transaction((em) => mfa.begin(em, { user, deviceId: device.id, method: 'email', phone: null }));
    // Started in another sign-in: the device key alone cannot verify it.
    expectStatus(await signIn(), 'SUCCESS');
    await db.transaction((em) => em.nativeUpdate(Enrolment, { user }, { verifiedAt: new Date(0) }));
    expectStatus(await signIn(), 'MFA_REQUIRED');
  });
});

describe('between the two statements', () => {
  /** The change takes its locks first and commits while the ending statement waits for them. */
  async function meanwhile(change: string, params: unknown[]): Promise<StepAnswer> {
    await page.challenge();
    const { db } = world.app.services;
    const begun = Promise.withResolvers<void>();
    const waited = Promise.withResolvers<void>();
    const done = db.transaction(async (em) => {
      await em.execute(change, params);
      begun.resolve();
      await waited.promise;
    });
    await begun.promise;
    const answer = page.step('authenticate', { userid }, 'use');
    await untilBlocked();
    waited.resolve();
    await done;
    return answer;
  }

  async function untilBlocked(): Promise<void> {
    const waiting = `select 1 from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where not l.granted and a.datname = current_database()`;
    while ((await rows(waiting)).length === 0);
  }

  it('a deactivated user gets no code', async () => {
    const change = 'update users set active = false where email_key = ?';
    expectStatus(await meanwhile(change, [userid]), 'OTP_NEEDED');
  });

  it('a revoked device gets no code', async () => {
    const change = 'update credentials set revoked_at = now() where jkt = ?';
    expectStatus(await meanwhile(change, [page.key.jkt]), 'OTP_NEEDED');
  });

  it('a used nonce gets no code', async () => {
    const change = `update ceremonies set nonce_hash = 'another' where jkt = ? and state = 'challenged'`;
    expect(await meanwhile(change, [page.key.jkt])).toMatchObject(error('NONCE_REJECTED', 401));
  });
});

import type { MikroORM } from '@mikro-orm/postgresql';
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { freshDatabase } from '../../../test/database.ts';
import { deliverDue } from '../../../test/relayed.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { buildServices, type Services } from '../../services.ts';
import { Client } from '../clients/client.entity.ts';
import { system } from '../kernel/actor.ts';
import { noQueue } from '../kernel/queue.ts';
import { execute, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { Participation } from '../sessions/participation.entity.ts';
import { Session } from '../sessions/session.entity.ts';
import { User } from '../users/user.entity.ts';
import { maxAttempts } from './attempts.ts';
import { LogoutDelivery } from './logout-delivery.entity.ts';

const issuer = 'https://id.example.com';
const clock = adjustableClock();
const event = 'http://schemas.openid.net/event/backchannel-logout';
let orm: MikroORM;
let drop: () => Promise<void>;
let services: Services;
let sent: { uri: string; token: string }[];
type Answer = { status: number } | { error: string };
let answer: (uri: string) => Answer | Promise<Answer>;
let project: Project;
let user: User;
let clients: Client[];

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  orm = await openDatabase({ url: fresh.url });
  services = process();
  await services.keys.maintain();
});

function process(): Services {
  return buildServices(
    {
      orm,
      clock,
      random: systemRandom,
      queue: noQueue,
      senders: { mail: null, sms: null },
      postLogoutToken: async (uri, token) => {
        sent.push({ uri, token });
        return answer(uri);
      },
    },
    { issuer, masterKey: new Uint8Array(32), allowPrivateTargets: false },
  );
}

afterAll(async () => {
  await orm.close(true);
  await drop();
});

beforeEach(async () => {
  answer = () => ({ status: 200 });
  clock.turn(2 * 3600);
  await deliverAll();
  sent = [];
  const now = clock.now();
  const common = { createdAt: now, updatedAt: now };
  await services.db.transaction(async (em) => {
    project = em.create(Project, { id: systemRandom.id(), name: 'Example', ...common });
    const name = `${systemRandom.id()}@example.com`;
    user = em.create(User, {
      id: systemRandom.id(),
      project,
      userName: name,
      userNameKey: name,
      attributes: {},
      ...common,
    });
    clients = ['a', 'b', 'deaf'].map((label) =>
      em.create(Client, {
        id: systemRandom.id(),
        project,
        name: label,
        tokenEndpointAuthMethod: 'none',
        redirectUris: [],
        postLogoutRedirectUris: [],
        backchannelLogoutUri: label === 'deaf' ? null : `https://${label}.example.com/logout`,
        logoutTokenType: label === 'b' ? 'logout' : 'secevent',
        ...common,
      }),
    );
  });
});

/** A session that the given clients joined. */
async function session(...participants: Client[]): Promise<string> {
  return services.db.transaction(async (em) => {
    const now = clock.now();
    const begun = await services.sessions.signIn(em, {
      project,
      userId: user.id,
      amr: ['swk'],
      authTime: now,
      freshAt: undefined,
      actor: system,
    });
    for (const client of participants) {
      em.create(Participation, { project: client.project, session: begun.session, client, firstAt: now, lastAt: now });
    }
    return begun.session.id;
  });
}

/** Makes the attempts that are due now, without those that they make due. */
async function attemptDue(relay = services.logout.relay): Promise<void> {
  await relay.start((error) => expect.fail(String(error)));
  await relay.settled();
}

const deliverAll = () => deliverDue(services.logout.relay);

async function read(token: string): Promise<{ payload: JWTPayload; typ: string | undefined }> {
  const jwks = createLocalJWKSet(await services.keys.jwks());
  const { payload, protectedHeader } = await jwtVerify(token, jwks, { issuer, currentDate: clock.now() });
  return { payload, typ: protectedHeader.typ };
}

function deliveries(): Promise<LogoutDelivery[]> {
  return services.db.reader().find(LogoutDelivery, { project: project.id });
}

describe('the end of one session (scope session)', () => {
  it('notifies each client of the session that has a logout URI, with sid and without nonce', async () => {
    const sid = await session(...clients);
    await services.logout.endSession({ project, id: sid }, system);
    await attemptDue();
    expect(sent.map(({ uri }) => uri).sort()).toEqual(['https://a.example.com/logout', 'https://b.example.com/logout']);
    for (const { uri, token } of sent) {
      const { payload, typ } = await read(token);
      expect(typ).toBe(uri.includes('//a.') ? 'secevent+jwt' : 'logout+jwt');
      expect(payload).toMatchObject({ sub: user.id, sid, events: { [event]: {} }, jti: expect.any(String) });
      expect(Number(payload.exp) - Number(payload.iat)).toBe(120);
      expect(payload).not.toHaveProperty('nonce');
    }
  });

  it('notifies after the commit, once', async () => {
    const sid = await session(...clients);
    await attemptDue();
    expect(sent).toEqual([]);
    await services.logout.endSession({ project, id: sid }, system);
    await services.logout.endSession({ project, id: sid }, system);
    await attemptDue();
    await attemptDue();
    expect(sent).toHaveLength(2);
  });

  it('notifies no client that joined another session only, and none that is disabled', async () => {
    const [a, b] = clients as [Client, Client];
    const sid = await session(a);
    const other = await session(b);
    await services.logout.endSession({ project, id: sid }, system);
    await attemptDue();
    expect(sent.map(({ uri }) => uri)).toEqual(['https://a.example.com/logout']);
    await services.clients.update({ project, id: b.id }, { disabled: true }, system);
    await services.logout.endSession({ project, id: other }, system);
    await attemptDue();
    expect(sent).toHaveLength(1);
  });

  it('keeps the user’s other sessions', async () => {
    const [first, second] = [await session(), await session()];
    await services.logout.endSession({ project, id: first }, system);
    const em = services.db.reader();
    expect(await services.sessions.end(em, { project, id: second }, 'logout', system)).not.toBeNull();
  });
});

describe('the end of all sessions (scope global)', () => {
  /** `sid` of each token that a client received, in order. */
  async function sids(label: string): Promise<unknown[]> {
    const own = sent.filter(({ uri }) => uri.includes(`//${label}.`));
    return Promise.all(own.map(async ({ token }) => (await read(token)).payload['sid']));
  }

  it('notifies each client first without sid, then for each session that it joined', async () => {
    const [a, b] = clients as [Client, Client];
    const [one, two] = [await session(a, b), await session(a)];
    await session();
    await services.logout.endAllOfUser(user, system);
    await deliverAll();
    const [general, ...named] = await sids('a');
    expect([general, ...named.toSorted()]).toEqual([undefined, ...[one, two].toSorted()]);
    expect(await sids('b')).toEqual([undefined, one]);
    for (const { token } of sent) expect((await read(token)).payload).toMatchObject({ sub: user.id });
    const jtis = await Promise.all(sent.map(async ({ token }) => (await read(token)).payload.jti));
    expect(new Set(jtis).size).toBe(sent.length);
  });

  it('signs the user out of a receiver that keys its sessions by sid and ignores tokens without', async () => {
    const [a] = clients as [Client];
    const signedIn = new Set([await session(a), await session(a)]);
    await services.logout.endAllOfUser(user, system);
    await deliverAll();
    for (const sid of await sids('a')) signedIn.delete(sid as string);
    expect([...signedIn]).toEqual([]);
  });

  it('notifies a client that does not require sid once, without it', async () => {
    const [a] = clients as [Client];
    await services.clients.update(a, { backchannelLogoutSessionRequired: false }, system);
    await session(a);
    await session(a);
    await services.logout.endAllOfUser(user, system);
    await deliverAll();
    expect(await sids('a')).toEqual([undefined]);
  });

  it('sends tokens with sid only after an attempt of the token without, successful or not', async () => {
    const [a, b] = clients as [Client, Client];
    const sid = await session(a, b);
    await services.logout.endAllOfUser(user, system);
    const named = (await deliveries()).filter((delivery) => delivery.sid !== null);
    expect(named).toHaveLength(2);
    answer = (uri) => ({ status: uri.includes('//a.') ? 503 : 200 });
    await attemptDue();
    expect(await sids('a')).toEqual([undefined]);
    answer = () => ({ status: 200 });
    await attemptDue();
    expect(await sids('a')).toEqual([undefined, sid]);
    expect(await sids('b')).toEqual([undefined, sid]);
  });
});

describe('logout by an ID token alone', () => {
  it('ends the session of its sid, but nothing once that has ended', async () => {
    const [named, other] = [await session(), await session()];
    await services.logout.endByHint(project.id, { userId: user.id, sid: named }, 'session', system);
    await services.logout.endByHint(project.id, { userId: user.id, sid: named }, 'global', system);
    expect(await isLive(other)).toBe(true);
  });

  it.each(['idle for too long', 'past its maximum age'])('ends nothing once that is %s', async (why) => {
    const [named, other] = [await session(), await session()];
    clock.turn(29 * 60);
    await touch(other);
    if (why === 'idle for too long') clock.turn(2 * 60);
    else await services.projects.updateSessionPolicy(project.id, { maxSessionSeconds: 60 }, system);
    await services.logout.endByHint(project.id, { userId: user.id, sid: named }, 'global', system);
    expect(await services.db.reader().count(Session, { user, endedAt: null })).toBe(2);
  });

  it.each(['global', 'session'] as const)('ends nothing without sid (scope %s)', async (scope) => {
    const any = await session();
    await services.logout.endByHint(project.id, { userId: user.id, sid: undefined }, scope, system);
    await services.logout.endByHint(project.id, { userId: user.id, sid: 'no session' }, scope, system);
    expect(await isLive(any)).toBe(true);
  });

  it('ends nothing if the session of its sid is another user’s', async () => {
    const any = await session();
    await services.logout.endByHint(project.id, { userId: systemRandom.id(), sid: any }, 'global', system);
    expect(await isLive(any)).toBe(true);
  });

  async function isLive(id: string): Promise<boolean> {
    return (await services.sessions.findLive(services.db.reader(), { project, id })) !== null;
  }

  async function touch(id: string): Promise<void> {
    const now = clock.now();
    const seen = { lastSeenAt: now, idleExpiresAt: new Date(now.getTime() + 30 * 60_000) };
    await services.db.transaction((em) => em.nativeUpdate(Session, { id }, seen));
  }
});

describe('a receiver', () => {
  it.each([200, 204])('gets one request if it returns %s', async (status) => {
    answer = () => ({ status });
    await services.logout.endSession({ project, id: await session(clients[0] as Client) }, system);
    await attemptDue();
    clock.turn(7200);
    await attemptDue();
    expect(sent).toHaveLength(1);
    expect(await deliveries()).toMatchObject([{ state: 'delivered', attempts: [{ status }] }]);
  });

  it('gets no retry after 400', async () => {
    answer = () => ({ status: 400 });
    await services.logout.endSession({ project, id: await session(clients[0] as Client) }, system);
    await attemptDue();
    clock.turn(7200);
    await attemptDue();
    expect(sent).toHaveLength(1);
    expect(await deliveries()).toMatchObject([{ state: 'failed' }]);
  });

  it.each([{ status: 302 }, { status: 500 }, { error: 'no answer in time' }])(
    'that returns %j gets ten attempts, with the same jti and a fresh iat',
    async (outcome) => {
      answer = () => outcome;
      await services.logout.endSession({ project, id: await session(clients[0] as Client) }, system);
      for (let round = 0; round < 15; round += 1) {
        await attemptDue();
        clock.turn(2 * 3600);
      }
      expect(sent).toHaveLength(maxAttempts);
      const claims = await Promise.all(
        sent.map(async ({ token }) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())),
      );
      expect(new Set(claims.map(({ jti }) => jti)).size).toBe(1);
      expect(new Set(claims.map(({ iat }) => iat)).size).toBe(maxAttempts);
      expect(await deliveries()).toMatchObject([{ state: 'failed', attempts: { length: maxAttempts } }]);
    },
  );

  it('gets its retry after ten seconds, then with growing delays', async () => {
    answer = () => ({ status: 503 });
    await services.logout.endSession({ project, id: await session(clients[0] as Client) }, system);
    await attemptDue();
    clock.turn(9);
    await attemptDue();
    expect(sent).toHaveLength(1);
    clock.turn(4);
    await attemptDue();
    expect(sent).toHaveLength(2);
    clock.turn(13);
    await attemptDue();
    expect(sent).toHaveLength(2);
  });

  it('gets one request if several processes deliver', async () => {
    await services.logout.endSession({ project, id: await session(clients[0] as Client) }, system);
    await Promise.all(Array.from({ length: 20 }, () => attemptDue(process().logout.relay)));
    expect(sent).toHaveLength(1);
  });

  it('has fifty attempts at a time if it hangs, so that others do not wait', async () => {
    const [a, b] = clients as [Client, Client];
    await services.logout.endSession({ project, id: await session(a) }, system);
    await execute(
      services.db.alone,
      sql`insert into logout_deliveries select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
        from logout_deliveries d, generate_series(1, 109) where d.client_id = ${a.id}`,
    );
    const { promise: hanging, resolve: end } = Promise.withResolvers<Answer>();
    onTestFinished(() => end({ status: 200 }));
    answer = (uri) => (uri === a.backchannelLogoutUri ? hanging : { status: 200 });
    const { relay } = services.logout;
    const start = () => relay.start((error) => expect.fail(String(error)));
    expect(await start()).toBe(50);
    await services.logout.endSession({ project, id: await session(b) }, system);
    expect(await start()).toBe(1);
    await expect.poll(() => sent.length, { timeout: 60_000 }).toBe(51);
    expect(sent.filter(({ uri }) => uri === b.backchannelLogoutUri)).toHaveLength(1);
    end({ status: 200 });
    await relay.settled();
    await deliverAll();
    expect(sent).toHaveLength(111);
  });

  it('gets a retry if the process with the claim dies', async () => {
    await services.logout.endSession({ project, id: await session(clients[0] as Client) }, system);
    answer = () => {
      throw new Error('killed');
    };
    await expect(deliverAll()).rejects.toThrow('killed');
    answer = () => ({ status: 200 });
    await attemptDue();
    expect(sent).toHaveLength(1);
    clock.turn(31);
    await attemptDue();
    expect(await deliveries()).toMatchObject([{ state: 'delivered' }]);
  });
});

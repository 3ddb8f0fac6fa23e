/** Each condition of issuing a code for a live session, in its statement (decisions/0087). */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { statementsDuring } from '../../test/statements.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { digest } from '../domain/kernel/secret.ts';
import { query } from '../domain/kernel/sql.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { readCode } from '../domain/tokens/grants/authorization-code.ts';
import { heldKey } from '../domain/tokens/held-facts.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let other: Project;
let client: Client;
let user: User;
let rp: RelyingParty;
let sid: string;

beforeAll(async () => {
  app = await buildTestApp();
  other = await app.make.project({ name: 'Other' });
  await app.make.user(other);
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project));
  // Another client with the same version.
  await app.make.client(project);
  user = await app.make.user(project);
  rp = new RelyingParty(app, client);
  sid = await rp.signIn(user);
  app.clock.turn(100);
  // Caches the client.
  await rp.code();
});

function now(plusSeconds = 0): Date {
  return new Date(app.clock.now().getTime() + plusSeconds * 1000);
}

function change(sql: string, ...params: unknown[]): Promise<number> {
  return changed(app.services.db, sql, params);
}

async function codes(): Promise<number> {
  return (await rows(app.services.db, 'select from authorization_codes where user_id = ?', [user.id])).length;
}

/** Changes the session as a sign-in does: with a new version. */
function changeSession(set: string, ...params: unknown[]): Promise<number> {
  return change(`update sessions set ${set}, moment = nextval('moments') where id = ?`, ...params, sid);
}

type End = readonly [what: string, end: () => Promise<unknown>];

const ends: readonly End[] = [
  ['was ended', () => change('update sessions set ended_at = ? where id = ?', now(), sid)],
  ['has just reached its stored idle timeout', () => changeSession('idle_expires_at = ?', now())],
  ['has just reached its stored expiry', () => changeSession('expires_at = ?', now())],
  [
    'has just reached the idle timeout of the current policy',
    () => changeSession('last_seen_at = ?', now(0 - project.idleTimeoutSeconds)),
  ],
  [
    'has just reached the maximum age of the current policy',
    () => changeSession('created_at = ?', now(0 - project.maxSessionSeconds)),
  ],
  [
    'is of a user of another project',
    () =>
      change(
        'update sessions set (project_id, user_id) = (select project_id, id from users where project_id = ?) where id = ?',
        other.id,
        sid,
      ),
  ],
  ['is of a deactivated user', () => change('update users set active = false where id = ?', user.id)],
];

describe('a session gets no code', () => {
  it.each(ends)('if it %s', async (_, end) => {
    const before = await codes();
    await end();
    expect((await rp.answer({ prompt: 'none' })).get('error')).toBe('login_required');
    expect(await codes()).toBe(before);
  });

  it('for a client that was disabled or got other redirect URIs after it was read', async () => {
    const before = await codes();
    const elsewhere = '{https://elsewhere.example.com/}';
    await change(
      'update clients set version = version + 1, redirect_uris = ?::text[] where id = ?',
      elsewhere,
      client.id,
    );
    expect((await rp.authorize()).status).toBe(400);
    await change(
      'update clients set version = version - 1, redirect_uris = ? where id = ?',
      client.redirectUris,
      client.id,
    );
    expect((await rp.authorize()).status).toBe(303);
    await change('update clients set disabled_at = ? where id = ?', now(), client.id);
    expect((await rp.authorize()).status).toBe(400);
    expect(await codes()).toBe(before + 1);
  });

  it('if the hint is of another user', async () => {
    const { id_token: own } = await rp.tokens();
    const stranger = new RelyingParty(app, client);
    await stranger.signIn(await app.make.user(project));
    const { id_token: foreign } = await stranger.tokens();
    expect((await rp.answer({ prompt: 'none', id_token_hint: foreign })).get('error')).toBe('login_required');
    expect((await rp.answer({ prompt: 'none', id_token_hint: own })).has('code')).toBe(true);
  });

  it('once its authentication is older than max_age, in whole seconds', async () => {
    const ask = (seconds: number) => rp.answer({ prompt: 'none', max_age: String(seconds) });
    expect((await ask(99)).get('error')).toBe('login_required');
    expect((await ask(100)).has('code')).toBe(true);
    app.clock.turn(0.999);
    expect((await ask(100)).has('code')).toBe(true);
    app.clock.turn(0.001);
    expect((await ask(100)).get('error')).toBe('login_required');
    expect((await ask(0)).get('error')).toBe('login_required');
  });
});

describe('a session gets a code', () => {
  it('until the last moment of each of its limits', async () => {
    await changeSession(
      'idle_expires_at = ?, expires_at = ?, last_seen_at = ?, created_at = ?',
      ...[now(0.001), now(0.001), now(0.001 - project.idleTimeoutSeconds), now(0.001 - project.maxSessionSeconds)],
    );
    expect((await rp.answer({ prompt: 'none' })).has('code')).toBe(true);
  });

  it('and extends its idle timeout', async () => {
    app.clock.turn(60);
    await rp.code();
    const [session] = await rows<{ last_seen_at: string; idle_expires_at: string }>(
      app.services.db,
      'select last_seen_at, idle_expires_at from sessions where id = ?',
      [sid],
    );
    expect([session?.last_seen_at, session?.idle_expires_at].map((at) => new Date(at ?? 0))).toEqual([
      now(),
      now(project.idleTimeoutSeconds),
    ]);
  });

  it('and records its use once a minute, and at once after a change of the limit', async () => {
    const used = async () => {
      await rp.code();
      const [session] = await rows<{ at: string }>(
        app.services.db,
        'select last_seen_at as at from sessions where id = ?',
        [sid],
      );
      return new Date(session?.at ?? 0);
    };
    app.clock.turn(60);
    const first = now();
    expect(await used()).toEqual(first);
    app.clock.turn(59.999);
    expect(await used()).toEqual(first);
    app.clock.turn(0.001);
    expect(await used()).toEqual(now());
    const { projects } = app.services;
    app.clock.turn(1);
    await projects.updateSessionPolicy(project.id, { idleTimeoutSeconds: project.idleTimeoutSeconds + 60 }, system);
    expect(await used()).toEqual(now());
    await projects.updateSessionPolicy(project.id, { idleTimeoutSeconds: project.idleTimeoutSeconds }, system);
  });

  it('with the amr and auth_time of its own sign-in', async () => {
    await changeSession(`amr = '{swk,otp,mfa}'`);
    const signedInAt = Math.floor(now(-100).getTime() / 1000);
    const { id_token: idToken } = (await (await rp.exchange(await rp.code({ nonce: 'n' }))).json()) as TokenAnswer;
    const claims = { sub: user.id, sid, auth_time: signedInAt, amr: ['swk', 'otp', 'mfa'], nonce: 'n' };
    expect(await rp.claims(idToken)).toMatchObject(claims);
  });

  it('by one statement, and tokens for it by another, once this process has read the session', async () => {
    // Caches the signing keys.
    await rp.tokens();
    let code = '';
    const issuing = await statementsDuring(async () => {
      code = await rp.code();
    });
    const redeeming = await statementsDuring(async () => {
      expect((await rp.exchange(code)).status).toBe(200);
    });
    expect([issuing.length, redeeming.length]).toEqual([1, 1]);
  });

  it('whose tokens tell what is true of its user when it is redeemed', async () => {
    const code = await rp.code({ scope: 'openid email' });
    await change(`update users set email = 'new@example.com', version = version + 1 where id = ?`, user.id);
    const { id_token: idToken } = (await (await rp.exchange(code)).json()) as TokenAnswer;
    expect(await rp.claims(idToken)).toMatchObject({ email: 'new@example.com' });
  });

  it.each(['base', 'project'])('that its exchange at the issuer of the %s finds as it would be read', async (kind) => {
    const { registry, db, issuers, tokens } = app.services;
    const issuer = kind === 'base' ? issuers.base : await issuers.ofSlug(project.slug);
    const current = await registry.current.byId(client.id);
    if (!issuer || !current) throw new Error('no issuer or client');
    const there = new RelyingParty(app, client, issuer.url);
    await there.signIn(user);
    const code = await there.code({ scope: 'openid email', nonce: 'n', state: 's' });
    const request = { client: current, issuer, code, codeVerifier: undefined, redirectUri, actor: system };
    const [read] = await query(db.alone, readCode({ ...request, authenticatedBy: 'none' }));
    const held = tokens['held'].codes.held(heldKey(project.id, digest(code)));
    expect(comparable(held)).toEqual(comparable(read));
  });
});

/** Without nulls, and with instants as dates: the driver returns them as text. */
function comparable(row: object | null | undefined): object {
  const values = Object.entries(row ?? {}).filter(([, value]) => value != null);
  return Object.fromEntries(
    values.map(([name, value]) => [name, /_(at|time)$/.test(name) ? new Date(value as string).toISOString() : value]),
  );
}

/** Each condition of redeeming a code, and the effects of a refused exchange (decisions/0087, 0364). */

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let there: TestApp;
let project: Project;
let user: User;
/** A client with a key, a public one, and the same user's browser at each. */
let keyed: RelyingParty;
let open: RelyingParty;
let sid: string;
const key = generateKeyPairSync('ed25519');

beforeAll(async () => {
  app = await buildTestApp();
  there = await buildSibling(app);
});
afterAll(async () => {
  await there.close();
  await app.close();
});
beforeEach(async () => {
  project = await app.make.project();
  // Other users and clients, which must not be affected.
  await app.make.user(project);
  await app.make.client(project, { accessTokenTtlSeconds: 1 });
  user = await app.make.user(project);
  open = new RelyingParty(app, (await app.make.client(project)).client);
  keyed = new RelyingParty(app, await withKey());
  sid = await open.signIn(user);
  await keyed.signIn(user);
});

async function withKey(): Promise<Client> {
  const jwks = key.publicKey.export({ format: 'jwk' });
  return (await app.make.client(project, { tokenEndpointAuthMethod: 'private_key_jwt', jwks })).client;
}

function change(sql: string, ...params: unknown[]): Promise<number> {
  return changed(app.services.db, sql, params);
}

async function assertionOf({ client }: RelyingParty): Promise<Record<string, string | undefined>> {
  const at = Math.floor(app.clock.now().getTime() / 1000);
  const claims = { iss: client.id, sub: client.id, aud: `${app.url}/oauth2/token`, iat: at, exp: at + 60 };
  const assertion = await new SignJWT({ ...claims, jti: randomUUID() })
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(key.privateKey);
  return { client_id: undefined, client_assertion: assertion, client_assertion_type: assertionType };
}

async function credential(rp: RelyingParty): Promise<Record<string, string | undefined>> {
  return rp === keyed ? assertionOf(rp) : {};
}

async function exchange(rp: RelyingParty, code: string, changes: Record<string, string | undefined> = {}) {
  const response = await rp.exchange(code, { ...(await credential(rp)), ...changes });
  return { status: response.status, body: (await response.json()) as TokenAnswer & { error?: string } };
}

async function isAccepted({ access_token: accessToken }: TokenAnswer): Promise<boolean> {
  return (await open.userInfo(accessToken)).status === 200;
}

type Fault = readonly [
  what: string,
  error: string,
  otherwise: string,
  asItWas: string,
  params: (rp: RelyingParty) => unknown[],
];
const ofUser = () => [user.id];
const faults: readonly Fault[] = [
  [
    'of a deactivated user',
    'invalid_grant',
    'update users set active = false where id = ?',
    'update users set active = true where id = ?',
    ofUser,
  ],
  [
    'of a session that has ended',
    'invalid_grant',
    'update sessions set ended_at = now() where user_id = ?',
    'update sessions set ended_at = null where user_id = ?',
    ofUser,
  ],
  [
    'that was revoked',
    'invalid_grant',
    'update authorization_codes set revoked_at = now() where user_id = ?',
    'update authorization_codes set revoked_at = null where user_id = ?',
    ofUser,
  ],
  [
    'of a disabled client',
    'invalid_client',
    'update clients set disabled_at = now() where id = ?',
    'update clients set disabled_at = null where id = ?',
    ({ client }) => [client.id],
  ],
];

describe.each([
  ['by name', () => open],
  ['by an assertion', () => keyed],
])('a code, redeemed %s,', (_, of) => {
  it.each(faults)('%s is refused, and not used up', async (_what, error, otherwise, asItWas, params) => {
    const rp = of();
    const code = await rp.code({ scope: 'openid email' });
    await change(otherwise, ...params(rp));
    expect((await exchange(rp, code)).body).toMatchObject({ error });
    await change(asItWas, ...params(rp));
    const given = await exchange(rp, code);
    expect(given.status).toBe(200);
    expect(await rp.claims(given.body.id_token)).toMatchObject({ sub: user.id, email: user.email });
    expect(await isAccepted(given.body)).toBe(true);
  });

  it('is valid until its last moment', async () => {
    const rp = of();
    const [one, two] = [await rp.code(), await rp.code()];
    app.clock.turn(59.999);
    expect((await exchange(rp, one)).body).toMatchObject({ expires_in: 300 });
    app.clock.turn(0.001);
    expect((await exchange(rp, two)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('stays valid after a wrong verifier, redirect URI or client', async () => {
    const rp = of();
    const code = await rp.code();
    const sibling = new RelyingParty(app, rp === keyed ? await withKey() : (await app.make.client(project)).client);
    const byAnother = await rp.exchange(
      code,
      rp === keyed ? await assertionOf(sibling) : { client_id: sibling.client.id },
    );
    expect(await byAnother.json()).toMatchObject({ error: 'invalid_grant' });
    for (const wrong of [{ code_verifier: 'w'.repeat(43) }, { redirect_uri: 'https://app.example.com/callback/' }]) {
      expect((await exchange(rp, code, wrong)).body).toMatchObject({ error: 'invalid_grant' });
    }
    expect((await exchange(rp, code)).status).toBe(200);
  });

  it('revokes its tokens if it is sent again, with any client and verifier', async () => {
    const rp = of();
    for (const again of [{}, { code_verifier: 'w'.repeat(43) }, { redirect_uri: 'https://app.example.com/other' }]) {
      const code = await rp.code();
      const first = await exchange(rp, code);
      expect(await isAccepted(first.body)).toBe(true);
      expect((await exchange(rp, code, again)).body).toMatchObject({ error: 'invalid_grant' });
      expect(await isAccepted(first.body)).toBe(false);
    }
  });

  it('is redeemed once of 40 concurrent requests over two processes, and its tokens are revoked', async () => {
    const rp = of();
    const code = await rp.code();
    const elsewhere = new RelyingParty(there, rp.client);
    const verifier = { code_verifier: rp.proof.verifier };
    const credentials = await Promise.all(Array.from({ length: 40 }, () => credential(rp)));
    const answers = await Promise.all(
      credentials.map((own, index) => (index % 2 ? rp : elsewhere).exchange(code, { ...own, ...verifier })),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect([given.length, answers.filter(({ status }) => status === 400).length]).toEqual([1, 39]);
    expect(await isAccepted((await given[0]?.json()) as TokenAnswer)).toBe(false);
    const events = await rows<{ type: string; n: number }>(
      app.services.db,
      `select type, count(*)::int as n from audit_log where client_id = ? and type = 'token.issued' group by type`,
      [rp.client.id],
    );
    expect(events).toEqual([{ type: 'token.issued', n: 1 }]);
  });
});

describe('an assertion', () => {
  it('that is sent again with its code authenticates no client, so nothing is revoked', async () => {
    const code = await keyed.code();
    const once = await assertionOf(keyed);
    const elsewhere = new RelyingParty(there, keyed.client);
    const form = { ...once, code_verifier: keyed.proof.verifier };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 ? keyed : elsewhere).exchange(code, form)),
    );
    const given = answers.filter(({ status }) => status === 200);
    expect([given.length, answers.filter(({ status }) => status === 401).length]).toEqual([1, 49]);
    expect(await isAccepted((await given[0]?.json()) as TokenAnswer)).toBe(true);
  });

  it('is not used up without a code to redeem, nor if its client changes in the meantime', async () => {
    const once = await assertionOf(keyed);
    expect((await exchange(keyed, '', once)).body).toMatchObject({ error: 'invalid_request' });
    expect((await exchange(keyed, 'x', { ...once, code_verifier: 'short' })).body).toMatchObject({
      error: 'invalid_grant',
    });
    await keyed.code();
    await change('update clients set version = version + 1, disabled_at = now() where id = ?', keyed.client.id);
    expect((await exchange(keyed, 'x', once)).body).toMatchObject({ error: 'invalid_client' });
    await change('update clients set version = version + 1, disabled_at = null where id = ?', keyed.client.id);
    expect((await exchange(keyed, await keyed.code(), once)).status).toBe(200);
    expect((await exchange(keyed, await keyed.code(), once)).status).toBe(401);
  });

  it('of a client that changed in the meantime, except for its key, is accepted once', async () => {
    const code = await keyed.code();
    const once = await assertionOf(keyed);
    await change('update clients set version = version + 1 where id = ?', keyed.client.id);
    expect((await exchange(keyed, code, once)).status).toBe(200);
    expect((await exchange(keyed, await keyed.code(), once)).status).toBe(401);
  });

  it('of another client does not affect this one, and is used up itself', async () => {
    const sibling = new RelyingParty(app, await withKey());
    await sibling.signIn(user);
    const code = await keyed.code();
    const foreign = await assertionOf(sibling);
    expect((await exchange(keyed, code, foreign)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await exchange(keyed, code)).status).toBe(200);
    expect((await exchange(sibling, await sibling.code(), foreign)).status).toBe(401);
  });
});

describe('a client’s participation in a session', () => {
  it('is recorded with its first exchange, then with a resolution of a minute', async () => {
    const { client } = open;
    const noted = async () => {
      const [row] = await rows<{ first_at: string; last_at: string }>(
        app.services.db,
        'select first_at, last_at from participations where session_id = ? and client_id = ?',
        [sid, client.id],
      );
      return row && [row.first_at, row.last_at].map((at) => new Date(at).getTime());
    };
    // Another client in this session, and this client in another session.
    const neighbor = new RelyingParty(app, (await app.make.client(project)).client);
    for (const [name, value] of open.browser.cookies) neighbor.browser.cookies.set(name, value);
    expect((await exchange(neighbor, await neighbor.code())).status).toBe(200);
    const elsewhere = new RelyingParty(app, client);
    await elsewhere.signIn(user);
    expect((await exchange(elsewhere, await elsewhere.code())).status).toBe(200);
    expect(await noted()).toBeUndefined();
    const begun = app.clock.now().getTime();
    for (const [turn, last] of [
      [0, 0],
      [59, 0],
      [1, 60],
      [59.999, 60],
      [0.001, 120],
    ] as const) {
      app.clock.turn(turn);
      expect((await exchange(open, await open.code())).status).toBe(200);
      expect([turn, await noted()]).toEqual([turn, [begun, begun + last * 1000]]);
    }
  });

  it('is not recorded if nothing was redeemed', async () => {
    expect((await exchange(open, await open.code(), { code_verifier: 'w'.repeat(43) })).status).toBe(400);
    expect(await rows(app.services.db, 'select from participations where session_id = ?', [sid])).toEqual([]);
  });
});

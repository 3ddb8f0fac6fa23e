import type { MikroORM } from '@mikro-orm/postgresql';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../../test/clock.ts';
import { freshDatabase } from '../../../test/database.ts';
import { indexConditions, multiply } from '../../../test/plan.ts';
import { changed } from '../../../test/rows.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Audit } from '../audit/audit.ts';
import { Claims } from '../claims/claims.ts';
import { Client } from '../clients/client.entity.ts';
import { ClientRegistry } from '../clients/client-registry.ts';
import { system } from '../kernel/actor.ts';
import { Database } from '../kernel/database.ts';
import { Refusal } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import { Keys } from '../keys/keys.ts';
import { defaultSchedule } from '../keys/schedule.ts';
import { Signer } from '../keys/signer.ts';
import { Vault } from '../keys/vault.ts';
import { baseIssuer } from '../projects/issuer.ts';
import { Project } from '../projects/project.entity.ts';
import { Session } from '../sessions/session.entity.ts';
import { User } from '../users/user.entity.ts';
import { type Exchange, readCode, recordCode } from './grants/authorization-code.ts';
import type { FoundCode } from './held-facts.ts';
import { Mint } from './mint.ts';
import type { CodeColumns } from './new-code.ts';
import { Tokens } from './tokens.ts';

const issuer = 'https://id.example.com';
const redirectUri = 'https://app.example.com/cb';
const verifier = 'v'.repeat(43);
const clock = adjustableClock();
let orm: MikroORM;
let drop: () => Promise<void>;
let db: Database;
let keys: Keys;
let tokens: Tokens;
let client: Client;
let lower: Omit<ConstructorParameters<typeof Tokens>[0], 'mint' | 'clients'> & ConstructorParameters<typeof Mint>[0];
let user: User;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  orm = await openDatabase({ url: fresh.url });
  db = new Database(orm);
  const audit = new Audit({ clock, random: systemRandom });
  const vault = new Vault(new Uint8Array(32), systemRandom);
  keys = new Keys({ db, vault, clock, audit, schedule: defaultSchedule });
  await keys.maintain();
  lower = {
    ...{ db, clock, random: systemRandom, audit, vault, signer: new Signer({ keys, clock, issuer }) },
    applicationClaims: new Claims({ db, clock, audit, issuer }),
  };
  tokens = new Tokens({ ...lower, mint: new Mint(lower), clients: new ClientRegistry({ db, clock }) });
});

afterAll(async () => {
  await orm.close(true);
  await drop();
});

beforeEach(async () => {
  await db.transaction(async (em) => {
    const now = clock.now();
    const common = { createdAt: now, updatedAt: now };
    const project = em.create(Project, { id: systemRandom.id(), name: 'Example', ...common });
    client = em.create(Client, {
      id: systemRandom.id(),
      project,
      name: 'App',
      tokenEndpointAuthMethod: 'none',
      redirectUris: [redirectUri],
      postLogoutRedirectUris: [],
      ...common,
    });
    const name = `${systemRandom.id()}@example.com`;
    user = em.create(User, {
      id: systemRandom.id(),
      project,
      userName: name,
      userNameKey: name,
      email: name,
      emailKey: name,
      attributes: {},
      ...common,
    });
  });
});

function issue(changes: Partial<CodeColumns> = {}): Promise<string> {
  return db.transaction((em) =>
    tokens.issueCode(em, {
      projectId: client.project.id,
      clientId: client.id,
      userId: user.id,
      redirectUri,
      codeChallenge: digest(verifier),
      scope: 'openid email',
      authTime: clock.now(),
      amr: ['swk'],
      ...changes,
    }),
  );
}

const requestOf = (code: string): Exchange => ({
  ...{ code, client, codeVerifier: verifier, redirectUri, authenticatedBy: 'none' },
  ...{ issuer: baseIssuer(issuer), actor: system },
});

async function exchange(code: string, changes: Partial<Exchange> = {}) {
  const answer = await tokens.exchange({ ...requestOf(code), ...changes });
  if (!answer) throw new Error('the client has changed');
  return answer;
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return (error as Refusal).problem;
}

describe('exchanging a code (RFC 6749 §4.1.3)', () => {
  it('issues an ES512 ID token and an EdDSA access token that verify against the published keys', async () => {
    const response = await exchange(await issue({ nonce: 'n' }));
    const jwks = createLocalJWKSet(await keys.jwks());
    const currentDate = clock.now();
    const id = await jwtVerify(response.id_token ?? '', jwks, { issuer, audience: client.id, currentDate });
    const access = await jwtVerify(response.access_token, jwks, {
      issuer,
      audience: issuer,
      currentDate,
      typ: 'at+jwt',
    });
    expect([id.protectedHeader.alg, access.protectedHeader.alg]).toEqual(['ES512', 'EdDSA']);
    expect(id.payload).toMatchObject({ sub: user.id, nonce: 'n', email: user.email, email_verified: true });
    expect(access.payload).toMatchObject({ client_id: client.id, scope: 'openid email' });
  });

  it('accepts one of 40 parallel exchanges of one code', async () => {
    const code = await issue();
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => exchange(code)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('refuses a replayed code and revokes its access token', async () => {
    const code = await issue();
    const { access_token: accessToken } = await exchange(code);
    expect(await tokens.userInfo(accessToken, baseIssuer(issuer))).toMatchObject({ claims: { sub: user.id } });
    expect(await refusal(exchange(code))).toEqual({ code: 'grant-rejected', reason: 'used' });
    expect(await tokens.userInfo(accessToken, baseIssuer(issuer))).toEqual({ refused: 'invalid_token' });
  });

  it('refuses a revoked code', async () => {
    const code = await issue();
    const other = await issue();
    const sql = 'update authorization_codes set revoked_at = ? where hash = ?';
    await db.transaction((em) => em.execute(sql, [clock.now(), digest(code)]));
    expect(await refusal(exchange(code))).toMatchObject({ code: 'grant-rejected' });
    expect((await exchange(other)).access_token).toBeTruthy();
  });

  it('finds each row by its key, once the statistics of new tables are renewed', async () => {
    await issue();
    await multiply(db, 'authorization_codes', { id: 'gen_random_uuid()', hash: 'gen_random_uuid()' });
    const name = 'gen_random_uuid()';
    await multiply(db, 'users', { id: name, user_name_key: name, email_key: 'null', phone: 'null' });
    // One code for each user.
    const numbered = (table: string) =>
      `(select id, row_number() over () as n from ${table} where project_id = '${client.project.id}')`;
    await db.transaction((em) =>
      em.execute(`update authorization_codes c set user_id = u.id
        from ${numbered('users')} u join ${numbered('authorization_codes')} k using (n) where k.id = c.id`),
    );
    const request = {
      ...{ client, code: '', codeVerifier: '', redirectUri: '', authenticatedBy: 'none' as const },
      ...{ issuer: baseIssuer(issuer), actor: system },
    };
    const reading = await indexConditions(db, readCode(request));
    expect(reading['authorization_codes']).toEqual(['(hash = ?)']);
    // By the primary key, or the index by id alone: both find one row.
    expect(reading['users']).toEqual([expect.stringMatching(/\bid = code\.user_id\)/)]);
    const code = {
      id: '',
      user_id: '',
      user_version: 1,
      session_id: null,
      scope: '',
      resources: [] as string[],
    } as FoundCode;
    const made = { eventId: '', refresh: undefined, credentials: {}, now: clock.now() };
    const writing = await indexConditions(db, recordCode(request, code, made));
    expect(writing['authorization_codes']).toEqual([expect.stringMatching(/\bid = \?::uuid\)|\bid = \?\)/)]);
    expect(writing['users']).toEqual([expect.stringMatching(/\bid = \?/)]);
  });

  it('refuses a code after 60 seconds', async () => {
    const code = await issue();
    clock.turn(59);
    await exchange(code);
    const late = await issue();
    clock.turn(60);
    expect(await refusal(exchange(late))).toEqual({ code: 'grant-rejected', reason: 'expired' });
  });

  it.each<[string, Partial<Exchange>, string]>([
    ['a wrong verifier', { codeVerifier: 'w'.repeat(43) }, 'wrong-verifier'],
    ['no verifier', { codeVerifier: undefined }, 'missing-verifier'],
    ['another redirect_uri', { redirectUri: `${redirectUri}/` }, 'wrong-redirect-uri'],
    ['no redirect_uri', { redirectUri: undefined }, 'wrong-redirect-uri'],
  ])('refuses %s and keeps the code valid', async (_name, changes, reason) => {
    const code = await issue();
    expect(await refusal(exchange(code, changes))).toEqual({ code: 'grant-rejected', reason });
    await exchange(code);
  });

  it('leaves the code unused if the tokens cannot be signed', async () => {
    const code = await issue();
    const wrongKey = new Vault(new Uint8Array(32).fill(1), systemRandom);
    const locked = new Keys({ db, vault: wrongKey, clock, audit: lower.audit, schedule: defaultSchedule });
    const mint = new Mint({ ...lower, signer: new Signer({ keys: locked, clock, issuer }) });
    const broken = new Tokens({ ...lower, mint, clients: new ClientRegistry({ db, clock }) });
    await expect(broken.exchange(requestOf(code))).rejects.toThrow();
    await exchange(code);
  });

  it('refuses another client and keeps the code valid for its own', async () => {
    const code = await issue();
    const sibling = await db.transaction(async (em) => {
      const { name, tokenEndpointAuthMethod, redirectUris, createdAt, updatedAt } = client;
      const values = { name, tokenEndpointAuthMethod, redirectUris, createdAt, updatedAt, postLogoutRedirectUris: [] };
      const created = em.create(Client, { ...values, id: systemRandom.id(), project: client.project.id });
      await em.populate(created, ['project']);
      return created;
    });
    expect(await refusal(exchange(code, { client: sibling }))).toEqual({
      code: 'grant-rejected',
      reason: 'wrong-client',
    });
    await exchange(code);
  });

  it('does nothing if the cached client is stale', async () => {
    const code = await issue();
    const set = (version: number) => changed(db, 'update clients set version = ? where id = ?', [version, client.id]);
    await set(client.version + 1);
    await expect(exchange(code)).rejects.toThrow('the client has changed');
    await set(client.version);
    await exchange(code);
  });

  it('refuses an unknown code', async () => {
    expect(await refusal(exchange('x'.repeat(43)))).toEqual({ code: 'grant-rejected', reason: 'unknown' });
  });

  it('refuses a verifier without a challenge (RFC 9700 §2.1.1)', async () => {
    const code = await issue({ codeChallenge: undefined });
    expect(await refusal(exchange(code))).toMatchObject({ code: 'grant-rejected' });
  });

  it('redeems an SDK code for the client’s back end only', async () => {
    const sdk = { redirectUri: undefined, codeVerifier: undefined };
    const code = await issue({ redirectUri: undefined, codeChallenge: undefined });
    expect(await refusal(exchange(code, sdk))).toMatchObject({ code: 'grant-rejected' });
    await exchange(code, { ...sdk, authenticatedBy: 'api-key' });
  });

  it('refuses the code of a private_key_jwt client without its assertion', async () => {
    client.tokenEndpointAuthMethod = 'private_key_jwt';
    const code = await issue();
    expect(await refusal(exchange(code, { authenticatedBy: 'api-key' }))).toMatchObject({ code: 'grant-rejected' });
    await exchange(code, { authenticatedBy: 'assertion' });
  });

  it.each([
    ['user', 'update users set active = false where id = ?', () => user.id, { problem: { code: 'grant-rejected' } }],
    [
      'client',
      'update clients set disabled_at = now() where id = ?',
      () => client.id,
      { message: 'the client has changed' },
    ],
  ])('refuses the code and the access token of a %s disabled after sign-in', async (_name, text, id, refused) => {
    const before = await exchange(await issue());
    const code = await issue();
    await changed(db, text, [id()]);
    await expect(exchange(code)).rejects.toMatchObject(refused);
    expect(await tokens.userInfo(before.access_token, baseIssuer(issuer))).toEqual({ refused: 'invalid_token' });
  });

  it('refuses the code of an ended session', async () => {
    const sessionId = systemRandom.id();
    await db.transaction(async (em) => {
      const now = clock.now();
      em.create(Session, {
        id: sessionId,
        project: client.project.id,
        user,
        secretHash: sessionId,
        authTime: now,
        amr: ['swk'],
        createdAt: now,
        lastSeenAt: now,
        idleExpiresAt: now,
        expiresAt: now,
      });
    });
    const first = await exchange(await issue({ sessionId }));
    expect(decodeJwt(first.id_token ?? '')).toMatchObject({ sid: sessionId });
    const code = await issue({ sessionId });
    await db.transaction(async (em) => {
      (await em.findOneOrFail(Session, { id: sessionId })).endedAt = clock.now();
    });
    expect(await refusal(exchange(code))).toMatchObject({ code: 'grant-rejected' });
  });

  it('clamps the access token’s lifetime; UserInfo refuses it afterwards', async () => {
    client.accessTokenTtlSeconds = 90_000;
    const response = await exchange(await issue());
    expect(response.expires_in).toBe(3600);
    clock.turn(3600);
    expect(await tokens.userInfo(response.access_token, baseIssuer(issuer))).toEqual({ refused: 'invalid_token' });
  });
});

describe('UserInfo', () => {
  it('refuses an ID token, a token signed by another issuer’s key, and an altered token', async () => {
    const { id_token: idToken = '', access_token: accessToken } = await exchange(await issue());
    const altered = `${accessToken.slice(0, -4)}AAAA`;
    const [header, , signature] = accessToken.split('.');
    const forged = `${header}.${Buffer.from('{"scope":"openid"}').toString('base64url')}.${signature}`;
    const none = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${accessToken.split('.')[1]}.`;
    for (const token of [idToken, altered, forged, none, '', 'x', 'a.b.c']) {
      expect(await tokens.userInfo(token, baseIssuer(issuer))).toEqual({ refused: 'invalid_token' });
    }
  });

  it('returns only the claims of the granted scopes', async () => {
    const { access_token: accessToken } = await exchange(await issue({ scope: 'openid' }));
    expect(await tokens.userInfo(accessToken, baseIssuer(issuer))).toMatchObject({ claims: { sub: user.id } });
    expect(await tokens.userInfo(accessToken, baseIssuer(issuer))).not.toHaveProperty('claims.email');
  });
});

describe('signing keys', () => {
  it('publish the next key before it signs, keep the old one after, and reject tokens of a withdrawn key', async () => {
    const { access_token: accessToken } = await exchange(await issue());
    const before = (await keys.jwks()).keys.map(({ kid }) => kid);
    await keys.rotate(system);
    const during = (await keys.jwks()).keys.map(({ kid }) => kid);
    expect(during).toHaveLength(before.length + 2);
    expect(before).toContain((await keys.signing('ES512')).kid);
    clock.turn(24 * 3600);
    expect(before).not.toContain((await keys.signing('ES512')).kid);
    expect((await keys.jwks()).keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining(before));
    clock.turn(-24 * 3600);
    await keys.withdraw((await keys.signing('EdDSA')).kid, system);
    expect(await tokens.userInfo(accessToken, baseIssuer(issuer))).toEqual({ refused: 'invalid_token' });
    expect((await keys.signing('EdDSA')).kid).toEqual(expect.any(String));
  });
});

import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { sweepAhead } from '../../test/clock.ts';
import { redirectUri } from '../../test/factories.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let project: Project;
let client: Client;
let rp: RelyingParty;
const own = generateKeyPairSync('ed25519');
const foreign = generateKeyPairSync('ed25519');

beforeAll(async () => {
  app = await buildTestApp();
  project = await app.make.project();
  const jwks = own.publicKey.export({ format: 'jwk' });
  ({ client } = await app.make.client(project, { tokenEndpointAuthMethod: 'private_key_jwt', jwks }));
  rp = new RelyingParty(app, client);
  await rp.signIn(await app.make.user(project));
});

afterAll(async () => {
  await app.close();
});

function nowSeconds(): number {
  return Math.floor(app.clock.now().getTime() / 1000);
}

function assertion(
  changes: Record<string, unknown> = {},
  key: KeyObject = own.privateKey,
  alg = 'EdDSA',
): Promise<string> {
  const claims: Record<string, unknown> = {
    iss: client.id,
    sub: client.id,
    aud: `${app.url}/oauth2/token`,
    iat: nowSeconds(),
    exp: nowSeconds() + 60,
    jti: randomUUID(),
    ...changes,
  };
  const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)) as JWTPayload;
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
}

async function exchange(clientAssertion: string, changes: Changes = {}): Promise<Response> {
  return rp.exchange(await rp.code(), {
    client_id: undefined,
    client_assertion: clientAssertion,
    client_assertion_type: assertionType,
    ...changes,
  });
}

describe('private_key_jwt (RFC 7523 §3)', () => {
  it.each<[string, () => Record<string, unknown>]>([
    ['the token endpoint as audience', () => ({})],
    ['oidcc-ensure-client-assertion-with-iss-aud-succeeds: the issuer as audience', () => ({ aud: app.url })],
    ['an array of both', () => ({ aud: [app.url, `${app.url}/oauth2/token`] })],
    ['an array of one', () => ({ aud: [app.url] })],
    ['another audience before ours', () => ({ aud: ['https://other.example.com', app.url] })],
    ['another audience after ours', () => ({ aud: [`${app.url}/oauth2/token`, 'https://other.example.com'] })],
    ['no iat', () => ({ iat: undefined })],
    ['an expiry 20 seconds ago, within the leeway', () => ({ iat: nowSeconds() - 60, exp: nowSeconds() - 20 })],
  ])('accepts %s', async (_name, changes) => {
    expect((await exchange(await assertion(changes()))).status).toBe(200);
  });

  it.each<[string, () => unknown]>([
    ['an array of other audiences', () => ['https://other.example.com', `${app.url}/`]],
    ['an audience that is not a string', () => [app.url, 1]],
    ['no audience in the array', () => []],
  ])('refuses %s', async (_name, aud) => {
    const response = await exchange(await assertion({ aud: aud() }));
    expect([response.status, await response.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });

  it('refuses a key of small order that an earlier release stored', async () => {
    const x = `AQ${'A'.repeat(41)}`;
    const { client: old } = await app.make.client(project, {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: own.publicKey.export({ format: 'jwk' }),
    });
    await changed(app.services.db, 'update clients set jwk = ?::jsonb, version = version + 1 where id = ?', [
      JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x }),
      old.id,
    ]);
    const party = new RelyingParty(app, old);
    await party.signIn(await app.make.user(project));
    // R is the neutral element and S is 0, which such a key verifies for each message.
    const signature = Buffer.concat([Buffer.of(1), Buffer.alloc(63)]).toString('base64url');
    const [head, payload] = (await assertion({ iss: old.id, sub: old.id })).split('.');
    const response = await party.exchange(await party.code(), {
      client_id: undefined,
      client_assertion: `${head}.${payload}.${signature}`,
      client_assertion_type: assertionType,
    });
    expect([response.status, await response.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });

  it('accepts the algorithm under its newer name (RFC 9864)', async () => {
    expect((await exchange(await assertion({}, own.privateKey, 'Ed25519'))).status).toBe(200);
  });

  it('accepts the same client_id with it', async () => {
    expect((await exchange(await assertion(), { client_id: client.id })).status).toBe(200);
  });

  it.each<[string, () => Record<string, unknown>]>([
    ['another audience', () => ({ aud: 'https://other.example.com' })],
    ['a longer audience', () => ({ aud: `${app.url}/oauth2/token/` })],
    ['no audience', () => ({ aud: undefined })],
    ['iss that is not sub', () => ({ sub: randomUUID() })],
    ['no sub', () => ({ sub: undefined })],
    ['no iss', () => ({ iss: undefined })],
    ['no exp', () => ({ exp: undefined })],
    ['exp far ahead', () => ({ exp: nowSeconds() + 400 })],
    ['exp in the past', () => ({ exp: nowSeconds() - 31 })],
    ['an old iat', () => ({ iat: nowSeconds() - 400 })],
    ['an iat in the future', () => ({ iat: nowSeconds() + 60 })],
    ['nbf in the future', () => ({ nbf: nowSeconds() + 60 })],
    ['no jti', () => ({ jti: undefined })],
    ['an empty jti', () => ({ jti: '' })],
  ])('refuses %s', async (_name, changes) => {
    const response = await exchange(await assertion(changes()));
    expect([response.status, await response.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });

  it('refuses a key that is not registered, none, HS256 with the public key, and a null header', async () => {
    const wrongKey = await assertion({}, foreign.privateKey);
    const [, body] = wrongKey.split('.') as [string, string, string];
    const encode = (header: unknown) => Buffer.from(JSON.stringify(header)).toString('base64url');
    const secret = Buffer.from((own.publicKey.export({ format: 'jwk' }) as { x: string }).x, 'base64url');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as JWTPayload;
    const hs256 = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret);
    for (const forged of [
      wrongKey,
      `${encode({ alg: 'none' })}.${body}.`,
      hs256,
      `${encode(null)}.${body}.AAAA`,
      'x',
      '..',
    ]) {
      expect((await exchange(forged)).status).toBe(401);
    }
  });

  it('records refusals as one event, even with repeated header values (crit, RFC 7515 §4.1.11)', async () => {
    const [, body, signature] = (await assertion()).split('.');
    const headers = ['one', 'another', '\u0000', '\ud800'].map((name) => ({ alg: 'EdDSA', crit: [name] }));
    for (const header of headers) {
      const encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
      const refused = await exchange([encoded, body, signature].join('.'));
      expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    }
    const [event, ...others] = await rows<{ count: number }>(
      app.services.db,
      `select (detail->>'count')::int as count from audit_log where client_id = ? and type = 'client.rejected'
        and detail->>'fault' = 'ERR_JOSE_NOT_SUPPORTED'`,
      [client.id],
    );
    expect([event, others]).toEqual([{ count: headers.length }, []]);
  });

  it('refuses an assertion that was used, even with another code', async () => {
    const once = await assertion();
    expect((await exchange(once)).status).toBe(200);
    expect((await exchange(once)).status).toBe(401);
  });

  it('stores it for a day longer than the leeway', async () => {
    const once = await assertion({ exp: nowSeconds() + 10 });
    expect((await exchange(once)).status).toBe(200);
    const left = async () => {
      await app.services.retention.sweep();
      return (await rows(app.services.db, 'select from used_assertions')).length > 0;
    };
    for (const more of [20, 19.999]) {
      app.clock.turn(more);
      await left();
      expect((await exchange(once)).status).toBe(401);
    }
    const found = [];
    for (const more of [24 * 3600, 3600]) {
      app.clock.turn(more);
      found.push(await left());
    }
    expect(found).toEqual([true, false]);
    await rp.signIn(await app.make.user(project));
  });

  it('refuses a used assertion after a sweep by a clock that was an hour ahead', async () => {
    const once = await assertion();
    expect((await exchange(once)).status).toBe(200);
    await sweepAhead(app, 3600);
    expect((await exchange(once)).status).toBe(401);
  });

  it('accepts one of 50 concurrent uses, each with its own code, over two processes', async () => {
    const once = await assertion();
    const there = await buildSibling(app);
    const codes: string[] = [];
    while (codes.length < 50) codes.push(await rp.code());
    const form = { client_id: undefined, client_assertion: once, client_assertion_type: assertionType };
    const elsewhere = new RelyingParty(there, client);
    const tries = codes.map((code, index) =>
      (index % 2 === 0 ? rp : elsewhere).exchange(code, { ...form, code_verifier: rp.proof.verifier }),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    await there.close();
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 401)]);
  });

  it('is used up by a request with a refused code', async () => {
    const [once, code] = [await assertion(), await rp.code()];
    const form = { client_id: undefined, client_assertion: once, client_assertion_type: assertionType };
    const refused = await rp.exchange(code, { ...form, code_verifier: 'w'.repeat(43) });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect((await rp.exchange(code, form)).status).toBe(401);
    expect((await rp.exchange(code, { ...form, client_assertion: await assertion() })).status).toBe(200);
  });

  it('refuses the client without its assertion, by name or by secret key', async () => {
    expect((await rp.exchange(await rp.code())).status).toBe(401);
    const { secretKey } = await app.make.client(project);
    const response = await rp.exchange(await rp.code(), {}, { 'X-Api-Key': secretKey });
    expect(response.status).toBe(401);
  });

  it('refuses another client_id with it, a second credential, and a wrong type', async () => {
    const { client: other, secretKey } = await app.make.client(project);
    expect((await exchange(await assertion(), { client_id: other.id })).status).toBe(401);
    expect((await exchange(await assertion(), { client_assertion_type: 'x' })).status).toBe(400);
    expect((await exchange(await assertion(), { client_assertion_type: undefined })).status).toBe(400);
    const body = { grant_type: 'authorization_code', code: await rp.code(), redirect_uri: redirectUri };
    const basic = await rp.exchange(body.code, {}, { Authorization: 'Basic eDp5' });
    expect(basic.status).toBe(401);
    const both = { client_assertion: await assertion(), client_assertion_type: assertionType };
    expect((await rp.exchange(await rp.code(), both, { 'X-Api-Key': secretKey })).status).toBe(400);
  });

  it('refuses an assertion of a public client', async () => {
    const { client: open } = await app.make.client(project);
    const forged = await assertion({ iss: open.id, sub: open.id });
    expect((await exchange(forged)).status).toBe(401);
  });
});

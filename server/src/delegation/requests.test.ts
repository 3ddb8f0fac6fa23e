import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  address,
  codeSentTo,
  type DelegationWorld,
  makePair,
  openDelegation,
  TestBackEnd,
  turn,
} from '../../test/back-end.ts';
import type { TestApp } from '../../test/build-app.ts';
import { sweepAhead } from '../../test/clock.ts';
import type { ApiKey } from '../domain/clients/api-key.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';

let world: DelegationWorld;
let app: TestApp;
let backEnd: TestBackEnd;
let project: Project;

beforeEach(async () => {
  world = await openDelegation();
  ({ app, backEnd, project } = world);
});
afterEach(() => world.close());

describe('POST /v1/delegation', () => {
  const clear = async (reply: Promise<{ status: number; payload?: object; code: string | undefined }>) => {
    const { code, payload, status } = await reply;
    expect(payload).toBeUndefined();
    return [status, code];
  };
  const sealed = async (reply: Promise<{ status: number; payload?: { status: number }; code: string | undefined }>) => {
    const { code, payload, status } = await reply;
    expect(status).toBe(200);
    return [payload?.status, code];
  };

  it('binds the response to the request', async () => {
    const text = await backEnd.seal({ claims: { jti: 'a-jti-of-twenty-chars' } });
    const { payload } = await backEnd.send(text);
    const now = Math.floor(app.clock.now().getTime() / 1000);
    expect(payload).toEqual({
      iss: backEnd.audience,
      aud: backEnd.client.id,
      req_jti: 'a-jti-of-twenty-chars',
      req_hash: createHash('sha256').update(text).digest('base64url'),
      iat: now,
      exp: now + 60,
      status: 200,
      body: { mfa_method: 'none' },
    });
  });

  it('refuses third-party applications: users cannot consent here', async () => {
    const text = await backEnd.seal();
    await app.services.clients.update(backEnd.client, { thirdParty: true }, system);
    expect(await clear(backEnd.send(text))).toEqual([403, 'INVALID_CLIENT']);
    expect(await clear(backEnd.send(await backEnd.seal({ op: 'initiateMfaChange' })))).toEqual([403, 'INVALID_CLIENT']);
  });

  it('treats users without access to the application as unknown', async () => {
    await app.services.clients.update(backEnd.client, { access: 'assigned' }, system);
    for (const op of ['getUserCredentials', 'initiateMfaChange']) {
      const body = { userid: address, mfa_method: 'email' };
      expect(await sealed(backEnd.send(await backEnd.seal({ op, body })))).toEqual([404, 'USER_NOT_FOUND']);
    }
    await app.services.accessRules.grant(backEnd.client, { userId: world.ada.id }, system);
    expect(await sealed(backEnd.send(await backEnd.seal()))).toEqual([200, undefined]);
  });

  it('checks for an active secret key first', async () => {
    const text = await backEnd.seal();
    const { client, publishableKey, secretKey } = await app.make.client(project);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': publishableKey }))).toEqual([401, 'INVALID_CLIENT']);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': 'lk_sk_nonsense' }))).toEqual([401, 'INVALID_CLIENT']);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': '' }))).toEqual([401, 'INVALID_CLIENT']);
    await app.make.disable(client);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': secretKey }))).toEqual([401, 'INVALID_CLIENT']);
    const keys = await app.services.clients.apiKeysOf(app.services.db.reader(), [backEnd.client]);
    const key = keys.find(({ kind }) => kind === 'secret');
    await app.services.clients.revokeApiKey(key as ApiKey, system);
    expect(await clear(backEnd.send(text))).toEqual([401, 'INVALID_CLIENT']);
    expect((await fetch(`${app.url}/v1/delegation`)).status).toBe(401);
  });

  it('accepts only POST of application/jose up to 64 KB', async () => {
    const text = await backEnd.seal();
    expect(await clear(backEnd.send(text, { 'Content-Type': 'application/json' }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
    expect(await clear(backEnd.send(text, { 'Content-Encoding': 'gzip' }))).toEqual([415, 'REQUEST_REJECTED']);
    expect(await clear(backEnd.send('x'.repeat(65_537)))).toEqual([413, 'REQUEST_TOO_LARGE']);
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${app.url}/v1/delegation`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
    }
  });

  it('rejects an undecryptable request without a reason', async () => {
    const stranger = makePair();
    const [header = '', ...rest] = (await backEnd.seal()).split('.');
    const withHeader = (change: object) => {
      const decoded = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
      return [Buffer.from(JSON.stringify({ ...decoded, ...change })).toString('base64url'), ...rest].join('.');
    };
    const altered = [
      '',
      'nonsense',
      'a.b.c.d.e',
      '....',
      await backEnd.seal({ encryptTo: stranger.encryption.publicKey }),
      await backEnd.seal({ outer: { typ: 'delegation-res+jwe' } }),
      await backEnd.seal({ outer: { typ: undefined } }),
      await backEnd.seal({ outer: { enc: 'A128GCM' } }),
      await backEnd.seal({ outer: { alg: 'ECDH-ES+A256KW' } }),
      await backEnd.seal({ outer: { x5u: 'https://evil.example' } }),
      await backEnd.seal({ outer: { jku: 'https://evil.example' } }),
      await backEnd.seal({ outer: { zip: 'DEF' } }).catch(() => withHeader({ zip: 'DEF' })),
      withHeader({ crit: ['b64'] }),
      withHeader({ alg: 'dir' }),
      withHeader({ epk: { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) } }),
      withHeader({ epk: { kty: 'OKP', crv: 'X25519', x: 'short' } }),
      withHeader({ epk: { kty: 'EC', crv: 'P-256', x: 'A', y: 'A' } }),
      withHeader({ epk: null }),
      withHeader({ epk: 'x' }),
      withHeader({ kid: 7 }),
      `${withHeader({})}.`,
      `${await backEnd.seal()}=`,
    ];
    const replies = [];
    for (const text of altered) replies.push(await backEnd.send(text));
    for (const { code, payload, status, text } of replies) {
      expect([status, code, payload]).toEqual([400, 'REQUEST_REJECTED', undefined]);
      expect(JSON.parse(text).error.message).toBe('The request is not from this client or not for this service.');
    }
  });

  it('encrypts all responses to decrypted requests, including errors', async () => {
    const hmacHeader = Buffer.from('{"alg":"HS256","typ":"delegation-req+jwt"}').toString('base64url');
    const noneHeader = Buffer.from('{"alg":"none","typ":"delegation-req+jwt"}').toString('base64url');
    const stranger = makePair();
    const jwk = stranger.signing.publicKey.export({ format: 'jwk' });
    for (const deviations of [
      { raw: 'nonsense' },
      { raw: '' },
      { raw: JSON.stringify({ iss: backEnd.client.id, op: 'getUserCredentials' }) },
      { raw: `${noneHeader}.e30.` },
      { raw: `${hmacHeader}.e30.AAAA` },
      { raw: await backEnd.seal() },
      { signWith: stranger.signing.privateKey },
      { signWith: stranger.signing.privateKey, inner: { jwk } },
      { inner: { jwk } },
      { inner: { jku: 'https://evil.example' } },
      { inner: { x5u: 'https://evil.example' } },
      { inner: { typ: 'JWT' } },
      { inner: { typ: 'delegation-res+jwt' } },
      { inner: { kid: 'unknown' } },
      { inner: { crit: ['exp'], exp: 1 } },
      { claims: { iss: crypto.randomUUID() } },
      { claims: { aud: app.url } },
      { claims: { aud: `${app.url}/${crypto.randomUUID()}` } },
      { claims: { aud: [`${app.url}/${project.id}`] } },
      { claims: { enc_kid: 'another' } },
      { claims: { enc_kid: undefined } },
      { claims: { jti: undefined } },
      { claims: { jti: '' } },
      { claims: { exp: undefined } },
      { claims: { iat: undefined } },
      { claims: { op: 'constructor' } },
      { claims: { op: undefined } },
      { claims: { body: undefined } },
    ]) {
      const text = await backEnd.seal(deviations).catch(() => undefined);
      if (text === undefined) continue;
      expect(await sealed(backEnd.send(text)), JSON.stringify(deviations)).toEqual([400, 'REQUEST_REJECTED']);
    }
  });

  it('rejects a request with a lifetime over a minute, an expired one, or one from the future', async () => {
    const now = Math.floor(app.clock.now().getTime() / 1000);
    const at = (iat: number, exp: number) => backEnd.seal({ claims: { iat, exp } });
    expect(await sealed(backEnd.send(await at(now, now + 61)))).toEqual([400, 'REQUEST_REJECTED']);
    expect(await sealed(backEnd.send(await at(now, now)))).toEqual([400, 'REQUEST_REJECTED']);
    expect(await sealed(backEnd.send(await at(now - 90, now - 30)))).toEqual([400, 'STALE']);
    expect(await sealed(backEnd.send(await at(now + 31, now + 60)))).toEqual([400, 'STALE']);
    expect(await sealed(backEnd.send(await at(now - 80, now - 29)))).toEqual([200, undefined]);
    expect(await sealed(backEnd.send(await at(now + 30, now + 90)))).toEqual([200, undefined]);
  });

  it('rejects malformed operations, and accepts later requests', async () => {
    for (const body of [null, 7, [], {}, { userid: 7 }, { userid: '' }, { userid: 'x'.repeat(321) }]) {
      expect(await sealed(backEnd.send(await backEnd.seal({ body })))).toEqual([400, 'INVALID_REQUEST']);
    }
    for (const userid of ['a\0b', '\ud800']) {
      expect(await sealed(backEnd.send(await backEnd.seal({ body: { userid } })))).toEqual([400, 'INVALID_REQUEST']);
    }
    const op = 'initiateMfaChange';
    for (const body of [
      { userid: address },
      { userid: address, mfa_method: 'push' },
      { userid: address, mfa_method: '__proto__' },
    ]) {
      expect(await sealed(backEnd.send(await backEnd.seal({ op, body })))).toEqual([400, 'INVALID_REQUEST']);
    }
    expect(await sealed(backEnd.send(await backEnd.seal()))).toEqual([200, undefined]);
  });

  it('accepts each request once, also for fifty parallel copies and on another process', async () => {
    const text = await backEnd.seal();
    const replies = await Promise.all(Array.from({ length: 50 }, () => backEnd.send(text)));
    expect(replies.filter(({ payload }) => payload?.status === 200)).toHaveLength(1);
    expect(replies.filter(({ code, payload }) => payload?.status === 409 && code === 'REPLAYED')).toHaveLength(49);
    const claims = { jti: 'the-same-jti-in-another-envelope' };
    expect(await sealed(backEnd.send(await backEnd.seal({ claims })))).toEqual([200, undefined]);
    expect(await sealed(backEnd.send(await backEnd.seal({ claims })))).toEqual([409, 'REPLAYED']);
  });

  it('keeps used requests longer than they can be valid with any clock skew', async () => {
    const text = await backEnd.seal();
    await backEnd.send(text);
    for (const step of [60, 29, 1, 60]) {
      turn(app, step);
      await app.services.retention.sweep();
      const [status] = await sealed(backEnd.send(text));
      expect([400, 409]).toContain(status);
    }
    turn(app, 24 * 3600 + 120);
    await app.services.retention.sweep();
    const left = await app.services.db.reader().execute('select * from used_delegation_requests');
    expect(left).toEqual([]);
  });

  it('refuses a used request after a sweep by a clock that was an hour ahead', async () => {
    const text = await backEnd.seal();
    expect(await sealed(backEnd.send(text))).toEqual([200, undefined]);
    await sweepAhead(app, 3600);
    expect(await sealed(backEnd.send(text))).toEqual([409, 'REPLAYED']);
  });

  it('marks a rejected request as used', async () => {
    const text = await backEnd.seal({ body: { userid: 'nobody@example.com' } });
    expect(await sealed(backEnd.send(text))).toEqual([404, 'USER_NOT_FOUND']);
    expect(await sealed(backEnd.send(text))).toEqual([409, 'REPLAYED']);
  });

  it('rejects another client’s request with any API key', async () => {
    const other = await TestBackEnd.of(app, project);
    const text = await backEnd.seal();
    expect((await other.send(text)).code).toBe('REQUEST_REJECTED');
    expect((await backEnd.send(text, { 'X-Api-Key': other.secretKey })).code).toBe('REQUEST_REJECTED');
    // The same key pair registered for two clients: requests of one are still invalid for the other.
    const twin = await TestBackEnd.of(app, project, backEnd.pair);
    const encryptTo = createPublicKey((await twin.ours()).encryption);
    const forwarded = await backEnd.seal({ encryptTo });
    expect(await sealed(twin.send(forwarded))).toEqual([400, 'REQUEST_REJECTED']);
  });

  it('rejects a signed request that was re-encrypted to another key of Latchkey', async () => {
    const recipient = generateKeyPairSync('x25519');
    const overheard = await backEnd.seal({ encryptTo: recipient.publicKey });
    const { plaintext } = await compactDecrypt(overheard, recipient.privateKey);
    const again = await new CompactEncrypt(plaintext)
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe' })
      .encrypt(createPublicKey((await backEnd.ours()).encryption));
    expect(await sealed(backEnd.send(again))).toEqual([400, 'REQUEST_REJECTED']);
  });

  it('encrypts the response to a server error, without details', async () => {
    const text = await backEnd.seal();
    await app.services.db.transaction((em) => em.execute('alter table used_delegation_requests rename to away'));
    const { code, payload } = await backEnd.send(text);
    expect([payload?.status, code]).toEqual([500, 'SERVER_ERROR']);
    expect(JSON.stringify(payload)).not.toContain('used_delegation_requests');
  });

  it('logs no keys, codes or payloads', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId } = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const otp = await codeSentTo(app, address);
    await library.verifyMfaChange({ userid: address, sessionId, otp: 'x' });
    await backEnd.send('nonsense');
    const log = app.logLines.join('\n');
    expect(log).toMatch(/"refusal":"[A-Z_]+".*"delegation refused"/);
    for (const secret of [backEnd.secretKey, sessionId, otp, address]) expect(log).not.toContain(secret);
  });
});

describe('GET /v1/delegation', () => {
  it('returns the audience of requests', async () => {
    const response = await fetch(`${app.url}/v1/delegation`, { headers: { 'X-Api-Key': backEnd.secretKey } });
    expect(await response.json()).toEqual({ issuer: app.url, project_id: project.id, client_id: backEnd.client.id });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

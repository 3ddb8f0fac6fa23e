import { createHmac } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeDelegationKeys,
  type ResponseParts,
  startService,
  type TestService,
} from '../../test/delegation-service.ts';
import { json } from '../../test/listen.ts';
import { DelegationError } from '../error.ts';
import { DelegationClient, MfaMethod } from './client.ts';
import type { DelegationClientOptions } from './config.ts';

let service: TestService;
let client: DelegationClient;

beforeEach(async () => {
  service = await startService();
  client = DelegationClient.fromKeys(options());
});
afterEach(() => service.close());

const options = (more: Partial<DelegationClientOptions> = {}): DelegationClientOptions => ({
  spSigningKey: service.sp.sign.privatePem,
  spEncryptionKey: service.sp.encrypt.privatePem,
  idpVerifyKey: service.idp.sign.publicPem,
  idpEncryptionKey: service.idp.encrypt.publicPem,
  baseUrl: service.url,
  spId: service.clientId,
  apiKey: service.apiKey,
  ...more,
});

const environment = () => ({
  LATCHKEY_API_KEY: service.apiKey,
  LATCHKEY_BASE_URL: `${service.url}/`,
  LATCHKEY_SP_ID: service.clientId,
  SP_ED25519_PRIVATE_KEY_PEM: service.sp.sign.privatePem,
  SP_X25519_PRIVATE_KEY_PEM: service.sp.encrypt.privatePem,
  IDP_ED25519_PUBLIC_KEY_PEM: service.idp.sign.publicPem,
  IDP_X25519_PUBLIC_KEY_PEM: service.idp.encrypt.publicPem,
});

async function thrownBy(work: Promise<unknown> | (() => unknown)): Promise<DelegationError> {
  const error = await (typeof work === 'function' ? (async () => work())() : work).then(
    () => expect.fail('it did not throw'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DelegationError);
  return error as DelegationError;
}

const answers = (parts: Partial<ResponseParts>) => {
  service.answer = () => ({ status: 200, body: { mfa_method: 'totp' }, ...parts });
};

describe('operations', () => {
  it('send their input signed and encrypted', async () => {
    service.answer = () => ({ status: 200, body: { session_id: 's-1', sent_to: '+1•••43' } });
    const began = await client.initiateMfaChange({
      userid: 'ada@example.com',
      mfaMethod: MfaMethod.SMS,
      phoneNumber: '+12025550143',
    });
    expect(began).toEqual({ session_id: 's-1', status: 'success', sent_to: '+1•••43' });
    service.answer = () => ({ status: 200, body: {} });
    const verified = await client.verifyMfaChange({ userid: 'ada@example.com', sessionId: 's-1', otp: '123456' });
    expect(verified).toEqual({ status: 'success' });
    service.answer = () => ({ status: 200, body: { mfa_method: 'sms' } });
    expect(await client.getUserCredentials('ada@example.com')).toEqual({ mfa_method: 'sms', status: 'success' });

    expect(service.received.map(({ payload }) => [payload['op'], payload['body']])).toEqual([
      ['initiateMfaChange', { userid: 'ada@example.com', mfa_method: 'sms', phone_number: '+12025550143' }],
      ['verifyMfaChange', { userid: 'ada@example.com', session_id: 's-1', otp: '123456' }],
      ['getUserCredentials', { userid: 'ada@example.com' }],
    ]);
    const [{ inner, outer, payload } = expect.fail()] = service.received;
    expect(inner).toMatchObject({ alg: 'EdDSA', typ: 'delegation-req+jwt' });
    expect(outer).toMatchObject({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe' });
    expect(payload).toMatchObject({
      iss: service.clientId,
      aud: `${service.url}/${service.projectId}`,
      enc_kid: outer['kid'],
      exp: (payload['iat'] as number) + 60,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(service.discoveries).toBe(1);
  });

  it('skip discovery if projectId is given', async () => {
    client = DelegationClient.fromKeys(options({ projectId: service.projectId }));
    await client.getUserCredentials('ada@example.com');
    expect(service.discoveries).toBe(0);
  });

  it.each([
    [404, 'USER_NOT_FOUND'],
    [403, 'PHONE_LOCKED_BY_PROVISIONING'],
    [400, 'CODE_REJECTED'],
    [429, 'RATE_LIMITED'],
  ])('return status failed for %i %s', async (status, code) => {
    answers({ status, body: { error: { code, message: 'No.', retry_after: 30 } } });
    const failed = { status: 'failed', message: 'No.', code, retry_after: 30 };
    const begin = { userid: 'ada@example.com', mfaMethod: MfaMethod.EMAIL };
    expect(await client.initiateMfaChange(begin)).toEqual({ session_id: '', ...failed });
    expect(await client.verifyMfaChange({ userid: 'a', sessionId: 's', otp: '000000' })).toEqual(failed);
    expect(await client.getUserCredentials('a')).toEqual({ mfa_method: 'none', ...failed });
  });

  it.each([
    [400, 'REQUEST_REJECTED', 'REQUEST_REJECTED'],
    [400, 'STALE', 'STALE'],
    [409, 'REPLAYED', 'REPLAYED'],
    [400, 'INVALID_REQUEST', 'INVALID_INPUT'],
    [503, 'TEMPORARILY_UNAVAILABLE', 'TEMPORARILY_UNAVAILABLE'],
    [500, 'SERVER_ERROR', 'SERVER_ERROR'],
    [500, 'A_CODE_OF_THE_FUTURE', 'SERVER_ERROR'],
  ])('throw if the request itself failed (%i %s)', async (status, code, thrown) => {
    answers({ status, body: { error: { code, message: 'No.', request_id: 'r-1' } } });
    expect(await thrownBy(client.getUserCredentials('a'))).toMatchObject({ code: thrown, requestId: 'r-1' });
  });

  it('validate their input before sending', async () => {
    const wrong: (() => Promise<unknown>)[] = [
      () => client.getUserCredentials(''),
      () => client.getUserCredentials(undefined as never),
      () => client.initiateMfaChange({ userid: 'a', mfaMethod: 'push' as never }),
      () => client.initiateMfaChange({ userid: 'a', mfaMethod: MfaMethod.SMS }),
      () => client.verifyMfaChange({ userid: 'a', sessionId: '', otp: '123456' }),
      () => client.verifyMfaChange({ userid: 'a', sessionId: 's', otp: '' }),
    ];
    for (const one of wrong) expect((await thrownBy(one)).code).toBe('INVALID_INPUT');
    expect((await thrownBy(client.getUserCredentials('x'.repeat(70_000)))).code).toBe('REQUEST_TOO_LARGE');
    expect(service.received).toEqual([]);
  });
});

describe('response', () => {
  const rejected = async () => expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('RESPONSE_REJECTED');

  it('is rejected unless the service signed it for this client', async () => {
    const stranger = makeDelegationKeys();
    for (const deviation of [
      { signWith: stranger.sign.privateKey },
      { encryptTo: stranger.encrypt.publicKey },
      { claims: { iss: `${service.url}/another-project` } },
      { claims: { aud: 'another-client' } },
      { inner: { typ: 'delegation-req+jwt' } },
      { inner: { typ: undefined } },
      { inner: { jwk: stranger.sign.publicKey.export({ format: 'jwk' }) } },
      { inner: { jku: 'https://evil.example/jwks' } },
      { outer: { typ: 'delegation-req+jwe' } },
      { outer: { cty: undefined } },
      { outer: { x5u: 'https://evil.example/' } },
    ]) {
      answers(deviation);
      await rejected();
    }
  });

  it('is rejected without an inner signature', async () => {
    const none = Buffer.from('{"alg":"none","typ":"delegation-res+jwt"}').toString('base64url');
    const payload = Buffer.from('{"status":200,"body":{}}').toString('base64url');
    const hs = Buffer.from('{"alg":"HS256","typ":"delegation-res+jwt"}').toString('base64url');
    const mac = createHmac('sha256', service.idp.sign.publicPem).update(`${hs}.${payload}`).digest('base64url');
    for (const raw of ['{"status":200,"body":{}}', `${none}.${payload}.`, `${hs}.${payload}.${mac}`, '']) {
      answers({ raw });
      await rejected();
    }
  });

  it('is rejected if it belongs to another request', async () => {
    service.override = undefined;
    answers({ claims: { req_jti: 'another' } });
    await rejected();
    answers({ claims: { req_jti: undefined } });
    await rejected();
    answers({ claims: { req_hash: 'another' } });
    await rejected();
    let first: string | undefined;
    service.seal = ((seal) => async (received: never, parts: never) => {
      first ??= await seal(received, parts);
      return first;
    })(service.seal.bind(service)) as never;
    answers({});
    await client.getUserCredentials('ada@example.com');
    await rejected();
  });

  it('is rejected as STALE if expired or issued in the future', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [
      { iat: now - 200, exp: now - 140 },
      { iat: now + 200, exp: now + 260 },
    ]) {
      for (const status of [200, 400]) {
        answers({ claims, status, body: { error: { code: 'REQUEST_REJECTED', message: 'No.' } } });
        const { code, message } = await thrownBy(client.getUserCredentials('a'));
        expect([code, message]).toEqual(['STALE', expect.stringContaining('clock')]);
      }
    }
    answers({ claims: { exp: undefined } });
    await rejected();
  });

  it('is rejected if its status or body is invalid', async () => {
    for (const claims of [{ status: '200' }, { status: undefined }, { body: null }, { body: 'x' }]) {
      answers({ claims });
      await rejected();
    }
  });

  it('is rejected with any byte altered', async () => {
    await client.getUserCredentials('ada@example.com');
    const [received = expect.fail()] = service.received;
    let altered = '';
    service.override = (req, res) => {
      req.resume();
      res.writeHead(200, { 'Content-Type': 'application/jose' }).end(altered);
    };
    const text = await service.seal(received, { status: 200, body: {} });
    for (let at = 0; at < text.length; at += 7) {
      altered = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      await rejected();
    }
  });

  it('is limited in size and time, and redirects are not followed', async () => {
    const type = { 'Content-Type': 'application/jose' };
    service.override = (_req, res) => void res.writeHead(200, type).end('x'.repeat(200_000));
    client = DelegationClient.fromKeys(options({ projectId: service.projectId, timeoutMs: 100 }));
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('RESPONSE_TOO_LARGE');
    service.override = (_req, res) => void res.writeHead(307, { Location: 'https://evil.example' }).end();
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('REDIRECTED');
    service.override = () => {};
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('TIMEOUT');
    await service.close();
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('NETWORK');
  });

  it.each([
    [401, { error: { code: 'INVALID_CLIENT' } }, 'INVALID_CLIENT'],
    [409, { error: { code: 'NOT_CONFIGURED' } }, 'NOT_CONFIGURED'],
    [400, { error: { code: 'REQUEST_REJECTED' } }, 'REQUEST_REJECTED'],
    [503, { error: { code: 'TEMPORARILY_UNAVAILABLE', retry_after: 5 } }, 'TEMPORARILY_UNAVAILABLE'],
    [502, 'nonsense', 'SERVER_ERROR'],
    [200, { status: 200, body: { mfa_method: 'none' } }, 'RESPONSE_INVALID'],
    [404, {}, 'RESPONSE_INVALID'],
  ])('without encryption (%i) is never a result', async (status, body, code) => {
    client = DelegationClient.fromKeys(options({ projectId: service.projectId }));
    service.override = (_req, res) => json(res, status, body);
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe(code);
  });

  it('of discovery must be for this client', async () => {
    client = DelegationClient.fromKeys(options({ spId: 'another' }));
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('INVALID_CONFIGURATION');
    service.override = (_req, res) => json(res, 200, 'nonsense');
    expect((await thrownBy(client.getUserCredentials('a'))).code).toBe('RESPONSE_INVALID');
    service.override = undefined;
    client = DelegationClient.fromKeys(options());
    await client.getUserCredentials('a');
  });
});

describe('DelegationClient.fromEnv', () => {
  it('reads keys as PEM, with literal \\n, or as paths', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'latchkey-keys-')), 'sp.pem');
    await writeFile(path, service.sp.sign.privatePem);
    const env = {
      ...environment(),
      SP_ED25519_PRIVATE_KEY_PEM: path,
      IDP_X25519_PUBLIC_KEY_PEM: service.idp.encrypt.publicPem.replaceAll('\n', '\\n'),
    };
    answers({});
    expect(await DelegationClient.fromEnv(env).getUserCredentials('a')).toMatchObject({ mfa_method: 'totp' });
  });

  it('lists every missing variable', async () => {
    const error = await thrownBy(() => DelegationClient.fromEnv({}));
    expect(error.code).toBe('INVALID_CONFIGURATION');
    expect(error.faults).toEqual(Object.keys(environment()).map((name) => `${name} is missing`));
    for (const name of Object.keys(environment())) expect(error.message).toContain(name);
  });

  it('lists every invalid variable without its value', async () => {
    const env = {
      ...environment(),
      LATCHKEY_API_KEY: 'lk_sk_ \n',
      LATCHKEY_BASE_URL: 'http://id.example.com',
      SP_ED25519_PRIVATE_KEY_PEM: service.sp.encrypt.privatePem,
      SP_X25519_PRIVATE_KEY_PEM: service.sp.encrypt.publicPem,
      IDP_ED25519_PUBLIC_KEY_PEM: service.sp.sign.privatePem,
      IDP_X25519_PUBLIC_KEY_PEM: '/nowhere.pem',
    };
    const error = await thrownBy(() => DelegationClient.fromEnv(env));
    expect(error.faults).toEqual([
      'LATCHKEY_API_KEY contains invalid characters',
      'LATCHKEY_BASE_URL is not an https URL',
      'SP_ED25519_PRIVATE_KEY_PEM is a key of type x25519, not ed25519',
      'SP_X25519_PRIVATE_KEY_PEM is not a private key in PEM',
      'IDP_ED25519_PUBLIC_KEY_PEM is a private key: pass the public key',
      'IDP_X25519_PUBLIC_KEY_PEM is neither a PEM nor a readable file',
    ]);
  });
});

import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as Library from '../src/index.ts';
import { type startService as Start, startService } from './delegation-service.ts';
import { makeKey, startProvider, type TestProvider } from './provider.ts';

/** The common API of web runtimes (WinterTC's Minimum Common Web API): no Node module, Buffer or process. */
const globals = {
  ...{ AbortController, AbortSignal, ArrayBuffer, DOMException, Headers, Request, Response, TextDecoder, TextEncoder },
  ...{
    URL,
    URLSearchParams,
    Uint8Array,
    atob,
    btoa,
    clearTimeout,
    console,
    crypto,
    fetch,
    setTimeout,
    structuredClone,
  },
};

let library: typeof Library;
let provider: TestProvider;
let service: Awaited<ReturnType<typeof Start>>;

beforeAll(async () => {
  const built = await build({
    configFile: false,
    root: new URL('..', import.meta.url).pathname,
    logLevel: 'error',
    build: { write: false, minify: false, lib: { entry: 'src/index.ts', formats: ['iife'], name: 'latchkey' } },
  });
  const [output] = [built].flat();
  const [chunk] = output && 'output' in output ? output.output : [];
  library = runInContext(`${chunk?.code};latchkey`, createContext({ ...globals })) as typeof Library;
  [provider, service] = await Promise.all([startProvider(), startService()]);
});
afterAll(() => Promise.all([provider.close(), service.close()]));

describe('a runtime with Web APIs only', () => {
  it('exchanges a code, by the keys of the service', async () => {
    const claims = await library.exchangeCodeForClaims({
      code: 'code',
      oauthTokenUrl: `${provider.url}/oauth2/token`,
      jwksUrl: `${provider.url}/.well-known/jwks.json`,
      clientId: provider.clientId,
      apiKey: provider.apiKey,
    });
    expect(claims.sub).toBe('user-1');
  });

  it.each(['RS256', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])('verifies %s, and no altered token', async (alg) => {
    const key = await makeKey(alg);
    const token = await provider.idToken({}, { alg }, key);
    expect(await library.verifyJwt(token, key.pem, { algorithms: [alg] })).toMatchObject({ sub: 'user-1' });
    const [header, , signature] = token.split('.');
    const altered = `${header}.${btoa('{"sub":"eve"}').replace(/=+$/, '')}.${signature}`;
    const refused = library.verifyJwt(altered, key.pem, { algorithms: [alg] });
    await expect(refused).rejects.toMatchObject({ code: 'SIGNATURE_INVALID' });
  });

  it('verifies logout tokens', async () => {
    const options = { clientId: provider.clientId, issuer: provider.url, publicKey: provider.key.pem };
    expect(await library.verifyLogoutToken(await provider.logoutToken(), options)).toMatchObject({ sub: 'user-1' });
  });

  it('delegates', async () => {
    const { apiKey, clientId: spId, idp, sp, url: baseUrl } = service;
    service.answer = () => ({ status: 200, body: { mfa_method: 'totp' } });
    const client = library.DelegationClient.fromKeys({
      ...{ apiKey, baseUrl, spId },
      spSigningKey: sp.sign.privatePem,
      spEncryptionKey: sp.encrypt.privatePem,
      idpVerifyKey: idp.sign.publicPem,
      idpEncryptionKey: idp.encrypt.publicPem,
    });
    expect(await client.getUserCredentials('ada@example.com')).toMatchObject({ mfa_method: 'totp', status: 'success' });
  });

  it('keeps sessions in sealed cookies', async () => {
    const app = library.createLatchkey({
      ...{ issuer: provider.url, clientId: provider.clientId, apiKey: provider.apiKey },
      redirectUri: 'https://app.example.com/auth/callback',
      session: { secret: 'a secret of at least 32 characters' },
    });
    const headers = { 'Content-Type': 'application/json', Origin: 'https://app.example.com' };
    const post = { method: 'POST', headers, body: '{"code":"c"}' };
    const signedIn = await app.handle(new Request('https://app.example.com/auth/sign-in', post));
    const cookie = signedIn?.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const visit = new Request('https://app.example.com/account', { headers: { cookie } });
    expect(await app.getSession(visit)).toMatchObject({ sub: 'user-1' });
  });

  it('refuses the path of a key with a clear error', async () => {
    const refused = library.verifyJwt(await provider.idToken(), '/etc/key.pem', { algorithms: ['ES512'] });
    await expect(refused).rejects.toMatchObject({ code: 'KEY_FILE_UNREADABLE' });
  });
});

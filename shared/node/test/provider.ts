import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  calculateJwkThumbprint,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { json, type Listening, listen, textOf } from './listen.ts';

export interface TestKey {
  alg: string;
  kid: string;
  jwk: JWK;
  pem: string;
  privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
}

export async function makeKey(alg: string): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { alg, kid, jwk: { ...jwk, kid, alg, use: 'sig' }, pem: await exportSPKI(publicKey), privateKey };
}

interface TokenRequest {
  form: URLSearchParams;
  headers: IncomingMessage['headers'];
}

/** Token endpoint and key set of a service with real keys; responses can be overridden. */
export interface TestProvider extends Listening {
  key: TestKey;
  clientId: string;
  apiKey: string;
  requests: TokenRequest[];
  /** Number of key set requests. */
  jwksRequests: number;
  /** Number of requests for the discovery document. */
  discoveries: number;
  /** The discovery document. */
  discovery(): Record<string, unknown>;
  /** Overrides the response of a path. */
  override: Record<string, ((req: IncomingMessage, res: ServerResponse) => void) | undefined>;
  /** ID token of the next exchange. */
  nextIdToken?: string | undefined;
  idToken(claims?: JWTPayload, header?: { alg?: string; typ?: string; kid?: string }, key?: TestKey): Promise<string>;
  logoutToken(claims?: JWTPayload, header?: { typ?: string }): Promise<string>;
}

export const nowSeconds = () => Math.floor(Date.now() / 1000);

export async function startProvider(): Promise<TestProvider> {
  const key = await makeKey('ES512');
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const path = new URL(req.url ?? '/', 'http://x').pathname;
    const replaced = provider.override[path];
    if (path === '/.well-known/jwks.json') provider.jwksRequests += 1;
    if (path === '/oauth2/token') {
      provider.requests.push({ form: new URLSearchParams(await textOf(req)), headers: req.headers });
    }
    if (replaced) return replaced(req, res);
    if (path === '/.well-known/jwks.json') return json(res, 200, { keys: [provider.key.jwk] });
    if (path === '/.well-known/openid-configuration') {
      provider.discoveries += 1;
      return json(res, 200, provider.discovery());
    }
    if (path === '/userinfo') return json(res, 200, { sub: 'user-1', name: 'Ada' });
    if (path === '/oauth2/token') {
      return json(res, 200, {
        id_token: provider.nextIdToken ?? (await provider.idToken()),
        access_token: 'opens-userinfo',
        token_type: 'Bearer',
        expires_in: 300,
        scope: 'openid profile email phone',
      });
    }
    return json(res, 404, {});
  };
  const listening = await listen((req, res) => void handle(req, res));
  const sign = (claims: JWTPayload, header: { alg?: string; typ?: string; kid?: string }, by: TestKey) =>
    new SignJWT(claims).setProtectedHeader({ alg: by.alg, kid: by.kid, ...header }).sign(by.privateKey);
  const common = () => ({ iss: listening.url, aud: provider.clientId, iat: nowSeconds(), jti: crypto.randomUUID() });
  const provider: TestProvider = {
    ...listening,
    key,
    clientId: '0193b0a1-0000-7000-8000-000000000001',
    apiKey: `lk_sk_${'k'.repeat(43)}`,
    requests: [],
    jwksRequests: 0,
    discoveries: 0,
    discovery: () => ({
      issuer: listening.url,
      authorization_endpoint: `${listening.url}/authorize`,
      token_endpoint: `${listening.url}/oauth2/token`,
      userinfo_endpoint: `${listening.url}/userinfo`,
      end_session_endpoint: `${listening.url}/oauth2/end_session`,
      jwks_uri: `${listening.url}/.well-known/jwks.json`,
      id_token_signing_alg_values_supported: ['ES512', 'HS256'],
    }),
    override: {},
    idToken: (claims = {}, header = {}, by = provider.key) =>
      sign(
        {
          ...common(),
          sub: 'user-1',
          nbf: nowSeconds(),
          exp: nowSeconds() + 60,
          email: 'ada@example.com',
          email_verified: true,
          ...claims,
        },
        { typ: 'JWT', ...header },
        by,
      ),
    logoutToken: (claims = {}, header = {}) =>
      sign(
        {
          ...common(),
          sub: 'user-1',
          exp: nowSeconds() + 120,
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        { typ: 'secevent+jwt', ...header },
        provider.key,
      ),
  };
  return provider;
}

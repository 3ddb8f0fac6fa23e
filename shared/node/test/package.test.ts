import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { advice } from '../src/error.ts';
import { type startService as Start, startService } from './delegation-service.ts';
import { ended, freePort, type Installed, install, snippetsOf } from './installed.ts';
import { json } from './listen.ts';
import { startProvider, type TestProvider } from './provider.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

const snippets = snippetsOf(readme);

let installed: Installed;
let provider: TestProvider;

beforeAll(async () => {
  installed = await install();
});
afterAll(() => installed.remove());
beforeEach(async () => {
  provider = await startProvider();
});
afterEach(() => provider.close());

const environment = () => ({
  LATCHKEY_BASE_URL: provider.url,
  LATCHKEY_CLIENT_ID: provider.clientId,
  LATCHKEY_API_KEY: provider.apiKey,
});

describe('packed tarball', () => {
  const names = [
    'DelegationClient',
    'DelegationError',
    'InvalidPublicKeyError',
    'JWTVerificationError',
    'LatchkeyNodeError',
    'MemoryReplayStore',
    'MemorySessionRevocations',
    'MfaMethod',
    'OAuthExchangeError',
    'RelyingPartyError',
    'createLatchkey',
    'createLatchkeyHandlers',
    'createLatchkeyMiddleware',
    'exchangeCodeForClaims',
    'exchangeCodeForTokenAndClaims',
    'expressAdapter',
    'fastifyAdapter',
    'honoAdapter',
    'nextAdapter',
    'verifyJwt',
    'verifyLogoutToken',
  ];
  const programs = {
    'ES modules': `import * as library from '@latchkey/node';`,
    CommonJS: `const library = require('@latchkey/node');`,
  };

  it.each(Object.entries(programs))(
    'works in an empty folder, with %s, on every available Node',
    async (kind, load) => {
      for (const node of installed.nodes) {
        const token = await provider.idToken();
        const program = `${load}
        const names = Object.keys(library).filter((name) => name !== 'default' && name !== 'module.exports').sort();
        library.verifyJwt(${JSON.stringify(token)}, ${JSON.stringify(provider.key.pem)}, { algorithms: ['ES512'] })
          .then(({ sub }) => console.log(JSON.stringify({ names, sub })));`;
        const printed = await installed.node(program, { commonjs: kind === 'CommonJS', node });
        expect(JSON.parse(printed)).toEqual({ names, sub: 'user-1' });
      }
    },
  );

  it('depends only on jose, and has types for ES modules and CommonJS', () => {
    const at = (path: string) => readFileSync(join(installed.folder, 'node_modules/@latchkey/node', path), 'utf8');
    const manifest = JSON.parse(at('package.json')) as { dependencies: object; exports: Record<string, any> };
    expect(Object.keys(manifest.dependencies)).toEqual(['jose']);
    for (const kind of ['import', 'require']) {
      expect(at(manifest.exports['.'][kind].types)).toContain('exchangeCodeForClaims');
      expect(at(manifest.exports['.'][kind].types)).not.toContain('jose');
    }
  });
});

describe('types of the packed tarball', () => {
  it.each(['mts', 'cts'])('are strict and compatible with Express in a .%s file', async (extension) => {
    const program = `
      import express, { type Request, type Response } from 'express';
      import {
        type Claims, createLatchkeyMiddleware, DelegationClient, type DelegationClientOptions,
        type ExchangeCodeForClaimsOptions, exchangeCodeForClaims, type InitiateMfaChangeOptions, type MfaChangeResult,
        MfaMethod, OAuthExchangeError, type UserCredentials, type VerifyJwtOptions, type VerifyMfaChangeOptions,
        type VerifyMfaChangeResult, verifyJwt,
      } from '@latchkey/node';

      declare const options: ExchangeCodeForClaimsOptions;
      declare const keys: DelegationClientOptions;
      declare const rules: VerifyJwtOptions;
      const claims: Promise<Claims> = exchangeCodeForClaims(options);
      const email: Promise<string> = claims.then((one) => one.email);
      const typed: Promise<{ role: string }> = verifyJwt<{ role: string }>('a', Buffer.from('b'), rules);
      const client = DelegationClient.fromKeys(keys);
      const begin: InitiateMfaChangeOptions = { userid: 'a', mfaMethod: MfaMethod.SMS, phoneNumber: '+1' };
      const began: Promise<MfaChangeResult> = client.initiateMfaChange(begin);
      const complete: VerifyMfaChangeOptions = { userid: 'a', sessionId: 's', otp: '1' };
      const completed: Promise<VerifyMfaChangeResult> = client.verifyMfaChange(complete);
      const credentials: Promise<UserCredentials> = DelegationClient.fromEnv().getUserCredentials('a');
      // @ts-expect-error no such code
      export const wrong = (error: OAuthExchangeError) => error.code === 'NONSENSE';
      const latchkey = createLatchkeyMiddleware({ baseUrl: 'x', clientId: 'x', apiKey: 'x' });
      express()
        .post('/a', latchkey.signIn({ onSignIn: (signIn, req: Request, res: Response) => res.json(req.path + signIn.claims.sub) }))
        .post('/b', latchkey.backchannelLogout({ onLogout: ({ sub, sid }) => void [sub, sid] }));
      export const all = [email, typed, began, completed, credentials];`;
    installed.write(`consumer.${extension}`, program);
    const checked = '--skipLibCheck false --skipDefaultLibCheck';
    const settings = `--noEmit --strict --module nodenext --target es2022 --types node ${checked}`.split(' ');
    expect(await installed.tsc([...settings, `consumer.${extension}`])).toBe('');
  });
});

describe('README', () => {
  const use = (name: string, program: string, env: Record<string, string> = environment(), node?: string) => {
    const text = snippets.get(name);
    if (text === undefined) throw new Error(`The README has no snippet ${name}.`);
    installed.write(`${name}.mjs`, text);
    return installed.node(`import * as snippet from './${name}.mjs';\n${program}`, { env, ...(node ? { node } : {}) });
  };

  it('has no untested snippet', () => {
    expect([...snippets.keys()]).toEqual([
      'exchange',
      'commonjs',
      'sessions-express',
      'sessions-fastify',
      'sessions-hono',
      // `npm run interop` has Next.js itself.
      'next-auth',
      'next-proxy',
      'sessions-fetch',
      'revocations',
      'express',
      'fetch',
      'replay-store',
      'tokens',
      'delegation',
      'errors',
    ]);
    expect(readme.match(/```(js|ts)\n/g)).toHaveLength(snippets.size);
  });

  it('lists every code with its fix', () => {
    const rows = Object.entries(advice).flatMap(([name, codes]) => [
      '',
      `**${name}**${name === 'JWTVerificationError' ? ', in addition to those of `InvalidPublicKeyError`' : ''}`,
      '',
      '| code | fix |',
      '|---|---|',
      ...Object.entries(codes)
        .filter(([code]) => name !== 'JWTVerificationError' || !(code in advice.InvalidPublicKeyError))
        .map(([code, sentence]) => `| \`${code}\` | ${sentence} |`),
    ]);
    const listed = /<!-- codes -->\n([\s\S]*)\n<!-- \/codes -->/.exec(readme)?.[1]?.trim();
    expect(listed).toBe(rows.join('\n').trim());
  });

  it('exchanges a code', async () => {
    const program = `console.log(JSON.stringify(await snippet.signIn({ code: 'c', code_verifier: '${'v'.repeat(43)}' })));`;
    expect(JSON.parse(await use('exchange', program))).toEqual({ userId: 'user-1', email: 'ada@example.com' });
    expect(provider.requests[0]?.form.get('code_verifier')).toBe('v'.repeat(43));
  });

  it('exchanges a code in CommonJS', async () => {
    provider.override['/oauth2/token'] = (_req, res) => json(res, 400, { error: 'invalid_grant' });
    installed.write('commonjs.cjs', snippets.get('commonjs') ?? '');
    const options = JSON.stringify({
      code: 'c',
      oauthTokenUrl: `${provider.url}/oauth2/token`,
      jwksUrl: `${provider.url}/.well-known/jwks.json`,
      clientId: provider.clientId,
      apiKey: provider.apiKey,
    });
    const program = `require('./commonjs.cjs').signIn(${options}).then(console.log);`;
    expect(await installed.node(program, { commonjs: true })).toBe('null\n');
  });

  it('runs a relying party with Express', async () => {
    const port = await freePort();
    installed.write('express.mjs', snippets.get('express') ?? '');
    const at = `http://127.0.0.1:${port}`;
    const env = { ...environment(), PATH: process.env['PATH'] ?? '', PORT: `${port}`, REDIRECT_URI: `${at}/callback` };
    const server = spawn(process.execPath, ['express.mjs'], { cwd: installed.folder, env });
    try {
      await once(server.stdout, 'data');
      const signIn = () =>
        fetch(`${at}/sign-in`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ code: 'c' }),
        });
      const account = async (cookie: string) => (await fetch(`${at}/account`, { headers: { cookie } })).status;
      const cookieOf = (response: Response) => response.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';

      provider.nextIdToken = await provider.idToken({ sid: 's-1' });
      const first = cookieOf(await signIn());
      provider.nextIdToken = await provider.idToken({ sid: 's-2' });
      const second = cookieOf(await signIn());
      expect([await account(first), await account(second), await account('')]).toEqual([200, 200, 401]);

      const logOut = async (claims: Record<string, unknown>) =>
        fetch(`${at}/backchannel-logout`, {
          method: 'POST',
          body: new URLSearchParams({ logout_token: await provider.logoutToken(claims) }),
        });
      expect((await logOut({ sid: 's-1' })).status).toBe(200);
      expect([await account(first), await account(second)]).toEqual([401, 200]);
      await logOut({});
      expect(await account(second)).toBe(401);

      const begun = await fetch(`${at}/login`, { redirect: 'manual' });
      const asked = new URL(begun.headers.get('location') ?? '').searchParams;
      provider.nextIdToken = await provider.idToken({ nonce: asked.get('nonce') });
      const query = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '', iss: provider.url });
      const back = await fetch(`${at}/callback?${query}`, { headers: { cookie: cookieOf(begun) }, redirect: 'manual' });
      expect(back.headers.get('location')).toBe('/account');
      expect(await account(cookieOf(back))).toBe(200);
    } finally {
      await ended(server);
    }
  });

  it('runs a relying party with requests of the Fetch standard', async () => {
    const program = `
      const [app, at] = [snippet.default, 'https://app.example.com'];
      const cookieOf = (response) => response.headers.getSetCookie().at(-1)?.split(';')[0];
      const account = async (cookie) => (await app.fetch(new Request(at + '/account', { headers: { cookie } }))).status;
      const body = JSON.stringify({ code: 'c' });
      const headers = { 'Content-Type': 'application/json' };
      const signedIn = await app.fetch(new Request(at + '/sign-in', { method: 'POST', headers, body }));
      const before = await account(cookieOf(signedIn));
      const logoutToken = new URLSearchParams({ logout_token: ${JSON.stringify(await provider.logoutToken())} });
      const ended = await app.fetch(new Request(at + '/backchannel-logout', { method: 'POST', body: logoutToken }));
      const begun = await app.fetch(new Request(at + '/login'));
      const statuses = [signedIn.status, before, ended.status, await account(cookieOf(signedIn)), begun.status];
      console.log(JSON.stringify([...statuses, new URL(begun.headers.get('location')).pathname]));`;
    const printed = await use('fetch', program, { ...environment(), REDIRECT_URI: 'https://app.example.com/callback' });
    expect(JSON.parse(printed)).toEqual([204, 200, 200, 401, 303, '/authorize']);
  });

  it('stores used logout tokens in a table', async () => {
    const program = `
      const seen = new Set();
      const store = snippet.replayStore({ query: async (sql, [id]) => {
        if (sql.startsWith('delete')) return { rowCount: seen.delete(id) ? 1 : 0 };
        const fresh = !seen.has(id);
        seen.add(id);
        return { rowCount: fresh ? 1 : 0 };
      } });
      const results = [await store.remember('a', new Date()), await store.remember('a', new Date())];
      await store.forget('a');
      console.log(JSON.stringify([...results, await store.remember('a', new Date())]));`;
    expect(JSON.parse(await use('replay-store', program))).toEqual([true, false, true]);
  });

  it('verifies tokens', async () => {
    const [idToken, logoutToken] = [await provider.idToken(), await provider.logoutToken()];
    const program = `
      const { sub } = await snippet.verifyIdToken(${JSON.stringify(idToken)}, ${JSON.stringify(provider.key.pem)});
      const logout = await snippet.verifyLogout(${JSON.stringify(logoutToken)});
      const again = await snippet.verifyLogout(${JSON.stringify(logoutToken)}).catch((error) => error.code);
      console.log(JSON.stringify([sub, logout.sub, again]));`;
    expect(JSON.parse(await use('tokens', program))).toEqual(['user-1', 'user-1', 'REPLAYED']);
  });

  it('changes a second factor', async () => {
    const service = await startService();
    try {
      service.answer = ({ payload }) => {
        const { otp, userid } = payload['body'] as { otp?: string; userid: string };
        if (userid === 'unknown') return { status: 404, body: { error: { code: 'USER_NOT_FOUND', message: 'No.' } } };
        if (payload['op'] === 'initiateMfaChange') return { status: 200, body: { session_id: 's-1' } };
        if (payload['op'] === 'getUserCredentials') return { status: 200, body: { mfa_method: 'sms' } };
        if (otp === '123456') return { status: 200, body: {} };
        return { status: 400, body: { error: { code: 'CODE_REJECTED', message: 'No.' } } };
      };
      const program = `
        const session = await snippet.beginChange('ada@example.com', '+12025550143');
        const [wrong, right] = [await snippet.completeChange('a', session, '000000'), await snippet.completeChange('a', session, '123456')];
        const unknown = await snippet.currentFactor('unknown').catch(({ message }) => message);
        console.log(JSON.stringify([session, wrong, right, await snippet.currentFactor('a'), unknown]));`;
      for (const node of installed.nodes) {
        const printed = await use('delegation', program, environmentOf(service), node);
        expect(JSON.parse(printed)).toEqual(['s-1', false, true, 'sms', 'No.']);
      }
    } finally {
      await service.close();
    }
  });

  it('handles errors', async () => {
    const program = `
      import { InvalidPublicKeyError, OAuthExchangeError, verifyJwt } from '@latchkey/node';
      const refused = await verifyJwt('a.b.c', ${JSON.stringify(provider.key.pem)}).catch((error) => error);
      const errors = [new OAuthExchangeError('INVALID_GRANT', 'x'), new OAuthExchangeError('NETWORK', 'x'),
        new InvalidPublicKeyError('KEY_MISSING', 'x'), refused];
      console.log(JSON.stringify(errors.map((error) => snippet.responseTo(error)[0])));`;
    expect(JSON.parse(await use('errors', program))).toEqual([401, 500, 500, 401]);
  });
});

function environmentOf(service: Awaited<ReturnType<typeof Start>>): Record<string, string> {
  return {
    LATCHKEY_API_KEY: service.apiKey,
    LATCHKEY_BASE_URL: service.url,
    LATCHKEY_SP_ID: service.clientId,
    SP_ED25519_PRIVATE_KEY_PEM: service.sp.sign.privatePem,
    SP_X25519_PRIVATE_KEY_PEM: service.sp.encrypt.privatePem,
    IDP_ED25519_PUBLIC_KEY_PEM: service.idp.sign.publicPem,
    IDP_X25519_PUBLIC_KEY_PEM: service.idp.encrypt.publicPem,
  };
}

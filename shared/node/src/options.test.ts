/** Options of every export that are a number, a flag, a function, a URL or a signal. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLatchkey } from './app/create-latchkey.ts';
import { DelegationClient } from './delegation/client.ts';
import type { DelegationClientOptions } from './delegation/config.ts';
import { DelegationError, JWTVerificationError, OAuthExchangeError } from './error.ts';
import { exchangeCodeForClaims } from './exchange.ts';
import { createLatchkeyHandlers } from './handlers.ts';
import { verifyLogoutToken } from './logout-token.ts';
import { createLatchkeyMiddleware } from './middleware.ts';
import { verifyJwt } from './verify-jwt.ts';

const base = { baseUrl: 'https://id.example.com', clientId: 'c', apiKey: 'lk_sk_x' };
const exchange = {
  ...{ code: 'x', oauthTokenUrl: 'https://id.example.com/oauth2/token', clientId: 'c', apiKey: 'lk_sk_x' },
  jwksUrl: 'https://id.example.com/.well-known/jwks.json',
};
const session = { secret: 'x'.repeat(32) };
const app = { issuer: 'https://id.example.com', clientId: 'c', apiKey: 'lk_sk_x' };
const redirectUri = 'https://app.example.com/auth/callback';

const notNumbers = ['5', 1.5, true, Number.NaN, Number.POSITIVE_INFINITY, 0, -1, {}];
const notFunctions = ['x', 1, {}, true];
const notUrls = ['x', 7, {}, ''];
/** A polyfill: it has the methods, and is no AbortSignal. */
const foreign = { aborted: false, addEventListener() {}, removeEventListener() {}, throwIfAborted() {} };

async function thrown(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return expect.fail('it did not throw');
}

const pem = (type: 'ed25519' | 'x25519', half: 'privateKey' | 'publicKey') =>
  generateKeyPairSync(type as 'ed25519')
    [half].export({ format: 'pem', type: half === 'privateKey' ? 'pkcs8' : 'spki' } as never)
    .toString();
const keys: DelegationClientOptions = {
  ...{ baseUrl: 'https://id.example.com', spId: 'c', apiKey: 'lk_sk_x' },
  ...{ spSigningKey: pem('ed25519', 'privateKey'), spEncryptionKey: pem('x25519', 'privateKey') },
  ...{ idpVerifyKey: pem('ed25519', 'publicKey'), idpEncryptionKey: pem('x25519', 'publicKey') },
};

const cases: [name: string, error: unknown, call: (value: never) => unknown, values: readonly unknown[]][] = [
  ...(
    [
      ['timeoutMs', notNumbers],
      ['signal', [foreign, {}, 'x', 1]],
      ['allowInsecureHttp', ['false', 0, {}]],
      ['leeway', ['5', true, Number.NaN, -1]],
      ['oauthTokenUrl', notUrls],
      ['jwksUrl', notUrls],
    ] as const
  ).map(([name, values]): (typeof cases)[number] => [
    `${name} of exchangeCodeForClaims`,
    OAuthExchangeError,
    (value) => exchangeCodeForClaims({ ...exchange, [name]: value }),
    values,
  ]),
  ...(
    [
      ['timeoutMs', notNumbers],
      ['allowInsecureHttp', ['false', 0]],
      ['baseUrl', notUrls],
      ['projectId', [7, {}, '']],
    ] as const
  ).map(([name, values]): (typeof cases)[number] => [
    `${name} of DelegationClient`,
    DelegationError,
    (value) => DelegationClient.fromKeys({ ...keys, [name]: value }),
    values,
  ]),
  ...(
    [
      ['onSignIn', notFunctions],
      ['onError', notFunctions],
      ['leeway', ['5', true]],
      ['allowInsecureHttp', ['false', 0]],
      ['replayStore', [{}, 'x', { remember() {} }]],
      ['postLogoutRedirectUri', notUrls],
      ['issuer', notUrls],
      ['failurePath', [7, {}, '']],
    ] as const
  ).map(([name, values]): (typeof cases)[number] => [
    `${name} of createLatchkey`,
    OAuthExchangeError,
    (value) => createLatchkey({ ...app, redirectUri, session, [name]: value }),
    values,
  ]),
  ...(['idleSeconds', 'lifetimeSeconds'] as const).map((name): (typeof cases)[number] => [
    `session.${name} of createLatchkey`,
    OAuthExchangeError,
    (value) => createLatchkey({ ...app, redirectUri, session: { ...session, [name]: value } }).routes,
    ['3600', 3600.5, true, Number.NaN, Number.POSITIVE_INFINITY, 59],
  ]),
  ...[createLatchkeyMiddleware, createLatchkeyHandlers].flatMap((create): typeof cases => [
    ...(
      [
        ['onError', notFunctions],
        ['replayStore', [{}, 'x']],
        ['allowInsecureHttp', ['false']],
        ['leeway', ['5']],
        ['redirectUri', notUrls],
        ['baseUrl', notUrls],
      ] as const
    ).map(([name, values]): (typeof cases)[number] => [
      `${name} of ${create.name}`,
      OAuthExchangeError,
      (value) => create({ ...base, [name]: value }),
      values,
    ]),
    [
      `onSignIn of signIn of ${create.name}`,
      OAuthExchangeError,
      (onSignIn) => create(base).signIn({ onSignIn }),
      [...notFunctions, undefined],
    ],
    [
      `onSignIn of callback of ${create.name}`,
      OAuthExchangeError,
      (onSignIn) => create(base).callback({ onSignIn }),
      [...notFunctions, undefined],
    ],
    [
      `returnTo of begin of ${create.name}`,
      OAuthExchangeError,
      (returnTo) => create(base).begin({ returnTo }),
      notFunctions,
    ],
    [
      `onLogout of ${create.name}`,
      OAuthExchangeError,
      (onLogout) => create(base).backchannelLogout({ onLogout }),
      [...notFunctions, undefined],
    ],
  ]),
  [
    'allowInsecureHttp of verifyLogoutToken',
    JWTVerificationError,
    (allowInsecureHttp) => verifyLogoutToken('x', { ...exchange, issuer: app.issuer, allowInsecureHttp }),
    ['false', 0],
  ],
  [
    'replayStore of verifyLogoutToken',
    JWTVerificationError,
    (replayStore) => verifyLogoutToken('x', { ...exchange, issuer: app.issuer, replayStore }),
    [{}, 'x'],
  ],
  ['leeway of verifyJwt', JWTVerificationError, (leeway) => verifyJwt('x', 'x', { leeway }), ['5', true, Number.NaN]],
];

describe('an option of the wrong kind is refused with an error of the library', () => {
  it.each(cases)('%s', async (name, type, call, values) => {
    for (const value of values) {
      const error = await thrown(() => call(value as never));
      expect([value, error]).toEqual([value, expect.any(type as never)]);
      expect([value, (error as Error).message]).toEqual([value, expect.stringContaining(name.split(' ')[0] ?? '')]);
    }
  });
});

it('accepts a real signal, and the limits of timeoutMs', async () => {
  const signal = AbortSignal.abort();
  for (const timeoutMs of [1, 600_000]) {
    expect(
      await thrown(() =>
        exchangeCodeForClaims({ ...exchange, publicKey: pem('ed25519', 'publicKey'), signal, timeoutMs }),
      ),
    ).toMatchObject({
      code: 'ABORTED',
    });
  }
});

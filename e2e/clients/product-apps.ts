/** Products on libraries of this repository, with the calls of their sources: Actual, Backstage, Directus, Node-RED. */
import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import express, { type Request } from 'express';
import { type Client, generators, Issuer, Strategy, type TokenSet } from 'openid-client-5';
import type { Registration } from './secret-apps.ts';

const require = createRequire(import.meta.url);

type Done = (error: Error | null, user?: object, info?: object) => void;

/** Strategies of Passport without a session of their own, and the session of one handshake. */
function passportApp(name: string, strategy: object, more: object): RequestListener {
  const passport = new (require('passport').Passport)();
  const app = express();
  app.use(require('express-session')({ secret: 'for this test only', resave: false, saveUninitialized: false }));
  app.use(passport.initialize());
  passport.use(name, strategy);
  app.get('/login', (req, res, next) => {
    const options = typeof more === 'function' ? more() : more;
    passport.authenticate(name, { session: false, ...options })(req, res, next);
  });
  app.get('/callback', passport.authenticate(name, { session: false }), (req, res) => void res.json(userOf(req)));
  return app;
}

const userOf = (req: Request) => (req as Request & { user?: object }).user ?? null;

/** Its metadata has a single `redirect_uri`. The name of the user is the first claim of a list. */
export async function actualApp({ origin, issuer, clientId, secret }: Registration): Promise<RequestListener> {
  const found = await Issuer.discover(issuer);
  const redirect_uri = `${origin}/callback`;
  const client = new found.Client({
    ...{ client_id: clientId, client_secret: secret, redirect_uri, validate_id_token: true },
  });
  const [state, code_verifier] = [generators.state(), generators.codeVerifier()];
  const app = express();
  app.get('/login', (_req, res) => {
    const challenge = { code_challenge: generators.codeChallenge(code_verifier), code_challenge_method: 'S256' };
    const scope = 'openid email profile';
    res.redirect(client.authorizationUrl({ response_type: 'code', scope, state, ...challenge }));
  });
  app.get('/callback', async ({ query }, res) => {
    const params = { code: String(query['code']), state: String(query['state']), iss: String(query['iss']) };
    const tokens = await client.callback(redirect_uri, params, { code_verifier, state: params.state });
    const user = await client.userinfo(tokens.access_token ?? '');
    res.json({
      identity: user.preferred_username ?? user['login'] ?? user.email ?? user.sub,
      expires: tokens.expires_at,
    });
  });
  return app;
}

/** `state`, `nonce` and the challenge are one value. It refreshes at each of its own refreshes. */
export async function directusApp({ origin, issuer, clientId, secret }: Registration): Promise<RequestListener> {
  const found = await Issuer.discover(`${issuer}/.well-known/openid-configuration`);
  const supported = found.metadata['response_types_supported'] as string[];
  if (!supported.includes('code')) throw new Error('no code flow');
  const redirect = `${origin}/callback`;
  const client = new found.Client({
    ...{ client_id: clientId, client_secret: secret, redirect_uris: [redirect], response_types: ['code'] },
  });
  const code_verifier = generators.codeVerifier();
  const challenge = generators.codeChallenge(code_verifier);
  const app = express();
  app.get('/login', (_req, res) => {
    const parameters = { scope: 'openid profile email', access_type: 'offline', code_challenge_method: 'S256' };
    const one = { code_challenge: challenge, state: challenge, nonce: challenge };
    res.redirect(client.authorizationUrl({ ...parameters, ...one }));
  });
  app.get('/callback', async ({ query }, res) => {
    const params = { code: String(query['code']), state: String(query['state']), iss: String(query['iss']) };
    const tokens = await client.callback(redirect, params, { code_verifier, state: challenge, nonce: challenge });
    const claims = { ...tokens.claims(), ...(await client.userinfo(tokens.access_token ?? '')) };
    const next = await client.refresh(tokens.refresh_token ?? '');
    res.json({ ...claims, refreshed: next.access_token !== tokens.access_token });
  });
  return app;
}

/**
 * Its `prompt` is `none` unless set to `auto`, its nonce has the characters of Base64, and its state is long. It refreshes its
 * session, and revokes the refresh token at the logout.
 *
 * @param prompt as in its configuration; `auto` sends none
 */
export async function backstageApp(
  { origin, issuer, clientId, secret }: Registration,
  prompt = 'none',
): Promise<RequestListener> {
  const found = await Issuer.discover(`${issuer}/.well-known/openid-configuration`);
  const client: Client = new found.Client({
    ...{ access_type: 'offline', client_id: clientId, client_secret: secret, redirect_uris: [`${origin}/callback`] },
    ...{ response_types: ['code'], token_endpoint_auth_method: 'client_secret_basic' },
    id_token_signed_response_alg: 'RS256',
  });
  const verify = async (tokens: TokenSet, userinfo: object, done: Done) => {
    try {
      const next = await client.refresh(tokens.refresh_token ?? '');
      const again = await client.userinfo(next.access_token ?? '');
      await client.revoke(next.refresh_token ?? '');
      done(null, { ...userinfo, ...again, scope: tokens.scope });
    } catch (error) {
      done(error as Error);
    }
  };
  const state = Buffer.from(
    new URLSearchParams({ nonce: randomBytes(16).toString('base64'), env: 'production', origin }).toString(),
  );
  const options = () => ({
    ...{ scope: 'openid profile email', state: state.toString('hex'), nonce: randomBytes(16).toString('base64') },
    ...(prompt !== 'auto' && { prompt }),
  });
  return passportApp('oidc', new Strategy({ client, passReqToCallback: false }, verify as never), options);
}

/** The settings of its guides. The name of the user comes from the ID token: with this callback it reads no UserInfo. */
export function nodeRedApp({ origin, issuer, clientId, secret }: Registration): RequestListener {
  const settings = {
    ...{ issuer, authorizationURL: `${issuer}/authorize`, tokenURL: `${issuer}/oauth2/token` },
    ...{ userInfoURL: `${issuer}/userinfo`, clientID: clientId, clientSecret: secret },
    ...{ callbackURL: `${origin}/callback`, scope: ['email', 'profile', 'openid'], proxy: true },
  };
  const verify = (_issuer: string, profile: object, done: Done) => done(null, profile);
  const { Strategy: OpenIdConnect } = require('passport-openidconnect');
  return passportApp('openidconnect', new OpenIdConnect(settings, verify), { failureMessage: true });
}

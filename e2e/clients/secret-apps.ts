import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import express from 'express';
import { auth } from 'express-openid-connect';
import * as client6 from 'openid-client';
import { generators, Issuer as Issuer5, type TokenSet } from 'openid-client-5';

/** The settings that an administrator copies into an application. */
export interface Registration {
  origin: string;
  issuer: string;
  clientId: string;
  secret: string;
}

type Verified = (error: null, user: object) => void;

const require = createRequire(import.meta.url);

/** express-openid-connect at its defaults: client_secret_basic, RS256. Its logout is RP-initiated by one setting. */
export function expressSecretApp({ origin, issuer, clientId, secret }: Registration): RequestListener {
  const app = express();
  app.use(
    auth({
      issuerBaseURL: issuer,
      baseURL: origin,
      clientID: clientId,
      clientSecret: secret,
      secret: 'a secret that only this relying party uses',
      authRequired: false,
      idpLogout: true,
      authorizationParams: { response_type: 'code', scope: 'openid profile email' },
    }),
  );
  app.get('/', (req, res) => void res.json(req.oidc.user ?? null));
  app.get('/access-token', (req, res) => void res.json(req.oidc.accessToken?.access_token ?? null));
  return app;
}

/** passport-openidconnect at its defaults: no PKCE, client_secret_basic or _post. It has no logout at the provider. */
export function passportApp({ origin, issuer, clientId, secret }: Registration): RequestListener {
  const passport = new (require('passport').Passport)();
  const { Strategy } = require('passport-openidconnect');
  const app = express();
  app.use(require('express-session')({ secret: 'for this test only', resave: false, saveUninitialized: false }));
  app.use(passport.initialize());
  app.use(passport.session());
  const done = (user: object, cb: Verified) => cb(null, user);
  passport.serializeUser(done);
  passport.deserializeUser(done);
  const settings = {
    issuer,
    authorizationURL: `${issuer}/authorize`,
    tokenURL: `${issuer}/oauth2/token`,
    userInfoURL: `${issuer}/userinfo`,
    clientID: clientId,
    clientSecret: secret,
    callbackURL: `${origin}/callback`,
    scope: ['profile', 'email'],
  };
  // The library decides by the number of parameters which arguments it passes.
  const verify = (
    _issuer: string,
    profile: object,
    _context: object,
    idToken: string,
    accessToken: string,
    _refreshToken: string | undefined,
    done: Verified,
  ) => done(null, { ...profile, idToken, accessToken });
  passport.use('openidconnect', new Strategy(settings, verify));
  app.get('/login', passport.authenticate('openidconnect'));
  app.get('/callback', passport.authenticate('openidconnect', { successRedirect: '/' }));
  const userOf = (req: object) => (req as { user?: { idToken: string; accessToken: string } }).user ?? null;
  app.get('/', (req, res) => void res.json(userOf(req)));
  app.get('/access-token', (req, res) => void res.json(userOf(req)?.accessToken ?? null));
  app.get('/logout', (req, res, next) => {
    const query = new URLSearchParams({
      id_token_hint: userOf(req)?.idToken ?? '',
      post_logout_redirect_uri: `${origin}/`,
    });
    (req as unknown as { logout(done: (error?: unknown) => void): void }).logout((error) =>
      error ? next(error) : res.redirect(`${issuer}/oauth2/end_session?${query}`),
    );
  });
  return app;
}

/** openid-client 5 at its defaults: client_secret_basic, RS256. */
export async function client5App({ origin, issuer, clientId, secret }: Registration): Promise<RequestListener> {
  const { Client } = await Issuer5.discover(issuer);
  const client = new Client({
    client_id: clientId,
    client_secret: secret,
    redirect_uris: [`${origin}/callback`],
    response_types: ['code'],
  });
  const verifier = generators.codeVerifier();
  const app = express();
  let tokens: TokenSet | null = null;
  app.get('/login', (_req, res) => {
    const code_challenge = generators.codeChallenge(verifier);
    res.redirect(client.authorizationUrl({ scope: 'openid email', code_challenge, code_challenge_method: 'S256' }));
  });
  app.get('/callback', async (req, res) => {
    const checks = { code_verifier: verifier };
    tokens = await client.callback(`${origin}/callback`, client.callbackParams(req), checks);
    res.json({ ...tokens.claims(), ...(await client.userinfo(tokens)) });
  });
  app.get('/', (_req, res) => void res.json(tokens?.claims() ?? null));
  app.get('/access-token', (_req, res) => void res.json(tokens?.access_token ?? null));
  app.get('/logout', (_req, res) => {
    const parameters = { ...(tokens && { id_token_hint: tokens }), post_logout_redirect_uri: `${origin}/` };
    tokens = null;
    res.redirect(client.endSessionUrl(parameters));
  });
  return app;
}

/** openid-client 6 at its defaults: client_secret_post. */
export async function client6App({ origin, issuer, clientId, secret }: Registration): Promise<RequestListener> {
  const options = { execute: [client6.allowInsecureRequests] };
  const config = await client6.discovery(new URL(issuer), clientId, secret, undefined, options);
  const verifier = client6.randomPKCECodeVerifier();
  const app = express();
  let tokens: (client6.TokenEndpointResponse & client6.TokenEndpointResponseHelpers) | null = null;
  app.get('/login', async (_req, res) => {
    const code_challenge = await client6.calculatePKCECodeChallenge(verifier);
    const parameters = { redirect_uri: `${origin}/callback`, scope: 'openid email', code_challenge };
    res.redirect(client6.buildAuthorizationUrl(config, { ...parameters, code_challenge_method: 'S256' }).href);
  });
  app.get('/callback', async (req, res) => {
    const checks = { pkceCodeVerifier: verifier };
    tokens = await client6.authorizationCodeGrant(config, new URL(req.originalUrl, origin), checks);
    const claims = tokens.claims();
    res.json(await client6.fetchUserInfo(config, tokens.access_token, claims?.sub ?? ''));
  });
  app.get('/', (_req, res) => void res.json(tokens?.claims() ?? null));
  app.get('/access-token', (_req, res) => void res.json(tokens?.access_token ?? null));
  app.get('/logout', (_req, res) => {
    const parameters = { id_token_hint: tokens?.id_token ?? '', post_logout_redirect_uri: `${origin}/` };
    tokens = null;
    res.redirect(client6.buildEndSessionUrl(config, parameters).href);
  });
  return app;
}

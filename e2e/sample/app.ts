import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLatchkeyMiddleware, DelegationClient, type MfaMethod, type TokenAndClaims } from '@latchkey/node';
import express, { type Express, type Request, type Response } from 'express';
import type { Settings } from './relying-party.ts';

/** The sample's own session, created after a sign-in with Latchkey. */
interface Session {
  sub: string;
  email: string;
  /** Latchkey's session, if any; matched against logout tokens. */
  sid: string | undefined;
  /** For RP-initiated logout. */
  idToken: string;
  signedInAt: number;
}

/** Maximum age of a sign-in for changing a second factor. */
const freshMs = 5 * 60_000;
const cookie = 'sample-session';
const files = fileURLToPath(new URL('public', import.meta.url));
const sdk = dirname(fileURLToPath(import.meta.resolve('@latchkey/browser')));

/** Sample relying party: a page with the browser SDK, and a back end with the server library. */
export function sampleApp(settings: Settings, origin: string): Express {
  const sessions = new Map<string, Session>();
  const { baseUrl, clientId, publishableKey, secretKey } = settings;
  const latchkey = createLatchkeyMiddleware({
    baseUrl,
    clientId,
    apiKey: secretKey,
    redirectUri: `${origin}/callback`,
    onError: (error) => console.error(error),
  });
  const delegation = DelegationClient.fromKeys({ ...settings, spId: clientId, apiKey: secretKey });

  const sessionOf = (req: Request) => sessions.get(idOf(req) ?? '');
  const onSignIn = ({ claims, idToken }: TokenAndClaims, req: Request, res: Response) => {
    sessions.delete(idOf(req) ?? '');
    const id = randomUUID();
    const sid = typeof claims['sid'] === 'string' ? claims['sid'] : undefined;
    sessions.set(id, { sub: claims.sub, email: claims.email, sid, idToken, signedInAt: Date.now() });
    res.cookie(cookie, id, { httpOnly: true, sameSite: 'lax', secure: origin.startsWith('https:') });
  };

  const app = express();
  app.use('/sdk', express.static(sdk));
  app.get('/next-step.js', (_req, res) => res.sendFile(join(sdk, '../example/next-step.js')));
  app.use(express.static(files));
  app.get('/settings.json', (_req, res) => void res.json({ baseUrl, apiKey: publishableKey }));

  app.post('/sign-in', latchkey.signIn({ onSignIn }));
  app.get('/login', latchkey.begin());
  app.get('/callback', latchkey.callback({ onSignIn }));
  app.post(
    '/backchannel-logout',
    latchkey.backchannelLogout({
      onLogout: ({ sid, sub }) => {
        for (const [id, session] of sessions) {
          if (sid === undefined ? session.sub === sub : session.sid === sid) sessions.delete(id);
        }
      },
    }),
  );

  app.get('/me', async (req, res) => {
    const session = sessionOf(req);
    if (!session) return void res.json(null);
    const { mfa_method: factor } = await delegation.getUserCredentials(session.sub);
    const query = new URLSearchParams({
      client_id: clientId,
      id_token_hint: session.idToken,
      post_logout_redirect_uri: `${origin}/`,
    });
    const signOutEverywhere = `${baseUrl}/oauth2/end_session?${query}`;
    res.json({ sub: session.sub, email: session.email, sid: session.sid ?? null, factor, signOutEverywhere });
  });
  app.post('/sign-out', (req, res) => {
    sessions.delete(idOf(req) ?? '');
    res.clearCookie(cookie).status(204).end();
  });

  // The user comes from the session only, so that users change only their own factor.
  app.post('/factor', express.json(), async (req, res) => {
    const session = fresh(sessionOf(req), res);
    if (!session) return;
    const { method, phone } = req.body as { method?: MfaMethod; phone?: string };
    const change = { userid: session.sub, mfaMethod: method as MfaMethod };
    res.json(await delegation.initiateMfaChange(phone ? { ...change, phoneNumber: phone } : change));
  });
  app.post('/factor/verify', express.json(), async (req, res) => {
    const session = fresh(sessionOf(req), res);
    if (!session) return;
    const { otp = '', sessionId = '' } = req.body as { sessionId?: string; otp?: string };
    res.json(await delegation.verifyMfaChange({ userid: session.sub, sessionId, otp }));
  });
  return app;
}

function fresh(session: Session | undefined, res: Response): Session | undefined {
  if (session && Date.now() - session.signedInAt < freshMs) return session;
  res.status(401).json({ status: 'failed', message: 'Please sign in again before you change your second factor.' });
  return undefined;
}

function idOf(req: Request): string | undefined {
  return new RegExp(`(?:^|; )${cookie}=([\\w-]+)`).exec(req.headers.cookie ?? '')?.[1];
}

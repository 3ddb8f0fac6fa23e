import { fileURLToPath } from 'node:url';
import { createLatchkey, DelegationClient, expressAdapter, type MfaMethod } from '@latchkey/node';
import express, { type Express, type Request, type Response } from 'express';
import type { Settings } from './relying-party.ts';

const files = fileURLToPath(new URL('public', import.meta.url));
const nextStep = fileURLToPath(new URL('../../shared/browser/example/next-step.js', import.meta.url));

/** Sample relying party: a page with the browser SDK, and a back end with the server library. */
export function sampleApp(settings: Settings, origin: string): Express {
  const { baseUrl, clientId, publishableKey, secretKey, sessionSecret } = settings;
  const auth = expressAdapter(
    createLatchkey({
      issuer: baseUrl,
      clientId,
      apiKey: secretKey,
      redirectUri: `${origin}/callback`,
      postLogoutRedirectUri: `${origin}/`,
      session: { secret: sessionSecret },
      onError: (error) => console.error(error),
    }),
  );
  const delegation = DelegationClient.fromKeys({ ...settings, spId: clientId, apiKey: secretKey });

  const app = express();
  app.get('/next-step.js', (_req, res) => res.sendFile(nextStep));
  app.use(express.static(files));
  app.get('/settings.json', (_req, res) => void res.json({ baseUrl, apiKey: publishableKey }));

  app.use(auth.routes);
  app.get('/me', auth.requireSession(), async (req, res) => {
    const { sid, sub, user } = auth.sessionOf(req);
    const { mfa_method: factor } = await delegation.getUserCredentials(sub);
    res.json({ sub, email: user.email, sid: sid ?? null, factor });
  });

  // The user comes from the session only, so that users change only their own factor.
  const fresh = auth.requireSession({ maxAgeSeconds: 5 * 60 });
  app.post('/factor', fresh, express.json(), async (req: Request, res: Response) => {
    const { method, phone } = req.body as { method?: MfaMethod; phone?: string };
    const change = { userid: auth.sessionOf(req).sub, mfaMethod: method as MfaMethod };
    res.json(await delegation.initiateMfaChange(phone ? { ...change, phoneNumber: phone } : change));
  });
  app.post('/factor/verify', fresh, express.json(), async (req: Request, res: Response) => {
    const { otp = '', sessionId = '' } = req.body as { sessionId?: string; otp?: string };
    res.json(await delegation.verifyMfaChange({ userid: auth.sessionOf(req).sub, sessionId, otp }));
  });
  return app;
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Request, type Response, Router } from 'express';
import { Client } from '../../domain/clients/client.entity.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { newSecret, type Random } from '../../domain/kernel/random.ts';
import { digest } from '../../domain/kernel/secret.ts';
import { escapeHtml } from '../../http/html.ts';
import type { Caller } from '../api/caller.ts';
import { policy, sendPlainPage } from './plain.ts';

/** What the console's front door stands on. */
export interface FrontDoor {
  db: Database;
  random: Random;
  issuer: string;
  /** Whether there is a dev mailbox to show. */
  hasMailbox: boolean;
  /** Folder of the console's build. */
  consoleDist: string;
  /** The admin of this browser's console session, if there is one. */
  callerOf(req: Request): Promise<Caller | null>;
}

/** Where a sign-in for a single change ends: the page tells the console that waits for it, and closes. */
const signedIn = '/admin/signed-in';

/**
 * `/admin` and everything below it: the console for whoever has a session, the sign-in for anybody else. The console
 * reads and writes through `/admin/graphql`, which asks again who it is: the page itself holds nothing of worth.
 */
export function consoleRoutes(door: FrontDoor): Router {
  const router = Router();
  // The session is what the sign-in was for; its code, bound to a verifier that nobody kept, is left to expire.
  router.get('/callback', (req, res) => {
    const { error, state } = req.query;
    const back = backTo(state);
    if (typeof error !== 'string') return res.redirect(303, back);
    const again = back.startsWith(signedIn) ? back.replace(signedIn, '/admin/sign-in') : back;
    const text = `<h1>You are not signed in</h1><p>The sign-in was not finished.</p><p><a href="${escapeHtml(again)}">Try again</a></p>`;
    sendPlainPage(res, 403, 'Not signed in', text);
  });
  // `?fresh`: a person has to prove themselves. Without: a session has ended, and a trusted device may begin another.
  router.get('/sign-in', async (req, res) => {
    const isFresh = 'fresh' in req.query;
    const back = isFresh ? `${signedIn}?fresh` : signedIn;
    res.redirect(303, await signInAddress(door, back, isFresh ? 'login' : undefined));
  });
  router.get('/{*path}', async (req, res) => {
    if (!(await door.callerOf(req))) return res.redirect(303, await signInAddress(door, req.originalUrl));
    await sendConsole(door, req, res);
  });
  return router;
}

async function signInAddress({ db, random, issuer }: FrontDoor, back: string, prompt?: 'login'): Promise<string> {
  const client = await db.reader().findOneOrFail(Client, { builtIn: 'console' });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: `${issuer}/admin/callback`,
    scope: 'openid',
    state: `${newSecret(random)}.${Buffer.from(back).toString('base64url')}`,
    code_challenge: digest(newSecret(random)),
    code_challenge_method: 'S256',
    ...(prompt ? { prompt } : {}),
  });
  return `/authorize?${query}`;
}

/** The page of the console where the sign-in began: whatever `state` says, it stays below /admin. */
function backTo(state: unknown): string {
  const [, encoded = ''] = typeof state === 'string' ? state.split('.') : [];
  const path = Buffer.from(encoded, 'base64url').toString();
  // Read as a browser reads it: dots, backslashes and escapes lead nowhere else.
  const { pathname, search } = new URL(path.startsWith('/admin') ? path : '/admin', 'http://localhost');
  return /^\/admin(?:\/|$)/.test(pathname) ? pathname + search : '/admin';
}

async function sendConsole(door: FrontDoor, req: Request, res: Response): Promise<void> {
  const page = await readFile(join(door.consoleDist, 'admin', 'index.html'), 'utf8').catch(() => null);
  if (page === null) {
    return sendPlainPage(
      res,
      503,
      'Not built',
      '<h1>The console is not built</h1><p>Run <code>npm run build</code>.</p>',
    );
  }
  const client = await door.db.reader().findOneOrFail(Client, { builtIn: 'console' });
  const nonce = newSecret(door.random);
  const values: Record<string, string> = {
    nonce,
    issuer: door.issuer,
    client_id: client.id,
    console_project_id: client.project.id,
    dev_mailbox: String(door.hasMailbox),
    color_scheme: colorScheme(req),
  };
  res.setHeader('Content-Security-Policy', consolePolicy(nonce));
  res.type('html').send(page.replace(/%\{(\w+)\}/g, (_whole, name: string) => escapeHtml(values[name] ?? '')));
}

/**
 * The console's widgets make style elements of their own (the theme's variables, the scroll lock of a dialog), so these
 * carry the nonce of this answer; no style attribute and no inline script is let in.
 */
function consolePolicy(nonce: string): string {
  return policy({
    'script-src': "'self'",
    'style-src': `'self' 'nonce-${nonce}'`,
    'connect-src': "'self'",
    // Previews of the hosted pages and of mails.
    'frame-src': "'self'",
    'form-action': "'self'",
  });
}

/** What the reader chose in the console, so that the first paint has it; empty: as the system has it. */
function colorScheme(req: Request): string {
  return /(?:^|;\s*)lk-color-scheme=(light|dark)(?:;|$)/.exec(req.get('cookie') ?? '')?.[1] ?? '';
}

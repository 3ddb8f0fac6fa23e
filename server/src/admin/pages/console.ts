import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import type { Clients } from '../../domain/clients/clients.ts';
import { found } from '../../domain/kernel/problem.ts';
import { newSecret, type Random } from '../../domain/kernel/random.ts';
import { digest } from '../../domain/kernel/secret.ts';
import { escapeHtml } from '../../http/html.ts';
import type { AdminCaller } from '../api/caller.ts';
import { policy, sendPlainPage } from './plain.ts';

/** Dependencies of the console's page. */
export interface ConsoleDeps {
  clients: Pick<Clients, 'builtIn'>;
  random: Random;
  issuer: string;
  /** Whether the dev mailbox is in use. */
  hasMailbox: boolean;
  /** Of this release. */
  version: string;
  /** Folder of the console's build. */
  consoleDist: string;
  /** The admin of this browser's console session, if there is one. */
  callerOf(req: Request): Promise<AdminCaller | null>;
}

/** End of a repeated sign-in: the page notifies the console and closes. */
const signedIn = '/admin/signed-in';

/** `/admin/callback`: only the session is needed; the code is never redeemed and expires. */
export const consoleCallback: RequestHandler = (req, res) => {
  const { error, state } = req.query;
  const back = returnPath(state);
  if (typeof error !== 'string') return res.redirect(303, back);
  const again = back.startsWith(signedIn) ? back.replace(signedIn, '/admin/sign-in') : back;
  const text = `<h1>You are not signed in</h1><p>The sign-in was not finished.</p><p><a href="${escapeHtml(again)}">Try again</a></p>`;
  sendPlainPage(res, 403, 'Not signed in', text);
};

/** `/admin/sign-in`: `?fresh` requires a code or factor. Without it, a trusted device may start a new session. */
export function consoleSignIn(deps: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const isFresh = 'fresh' in req.query;
    const back = isFresh ? `${signedIn}?fresh` : signedIn;
    res.redirect(303, await signInAddress(deps, back, isFresh ? 'login' : undefined));
  };
}

/**
 * `/admin` and below: the console with a session, else a redirect to the sign-in. The page holds no data: the console
 * reads and writes through `/admin/graphql`, which authenticates each request.
 */
export function consolePage(deps: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const caller = await deps.callerOf(req);
    if (!caller) return res.redirect(303, await signInAddress(deps, req.originalUrl));
    await sendConsole(deps, caller, req, res);
  };
}

async function signInAddress(
  { clients, random, issuer }: ConsoleDeps,
  back: string,
  prompt?: 'login',
): Promise<string> {
  const client = found(await clients.builtIn('console'), 'client');
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

/** The console page in `state`; always below /admin. */
function returnPath(state: unknown): string {
  const [, encoded = ''] = typeof state === 'string' ? state.split('.') : [];
  const path = Buffer.from(encoded, 'base64url').toString();
  // Parsed as a browser does, so that dots, backslashes and escapes cannot leave /admin.
  const { pathname, search } = new URL(path.startsWith('/admin') ? path : '/admin', 'http://localhost');
  return /^\/admin(?:\/|$)/.test(pathname) ? pathname + search : '/admin';
}

async function sendConsole(deps: ConsoleDeps, { id, grants }: AdminCaller, req: Request, res: Response) {
  const page = await readFile(join(deps.consoleDist, 'admin', 'index.html'), 'utf8').catch(() => null);
  if (page === null) {
    return sendPlainPage(
      res,
      503,
      'Not built',
      '<h1>The console is not built</h1><p>Run <code>npm run build</code>.</p>',
    );
  }
  const client = found(await deps.clients.builtIn('console'), 'client');
  const nonce = newSecret(deps.random);
  const values: Record<string, string> = {
    nonce,
    issuer: deps.issuer,
    client_id: client.id,
    console_project_id: client.project.id,
    // Its requests are refused in the session of another account.
    account: id ?? '',
    // Decides the first requests of the page; grants nothing.
    owner: String(grants.owner),
    dev_mailbox: String(deps.hasMailbox),
    version: deps.version,
    color_scheme: colorScheme(req),
  };
  res.setHeader('Content-Security-Policy', consolePolicy(nonce));
  // A site that opens the console must not navigate its window. A popup with this policy could not close itself.
  if (req.path !== signedIn) {
    res.setHeader('Cross-Origin-Opener-Policy', 'same-origin-allow-popups');
  }
  res.type('html').send(page.replace(/%\{(\w+)\}/g, (_whole, name: string) => escapeHtml(values[name] ?? '')));
}

/**
 * The console's widgets create style elements (theme variables, scroll lock), which carry the response's nonce. Style
 * attributes and inline scripts are blocked.
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

/** The color scheme chosen in the console, for the first paint; empty: the system's. */
function colorScheme(req: Request): string {
  return /(?:^|;\s*)lk-color-scheme=(light|dark)(?:;|$)/.exec(req.get('cookie') ?? '')?.[1] ?? '';
}

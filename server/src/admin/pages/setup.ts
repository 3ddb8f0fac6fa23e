import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Admins } from '../../domain/admins/admins.ts';
import type { SetupLink } from '../../domain/admins/setup-link.entity.ts';
import type { AuthorizationRequests } from '../../domain/ceremonies/requests/authorization-requests.ts';
import type { Clients } from '../../domain/clients/clients.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { found } from '../../domain/kernel/problem.ts';
import { newSecret, type Random } from '../../domain/kernel/random.ts';
import { inAllProjects, inProject } from '../../domain/kernel/scope.ts';
import { digest } from '../../domain/kernel/secret.ts';
import { isAddress } from '../../domain/users/login.ts';
import { type Body, bounded, maxBodyBytes } from '../../http/bodies.ts';
import { Cookies } from '../../http/cookies.ts';
import type { Pages } from '../../http/pages.ts';
import type { AdminCaller } from '../api/caller.ts';
import type { Mailbox } from '../api/context.ts';

/** Dependencies of the setup link. */
export interface SetupDeps {
  db: Database;
  random: Random;
  issuer: string;
  admins: Admins;
  clients: Pick<Clients, 'builtIn'>;
  requests: AuthorizationRequests;
  /** Null if messages are sent. */
  mailbox: Mailbox | null;
  pages: Pick<Pages, 'send' | 'text'>;
  /** The admin of this browser's console session, if there is one. */
  callerOf(req: Request): Promise<AdminCaller | null>;
  setFlowCookie(res: Response, flow: string, secret: string): void;
}

const mailboxPageSize = 100;

/**
 * `GET /setup`, the target of the one-time link: the holder enters an address, signs in with it and becomes an owner. A GET
 * does not consume the link; it moves the token from the URL into an HttpOnly cookie.
 */
export function setupPage(deps: SetupDeps): RequestHandler {
  const cookies = new Cookies(deps.issuer);
  return async (req, res) => {
    const token = typeof req.query['token'] === 'string' ? req.query['token'] : undefined;
    if (token !== undefined) {
      if (!(await deps.admins.findSetupLink(deps.db.reader(), token))) return refuseLink(deps, req, res);
      cookies.setSetup(res, token);
      return res.redirect(303, '/setup');
    }
    if (!(await linkOf(deps, req))) return refuseLink(deps, req, res);
    deps.pages.send(req, res, 'setup', { values: formOf(deps) });
  };
}

export const setupBody: Body = {
  maxBytes: maxBodyBytes,
  read: bounded(express.urlencoded({ extended: false, limit: maxBodyBytes }), maxBodyBytes),
};

/** `POST /setup`: begins the sign-in of the link's holder. */
export function setupForm(deps: SetupDeps): RequestHandler {
  return async (req, res) => {
    const link = await linkOf(deps, req);
    if (!link) return refuseLink(deps, req, res);
    const email = String((req.body as { email?: unknown } | undefined)?.email ?? '').trim();
    if (!isAddress(email)) return deps.pages.send(req, res, 'setup', { values: formOf(deps), status: 400 });
    const { flow, browserSecret } = await begin(deps, link, email);
    deps.setFlowCookie(res, flow, browserSecret);
    res.redirect(303, `/signin?flow=${encodeURIComponent(flow)}`);
  };
}

/** The dev mailbox is for the holder of a setup link, and for owners. */
export function mayReadMailbox(deps: SetupDeps): RequestHandler {
  return async (req, res, next) => {
    const refuse = (status: number, message: string) =>
      deps.pages.send(req, res, 'plain/closed', {
        status,
        values: { title: deps.pages.text(req, 'mailbox.title'), message },
      });
    if (!deps.mailbox) return refuse(404, 'This instance has no dev mailbox.');
    if ((await linkOf(deps, req)) || (await deps.callerOf(req))?.grants.owner) return next();
    refuse(403, deps.pages.text(req, 'mailbox.closed'));
  };
}

/** `GET /setup/mailbox`. */
export function mailboxPage({ pages }: SetupDeps): RequestHandler {
  return (req, res) => pages.send(req, res, 'mailbox');
}

/** `GET /setup/mailbox.json`: the newest messages. */
export function mailboxContent({ mailbox }: SetupDeps): RequestHandler {
  return async (_req, res) => {
    const page = await inAllProjects(() => mailbox?.list({ first: mailboxPageSize, after: null }));
    res.json({ messages: page?.items ?? [] });
  };
}

const formOf = ({ issuer }: SetupDeps) => ({ issuer, action: '/setup' });

async function linkOf({ admins, db, issuer }: SetupDeps, req: Request): Promise<SetupLink | null> {
  const token = new Cookies(issuer).setup(req);
  return token === undefined ? null : admins.findSetupLink(db.reader(), token);
}

function refuseLink({ pages }: SetupDeps, req: Request, res: Response): void {
  const [title, message] = [pages.text(req, 'setup.closedTitle'), pages.text(req, 'setup.closed')];
  pages.send(req, res, 'plain/closed', { status: 410, values: { title, message } });
}

/** Begins the holder's sign-in with the console's client. Only its session is used; the code is never redeemed. */
async function begin({ clients, db, random, requests, issuer }: SetupDeps, link: SetupLink, email: string) {
  const client = found(await clients.builtIn('console'), 'client');
  return inProject(client.project.id, () =>
    db.transaction((em) =>
      requests.begin(em, {
        projectId: client.project.id,
        clientId: client.id,
        redirectUri: `${issuer}/admin/callback`,
        scope: 'openid',
        codeChallenge: digest(newSecret(random)),
        loginHint: email,
        setupLinkId: link.id,
      }),
    ),
  );
}

/** CSRF: refuses forms of other sites. */
export function ownOrigin(issuer: string): RequestHandler {
  return (req, res, next) => {
    const site = req.get('sec-fetch-site');
    const origin = req.get('origin');
    // Under `no-referrer` our own forms send `Origin: null` (Fetch §3.2), so `Sec-Fetch-Site` decides if present.
    const own =
      site !== undefined ? site === 'same-origin' : [undefined, 'null', new URL(issuer).origin].includes(origin);
    if (own) return next();
    res.status(403).type('text').send('This form must be sent from its own page.');
  };
}

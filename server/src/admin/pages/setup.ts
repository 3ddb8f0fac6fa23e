import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Admins } from '../../domain/admins/admins.ts';
import type { SetupLink } from '../../domain/admins/setup-link.entity.ts';
import type { AuthorizationRequests } from '../../domain/ceremonies/authorization-requests.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { newSecret, type Random } from '../../domain/kernel/random.ts';
import { digest } from '../../domain/kernel/secret.ts';
import { isAddress } from '../../domain/users/login.ts';
import { bounded, maxBodyBytes } from '../../http/bodies.ts';
import { Cookies } from '../../http/cookies.ts';
import type { Pages } from '../../http/pages.ts';
import type { Caller } from '../api/caller.ts';
import type { Mailbox } from '../api/context.ts';

/** What the first run stands on. */
export interface Setup {
  db: Database;
  random: Random;
  issuer: string;
  admins: Admins;
  requests: AuthorizationRequests;
  /** Absent where messages are really sent. */
  mailbox: Mailbox | null;
  pages: Pick<Pages, 'send' | 'text'>;
  /** The admin of this browser's console session, if there is one. */
  callerOf(req: Request): Promise<Caller | null>;
  setFlowCookie(res: Response, flow: string, secret: string): void;
}

const mailboxPageSize = 100;

/**
 * `/setup`, where the one-time link leads: the holder names an address, signs in with it, and is an owner. A GET
 * consumes nothing; it moves the token from the address bar into a cookie that scripts cannot read.
 */
export function setupRoutes(setup: Setup): Router {
  const cookies = new Cookies(setup.issuer);
  const form = { values: { issuer: setup.issuer, action: '/setup' } };
  const router = Router();

  const linkOf = async (req: Request): Promise<SetupLink | null> => {
    const token = cookies.setup(req);
    return token === undefined ? null : setup.admins.findSetupLink(setup.db.reader(), token);
  };
  const refuseLink = (req: Request, res: Response) => {
    setup.pages.send(req, res, 'error', { status: 410, values: { message: setup.pages.text(req, 'mailbox.closed') } });
  };

  router.get('/', async (req, res) => {
    const token = typeof req.query['token'] === 'string' ? req.query['token'] : undefined;
    if (token !== undefined) {
      if (!(await setup.admins.findSetupLink(setup.db.reader(), token))) return refuseLink(req, res);
      cookies.setSetup(res, token);
      return res.redirect(303, '/setup');
    }
    if (!(await linkOf(req))) return refuseLink(req, res);
    setup.pages.send(req, res, 'setup', form);
  });

  router.post(
    '/',
    ownOrigin(setup.issuer),
    bounded(express.urlencoded({ extended: false, limit: maxBodyBytes }), maxBodyBytes),
    async (req, res) => {
      const link = await linkOf(req);
      if (!link) return refuseLink(req, res);
      const email = String((req.body as { email?: unknown } | undefined)?.email ?? '').trim();
      if (!isAddress(email)) {
        return setup.pages.send(req, res, 'setup', { ...form, status: 400 });
      }
      const { flow, browserSecret } = await begin(setup, link, email);
      setup.setFlowCookie(res, flow, browserSecret);
      res.redirect(303, `/signin?flow=${encodeURIComponent(flow)}`);
    },
  );

  const mayReadMailbox: RequestHandler = async (req, res, next) => {
    const refuse = (status: number, message: string) =>
      setup.pages.send(req, res, 'error', { status, values: { message } });
    if (!setup.mailbox) return refuse(404, 'Messages are really sent here.');
    if ((await linkOf(req)) || (await setup.callerOf(req))?.grants.owner) return next();
    refuse(403, setup.pages.text(req, 'mailbox.closed'));
  };
  router.get('/mailbox', mayReadMailbox, (req, res) => setup.pages.send(req, res, 'mailbox'));
  router.get('/mailbox.json', mayReadMailbox, async (_req, res) => {
    const page = await setup.mailbox?.list({ first: mailboxPageSize, after: null });
    res.json({ messages: page?.items ?? [] });
  });
  return router;
}

/** The sign-in of the link's holder, on the console's own client. Its code is never redeemed: the session is the point. */
function begin({ db, random, requests, issuer }: Setup, link: SetupLink, email: string) {
  return db.transaction(async (em) => {
    const client = await em.findOneOrFail(Client, { builtIn: 'console' });
    return requests.begin(em, {
      projectId: client.project.id,
      clientId: client.id,
      redirectUri: `${issuer}/admin/callback`,
      scope: 'openid',
      codeChallenge: digest(newSecret(random)),
      loginHint: email,
      setupLinkId: link.id,
    });
  });
}

/** A form of another site must not be able to begin anything here. */
function ownOrigin(issuer: string): RequestHandler {
  return (req, res, next) => {
    const site = req.get('sec-fetch-site');
    const origin = req.get('origin');
    // A page under `no-referrer` sends `Origin: null` with its own forms (Fetch §3.2), so there the site tells.
    const own =
      site !== undefined ? site === 'same-origin' : [undefined, 'null', new URL(issuer).origin].includes(origin);
    if (own) return next();
    res.status(403).type('text').send('This form must be sent from its own page.');
  };
}

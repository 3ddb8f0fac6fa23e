/**
 * `/portal`: the set-up of an organization by its IT contact, who has no account (decisions/0418). A link is opened by a form, since
 * mail scanners open links; the browser then has a session in a cookie. Pages and forms work without script. A change needs a CSRF
 * token bound to that session. What the link allows is decided in `domain/portal`.
 */
import type { Request, RequestHandler, Response } from 'express';
import { maskAddress } from '../domain/delivery/mask.ts';
import { brandIn, type ExperienceContent } from '../domain/experience/content.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { openProject } from '../domain/kernel/scope.ts';
import { type OpenLink, portalPath } from '../domain/portal/open-links.ts';
import { type PortalLinks, portalActor } from '../domain/portal/portal-links.ts';
import { type PortalSecret, portalToken, readPortalToken } from '../domain/portal/portal-secret.ts';
import { actorOf, requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Html } from '../http/markup.ts';
import type { Pages } from '../http/pages.ts';
import { formBody, parametersOf } from '../http/parameters.ts';
import { noStore, type Route } from '../http/routes/route.ts';
import { isSameOrigin } from '../http/same-origin.ts';
import { siteAt } from '../http/site.ts';
import { type ChangeDeps, changes, doneOf, minutesOf, refusalOf } from './changes.ts';
import type { Reader } from './parts.ts';
import { type PortalLanguage, portalTexts } from './texts.ts';
import { closedView, type Outcome, openView, portalView, sentView, usedView, waitView } from './view.ts';

export interface PortalDeps extends ChangeDeps {
  portalLinks: Pick<PortalLinks, 'find' | 'open' | 'resend'>;
  experienceOf(projectId: string): Promise<ExperienceContent>;
  cookies: Pick<Cookies, 'portal' | 'setPortal'>;
  /** CSRF token of the forms, bound to a session. */
  csrf: { make(session: string): string; holds(session: string, token: string | undefined): boolean };
  pages: Pick<Pages, 'send'>;
  now(): Date;
  log: { info(fields: object, message: string): void };
}

type Handler = (deps: PortalDeps, req: Request, res: Response) => Promise<void>;
const by =
  (handler: Handler) =>
  (deps: PortalDeps): RequestHandler =>
  (req, res) =>
    handler(deps, req, res);

export const portalRoutes: readonly Route<PortalDeps>[] = [
  {
    path: portalPath,
    methods: {
      GET: { handler: by(show), openApi: 'page' },
      POST: { body: formBody, handler: by(take), openApi: 'page' },
    },
    headers: noStore,
  },
  {
    path: `${portalPath}/:token`,
    methods: {
      GET: { handler: by(showLink), openApi: 'page' },
      POST: { body: formBody, handler: by(takeLink), openApi: 'page' },
    },
    headers: noStore,
  },
];

/** A session, and the link that it belongs to. */
interface Visit {
  link: OpenLink;
  session: PortalSecret;
}

/** Null for a link of a project that this host does not serve: a custom domain serves its own only. */
function servedSecret(req: Request, token: string | undefined): PortalSecret | null {
  const secret = token === undefined ? null : readPortalToken(token);
  const { project } = siteAt(req).issuer;
  return secret && (project === null || project.id === secret.projectId) ? secret : null;
}

async function visitOf({ cookies, portal }: PortalDeps, req: Request): Promise<Visit | null> {
  const session = servedSecret(req, cookies.portal(req));
  if (!session) return null;
  openProject(session.projectId);
  const link = await portal.visit(session);
  return link && { link, session };
}

async function show(deps: PortalDeps, req: Request, res: Response): Promise<void> {
  const visit = await visitOf(deps, req);
  if (!visit) return sendClosed(deps, req, res);
  const done = doneOf(parametersOf(req).get('done'));
  await sendPortal(deps, req, res, visit, done && { done });
}

async function take(deps: PortalDeps, req: Request, res: Response): Promise<void> {
  const visit = await visitOf(deps, req);
  if (!visit) return sendClosed(deps, req, res);
  const form = parametersOf(req);
  const isOurs =
    isSameOrigin(req, siteAt(req).origin) &&
    deps.csrf.holds(visit.session.secret, form.get('csrf')) &&
    form.faults.length === 0;
  const name = form.get('change') ?? '';
  const change = Object.hasOwn(changes, name) ? changes[name] : undefined;
  if (!isOurs || !change) return sendPortal(deps, req, res, visit, { problem: 'problemForm' }, 403);
  try {
    const result = await change(deps, visit.link, form, portalActor(visit.link, actorOf(req)));
    if (typeof result === 'object') return await sendPortal(deps, req, res, visit, result);
    res.redirect(303, result === '' ? portalPath : `${portalPath}?done=${result}`);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const { problem } = thrown;
    deps.log.info({ requestId: requestContext(req).requestId, problem: problem.code }, 'portal change refused');
    const [status, outcome] = refusalOf(problem, form);
    if (problem.code === 'too-many') res.setHeader('Retry-After', String(problem.retryAfterSeconds));
    await sendPortal(deps, req, res, visit, outcome, status);
  }
}

/** Opening the address changes nothing. A browser that opened the link before goes to its page. */
async function showLink(deps: PortalDeps, req: Request, res: Response): Promise<void> {
  const found = await linkAt(deps, req);
  if (!found) return sendClosed(deps, req, res);
  const { link } = found;
  const visit = await visitOf(deps, req);
  if (link.isUsed && visit?.link.id === link.id) return res.redirect(303, portalPath);
  const reader = readerOf(req);
  const content = link.isUsed ? usedView(reader, maskAddress(link.email)) : openView(reader, link);
  await send(deps, req, res, content, { link });
}

/** Needs no CSRF token: the secret of the address is one. Another site may know it, and must not open a session here. */
async function takeLink(deps: PortalDeps, req: Request, res: Response): Promise<void> {
  const found = isSameOrigin(req, siteAt(req).origin) ? await linkAt(deps, req) : null;
  if (!found) return sendClosed(deps, req, res);
  const { link, secret } = found;
  const reader = readerOf(req);
  if (parametersOf(req).get('change') === 'send') {
    try {
      const isSent = await deps.portalLinks.resend(secret, reader.language, actorOf(req));
      if (!isSent) return sendClosed(deps, req, res);
      return send(deps, req, res, sentView(reader, maskAddress(link.email)), { link });
    } catch (thrown) {
      if (!(thrown instanceof Refusal) || thrown.problem.code !== 'too-many') throw thrown;
      const { retryAfterSeconds } = thrown.problem;
      res.setHeader('Retry-After', String(retryAfterSeconds));
      return send(deps, req, res, waitView(reader, minutesOf(retryAfterSeconds)), { link, status: 429 });
    }
  }
  const session = await deps.portalLinks.open(secret, actorOf(req));
  if (!session) return send(deps, req, res, usedView(reader, maskAddress(link.email)), { link, status: 409 });
  const seconds = Math.floor((link.expiresAt.getTime() - deps.now().getTime()) / 1000);
  deps.cookies.setPortal(res, portalToken(session), seconds);
  res.redirect(303, portalPath);
}

async function linkAt(
  { portalLinks }: PortalDeps,
  req: Request,
): Promise<{ link: OpenLink; secret: PortalSecret } | null> {
  const secret = servedSecret(req, String(req.params['token']));
  if (!secret) return null;
  openProject(secret.projectId);
  const link = await portalLinks.find(secret);
  return link && { link, secret };
}

async function sendPortal(
  deps: PortalDeps,
  req: Request,
  res: Response,
  { link, session }: Visit,
  outcome: Outcome | undefined,
  status = 200,
): Promise<void> {
  const connection = link.can.includes('connection') ? await deps.portalConnections.of(link) : null;
  const state = {
    csrf: deps.csrf.make(session.secret),
    connection: connection && { connection, callback: deps.portalConnections.callback(connection) },
    directory: link.can.includes('directory') ? await deps.portalDirectory.of(link) : null,
    domains: link.can.includes('domains') ? await deps.portal.domains(link) : [],
    isDone: await deps.portal.isDone(link),
    outcome,
  };
  await send(deps, req, res, portalView(readerOf(req), link, state), { link, status });
}

function sendClosed(deps: PortalDeps, req: Request, res: Response): Promise<void> {
  return send(deps, req, res, closedView(readerOf(req)), { status: 404 });
}

async function send(
  { experienceOf, pages }: PortalDeps,
  req: Request,
  res: Response,
  content: Html,
  { link, status = 200 }: { link?: OpenLink; status?: number },
): Promise<void> {
  const { language, t } = readerOf(req);
  const experience = link && (await experienceOf(link.projectId));
  pages.send(req, res, 'plain/portal', {
    status,
    uiLocales: language,
    values: { title: link ? t('title', { organization: link.organization }) : t('closedTitle') },
    html: { content: content.text },
    brand: experience && ((shown) => brandIn(experience, link.app, shown)),
  });
}

/** The texts in the language of the browser, if the portal has it. */
function readerOf(req: Request): Reader {
  const languages = Object.keys(portalTexts) as PortalLanguage[];
  const language = (req.acceptsLanguages(languages) || 'en') as PortalLanguage;
  const times = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return {
    language,
    at: (time) => `${times.format(time)} UTC`,
    t: (key, values = {}) =>
      portalTexts[language][key].replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole),
  };
}

import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import type { Role } from '../../domain/admins/membership.entity.ts';
import { allows, roleIn } from '../../domain/admins/permission.ts';
import { chooseLocale } from '../../domain/delivery/locale.ts';
import { sampleOf, templateNames } from '../../domain/delivery/samples.ts';
import { renderMail } from '../../domain/delivery/templates.ts';
import { brandIn, type ExperienceContent } from '../../domain/experience/content.ts';
import type { Experiences } from '../../domain/experience/experiences.ts';
import { maxLogoBytes } from '../../domain/experience/logo-file.ts';
import { mailLookOf } from '../../domain/experience/mail-look.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { type Problem, Refusal, refuse } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { bounded } from '../../http/bodies.ts';
import { actorOf, requestContext } from '../../http/context.ts';
import type { Pages } from '../../http/pages.ts';
import { actorFor, type Caller } from '../api/caller.ts';
import { errorFor } from '../api/graphql-error.ts';
import { isOwnPage } from '../api/server.ts';

/** What the experience needs besides the GraphQL API: bytes in, pages out. */
export interface ExperienceRoutes {
  db: Database;
  experiences: Experiences;
  issuer: string;
  now(): Date;
  pages: Pick<Pages, 'send' | 'text'>;
  /** By the console's session or a bearer token; null for strangers. */
  callerOf(req: Request): Promise<Caller | null>;
}

/** Steps of the sign-in page's own script (console/signin/preview.ts); the first is as it was painted. */
const steps = [
  'address',
  'known',
  'code',
  'error',
  'choose',
  'phone',
  'sms',
  'enrol',
  'app',
  'recovery',
  'done',
  'ended',
];

/**
 * `POST /admin/projects/{id}/logos`: a picture as the whole body. `GET /admin/preview/{page}`: a page of the hosted
 * sign-in as it would be, for a frame inside the console; it is the page itself, without a flow.
 */
export function experienceRoutes(deps: ExperienceRoutes): Router {
  const router = Router();
  router.post('/projects/:projectId/logos', upload(deps));
  router.get('/preview/:page', preview(deps));
  router.use(told);
  return router;
}

function upload(deps: ExperienceRoutes): RequestHandler[] {
  const body = bounded(express.raw({ type: () => true, limit: maxLogoBytes, inflate: false }), maxLogoBytes);
  const take: RequestHandler = async (req, res) => {
    const projectId = String(req.params['projectId']);
    const caller = await callerWith(deps, req, 'project_admin', projectId);
    if (caller.kind === 'admin' && !isOwnPage(req, deps.issuer)) {
      refuse({ code: 'forbidden', reason: 'a browser must send X-Latchkey-Csrf, from the console’s own origin' });
    }
    await new Promise<void>((resolve, reject) => body(req, res, (error) => (error ? reject(error) : resolve())));
    const bytes = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
    const { id, type, width, height } = await deps.experiences.addLogo(
      projectId,
      bytes,
      actorFor(caller, actorOf(req)),
    );
    res.status(201).json({ id, type, width, height });
  };
  return [take];
}

function preview(deps: ExperienceRoutes): RequestHandler {
  return async (req, res) => {
    const projectId = asText(req.query['project']) ?? '';
    await callerWith(deps, req, 'project_viewer', projectId);
    const em = deps.db.reader();
    const project = await em.findOneOrFail(Project, projectId);
    const content = await contentOf(deps, projectId, asText(req.query['look']) ?? 'draft');
    const step = asText(req.query['step']) ?? '';
    const dress = {
      uiLocales: asText(req.query['lang']),
      isPreview: true,
      brand: (language: Parameters<typeof brandIn>[2]) => brandIn(content, project.name, language),
    };
    const app = asText(req.query['app'])?.slice(0, 100) || project.name;
    switch (req.params['page']) {
      case 'signin':
        return send('index', { ...inert, client_name: app, preview: steps.includes(step) ? step : 'address' });
      case 'mail':
        return sendMail();
      case 'error':
        return send('error', { message: deps.pages.text(req, 'error.flowExpired', {}, dress.uiLocales) });
      case 'confirm-logout':
        return send('confirm-logout', { client_name: app, csrf: '', action: '#' });
      case 'signed-out':
        return send('signed-out', { client_name: app });
      default:
        return refuse({ code: 'invalid', field: 'page', reason: 'is not a page that can be looked at' });
    }

    /** As a mail program would show it: no script, nothing from elsewhere, styles of its own. */
    function sendMail(): void {
      const template = templateNames.find((one) => one === asText(req.query['template'])) ?? 'sign-in-code';
      const language = chooseLocale(dress.uiLocales, undefined);
      const look = mailLookOf(brandIn(content, project.name, language));
      res.setHeader('Content-Security-Policy', mailPolicy);
      res.setHeader('Cache-Control', 'no-store');
      res.setHeader('Referrer-Policy', 'no-referrer');
      res.type('html').send(renderMail(sampleOf(template, app, deps.now()), language, look).html);
    }

    function send(page: string, values: Record<string, string>): void {
      deps.pages.send(req, res, page, { ...dress, values });
    }
  };
}

const mailPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'";

/** Nothing here belongs to a sign-in. */
const inert = {
  flow: '',
  issuer: '',
  project_id: '',
  client_id: '',
  login_hint: '',
  test_mode: 'false',
  dev_mailbox: 'false',
};

async function contentOf(deps: ExperienceRoutes, projectId: string, look: string): Promise<ExperienceContent> {
  const em = deps.db.reader();
  if (look === 'published') return deps.experiences.published(em, projectId);
  if (/^\d{1,9}$/.test(look)) return deps.experiences.contentOf(em, projectId, Number(look));
  return (await deps.experiences.state(em, projectId)).draft;
}

/** Refuses `unauthenticated`, `not-found` (also where there is no role at all), `forbidden`. */
async function callerWith(deps: ExperienceRoutes, req: Request, role: Role, projectId: string): Promise<Caller> {
  const caller = await deps.callerOf(req);
  if (!caller) refuse({ code: 'unauthenticated' });
  const isThere = isUuid(projectId) && (await deps.db.reader().count(Project, { id: projectId })) === 1;
  if (isThere && allows(caller.grants, role, projectId)) return caller;
  if (!isThere || roleIn(caller.grants, projectId) === null) refuse({ code: 'not-found', what: 'project' });
  refuse({ code: 'forbidden', reason: `it needs the role ${role}` });
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const statuses: Partial<Record<Problem['code'], number>> = {
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'too-many': 429,
};

/** Refusals in the form of the GraphQL API's. */
const told: ErrorRequestHandler = (thrown: unknown, req, res, next) => {
  const isTooLarge = (thrown as { status?: unknown } | null)?.status === 413;
  const problem: Problem | null = isTooLarge
    ? { code: 'invalid', field: 'logo', reason: `must have at most ${maxLogoBytes / 1024} KB` }
    : thrown instanceof Refusal
      ? thrown.problem
      : null;
  if (!problem || res.headersSent) return next(thrown);
  answer(req, res.status(isTooLarge ? 413 : (statuses[problem.code] ?? 400)), problem);
};

function answer(req: Request, res: Response, problem: Problem): void {
  if (problem.code === 'unauthenticated') res.setHeader('WWW-Authenticate', 'Bearer');
  if (problem.code === 'too-many') res.setHeader('Retry-After', String(problem.retryAfterSeconds));
  const { message, extensions } = errorFor(problem);
  res.setHeader('Cache-Control', 'no-store');
  res.json({ errors: [{ message, extensions: { ...extensions, requestId: requestContext(req).requestId } }] });
}

import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { allows, roleIn, type WideRole } from '../../domain/admins/permission.ts';
import { chooseLocale } from '../../domain/delivery/locale.ts';
import { sampleOf, templateNames } from '../../domain/delivery/samples.ts';
import { renderMail } from '../../domain/delivery/templates.ts';
import { brandIn, type ExperienceContent } from '../../domain/experience/content.ts';
import type { Experiences } from '../../domain/experience/experiences.ts';
import { maxLogoBytes } from '../../domain/experience/logo-file.ts';
import { mailLookOf } from '../../domain/experience/mail-look.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { found, type Problem, Refusal, refuse } from '../../domain/kernel/problem.ts';
import { openProject } from '../../domain/kernel/scope.ts';
import { Project, passkeyPolicyOf } from '../../domain/projects/project.entity.ts';
import { BodyTooLargeError, bounded } from '../../http/bodies.ts';
import { actorOf } from '../../http/context.ts';
import { bodyFault } from '../../http/failure.ts';
import type { Pages } from '../../http/pages.ts';
import { type AdminCaller, actorFor } from '../api/caller.ts';
import { checkScope } from '../api/caller-checks.ts';
import { ownerOf } from '../api/ownership.ts';
import { sendProblem } from '../api/send-problem.ts';
import { isOwnPage } from '../api/server.ts';
import { sampleAppOf } from '../delivery/sample-app.ts';

/** Logo upload and page previews, which GraphQL does not cover. */
export interface ExperienceRoutes {
  db: Database;
  experiences: Experiences;
  issuer: string;
  now(): Date;
  pages: Pick<Pages, 'send' | 'text'>;
  /** By the console's session or a bearer token; null if not authenticated. */
  callerOf(req: Request): Promise<AdminCaller | null>;
}

/** Steps of the sign-in page's script (console/signin/preview.ts); the first is the initial state. */
const previewSteps = [
  'address',
  'known',
  'code',
  'error',
  'choose',
  'phone',
  'sms',
  'enrol',
  'app',
  'passkey',
  'new-passkey',
  'recovery',
  'offer',
  'done',
  'ended',
];

/** `POST /admin/projects/{id}/logos`: an image as the request body. */
export function logoUpload(deps: ExperienceRoutes): RequestHandler {
  const body = bounded(express.raw({ type: () => true, limit: maxLogoBytes, inflate: false }), maxLogoBytes);
  return async (req, res) => {
    const { caller, projectId } = await callerWith(
      deps,
      req,
      ['project_admin', 'projects:write'],
      String(req.params['projectId']),
    );
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
}

/** `GET /admin/preview/{page}`: a hosted page without a flow, for a frame in the console. */
export function preview(deps: ExperienceRoutes): RequestHandler {
  return async (req, res) => {
    const { projectId } = await callerWith(
      deps,
      req,
      ['project_viewer', 'projects:read'],
      asText(req.query['project']) ?? '',
    );
    const em = deps.db.reader();
    const project = await em.findOneOrFail(Project, projectId);
    const content = await contentOf(deps, projectId, asText(req.query['look']) ?? 'draft');
    const step = asText(req.query['step']) ?? '';
    const options = {
      uiLocales: asText(req.query['lang']),
      isPreview: true,
      brand: (language: Parameters<typeof brandIn>[2]) => brandIn(content, project.name, language),
    };
    const app = asText(req.query['app'])?.slice(0, 100) || (await sampleAppOf(em, projectId));
    switch (req.params['page']) {
      case 'signin':
        return send('index', {
          ...inert,
          client_name: app,
          passkeys: passkeyPolicyOf(project),
          preview: previewSteps.includes(step) ? step : 'address',
        });
      case 'mail':
        return sendMail();
      case 'error':
        return send('plain/ended', {});
      case 'confirm-logout':
        return send('confirm-logout', { client_name: app, csrf: '', action: '#' });
      case 'signed-out':
        return send('signed-out', { client_name: app });
      default:
        return refuse({
          code: 'invalid',
          field: 'page',
          reason: 'must be signin, mail, error, confirm-logout or signed-out',
        });
    }

    /** As in a mail client: no scripts, no external content, inline styles. */
    function sendMail(): void {
      const template = templateNames.find((one) => one === asText(req.query['template'])) ?? 'sign-in-code';
      const language = chooseLocale(options.uiLocales, undefined);
      const look = mailLookOf(brandIn(content, project.name, language));
      res.setHeader('Content-Security-Policy', mailPolicy);
      res.setHeader('Cache-Control', 'no-store');
      res.setHeader('Referrer-Policy', 'no-referrer');
      res.type('html').send(renderMail(sampleOf(template, app, deps.now()), language, look).html);
    }

    function send(page: string, values: Record<string, string>): void {
      deps.pages.send(req, res, page, { ...options, values });
    }
  };
}

const mailPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'";

/** Template values of a page without a flow. */
const inert = {
  flow: '',
  issuer: '',
  project_id: '',
  client_id: '',
  login_hint: '',
  asked: '',
  test_mode: 'false',
  dev_mailbox: 'false',
};

async function contentOf(deps: ExperienceRoutes, projectId: string, look: string): Promise<ExperienceContent> {
  const em = deps.db.reader();
  if (look === 'published') return deps.experiences.published(em, projectId);
  if (/^\d{1,9}$/.test(look)) return deps.experiences.contentOf(em, projectId, Number(look));
  return (await deps.experiences.state(em, projectId)).draft;
}

/**
 * From here on, the request's statements see the project. Refuses `unauthenticated`, `not-found` (also without any role in
 * the project), `forbidden`.
 */
async function callerWith(
  deps: ExperienceRoutes,
  req: Request,
  [role, scope]: readonly [WideRole, AdminScope],
  id: string,
): Promise<{ caller: AdminCaller; projectId: string }> {
  const caller = await deps.callerOf(req);
  if (!caller) refuse({ code: 'unauthenticated' });
  checkScope(caller, [scope]);
  const projectId = found((await ownerOf(deps.db.alone, { noun: 'project', id })).projectId, 'project');
  if (!allows(caller.grants, role, projectId)) {
    if (roleIn(caller.grants, projectId) === null) refuse({ code: 'not-found', what: 'project' });
    refuse({ code: 'forbidden', reason: `it requires the role ${role}` });
  }
  openProject(projectId);
  return { caller, projectId };
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

/** Refusals in the shape of the GraphQL API's errors. */
export const refusals: ErrorRequestHandler = (thrown: unknown, req, res, next) => {
  const fault = bodyFault(thrown);
  const problem: Problem | null =
    fault !== undefined ? unhandled(fault, thrown) : thrown instanceof Refusal ? thrown.problem : null;
  if (!problem || res.headersSent) return next(thrown);
  res.setHeader('Cache-Control', 'no-store');
  sendProblem(req, res.status(fault ?? statuses[problem.code] ?? 400), problem);
};

/** A request that no handler responded to. */
function unhandled(status: number, thrown: unknown): Problem {
  if (status === 405) return { code: 'invalid', field: 'method', reason: 'is not supported here' };
  if (status !== 413) return { code: 'invalid', field: 'body', reason: 'cannot be read' };
  // Only logos have bodies; the limit of others is the server's.
  const { maxBytes } = thrown instanceof BodyTooLargeError ? thrown : { maxBytes: maxLogoBytes };
  const field = maxBytes === maxLogoBytes ? 'logo' : 'body';
  return { code: 'invalid', field, reason: `must have at most ${maxBytes / 1024} KB` };
}

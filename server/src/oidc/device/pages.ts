import type { Request, RequestHandler, Response } from 'express';
import {
  type ChoosingDevice,
  type DeviceApprovals,
  type DeviceState,
  isChoosing,
  isRefused,
  type Visit,
  type WaitingDevice,
} from '../../domain/ceremonies/requests/device-approvals.ts';
import { brandIn, type ExperienceContent } from '../../domain/experience/content.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { openProject } from '../../domain/kernel/scope.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { shownUserCode, typedUserCode } from '../../domain/tokens/device/user-code.ts';
import { actorOf } from '../../http/context.ts';
import type { Cookies } from '../../http/cookies.ts';
import { issuerOf } from '../../http/issuer.ts';
import type { PageContent, Pages } from '../../http/pages.ts';
import { parametersOf } from '../../http/parameters.ts';
import { isSameOrigin } from '../../http/same-origin.ts';
import { type AuthorizeDeps, approvalPage, signInPage } from '../authorize.ts';
import type { AskedConsent } from '../consent-content.ts';
import type { ChoicePage } from '../organization.ts';
import { facts } from './facts.ts';

export interface DevicePagesDeps {
  approvals: Pick<DeviceApprovals, 'enter' | 'waiting' | 'choose' | 'decide'>;
  cookies: Cookies;
  pages: Pages;
  noAccessPage: AuthorizeDeps['noAccessPage'];
  choicePage: ChoicePage;
  organizationName: AskedConsent['organizationName'];
  projectOf(projectId: string): Promise<Project | null>;
  experienceOf(project: Project): Promise<ExperienceContent>;
  newSecret(): string;
  /** CSRF tokens of the form for codes, bound to its cookie, and of the decision, bound to session and flow. */
  csrf: { make(bound: string): string; holds(bound: string, token: string | undefined): boolean };
  nowSeconds(): number;
}

type Handler = (deps: DevicePagesDeps, req: Request, res: Response) => Promise<void>;

const at =
  (handler: Handler) =>
  (deps: DevicePagesDeps): RequestHandler =>
  async (req, res) => {
    const { project } = issuerOf(req);
    if (project) openProject(project.id);
    await handler(deps, req, res);
  };

// `{issuer}/device`: a person enters the code of a device, signs in, and decides (RFC 8628 §3.3, §5.4); also without script.
export const codePage = at(askForCode);
export const codeForm = at(takeCode);
export const approvalForm = at(askForDecision);
export const decision = at(takeDecision);

/** The code in the URL is shown, to be compared with the device (RFC 8628 §3.3.1). Nothing is looked up. */
async function askForCode(deps: DevicePagesDeps, req: Request, res: Response): Promise<void> {
  const code = typedUserCode(parametersOf(req).get('user_code') ?? '');
  await sendForm(deps, req, res, code === null ? {} : { match: shownUserCode(code) });
}

async function takeCode(deps: DevicePagesDeps, req: Request, res: Response): Promise<void> {
  const issuer = issuerOf(req);
  const form = parametersOf(req);
  const secret = deps.cookies.deviceForm(req);
  const isOurs = secret !== undefined && isSameOrigin(req, issuer.url) && deps.csrf.holds(secret, form.get('csrf'));
  if (!isOurs || form.faults.length > 0) return sendForm(deps, req, res, { problem: 'device.form', status: 403 });
  const typed = form.get('user_code') ?? '';
  const by = { actor: actorOf(req), sessionSecret: sessionOf(deps, req) };
  try {
    const begun = await deps.approvals.enter(issuer, typed, by);
    if (!begun)
      return await sendForm(deps, req, res, { problem: 'device.wrong', typed: typed.slice(0, 20), status: 400 });
    deps.cookies.setFlow(res, begun.flow, begun.browserSecret);
    res.setHeader('Cache-Control', 'no-store');
    res.redirect(303, approvalPage(issuer, begun.flow));
  } catch (error) {
    if (!(error instanceof Refusal) || error.problem.code !== 'too-many') throw error;
    res.setHeader('Retry-After', String(error.problem.retryAfterSeconds));
    await sendForm(deps, req, res, { problem: 'device.wait', status: 429 });
  }
}

async function askForDecision(deps: DevicePagesDeps, req: Request, res: Response): Promise<void> {
  const visit = visitOf(deps, req, parametersOf(req).get('flow'));
  await sendDecision(deps, req, res, visit, await deps.approvals.waiting(visit, actorOf(req)));
}

async function takeDecision(deps: DevicePagesDeps, req: Request, res: Response): Promise<void> {
  const form = parametersOf(req);
  const visit = visitOf(deps, req, form.get('flow'));
  const waiting = await deps.approvals.waiting(visit, actorOf(req));
  const answer = form.get('decision');
  if (isChoosing(waiting)) return takeChoice(deps, req, res, visit, waiting);
  if (waiting === null || waiting === 'sign-in-first' || isRefused(waiting))
    return sendDecision(deps, req, res, visit, waiting);
  const isOurs = isSameOrigin(req, visit.issuer.url) && deps.csrf.holds(boundTo(waiting), form.get('csrf'));
  if (!isOurs || form.faults.length > 0 || (answer !== 'allow' && answer !== 'deny')) {
    return sendDecision(deps, req, res, visit, waiting, 403);
  }
  const isAllowed = answer === 'allow';
  const decided = await deps.approvals.decide(visit, waiting, isAllowed, actorOf(req));
  if (typeof decided !== 'boolean') return sendDecision(deps, req, res, visit, decided);
  deps.cookies.clearFlow(res, visit.flow);
  if (!decided) return sendGone(deps, req, res);
  const key = isAllowed ? 'device.allowed' : 'device.denied';
  const values = {
    client_name: waiting.request.client.getEntity().name,
    title: deps.pages.text(req, `${key}Title`),
    text: deps.pages.text(req, `${key}Text`),
  };
  deps.pages.send(req, res, 'device/done', { ...(await brandOf(deps, req)), values });
}

/** Stores the organization that the user chose; the decision follows. */
async function takeChoice(
  deps: DevicePagesDeps,
  req: Request,
  res: Response,
  visit: Visit,
  choosing: ChoosingDevice,
): Promise<void> {
  const form = parametersOf(req);
  const organizationId = form.get('organization');
  const isOurs = isSameOrigin(req, visit.issuer.url) && deps.csrf.holds(boundTo(choosing), form.get('csrf'));
  if (isOurs && form.faults.length === 0 && isUuid(organizationId)) {
    await deps.approvals.choose(visit, organizationId, choosing);
  }
  res.setHeader('Cache-Control', 'no-store');
  res.redirect(303, approvalPage(visit.issuer, visit.flow));
}

async function sendDecision(
  deps: DevicePagesDeps,
  req: Request,
  res: Response,
  visit: Visit,
  waiting: DeviceState,
  status = 200,
): Promise<void> {
  if (waiting === null) return sendGone(deps, req, res);
  if (waiting === 'sign-in-first') {
    res.setHeader('Cache-Control', 'no-store');
    return res.redirect(303, signInPage(visit.flow));
  }
  if (isRefused(waiting)) {
    return deps.noAccessPage(req, res, { request: waiting.request, user: waiting.withoutAccess, flow: visit.flow });
  }
  const { request, user } = waiting;
  if (isChoosing(waiting)) {
    const fields = { flow: visit.flow, csrf: deps.csrf.make(boundTo(waiting)) };
    const action = `${req.baseUrl}/device/approval`;
    res.setHeader('Cache-Control', 'no-store');
    return deps.choicePage(req, res, { request, choices: waiting.choices, user, action, fields });
  }
  const { organizationId } = waiting;
  const { id: projectId } = request.project;
  const organization = organizationId === null ? null : await deps.organizationName(projectId, organizationId);
  deps.pages.send(req, res, 'device/approval', {
    ...(await brandOf(deps, req)),
    status,
    values: {
      client_name: request.client.getEntity().name,
      account: user.email ?? user.userName,
      action: `${req.baseUrl}/device/approval`,
      flow: visit.flow,
      csrf: deps.csrf.make(boundTo(waiting)),
      other_account: signInPage(visit.flow),
      problem: status === 200 ? '' : deps.pages.text(req, 'device.form'),
    },
    html: { facts: facts(deps.pages, req, waiting, organization, deps.nowSeconds()) },
  });
}

/** Decided, expired, or begun in another browser. */
async function sendGone(deps: DevicePagesDeps, req: Request, res: Response): Promise<void> {
  const values = {
    client_name: '',
    title: deps.pages.text(req, 'device.goneTitle'),
    text: deps.pages.text(req, 'device.goneText'),
  };
  deps.pages.send(req, res, 'device/done', { ...(await brandOf(deps, req)), values, status: 400 });
}

interface CodeForm {
  /** From the URL, instead of the field. */
  match?: string;
  typed?: string;
  /** Message key. */
  problem?: string;
  status?: number;
}

async function sendForm(
  deps: DevicePagesDeps,
  req: Request,
  res: Response,
  { match, typed = '', problem, status = 200 }: CodeForm,
): Promise<void> {
  const secret = deps.cookies.deviceForm(req) ?? deps.newSecret();
  deps.cookies.setDeviceForm(res, secret);
  deps.pages.send(req, res, match === undefined ? 'device/code' : 'device/match', {
    ...(await brandOf(deps, req)),
    status,
    values: {
      client_name: '',
      action: `${req.baseUrl}/device`,
      csrf: deps.csrf.make(secret),
      code: match ?? typed,
      problem: problem === undefined ? '' : deps.pages.text(req, problem),
    },
  });
}

/** The branding of the issuer's project. */
async function brandOf(deps: DevicePagesDeps, req: Request): Promise<Pick<PageContent, 'brand'>> {
  const id = issuerOf(req).project?.id;
  const project = id === undefined ? null : await deps.projectOf(id);
  if (!project) return {};
  const experience = await deps.experienceOf(project);
  return { brand: (language) => brandIn(experience, project.name, language) };
}

function visitOf(deps: DevicePagesDeps, req: Request, flow = ''): Visit {
  const flowSecret = deps.cookies.flow(req, flow);
  return { issuer: issuerOf(req), flow, flowSecret, sessionSecret: sessionOf(deps, req) };
}

function sessionOf({ cookies }: DevicePagesDeps, req: Request): string | undefined {
  const { project } = issuerOf(req);
  return project ? cookies.session(req, project.id) : undefined;
}

function boundTo(state: WaitingDevice | ChoosingDevice): string {
  const { request, session } = state;
  const organizationId = isChoosing(state) ? null : state.organizationId;
  return [session.id, request.id, ...(organizationId === null ? [] : [organizationId])].join(' ');
}

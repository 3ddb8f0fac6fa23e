/**
 * `/account`: users view and end their own sessions, devices, second factors and applications, and edit their profile. Pages
 * and forms work without script; with script, "forget this browser" also deletes the browser's keys. Only the SSO session's
 * cookie determines the account; a change needs a CSRF token bound to that session.
 */
import type { Request, RequestHandler, Response } from 'express';
import { confirmedPath } from '../domain/accounts/confirmation.ts';
import { type AccountDeletions, cancelDeletionPath } from '../domain/accounts/deletions/account-deletions.ts';
import type { AccountOverview } from '../domain/accounts/own/own-account.ts';
import type { OwnChange, Visitor } from '../domain/accounts/own/own-change.ts';
import { cancelPath, type Recoveries } from '../domain/accounts/recoveries.ts';
import { languageOf } from '../domain/ceremonies/notices.ts';
import type { BegunFlow } from '../domain/ceremonies/requests/authorization-requests.ts';
import { userHandleOf } from '../domain/credentials/passkey-values.ts';
import { brandIn, type ExperienceContent } from '../domain/experience/content.ts';
import { Refusal } from '../domain/kernel/problem.ts';
import { openProject } from '../domain/kernel/scope.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { invitationPath } from '../domain/organizations/invitations/open-invitations.ts';
import { addressKey, isAddress } from '../domain/users/login.ts';
import { languageTagOf } from '../domain/users/profile.ts';
import { actorOf, requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { sendJson } from '../http/export.ts';
import { type Html, html } from '../http/markup.ts';
import { PageMissingError, type Pages } from '../http/pages.ts';
import { formBody, type Parameters, parametersOf } from '../http/parameters.ts';
import type { Route } from '../http/routes/route.ts';
import { isSameOrigin } from '../http/same-origin.ts';
import { siteAt } from '../http/site.ts';
import {
  type CancelTexts,
  cancelledView,
  cancelView,
  deletedView,
  deletionTexts,
  notCancelledView,
  recoveryTexts,
} from './cancel-view.ts';
import { type ActionOutcome, type ChangeDeps, changes, refusalOf, sectionIn, statuses } from './changes.ts';
import type { TestCode } from './contacts-view.ts';
import { invitationView, noInvitationView } from './invitation-view.ts';
import { newKeyView } from './keys-view.ts';
import {
  accountView,
  chooserView,
  endedView,
  type Notice,
  recoveryCodesView,
  signedOutView,
  type View,
} from './view.ts';

/** A service whose work the link of a mail cancels. */
type Cancelling = Pick<Recoveries, 'cancelBySecret' | 'isCancellable'>;

export interface AccountDeps extends ChangeDeps {
  recoveries: Cancelling;
  accountDeletions: AccountDeletions;
  experienceOf(projectId: string): Promise<ExperienceContent>;
  cookies: Pick<Cookies, 'session' | 'sessions' | 'clearSession' | 'setFlow'>;
  /** CSRF token of the forms, bound to this session. */
  csrf: { make(sessionId: string): string; holds(sessionId: string, token: string | undefined): boolean };
  pages: Pages;
  log: { info(fields: object, message: string): void };
}

const noSignals = { device_keys: '', rp_id: '', user_handle: '', passkeys: '', user_name: '', display_name: '' };

const body = formBody;
const openApi = 'page';

export const accountRoutes: readonly Route<AccountDeps>[] = [
  {
    path: '/account',
    methods: {
      GET: { handler: (deps) => withPages(deps, show), openApi },
      POST: { body, handler: (deps) => withPages(deps, take), openApi },
    },
  },
  {
    path: confirmedPath,
    methods: {
      GET: { handler: () => confirmed, openApi },
    },
  },
  {
    path: invitationPath,
    methods: { GET: { handler: (deps) => withPages(deps, showInvitation), openApi } },
  },
  cancelRoute(cancelPath, recoveryTexts, ({ recoveries }) => recoveries),
  cancelRoute(cancelDeletionPath, deletionTexts, ({ accountDeletions }) => accountDeletions),
];

/** The page of the link in a mail. */
function cancelRoute(path: string, texts: CancelTexts, of: (deps: AccountDeps) => Cancelling): Route<AccountDeps> {
  return {
    path,
    methods: {
      GET: {
        handler: (deps) => withPages(deps, (_, req, res) => askToCancel(deps, req, res, { path, texts, by: of(deps) })),
        openApi,
      },
      POST: {
        body,
        handler: (deps) => withPages(deps, (_, req, res) => cancel(deps, req, res, { texts, by: of(deps) })),
        openApi,
      },
    },
  };
}

/** Back from the sign-in that confirmed the user. */
function confirmed(req: Request, res: Response): void {
  const [project = '', section] = (parametersOf(req).get('state') ?? '').split(' ');
  back(res, project, undefined, sectionIn(section) ?? null);
}

/** Mail scanners open links, so only the form cancels. */
async function askToCancel(
  deps: AccountDeps,
  req: Request,
  res: Response,
  { by, path, texts }: { by: Cancelling; path: string; texts: CancelTexts },
): Promise<void> {
  const link = linkOf(req);
  const isOpen = isServed(req, link.project) && (await by.isCancellable(link.project, link.cancel));
  const view = isOpen ? cancelView(path, link, texts) : notCancelledView(texts);
  await send(deps, req, res, view, { status: isOpen ? 200 : 404 });
}

/** The page of an invitation's link. It changes nothing: the account page accepts the invitation, after a sign-in. */
async function showInvitation(deps: AccountDeps, req: Request, res: Response): Promise<void> {
  const given = parametersOf(req);
  const projectId = given.get('project') ?? '';
  const isHere = isUuid(projectId) && isServed(req, projectId);
  const invitation = isHere ? await deps.ownAccount.invitation(projectId, given.get('invitation') ?? '') : null;
  if (!invitation) return send(deps, req, res, noInvitationView(isHere ? projectId : undefined), { status: 404 });
  const secret = deps.cookies.session(req, projectId);
  const visitor = secret === undefined ? null : await deps.ownAccount.visit(projectId, secret, false);
  // As `accept` compares: a user name does not count.
  const own = visitor?.user.email;
  if (own && addressKey(own) === addressKey(invitation.email)) return back(res, projectId);
  await send(deps, req, res, invitationView(projectId, invitation, visitor), visitor ? { visitor } : {});
}

/** Needs no session: the secret is in the form, which another site cannot know. */
async function cancel(
  deps: AccountDeps,
  req: Request,
  res: Response,
  { by, texts }: { by: Cancelling; texts: CancelTexts },
): Promise<void> {
  const { project, cancel: secret } = linkOf(req);
  const isDone = isServed(req, project) && (await by.cancelBySecret(project, secret, actorOf(req)));
  const view = isDone ? cancelledView(texts) : notCancelledView(texts);
  await send(deps, req, res, view, { status: isDone ? 200 : 404 });
}

/** A custom domain serves the accounts of its project only. */
function isServed(req: Request, projectId: string): boolean {
  const { project } = siteAt(req).issuer;
  return project === null || project.id === projectId;
}

function linkOf(req: Request): { project: string; cancel: string } {
  const given = parametersOf(req);
  return { project: given.get('project') ?? '', cancel: given.get('cancel') ?? '' };
}

async function show(deps: AccountDeps, req: Request, res: Response): Promise<void> {
  const query = parametersOf(req);
  const asked = query.get('project');
  const held = deps.cookies
    .sessions(req)
    .filter(({ projectId }) => (asked === undefined || projectId === asked) && isServed(req, projectId));
  const visits = held.flatMap(({ projectId, secret }) =>
    isUuid(projectId) ? [deps.ownAccount.visit(projectId, secret, held.length === 1)] : [],
  );
  const visitors = (await Promise.all(visits)).filter((visitor) => visitor !== null);
  const loginHint = loginHintOf(query);
  const invited = visitors.filter((visitor) => isOf(visitor, loginHint));
  const [visitor, ...others] = loginHint === undefined ? visitors : invited;
  if (!visitor) return send(deps, req, res, signedOutView(projectToOffer(req, asked, held), { loginHint }));
  if (others.length > 0) return send(deps, req, res, chooserView(visitors));
  openProject(visitor.project.id);
  const notice = query.get('notice');
  await sendAccount(deps, req, res, visitor, notice === 'saved' || notice === 'name' ? notice : undefined);
}

/** The project that a visitor without a session can sign in to: that of the host, the address, or the only ended session. */
function projectToOffer(
  req: Request,
  asked: string | undefined,
  held: readonly { projectId: string }[],
): string | undefined {
  const [only, ...others] = held;
  const id = siteAt(req).issuer.project?.id ?? asked ?? (others.length === 0 ? only?.projectId : undefined);
  return isUuid(id) ? id : undefined;
}

/** The address in the link of an invitation; undefined without one. */
function loginHintOf(parameters: Parameters): string | undefined {
  const hint = parameters.get('login_hint');
  return hint !== undefined && isAddress(hint) ? hint : undefined;
}

/** Whether the visitor signs in with this address. */
function isOf({ user }: Visitor, address: string | undefined): boolean {
  return (
    address !== undefined &&
    [user.email, user.userName].some((own) => own != null && addressKey(own) === addressKey(address))
  );
}

/** Needs no session and no token: another site could as well send the visitor to an application's sign-in. */
async function signIn(deps: AccountDeps, req: Request, res: Response, projectId: string): Promise<void> {
  const loginHint = loginHintOf(parametersOf(req));
  try {
    const { ip } = requestContext(req);
    toSignin(deps, res, await deps.ownAccount.signIn(projectId, siteAt(req).domain, ip, loginHint));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const { problem } = thrown;
    if (problem.code === 'not-found') return back(res, projectId);
    if (problem.code !== 'too-many') throw thrown;
    res.setHeader('Retry-After', String(problem.retryAfterSeconds));
    const view = signedOutView(projectId, { loginHint, waitSeconds: problem.retryAfterSeconds });
    await send(deps, req, res, view, { status: 429 });
  }
}

function toSignin({ cookies }: AccountDeps, res: Response, { flow, browserSecret }: BegunFlow): void {
  cookies.setFlow(res, flow, browserSecret);
  res.setHeader('Cache-Control', 'no-store');
  res.redirect(303, `/signin?${new URLSearchParams({ flow })}`);
}

async function take(deps: AccountDeps, req: Request, res: Response): Promise<void> {
  const form = parametersOf(req);
  const projectId = form.get('project') ?? '';
  const isKnown = isUuid(projectId) && isServed(req, projectId);
  const secret = isKnown ? deps.cookies.session(req, projectId) : undefined;
  const asksSignIn = isKnown && form.get('change') === 'sign-in' && isSameOrigin(req, siteAt(req).origin);
  if (asksSignIn) return signIn(deps, req, res, projectId);
  const visitor = secret === undefined ? null : await deps.ownAccount.visit(projectId, secret, false);
  if (!visitor) return back(res, projectId);
  openProject(projectId);
  const asked = form.get('change') ?? '';
  const change = Object.hasOwn(changes, asked) ? changes[asked] : undefined;
  const isOurs = isSameOrigin(req, siteAt(req).origin) && deps.csrf.holds(visitor.session.id, form.get('csrf'));
  if (!isOurs || !change || form.faults.length > 0) return sendAccount(deps, req, res, visitor, 'form', 403);
  const made: OwnChange = {
    visitor,
    actor: actorOf(req, { kind: 'user', id: visitor.user.id, name: visitor.user.userName }),
    locale: languageOf(visitor.user, req.get('accept-language')),
  };
  const outcome = await change(deps, made, form).catch((thrown: unknown) => refused(deps, req, asked, thrown));
  if ('recoveryCodes' in outcome) {
    return send(deps, req, res, recoveryCodesView(visitor, outcome.recoveryCodes, outcome.isFirst), { visitor });
  }
  if ('apiKey' in outcome) return send(deps, req, res, newKeyView(visitor, outcome.apiKey), { visitor });
  if ('flow' in outcome) return toSignin(deps, res, outcome);
  if ('file' in outcome) return sendJson(res, outcome.file.name, outcome.file.chunks);
  if ('section' in outcome) {
    const { code, section } = outcome;
    if (section === null || code === null) return back(res, projectId, undefined, section);
    return sendAccount(deps, req, res, visitor, undefined, 200, { to: section, code });
  }
  const status = statuses[outcome.notice];
  if (status !== undefined) {
    return sendAccount(deps, req, res, visitor, outcome.notice, status, undefined, outcome.waitSeconds);
  }
  if ((await deps.ownAccount.visit(projectId, secret as string, false)) === null) {
    deps.cookies.clearSession(res, projectId);
    if (asked === 'delete-account') return send(deps, req, res, deletedView(), { visitor });
    if (asked === 'revoke-device') return sendSignedOut(deps, req, res, visitor);
    // Not by a redirect: any browser could open the URL of such a notice.
    const isForgotten = asked === 'forget-browser';
    if (isForgotten || asked === 'end-session') {
      return send(deps, req, res, endedView(projectId, isForgotten), { visitor });
    }
  }
  back(res, projectId, outcome.notice);
}

function refused(deps: AccountDeps, req: Request, change: string, thrown: unknown): ActionOutcome {
  const problem = thrown instanceof Refusal ? thrown.problem : null;
  const outcome = problem && refusalOf(change, problem);
  if (!outcome) throw thrown;
  // The log redacts fields named `code`.
  deps.log.info({ requestId: requestContext(req).requestId, problem: problem.code }, 'account change refused');
  return outcome;
}

async function sendAccount(
  deps: AccountDeps,
  req: Request,
  res: Response,
  visitor: Visitor,
  notice: Notice | undefined,
  status = 200,
  testCode?: TestCode,
  waitSeconds?: number,
): Promise<void> {
  const overview = await deps.ownAccount.overview(visitor);
  const app = await deps.ownAuthenticator.state(visitor);
  const contacts = await deps.ownContacts.state(visitor);
  const deletion = await deps.accountDeletions.state(visitor);
  const userKeys = await deps.ownUserKeys.state(visitor);
  const csrf = deps.csrf.make(visitor.session.id);
  const view = accountView(
    visitor,
    { ...overview, ...contacts, app, deletion, userKeys },
    csrf,
    { notice, waitSeconds },
    testCode,
  );
  const values = signals(req, visitor, overview);
  await send(deps, req, res, view, { visitor, status, values });
}

/** After the removal of the passkey of this session: signals it to the browser here, since no account page follows. */
async function sendSignedOut(deps: AccountDeps, req: Request, res: Response, visitor: Visitor): Promise<void> {
  const values = signals(req, visitor, await deps.ownAccount.overview(visitor));
  await send(deps, req, res, signedOutView(undefined), { values });
}

/** For the page's script: device keys to forget, and the passkeys that the browser may keep. */
function signals(req: Request, { user }: Visitor, { deviceKeys, passkeys }: AccountOverview) {
  const name = user.email ?? user.userName;
  const { domain, hostname } = siteAt(req);
  const here = passkeys.filter((passkey) => (passkey.domain ?? null) === domain);
  return {
    device_keys: deviceKeys.join(' '),
    rp_id: hostname,
    user_handle: userHandleOf(user.id),
    passkeys: here.map(({ credentialId }) => credentialId).join(' '),
    user_name: name,
    display_name: user.displayName ?? name,
  };
}

/** @param options.visitor the page's user; undefined if there is none or several */
async function send(
  { pages, experienceOf }: AccountDeps,
  req: Request,
  res: Response,
  view: View,
  { visitor, status = 200, values = {} }: { visitor?: Visitor; status?: number; values?: Record<string, string> } = {},
): Promise<void> {
  // The language that the user has chosen comes before that of the browser.
  const uiLocales = visitor && languageTagOf(visitor.user.attributes);
  const t = (key: string, values?: Record<string, string>) =>
    pages.text(req, key.includes('.') ? key : `account.${key}`, values, uiLocales);
  const experience = visitor && (await experienceOf(visitor.project.id));
  pages.send(req, res, 'account', {
    status,
    uiLocales,
    values: { ...noSignals, ...values },
    html: {
      content: view(t, pages.locale(req, uiLocales)).text,
      support: status < 400 ? '' : supportLine(req, t).text,
    },
    brand: experience && ((language) => brandIn(experience, visitor.project.name, language)),
  });
}

function supportLine(req: Request, t: (key: string) => string): Html {
  return html`<p>${t('page.support')} <code>${requestContext(req).requestId}</code></p>`;
}

function back(res: Response, projectId: string, notice?: Notice, section: string | null = null): void {
  const query = new URLSearchParams({ ...(isUuid(projectId) && { project: projectId }), ...(notice && { notice }) });
  res.setHeader('Cache-Control', 'no-store');
  res.redirect(303, `/account${query.size > 0 ? `?${query}` : ''}${section === null ? '' : `#${section}`}`);
}

function withPages(
  deps: AccountDeps,
  handler: (deps: AccountDeps, req: Request, res: Response) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    try {
      await handler(deps, req, res);
    } catch (error) {
      if (!(error instanceof PageMissingError)) throw error;
      res.status(503).type('text/plain').send('This page is not built here. Run "npm run build" and start again.\n');
    }
  };
}

/**
 * `/account`: users view and end their own sessions, devices, second factors and applications, and edit their profile. Pages
 * and forms work without script; with script, "forget this browser" also deletes the browser's keys. Only the SSO session's
 * cookie determines the account; a change needs a CSRF token bound to that session.
 */
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { confirmedPath } from '../domain/accounts/confirmation.ts';
import type { AccountOverview, OwnAccount } from '../domain/accounts/own-account.ts';
import type { OwnAuthenticator } from '../domain/accounts/own-authenticator.ts';
import type { OwnChange, Visitor } from '../domain/accounts/own-change.ts';
import type { OwnField } from '../domain/accounts/own-profile.ts';
import { cancelPath, type Recoveries } from '../domain/accounts/recoveries.ts';
import type { BegunFlow } from '../domain/ceremonies/requests/authorization-requests.ts';
import { userHandleOf } from '../domain/credentials/passkey-values.ts';
import { chooseLocale } from '../domain/delivery/locale.ts';
import { brandIn, type ExperienceContent } from '../domain/experience/content.ts';
import { type Problem, Refusal } from '../domain/kernel/problem.ts';
import { openProject } from '../domain/kernel/scope.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import type { PostalAddress } from '../domain/users/edits/profile-edit.ts';
import { addressKey, isAddress } from '../domain/users/login.ts';
import { actorOf, requestContext } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { type Html, html } from '../http/markup.ts';
import { PageMissingError, type Pages } from '../http/pages.ts';
import { formBody, type Parameters, parametersOf } from '../http/parameters.ts';
import { isSameOrigin } from '../http/same-origin.ts';
import { siteAt } from '../http/site.ts';
import { cancelledView, cancelView, notCancelledView } from './recovery-view.ts';
import { accountView, chooserView, type Notice, recoveryCodesView, signedOutView, type View } from './view.ts';

export interface AccountDeps {
  ownAccount: OwnAccount;
  ownAuthenticator: OwnAuthenticator;
  recoveries: Pick<Recoveries, 'cancelBySecret' | 'isCancellable'>;
  experienceOf(projectId: string): Promise<ExperienceContent>;
  cookies: Pick<Cookies, 'session' | 'sessions' | 'clearSession' | 'setFlow'>;
  /** CSRF token of the forms, bound to this session. */
  csrf: { make(sessionId: string): string; holds(sessionId: string, token: string | undefined): boolean };
  pages: Pages;
  log: { info(fields: object, message: string): void };
}

/** Result of a change: a redirect to the page with a status, or a page that is shown once. */
type ActionOutcome =
  | { notice: Notice; waitSeconds?: number }
  /** `isFirst`: they replace no others. */
  | { recoveryCodes: string[]; isFirst?: boolean }
  /** Redirects to the hosted page for a fresh sign-in. */
  | BegunFlow
  /** A code was sent to a new number; shown in test mode. */
  | { phoneCode: string | null };
type Change = (deps: AccountDeps, change: OwnChange, form: Parameters) => Promise<ActionOutcome>;

const noSignals = { device_keys: '', rp_id: '', user_handle: '', passkeys: '', user_name: '', display_name: '' };
const saved: ActionOutcome = { notice: 'saved' };
const noCode: ActionOutcome = { phoneCode: null };
/** The HTTP status of each notice. */
const statuses: Partial<Record<Notice, number>> = {
  stale: 403,
  'last-method': 409,
  'phone-invalid': 400,
  'phone-locked': 403,
  'phone-taken': 409,
  'phone-code': 400,
  'phone-wait': 429,
  'phone-off': 503,
  'profile-name': 400,
  'profile-locale': 400,
  'profile-zoneinfo': 400,
  'profile-birthdate': 400,
  'profile-address': 400,
  'profile-locked': 403,
  'app-code': 400,
  'app-wait': 429,
  'app-off': 409,
};
/** The field `change` of a form. */
const changes: Record<string, Change> = {
  'rename-device': async ({ ownAccount }, change, form) => {
    await ownAccount.renameDevice(change, form.get('id') ?? '', form.get('name') ?? '');
    return saved;
  },
  'revoke-device': async ({ ownAccount }, change, form) => {
    await ownAccount.revokeDevice(change, form.get('id') ?? '');
    return saved;
  },
  'end-session': async ({ ownAccount }, change, form) => {
    await ownAccount.endSession(change, form.get('id') ?? '');
    return saved;
  },
  'edit-profile': editing(['displayName', 'givenName', 'familyName', 'locale', 'zoneinfo']),
  'edit-birthdate': editing(['birthdate']),
  'edit-address': async ({ ownAccount }, change, form) => {
    await ownAccount.editProfile(change, { address: addressIn(form) });
    return saved;
  },
  'remove-application': async ({ ownAccount }, change, form) => {
    await ownAccount.removeApplication(change, form.get('id') ?? '');
    return saved;
  },
  'forget-browser': async ({ ownAccount }, change) => {
    await ownAccount.forgetBrowser(change);
    return saved;
  },
  'cancel-recovery': async ({ ownAccount }, change) => {
    await ownAccount.cancelRecovery(change);
    return saved;
  },
  confirm: ({ ownAccount }, change) => ownAccount.confirm(change),
  'add-passkey': ({ ownAccount }, change) => ownAccount.addPasskey(change),
  'end-other-sessions': async ({ ownAccount }, change) => {
    await ownAccount.endOtherSessions(change);
    return saved;
  },
  'add-authenticator': ({ ownAuthenticator }, change) => ownAuthenticator.add(change),
  'verify-authenticator': async ({ ownAuthenticator }, change, form) => {
    const code = (form.get('code') ?? '').replace(/[\s-]/g, '');
    const recoveryCodes = await ownAuthenticator.verify(change, code).catch(refusedApp);
    return Array.isArray(recoveryCodes) ? { recoveryCodes, isFirst: true } : (recoveryCodes ?? saved);
  },
  'drop-authenticator': async ({ ownAuthenticator }, change) => {
    await ownAuthenticator.drop(change);
    return noCode;
  },
  'remove-factor': async ({ ownAccount }, change, form) => {
    await ownAccount.removeFactor(change, form.get('id') ?? '');
    return saved;
  },
  'change-phone': async ({ ownAccount }, change, form) => ({
    phoneCode: (await ownAccount.changePhone(change, form.get('phone') ?? '')).code,
  }),
  'verify-phone': async ({ ownAccount }, change, form) => {
    await ownAccount.verifyPhone(change, (form.get('code') ?? '').replace(/[\s-]/g, ''));
    return saved;
  },
  'drop-phone': async ({ ownAccount }, change) => {
    await ownAccount.dropPhone(change);
    return noCode;
  },
  'renew-recovery-codes': async ({ ownAccount }, change) => ({
    recoveryCodes: await ownAccount.renewRecoveryCodes(change),
  }),
};

/** Fields that the form does not name stay; empty ones are removed. */
function editing(fields: readonly Exclude<OwnField, 'address'>[]): Change {
  return async ({ ownAccount }, change, form) => {
    const named = (form.get('fields') ?? '').split(' ');
    const given = fields.filter((field) => named.includes(field));
    await ownAccount.editProfile(change, Object.fromEntries(given.map((field) => [field, form.get(field) ?? null])));
    return saved;
  };
}

function addressIn(form: Parameters): PostalAddress {
  const part = (name: string) => form.get(name) ?? null;
  return {
    streetAddress: part('streetAddress'),
    postalCode: part('postalCode'),
    locality: part('locality'),
    region: part('region'),
    country: part('country')?.toUpperCase() ?? null,
  };
}

export function accountRoutes(deps: AccountDeps): Router {
  const router = Router();
  router.get('/account', withPages(deps, show));
  router.get(confirmedPath, (req, res) => back(res, parametersOf(req).get('state') ?? ''));
  router.post('/account', formBody(), withPages(deps, take));
  router.get(cancelPath, withPages(deps, askToCancel));
  router.post(cancelPath, formBody(), withPages(deps, cancel));
  return router;
}

/** The page of the link in a notice. Mail scanners open links, so only the form cancels. */
async function askToCancel(deps: AccountDeps, req: Request, res: Response): Promise<void> {
  const link = linkOf(req);
  const isOpen = isServed(req, link.project) && (await deps.recoveries.isCancellable(link.project, link.cancel));
  await send(deps, req, res, isOpen ? cancelView(link) : notCancelledView(), { status: isOpen ? 200 : 404 });
}

/** Needs no session: the secret is in the form, which another site cannot know. */
async function cancel(deps: AccountDeps, req: Request, res: Response): Promise<void> {
  const { project, cancel: secret } = linkOf(req);
  const isDone = isServed(req, project) && (await deps.recoveries.cancelBySecret(project, secret, actorOf(req)));
  await send(deps, req, res, isDone ? cancelledView() : notCancelledView(), { status: isDone ? 200 : 404 });
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
  return id !== undefined && isUuid(id) && isServed(req, id) ? id : undefined;
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
    locale: chooseLocale(undefined, req.get('accept-language')),
  };
  const outcome = await change(deps, made, form).catch((thrown: unknown) => refused(deps, req, thrown));
  if ('recoveryCodes' in outcome) {
    return send(deps, req, res, recoveryCodesView(visitor, outcome.recoveryCodes, outcome.isFirst), { visitor });
  }
  if ('flow' in outcome) return toSignin(deps, res, outcome);
  if ('phoneCode' in outcome) {
    if (outcome.phoneCode === null) return back(res, projectId);
    return sendAccount(deps, req, res, visitor, undefined, 200, outcome.phoneCode);
  }
  const status = statuses[outcome.notice];
  if (status !== undefined) {
    return sendAccount(deps, req, res, visitor, outcome.notice, status, undefined, outcome.waitSeconds);
  }
  if ((await deps.ownAccount.visit(projectId, secret as string, false)) === null) {
    deps.cookies.clearSession(res, projectId);
    if (asked === 'revoke-device') return sendSignedOut(deps, req, res, visitor);
  }
  back(res, projectId, outcome.notice);
}

const ofPhones: Partial<Record<Problem['code'], Notice>> = {
  'phone-invalid': 'phone-invalid',
  'phone-not-allowed': 'phone-invalid',
  'phone-locked': 'phone-locked',
  taken: 'phone-taken',
  'code-rejected': 'phone-code',
  'too-many': 'phone-wait',
  unavailable: 'phone-off',
};

/** Maps refusals of authenticator codes to notices; rethrows all others. */
function refusedApp(thrown: unknown): ActionOutcome {
  const problem = thrown instanceof Refusal ? thrown.problem : null;
  if (problem?.code === 'too-many') return { notice: 'app-wait', waitSeconds: problem.retryAfterSeconds };
  if (problem?.code === 'code-rejected') return { notice: 'app-code' };
  throw thrown;
}

/** The notice for a field that is invalid; `name` is that of a device. */
function noticeOf({ field, reason }: Extract<Problem, { code: 'invalid' }>): Notice {
  const [name = ''] = field.split('.');
  if (reason === 'is locked') return 'profile-locked';
  if (name === 'displayName' || name === 'givenName' || name === 'familyName') return 'profile-name';
  return ofFields[name] ?? 'name';
}

const ofFields: Partial<Record<string, Notice>> = {
  locale: 'profile-locale',
  zoneinfo: 'profile-zoneinfo',
  birthdate: 'profile-birthdate',
  address: 'profile-address',
};

/** A missing item was ended before, for example by a double click: render the current page. */
function refused(deps: AccountDeps, req: Request, thrown: unknown): ActionOutcome {
  if (!(thrown instanceof Refusal)) throw thrown;
  const { code } = thrown.problem;
  // The log redacts fields named `code`.
  deps.log.info({ requestId: requestContext(req).requestId, problem: code }, 'account change refused');
  if (code === 'not-found' || code === 'unauthenticated') return saved;
  if (code === 'invalid') return { notice: noticeOf(thrown.problem) };
  if (code === 'forbidden') return { notice: 'stale' };
  if (code === 'last-sign-in-method') return { notice: 'last-method' };
  if (code === 'mfa-method-not-allowed') return { notice: 'app-off' };
  const notice = ofPhones[code];
  if (!notice) throw thrown;
  return code === 'too-many' ? { notice, waitSeconds: thrown.problem.retryAfterSeconds } : { notice };
}

async function sendAccount(
  deps: AccountDeps,
  req: Request,
  res: Response,
  visitor: Visitor,
  notice: Notice | undefined,
  status = 200,
  testCode?: string,
  waitSeconds?: number,
): Promise<void> {
  const overview = await deps.ownAccount.overview(visitor);
  const app = await deps.ownAuthenticator.state(visitor);
  const csrf = deps.csrf.make(visitor.session.id);
  const view = accountView(visitor, { ...overview, app }, csrf, { notice, waitSeconds }, testCode);
  const values = signals(req, visitor, overview);
  await send(deps, req, res, view, { visitor, status, values });
}

/** After the removal of the passkey that had signed in: signals it to the browser here, since no account page follows. */
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

/** @param of.visitor the page's user; undefined if there is none or several */
async function send(
  { pages, experienceOf }: AccountDeps,
  req: Request,
  res: Response,
  view: View,
  { visitor, status = 200, values = {} }: { visitor?: Visitor; status?: number; values?: Record<string, string> } = {},
): Promise<void> {
  const t = (key: string, values?: Record<string, string>) =>
    pages.text(req, key.includes('.') ? key : `account.${key}`, values);
  const experience = visitor && (await experienceOf(visitor.project.id));
  pages.send(req, res, 'account', {
    status,
    values: { ...noSignals, ...values },
    html: { content: view(t, pages.language(req)).text, support: status < 400 ? '' : supportLine(req, t).text },
    brand: experience && ((language) => brandIn(experience, visitor.project.name, language)),
  });
}

function supportLine(req: Request, t: (key: string) => string): Html {
  return html`<p>${t('page.support')} <code>${requestContext(req).requestId}</code></p>`;
}

function back(res: Response, projectId: string, notice?: Notice): void {
  const query = new URLSearchParams({ ...(isUuid(projectId) && { project: projectId }), ...(notice && { notice }) });
  res.setHeader('Cache-Control', 'no-store');
  res.redirect(303, query.size > 0 ? `/account?${query}` : '/account');
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

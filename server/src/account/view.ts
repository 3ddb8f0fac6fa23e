import type { OpenableClient } from '../domain/access/access-lists.ts';
import type { ApplicationAccess } from '../domain/accounts/application-access.ts';
import type { OwnDeletion } from '../domain/accounts/deletions/account-deletions.ts';
import type { AccountOverview, OwnFactor } from '../domain/accounts/own/own-account.ts';
import type { AuthenticatorState } from '../domain/accounts/own/own-authenticator.ts';
import type { Visitor } from '../domain/accounts/own/own-change.ts';
import type { OwnContacts } from '../domain/accounts/own/own-contacts.ts';
import type { OwnKeys } from '../domain/accounts/own/own-keys.ts';
import type { Credential } from '../domain/credentials/credential.entity.ts';
import type { Device } from '../domain/credentials/device.entity.ts';
import { deviceName } from '../domain/credentials/device-name.ts';
import type { Passkey } from '../domain/credentials/passkey.entity.ts';
import { logoPath } from '../domain/experience/logo-use.ts';
import type { OpenInvitation } from '../domain/organizations/invitations/open-invitations.ts';
import type { OwnOrganization } from '../domain/organizations/own-organizations.ts';
import type { Session } from '../domain/sessions/session.entity.ts';
import { profileOf } from '../domain/users/profile.ts';
import type { User } from '../domain/users/user.entity.ts';
import { type Html, hidden, html, nothing } from '../http/markup.ts';
import { scopeTexts } from '../http/scopes.ts';
import { beginApp, setUpApp } from './authenticator-view.ts';
import { contactsSections, type TestCode } from './contacts-view.ts';
import { dataSection, deletionSection, pendingDeletionSection } from './data-view.ts';
import { identitiesSection } from './identities-view.ts';
import { invitationSections } from './invitation-sections.ts';
import { keysSection } from './keys-view.ts';
import { profileSection, type Translate } from './profile-view.ts';

/** The text key of each problem. */
const problems = {
  name: 'problemName',
  form: 'problemForm',
  stale: 'stale',
  'last-method': 'problemLastMethod',
  'phone-invalid': 'problemPhone',
  'phone-locked': 'phoneLocked',
  'phone-taken': 'problemPhoneTaken',
  'phone-code': 'problemPhoneCode',
  'phone-wait': 'problemPhoneWait',
  'phone-off': 'problemPhoneOff',
  'email-invalid': 'problemEmail',
  'email-taken': 'problemEmailTaken',
  'email-code': 'problemPhoneCode',
  'email-wait': 'problemPhoneWait',
  'email-off': 'problemEmailOff',
  'network-wait': 'problem.networkLimit',
  'profile-name': 'problemProfileName',
  'profile-locale': 'problemLocale',
  'profile-zoneinfo': 'problemZoneinfo',
  'profile-birthdate': 'problemBirthdate',
  'profile-address': 'problemAddress',
  'profile-locked': 'profileLocked',
  'app-code': 'problem.codeTotp',
  'app-gone': 'problemAppGone',
  'app-wait': 'problemAppWait',
  'app-off': 'problem.method',
  'data-wait': 'problemDataWait',
  'deletion-wait': 'problemDeletionWait',
  'deletion-off': 'problemDeletionOff',
  'api-key': 'problemApiKey',
  'api-keys': 'problemApiKeys',
} as const;

/** Status of the last change, shown on the page. */
export type Notice = 'saved' | keyof typeof problems;

/** The content of the page, given the reader's texts and language. */
export type View = (t: Translate, language: string) => Html;

/**
 * The page without a session.
 *
 * @param projectId where to sign in; undefined: not known, an application must begin
 * @param loginHint the address that an invitation went to
 * @param waitSeconds until this network may begin another sign-in
 */
export function signedOutView(
  projectId: string | undefined,
  { loginHint, waitSeconds }: { loginHint?: string | undefined; waitSeconds?: number } = {},
): View {
  return (t, language) => {
    const wait = waitSeconds === undefined ? nothing : waitProblem(t, language, null, waitSeconds);
    if (projectId === undefined) {
      return html`<h1>${t('signedOutTitle')}</h1>${wait}<p class="lead">${t('signedOutText')}</p>`;
    }
    const [title, lead] =
      loginHint === undefined
        ? [t('signedOutTitle'), t('signInText')]
        : [t('signIn'), t('signInAs', { address: loginHint })];
    const hint: Record<string, string> = loginHint === undefined ? {} : { login_hint: loginHint };
    return html`<h1>${title}</h1>${wait}<p class="lead">${lead}</p>${signInForm(t, projectId, hint)}`;
  };
}

/** The page after the visitor's own session has ended here. @param isForgotten the browser's key is deleted, too */
export function endedView(projectId: string, isForgotten: boolean): View {
  return (t) => html`<h1>${t('signedOut.title')}</h1>
    ${isForgotten ? html`<p class="done" role="status">${t('signedOut.forgotten')}</p>` : nothing}
    <p class="lead">${t('signInText')}</p>${signInForm(t, projectId)}`;
}

export function signInForm(t: Translate, project: string, hint: Record<string, string> = {}): Html {
  return html`<form method="post" action="/account">${hidden({ change: 'sign-in', project, ...hint })}
    <button type="submit" class="main">${t('signIn')}</button></form>`;
}

/** Project chooser for a browser with sessions of several projects. */
export function chooserView(visitors: readonly Visitor[]): View {
  return (t) => html`<h1>${t('chooseTitle')}</h1><p class="lead">${t('chooseText')}</p>
    <ul class="rows">${visitors.map(
      ({ project, user }) => html`<li><a class="row" href="/account?project=${project.id}">
        <strong>${project.name}</strong> <span>${user.email ?? user.userName}</span></a></li>`,
    )}</ul>`;
}

/** The page with ten new recovery codes, shown once. @param isFirst the codes replace no others */
export function recoveryCodesView({ project }: Visitor, codes: readonly string[], isFirst = false): View {
  const [title, text] = isFirst ? ['recovery.title', 'recovery.text'] : ['newCodesTitle', 'newCodesText'];
  return (t) => html`<h1>${t(title)}</h1><p class="lead">${t(text)}</p>
    <ol class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ol>
    <a class="main" href="/account?project=${project.id}">${t('newCodesSaved')}</a>`;
}

export function accountView(
  visitor: Visitor,
  overview: AccountOverview & OwnContacts & { app: AuthenticatorState; deletion: OwnDeletion; userKeys: OwnKeys },
  csrf: string,
  { notice, waitSeconds }: { notice: Notice | undefined; waitSeconds?: number | undefined },
  testCode?: TestCode,
): View {
  const { user } = visitor;
  return (t, language) => {
    const page = new AccountPage(visitor, csrf, t, language);
    const name = nameOf(user);
    return html`<header class="who"><h1>${name}</h1>
        ${user.email && user.email !== name ? html`<p class="lead">${user.email}</p>` : nothing}</header>
      ${notice ? page.notice(notice, waitSeconds) : nothing}
      ${page.pendingDeletion(overview.deletion)}
      ${page.recovery(overview)}
      ${page.setUp(overview.app)}
      ${page.invitations(overview.invitations)}
      ${page.openable(overview.openable)}
      ${page.profile(overview)}
      ${page.devices(overview)}
      ${page.passkeys(overview)}
      ${page.identities(overview)}
      ${page.sessions(overview.sessions, [...overview.devices, ...overview.passkeys])}
      ${page.organizations(overview.organizations)}
      ${page.applications(overview.applications)}
      ${page.factors(overview, overview.app)}
      ${page.recoveryCodes(overview)}
      ${page.apiKeys(overview.userKeys, overview.isFresh)}
      ${page.contacts(overview, overview.isFresh, testCode)}
      ${page.data(overview)}
      ${page.deletion(overview.deletion, overview.isFresh)}`;
  };
}

/**
 * A problem and how long to wait: counted down by the script, and read aloud at the beginning and the end.
 *
 * @param reason the key of a text before the wait; a text with `{time}` includes the wait
 */
function waitProblem(t: Translate, language: string, reason: string | null, seconds: number): Html {
  const problem = reason === null ? '' : t(reason);
  const [before, text] = problem.includes('{time}') ? ['', problem] : [problem, t('problem.wait')];
  const [value, unit] = seconds < 100 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  const time = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
  const shown = text.replace('{time}', time);
  return html`<p class="problem" role="alert">${before} <span class="spoken">${shown}</span><span aria-hidden="true"
    data-wait="${String(seconds)}" data-text="${text}" data-over="${t('problem.waited')}">${shown}</span></p>`;
}

/** Placeholder for a time in a text. */
const split = '\u0000';

function timesIn(language: string, timeZone = 'UTC'): Intl.DateTimeFormat {
  const [date, time] = [
    { year: 'numeric', month: 'short', day: 'numeric' },
    { hour: 'numeric', minute: '2-digit' },
  ] as const;
  return new Intl.DateTimeFormat(language, { ...date, ...time, timeZone, timeZoneName: 'short' });
}

/** Directories may send any text. */
function isZone(name: string): boolean {
  try {
    return timesIn('en', name) !== undefined;
  } catch {
    return false;
  }
}

/** The sections of a visitor's page. */
class AccountPage {
  private readonly times: Intl.DateTimeFormat;
  /** Whether the user has set a time zone; if not, the script uses that of the browser. */
  private readonly hasZone: boolean;
  /** Whether the page has named the changes that require a fresh sign-in. */
  private isExplained = false;

  constructor(
    private readonly visitor: Visitor,
    private readonly csrf: string,
    private readonly t: Translate,
    private readonly language: string,
  ) {
    const { zoneinfo } = profileOf(visitor.user);
    this.hasZone = zoneinfo !== undefined && isZone(zoneinfo);
    this.times = timesIn(language, this.hasZone ? zoneinfo : undefined);
  }

  notice(notice: Notice, waitSeconds?: number): Html {
    const { t } = this;
    if (waitSeconds !== undefined) return waitProblem(t, this.language, problems[notice as 'phone-wait'], waitSeconds);
    if (notice === 'saved') return html`<p class="done" role="status">${t('saved')}</p>`;
    const problem = html`<p class="problem" role="alert">${t(problems[notice])}</p>`;
    if (notice !== 'stale') return problem;
    this.isExplained = true;
    return html`${problem}${this.confirmation('')}`;
  }

  /** Shown instead of actions that require a fresh sign-in; they are listed once on the page. */
  private stale(section: string): Html {
    const notice = this.isExplained ? this.staleHint() : html`<p class="notice">${this.t('stale')}</p>`;
    this.isExplained = true;
    return html`${notice}${this.confirmation(section)}`;
  }

  private staleHint(): Html {
    return html`<p class="hint">${this.t('staleHint')}</p>`;
  }

  /** @param section to return to */
  private confirmation(section: string): Html {
    return this.form('confirm', { section }, this.button(this.t('confirm')));
  }

  recovery({ recovery }: AccountOverview): Html {
    if (!recovery) return nothing;
    const { t } = this;
    const values = { from: this.time(recovery.usableAt), until: this.time(recovery.expiresAt) };
    return html`<section aria-labelledby="recovery"><h2 id="recovery">${t('recoveryTitle')}</h2>
      <p class="notice">${t('recoveryText', values)}</p>
      ${this.form('cancel-recovery', {}, this.button(t('recoveryCancel')))}</section>`;
  }

  invitations(invitations: readonly OpenInvitation[]): Html {
    const accept = (id: string, label: string) => this.form('accept-invitation', { id }, this.button(label));
    return invitationSections(this.t, invitations, accept);
  }

  profile({ isFresh, profile }: AccountOverview): Html {
    // The parts of the profile are collapsed, so the explanation is in the section itself.
    const stale = (section: string) => html`${this.staleHint()}${this.confirmation(section)}`;
    return profileSection({ ...this.parts(), stale }, profile, isFresh);
  }

  /** The authenticator app that this session has begun. */
  setUp(app: AuthenticatorState): Html {
    return setUpApp(this.parts(), app);
  }

  /** For sections in separate files. */
  private parts() {
    return {
      t: this.t,
      form: (change: string, content: Html, attributes?: Html) => this.form(change, {}, content, attributes),
      button: (label: string, accessibleName?: string) => this.button(label, accessibleName),
      fold: (label: string, accessibleName: string, content: Html) => this.fold(label, accessibleName, content),
      stale: (section: string) => this.stale(section),
      confirmation: (section: string) => this.confirmation(section),
      at: (key: string, at: Date) => this.at(key, at),
    };
  }

  devices({ devices, organizations }: AccountOverview): Html {
    const { t } = this;
    // Without a device, they sign in by the provider of their organization, and not by a code.
    const isElsewhere = organizations.some(({ isHome, needsConnection }) => isHome && needsConnection);
    if (devices.length === 0 && isElsewhere) return nothing;
    return html`<section aria-labelledby="devices"><h2 id="devices">${t('devices')}</h2>
      <p class="hint">${t(devices.length > 0 ? 'devicesText' : 'devicesNone')}</p>
      ${list(devices.map((device) => this.device(device)))}</section>`;
  }

  passkeys({ isFresh, isPasskeyAddable, passkeys }: AccountOverview): Html {
    const { t } = this;
    if (passkeys.length === 0 && !isPasskeyAddable) return nothing;
    const adding = this.form('add-passkey', {}, this.button(t('addPasskey')));
    return html`<section aria-labelledby="passkeys"><h2 id="passkeys">${t('passkeys')}</h2>
      <p class="hint">${t(passkeys.length > 0 ? 'passkeysText' : 'passkeysNone')}</p>
      ${passkeys.length > 0 && !isFresh ? this.stale('passkeys') : nothing}
      ${list(passkeys.map((passkey) => this.passkey(passkey, isFresh)))}
      ${isPasskeyAddable ? adding : nothing}</section>`;
  }

  identities(overview: AccountOverview): Html {
    return identitiesSection(
      { ...this.parts(), entry: (id, content) => this.form('unlink-identity', { id }, content) },
      overview,
    );
  }

  apiKeys(keys: OwnKeys, isFresh: boolean): Html {
    const form = (change: string, fields: Record<string, string>, content: Html) => this.form(change, fields, content);
    return keysSection({ ...this.parts(), language: this.language, form }, keys, isFresh);
  }

  private passkey(passkey: Passkey, isFresh: boolean): Html {
    const { t } = this;
    const { backupEligible, createdAt, id, lastUsedAt, name } = passkey;
    const removal = html`<p class="hint">${t('removePasskeyText')}</p>
      ${this.form('revoke-device', { id }, this.button(t('removePasskey'), t('about', { act: t('removePasskey'), name })))}`;
    const facts = [
      t(backupEligible ? 'synced' : 'deviceBound'),
      this.at('lastUsed', lastUsedAt),
      this.at('added', createdAt),
    ];
    return html`<li class="row">${this.title(name, false)}${this.facts(facts)}
      <div class="acts">${this.naming(passkey)}
        ${isFresh ? this.fold(t('remove'), t('about', { act: t('remove'), name }), removal) : nothing}</div></li>`;
  }

  /** The form that renames a device or passkey. */
  private naming({ id, name }: Credential): Html {
    const { t } = this;
    const field = `name-${id}`;
    const form = this.form(
      'rename-device',
      { id },
      html`<label for="${field}">${t('name')}</label>
        <input id="${field}" name="name" value="${name}" maxlength="100" autocomplete="off" required>
        ${this.button(t('save'))}`,
    );
    return this.fold(t('rename'), t('about', { act: t('rename'), name }), form);
  }

  sessions(sessions: readonly Session[], devices: readonly Credential[]): Html {
    const { t, visitor } = this;
    const others = sessions.some(({ id }) => id !== visitor.session.id);
    return html`<section aria-labelledby="sessions"><h2 id="sessions">${t('sessions')}</h2>
      <p class="hint">${t('sessionsText')}</p>
      ${list(sessions.map((session) => this.session(session, devices)))}
      ${others ? this.form('end-other-sessions', {}, this.button(t('endOthers'))) : nothing}</section>`;
  }

  /** The applications that the user can open. */
  openable(clients: readonly OpenableClient[]): Html {
    if (clients.length === 0) return nothing;
    return html`<section aria-labelledby="openable"><h2 id="openable">${this.t('openable')}</h2>
      <ul class="tiles">${clients.map(openable)}</ul></section>`;
  }

  applications(applications: readonly ApplicationAccess[]): Html {
    const { t } = this;
    if (applications.length === 0) return nothing;
    return html`<section aria-labelledby="applications"><h2 id="applications">${t('applications')}</h2>
      <p class="hint">${t('applicationsText')}</p>
      ${list(applications.map((application) => this.application(application)))}</section>`;
  }

  private application({ clientId: id, name, scopes, since, lastUsedAt, endsWithSession }: ApplicationAccess): Html {
    const { t } = this;
    const facts: (string | Html)[] = [this.at('accessSince', since)];
    if (lastUsedAt) facts.push(this.at('lastUsed', lastUsedAt));
    if (endsWithSession) facts.push(t('accessUntilSignOut'));
    const removal = html`<p class="hint">${t('removeAccessText')}</p>
      ${this.form('remove-application', { id }, this.button(t('removeAccess'), t('about', { act: t('removeAccess'), name })))}`;
    return html`<li class="row">${this.title(name, false)}${this.facts(facts)}
      <ul class="scopes">${scopeItems(t, scopes)}</ul>
      <div class="acts">${this.fold(t('remove'), t('about', { act: t('remove'), name }), removal)}</div></li>`;
  }

  organizations(organizations: readonly OwnOrganization[]): Html {
    const { t } = this;
    if (organizations.length === 0) return nothing;
    return html`<section aria-labelledby="organizations"><h2 id="organizations">${t('organizations')}</h2>
      <p class="hint">${t('organizationsText')}</p>
      ${list(organizations.map((organization) => this.organization(organization)))}</section>`;
  }

  private organization({ id, isHome, name, roles, since }: OwnOrganization): Html {
    const { t } = this;
    const facts: (string | Html)[] = [this.at('accessSince', since)];
    if (roles.length > 0) facts.push(t('organizationRoles', { roles: this.listed(roles) }));
    const act = t('about', { act: t('leave'), name });
    const leaving = html`<p class="hint">${t('leaveText')}</p>
      ${this.form('leave-organization', { id }, this.button(t('leave'), act))}`;
    return html`<li class="row">${this.title(name, false)}${this.facts(facts)}
      ${isHome ? nothing : html`<div class="acts">${this.fold(t('leave'), act, leaving)}</div>`}</li>`;
  }

  private listed(names: readonly string[]): string {
    return new Intl.ListFormat(this.language, { type: 'unit' }).format(names);
  }

  factors({ factors, isFresh }: AccountOverview, app: AuthenticatorState): Html {
    const { t } = this;
    const none = app.can === 'nothing' ? 'factorsNone' : 'factorsNoneYet';
    return html`<section aria-labelledby="factors"><h2 id="factors">${t('factors')}</h2>
      <p class="hint">${t(factors.length > 0 ? 'factorsText' : none)}</p>
      ${factors.length > 0 && !isFresh ? this.stale('factors') : nothing}
      ${list(factors.map((factor) => this.factor(factor, isFresh, app)))}
      ${app.can === 'begin' && app.replaces ? nothing : beginApp(this.parts(), app)}</section>`;
  }

  recoveryCodes({ factors, isFresh, recoveryCodesLeft }: AccountOverview): Html {
    const { t } = this;
    if (factors.length === 0 && recoveryCodesLeft === 0) return nothing;
    const renewal = html`<p class="hint">${t('renewText')}</p>
      ${this.form('renew-recovery-codes', {}, this.button(t('renewSubmit')))}`;
    return html`<section aria-labelledby="recovery-codes"><h2 id="recovery-codes">${t('codes')}</h2>
      <p class="hint">${t('codesText')}</p>
      <p class="${recoveryCodesLeft > 2 ? 'facts' : 'notice'}"><strong>${t('codesLeft', { count: String(recoveryCodesLeft) })}</strong></p>
      ${isFresh ? html`<div class="acts">${this.fold(t('renew'), t('renew'), renewal)}</div>` : nothing}
      ${factors.length === 0 && !isFresh ? this.stale('recovery-codes') : nothing}</section>`;
  }

  contacts(contacts: OwnContacts, isFresh: boolean, testCode: TestCode | undefined): Html {
    return contactsSections(this.parts(), contacts, isFresh, testCode);
  }

  data({ isFresh }: AccountOverview): Html {
    return dataSection(this.parts(), isFresh);
  }

  pendingDeletion({ dueAt }: OwnDeletion): Html {
    return pendingDeletionSection(this.parts(), dueAt);
  }

  deletion(deletion: OwnDeletion, isFresh: boolean): Html {
    return deletionSection(this.parts(), deletion, isFresh);
  }

  private device(device: Device): Html {
    const { t, visitor } = this;
    const { id, name } = device;
    const removal = html`<p class="hint">${t('removeDeviceText')}</p>
      ${this.form('revoke-device', { id }, this.button(t('removeDevice'), t('about', { act: t('removeDevice'), name })))}`;
    const browser = deviceName(device.userAgent ?? undefined);
    const facts = [
      ...(browser === name ? [] : [browser]),
      device.client.getEntity().name,
      this.at('lastUsed', device.lastUsedAt),
      this.at('added', device.createdAt),
    ];
    return html`<li class="row">${this.title(name, id === visitor.session.deviceId)}${this.facts(facts)}
      <div class="acts">${this.naming(device)}
        ${this.fold(t('remove'), t('about', { act: t('remove'), name }), removal)}</div></li>`;
  }

  private session(session: Session, devices: readonly Credential[]): Html {
    const { t, visitor } = this;
    const { id, ip } = session;
    const isThis = id === visitor.session.id;
    const browser = deviceName(session.userAgent ?? undefined);
    const { impersonation } = session;
    const own = devices.find((device) => device.id === session.deviceId)?.name ?? browser;
    const name = impersonation ? t('impersonated') : own;
    const facts: (string | Html)[] = [this.at('started', session.createdAt), this.at('lastSeen', session.lastSeenAt)];
    if (impersonation) facts.push(t('impersonationReason', { reason: impersonation.reason }));
    else if (ip) facts.push(t('address', { ip }));
    const act = t(isThis ? 'endThis' : 'end');
    return html`<li class="row">${this.title(name, isThis)}${this.facts(facts)}
      <div class="acts">${this.form('end-session', { id }, this.button(act, t('about', { act, name })))}
        ${isThis ? this.form('forget-browser', {}, this.forgetButton()) : nothing}</div>
      ${isThis ? html`<p class="hint" id="forget-hint">${t('forgetText')}</p>` : nothing}</li>`;
  }

  /** The page's script selects the button by name. */
  private forgetButton(): Html {
    return html`<button type="submit" name="forget" value="1" class="quiet" aria-describedby="forget-hint">${this.t('forget')}</button>`;
  }

  private factor(
    { id, method, destination, addedAt, lastUsedAt }: OwnFactor,
    isFresh: boolean,
    app: AuthenticatorState,
  ): Html {
    const { t } = this;
    const name = t(method);
    const facts: (string | Html)[] = [
      this.at('added', addedAt),
      lastUsedAt ? this.at('lastUsed', lastUsedAt) : t('neverUsed'),
    ];
    if (destination) facts.unshift(destination);
    const removal = html`<p class="hint">${t('removeFactorText')}</p>
      ${this.form('remove-factor', { id }, this.button(t('removeFactor'), t('about', { act: t('removeFactor'), name })))}`;
    const act = html`<div class="acts">${this.fold(t('remove'), t('about', { act: t('remove'), name }), removal)}</div>`;
    const replacement =
      method === 'totp' && app.can === 'begin' && app.replaces ? beginApp(this.parts(), app) : nothing;
    return html`<li class="row">${this.title(name, false)}${this.facts(facts)}${replacement}${isFresh ? act : nothing}</li>`;
  }

  private title(name: string, isThis: boolean): Html {
    const badge = isThis ? html` <span class="badge">${this.t('thisBrowser')}</span>` : nothing;
    return html`<h3>${name}${badge}</h3>`;
  }

  private facts(facts: readonly (string | Html)[]): Html {
    return html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>`;
  }

  private at(key: string, at: Date): Html {
    const [before = '', after = ''] = this.t(key, { time: split }).split(split);
    const local = this.hasZone ? nothing : html` data-local`;
    return html`${before}<time datetime="${at.toISOString()}"${local}>${this.time(at)}</time>${after}`;
  }

  private time(at: Date): string {
    return this.times.format(at);
  }

  /** An action with a confirmation or more input; expands without script. */
  private fold(label: string, accessibleName: string, content: Html): Html {
    return html`<details><summary class="quiet"${ariaLabel(label, accessibleName)}>${label}</summary>${content}</details>`;
  }

  private button(label: string, accessibleName = label): Html {
    return html`<button type="submit" class="quiet"${ariaLabel(label, accessibleName)}>${label}</button>`;
  }

  private form(change: string, fields: Record<string, string>, content: Html, attributes = nothing): Html {
    const all = { change, project: this.visitor.project.id, csrf: this.csrf, ...fields };
    return html`<form method="post" action="/account"${attributes}>${hidden(all)}${content}</form>`;
  }
}

/** Accessible name of a button that is repeated in several rows: includes the row's name. */
function ariaLabel(label: string, accessibleName: string): Html {
  return accessibleName === label ? nothing : html` aria-label="${accessibleName}"`;
}

function scopeItems(t: Translate, scopes: readonly string[]): Html[] {
  return scopeTexts(scopes).map(({ key, values }) => html`<li>${t(key, values)}</li>`);
}

/** A link with the logo of the application, or the first letter of its name. */
function openable({ logoId, name, start }: OpenableClient): Html {
  const picture = logoId
    ? html`<img class="app-logo" src="${logoPath(logoId)}" alt="">`
    : html`<span class="app-logo" aria-hidden="true">${[...name][0] ?? ''}</span>`;
  return html`<li><a class="tile" href="${start}">${picture}<span>${name}</span></a></li>`;
}

function list(rows: readonly Html[]): Html {
  return rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : nothing;
}

function nameOf({ displayName, email, familyName, givenName, userName }: User): string {
  return displayName || [givenName, familyName].filter(Boolean).join(' ') || email || userName;
}

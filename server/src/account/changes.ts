/** The changes of the account page, by the field `change` of their forms, and the notices of their refusals. */
import type { AccountDeletions } from '../domain/accounts/deletions/account-deletions.ts';
import type { OrganizationInvitations } from '../domain/accounts/organization-invitations.ts';
import type { OwnAccount } from '../domain/accounts/own/own-account.ts';
import type { OwnAuthenticator } from '../domain/accounts/own/own-authenticator.ts';
import type { OwnChange } from '../domain/accounts/own/own-change.ts';
import type { OwnContactChanges } from '../domain/accounts/own/own-contacts.ts';
import type { OwnData, OwnDataFile } from '../domain/accounts/own/own-data.ts';
import type { OwnUserKeys } from '../domain/accounts/own/own-keys.ts';
import type { OwnField } from '../domain/accounts/own/own-profile.ts';
import type { BegunFlow } from '../domain/ceremonies/requests/authorization-requests.ts';
import type { Problem } from '../domain/kernel/problem.ts';
import type { NewUserKey } from '../domain/tokens/keys/user-keys.ts';
import type { PostalAddress } from '../domain/users/edits/profile-edit.ts';
import type { Parameters } from '../http/parameters.ts';
import type { TestCode } from './contacts-view.ts';
import type { Notice } from './view.ts';

export interface ChangeDeps {
  accountDeletions: AccountDeletions;
  ownAccount: OwnAccount;
  ownAuthenticator: OwnAuthenticator;
  ownContacts: OwnContactChanges;
  ownData: OwnData;
  ownUserKeys: OwnUserKeys;
  organizationInvitations: Pick<OrganizationInvitations, 'accept'>;
}

/** Result of a change: a redirect to the page with a status, or a page that is shown once. */
export type ActionOutcome =
  | { notice: Notice; waitSeconds?: number }
  /** `isFirst`: the codes replace no others. */
  | { recoveryCodes: string[]; isFirst?: boolean }
  /** A new API key. */
  | { apiKey: string }
  /** Redirects to the hosted page for a fresh sign-in. */
  | BegunFlow
  | { file: OwnDataFile }
  /** Back to this section. In test mode, it shows the code that was sent to the new address or number. */
  | { section: TestCode['to'] | null; code: string | null };
type Change = (deps: ChangeDeps, change: OwnChange, form: Parameters) => Promise<ActionOutcome>;

const saved: ActionOutcome = { notice: 'saved' };
/** The HTTP status of each notice. */
export const statuses: Partial<Record<Notice, number>> = {
  stale: 403,
  'last-method': 409,
  'phone-invalid': 400,
  'phone-locked': 403,
  'phone-taken': 409,
  'phone-code': 400,
  'phone-wait': 429,
  'phone-off': 503,
  'email-invalid': 400,
  'email-taken': 409,
  'email-code': 400,
  'email-wait': 429,
  'network-wait': 429,
  'email-off': 503,
  'profile-name': 400,
  'profile-locale': 400,
  'profile-zoneinfo': 400,
  'profile-birthdate': 400,
  'profile-address': 400,
  'profile-locked': 403,
  'app-code': 400,
  'app-gone': 409,
  'app-wait': 429,
  'app-off': 409,
  'data-wait': 429,
  'deletion-wait': 429,
  'deletion-off': 409,
  'api-key': 400,
  'api-keys': 409,
};
/** The field `change` of a form. */
export const changes: Record<string, Change> = {
  'rename-device': async ({ ownAccount }, change, form) => {
    await ownAccount.renameDevice(change, form.get('id') ?? '', form.get('name') ?? '');
    return saved;
  },
  'revoke-device': async ({ ownAccount }, change, form) => {
    await ownAccount.revokeDevice(change, form.get('id') ?? '');
    return saved;
  },
  'unlink-identity': async ({ ownAccount }, change, form) => {
    await ownAccount.unlinkIdentity(change, form.get('id') ?? '');
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
  'leave-organization': async ({ ownAccount }, change, form) => {
    await ownAccount.leaveOrganization(change, form.get('id') ?? '');
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
  'accept-invitation': async ({ organizationInvitations }, change, form) => {
    await organizationInvitations.accept(change, form.get('id') ?? '');
    return saved;
  },
  confirm: ({ ownAccount }, change, form) => ownAccount.confirm(change, sectionIn(form.get('section'))),
  'add-passkey': ({ ownAccount }, change) => ownAccount.addPasskey(change),
  'end-other-sessions': async ({ ownAccount }, change) => {
    await ownAccount.endOtherSessions(change);
    return saved;
  },
  'add-authenticator': ({ ownAuthenticator }, change) => ownAuthenticator.add(change),
  'verify-authenticator': async ({ ownAuthenticator }, change, form) => {
    const recoveryCodes = await ownAuthenticator.verify(change, form.get('code') ?? '');
    return recoveryCodes ? { recoveryCodes, isFirst: true } : saved;
  },
  'drop-authenticator': async ({ ownAuthenticator }, change) => {
    await ownAuthenticator.drop(change);
    return { section: null, code: null };
  },
  'remove-factor': async ({ ownAccount }, change, form) => {
    await ownAccount.removeFactor(change, form.get('id') ?? '');
    return saved;
  },
  'change-phone': async ({ ownContacts }, change, form) => ({
    section: 'phone',
    ...(await ownContacts.changePhone(change, form.get('phone') ?? '')),
  }),
  'verify-phone': async ({ ownContacts }, change, form) => {
    await ownContacts.verifyPhone(change, form.get('code') ?? '');
    return saved;
  },
  'drop-phone': async ({ ownContacts }, change) => {
    await ownContacts.dropPhone(change);
    return { section: 'phone', code: null };
  },
  'change-email': async ({ ownContacts }, change, form) => ({
    section: 'email',
    ...(await ownContacts.changeEmail(change, form.get('email') ?? '')),
  }),
  'verify-email': async ({ ownContacts }, change, form) => {
    await ownContacts.verifyEmail(change, form.get('code') ?? '');
    return saved;
  },
  'drop-email': async ({ ownContacts }, change) => {
    await ownContacts.dropEmail(change);
    return { section: 'email', code: null };
  },
  'add-api-key': async ({ ownUserKeys }, change, form) => ({ apiKey: await ownUserKeys.add(change, newKeyIn(form)) }),
  'revoke-api-key': async ({ ownUserKeys }, change, form) => {
    await ownUserKeys.revoke(change, form.get('id') ?? '');
    return saved;
  },
  'download-data': async ({ ownData }, change) => ({ file: await ownData.download(change) }),
  'delete-account': async ({ accountDeletions }, change) => {
    await accountDeletions.request(change);
    return saved;
  },
  'cancel-deletion': async ({ accountDeletions }, change) => {
    await accountDeletions.cancelOwn(change);
    return saved;
  },
  'renew-recovery-codes': async ({ ownAccount }, change) => ({
    recoveryCodes: await ownAccount.renewRecoveryCodes(change),
  }),
};

/** A section of the page that the user can return to; undefined: the top. */
export function sectionIn(name: string | undefined): string | undefined {
  return sections.find((section) => section === name);
}

const sections = [
  'profile',
  'passkeys',
  'identities',
  'factors',
  'recovery-codes',
  'api-keys',
  'email',
  'phone',
  'data',
  'deletion',
];

/** Fields that the form does not name stay; empty ones are removed. */
function editing(fields: readonly Exclude<OwnField, 'address'>[]): Change {
  return async ({ ownAccount }, change, form) => {
    const named = (form.get('fields') ?? '').split(' ');
    const given = fields.filter((field) => named.includes(field));
    await ownAccount.editProfile(change, Object.fromEntries(given.map((field) => [field, form.get(field) ?? null])));
    return saved;
  };
}

/** Scopes of an API at most. */
const maxScopes = 100;

function newKeyIn(form: Parameters): NewUserKey {
  const scopes = Array.from({ length: maxScopes }, (_, index) => form.get(`scope.${index}`) ?? '').filter(Boolean);
  const networks = (form.get('networks') ?? '').split(/[\s,;]+/).filter(Boolean);
  const organizationId = form.get('organization') || undefined;
  const days = Number(form.get('days') ?? Number.NaN);
  return { apiId: form.get('api') ?? '', name: form.get('name') ?? '', scopes, networks, organizationId, days };
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

/** The notices of changes that a code verifies, of downloads, and of deletions, by the last word of their names. */
const byLastWord: Partial<Record<string, Partial<Record<Problem['code'], Notice>>>> = {
  authenticator: { 'too-many': 'app-wait', 'code-rejected': 'app-code', 'not-found': 'app-gone' },
  data: { 'too-many': 'data-wait' },
  account: { 'too-many': 'deletion-wait', unavailable: 'deletion-off' },
  phone: {
    'phone-invalid': 'phone-invalid',
    'phone-not-allowed': 'phone-invalid',
    'phone-locked': 'phone-locked',
    taken: 'phone-taken',
    'code-rejected': 'phone-code',
    'too-many': 'phone-wait',
    unavailable: 'phone-off',
  },
  email: {
    invalid: 'email-invalid',
    taken: 'email-taken',
    'code-rejected': 'email-code',
    'too-many': 'email-wait',
    unavailable: 'email-off',
  },
};

/** The notice for a field that is invalid; `name` is that of a device. */
function noticeOf({ field, reason }: Extract<Problem, { code: 'invalid' }>): Notice {
  const [name = ''] = field.split('.');
  if (name === 'count') return 'api-keys';
  if (reason === 'is locked') return 'profile-locked';
  if (name === 'displayName' || name === 'givenName' || name === 'familyName') return 'profile-name';
  return ofFields[name] ?? 'name';
}

const ofFields: Partial<Record<string, Notice>> = {
  locale: 'profile-locale',
  zoneinfo: 'profile-zoneinfo',
  birthdate: 'profile-birthdate',
  address: 'profile-address',
  scopes: 'api-key',
  networks: 'api-key',
  days: 'api-key',
};

/**
 * The outcome of a refused change; undefined: this page does not handle the refusal. A missing item was ended before,
 * for example by a double click: render the current page.
 */
export function refusalOf(change: string, problem: Problem): ActionOutcome | undefined {
  const { code } = problem;
  const notice = byLastWord[change.split('-').at(-1) ?? '']?.[code];
  if (notice && problem.code === 'too-many') {
    const { network, retryAfterSeconds: waitSeconds } = problem;
    return { notice: network === undefined ? notice : 'network-wait', waitSeconds };
  }
  if (notice) return { notice };
  if (code === 'not-found' || code === 'unauthenticated') return saved;
  if (code === 'invalid') return { notice: noticeOf(problem) };
  if (code === 'forbidden') return { notice: 'stale' };
  if (code === 'last-sign-in-method') return { notice: 'last-method' };
  return code === 'mfa-method-not-allowed' ? { notice: 'app-off' } : undefined;
}

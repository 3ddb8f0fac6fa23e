import { cleanMailName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { choice, choices, flag, jsonOf, number, type SettingsOf, text, texts } from '../kernel/resource.ts';
import { checkedClientPolicies } from './client-policies.ts';
import { isCountry } from './countries.ts';
import { checkedMailDomains } from './mail-domains.ts';
import { checkedNetworks } from './networks.ts';
import { checkedAaguids, checkedRoots } from './passkey-models.ts';

const signUpModes = ['open', 'domains', 'approval', 'provisioned_only'] as const;
const clientDocumentModes = ['off', 'domains', 'anyone'] as const;
const clientRegistrationModes = ['off', 'token', 'open'] as const;
const mfaPolicies = ['off', 'optional', 'required'] as const;
/** Use of passkeys at sign-in; see `passkeyPolicyOf`. */
const passkeyPolicies = ['off', 'allowed', 'preferred', 'required'] as const;
export type PasskeyPolicy = (typeof passkeyPolicies)[number];
/** Kinds of second factors. */
export const mfaMethods = ['email', 'sms', 'totp'] as const;
export type MfaMethod = (typeof mfaMethods)[number];

const day = 24 * 3600;
const year = 365 * day;

/** Settings of projects (service.md 2.6), without their session policy, in the order of their documents. */
export const projectFields = {
  name: text({ check: (name) => cleanMailName(name), sensitive: false }),
  scimEnabled: flag({ default: true, sensitive: true }),
  /** The directory's values take precedence, and the phone of a provisioned user is locked (service.md 3.1). */
  scimAuthoritative: flag({
    ...{ default: true, sensitive: true },
    says: "Whether the directory's values take precedence and its users' phone numbers are locked.",
  }),
  /** One-time codes are also in the responses: anyone can sign in as any user. */
  testMode: flag({ default: false, sensitive: (wanted) => wanted === true, view: false }),
  /** Who may become a user without an admin or a directory; see `signUpFault`. */
  signUp: choice({ name: 'SignUp', says: 'Sign-up mode.', values: signUpModes }, { default: 'open', sensitive: true }),
  signUpDomains: texts({
    ...{ default: [], check: (domains, field) => checkedMailDomains(domains, { field, patterns: true }) },
    sensitive: true,
    says: 'Mail domains whose users may sign up, with sign-up mode `DOMAINS`.',
    input: 'At most 1,000 mail domains, such as example.com; *.example.com: all below it.',
  }),
  blockedSignUpDomains: texts({
    ...{ default: [], check: (domains, field) => checkedMailDomains(domains, { field, patterns: false }) },
    sensitive: true,
    says: 'Mail domains whose users cannot sign up, with all domains below them, in every sign-up mode.',
    input: 'At most 1,000 mail domains, such as example.com; the domains below them are blocked, too.',
  }),
  blocksDisposableMail: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether addresses at known services of disposable mailboxes cannot sign up.',
    control: {
      section: 'signUp',
      label: {
        en: 'Block disposable addresses',
        de: 'Wegwerfadressen sperren',
        es: 'Bloquear direcciones desechables',
        fr: 'Bloquer les adresses jetables',
        ja: '使い捨てアドレスをブロック',
      },
      help: {
        en: 'Mailboxes of known disposable mail services cannot sign up.',
        de: 'Postfächer bekannter Wegwerf-Maildienste können sich nicht registrieren.',
        es: 'Los buzones de servicios de correo desechable conocidos no pueden registrarse.',
        fr: 'Les boîtes de services de messagerie jetable connus ne peuvent pas s’inscrire.',
        ja: '既知の使い捨てメールサービスのメールボックスは登録できません。',
      },
    },
  }),
  signUpMails: flag({
    ...{ default: true, sensitive: true },
    says: 'Whether admins get a mail about requests to sign up, with sign-up mode `APPROVAL`.',
    control: {
      section: 'signUpRequests',
      label: {
        en: 'Mail admins about requests',
        de: 'Administratoren per E-Mail benachrichtigen',
        es: 'Avisar a los administradores por correo',
        fr: 'Prévenir les administrateurs par e-mail',
        ja: '管理者にメールで通知',
      },
      help: {
        en: 'At most one an hour.',
        de: 'Höchstens eine E-Mail pro Stunde.',
        es: 'Como máximo un correo por hora.',
        fr: 'Au plus un e-mail par heure.',
        ja: '1 時間に最大 1 通です。',
      },
    },
  }),
  signUpRequestDays: number({
    ...{ default: 30, unit: 'days', bounds: [1, 90], sensitive: true },
    says: 'Days until a new request to sign up expires, pending or declined.',
    input: '1 to 90, for new requests.',
  }),
  /** Off in projects that earlier releases created. */
  accountDeletion: flag({
    ...{ default: true, columnDefault: false, sensitive: true },
    says: 'Whether users can delete their own account, except those of an authoritative directory.',
    control: {
      section: 'accountDeletion',
      label: {
        en: 'Users can delete their account',
        de: 'Benutzer können ihr Konto löschen',
        es: 'Los usuarios pueden eliminar su cuenta',
        fr: 'Les utilisateurs peuvent supprimer leur compte',
        ja: 'ユーザーは自分のアカウントを削除できる',
      },
      help: {
        en: 'On their account page. Except users of an authoritative directory.',
        de: 'Auf ihrer Kontoseite. Außer Benutzern eines maßgeblichen Verzeichnisses.',
        es: 'En la página de su cuenta. Salvo los usuarios de un directorio autoritativo.',
        fr: 'Sur la page de leur compte. Sauf ceux d’un annuaire faisant autorité.',
        ja: 'アカウントページで操作します。優先ディレクトリのユーザーは除きます。',
      },
    },
  }),
  accountDeletionDays: number({
    ...{ default: 14, unit: 'days', bounds: [0, 90], sensitive: true },
    says: 'Days until an account is deleted after its user has requested it; until then it can be cancelled.',
    input: '0 to 90, for new requests. 0: at once.',
  }),
  mfaPolicy: choice(
    { name: 'MfaPolicy', says: 'Whether a second factor is required.', values: mfaPolicies },
    { default: 'off', sensitive: true },
  ),
  /** Second factors that users can set up; existing enrolments of others stay valid. */
  offeredFactors: choices(
    { name: 'MfaMethod', says: 'A kind of second factor.', values: mfaMethods },
    {
      ...{ default: ['totp', 'sms', 'email'], check: checkedFactors, sensitive: true },
      says: 'Second factors that users can set up; existing ones stay usable.',
      input: 'At least one.',
    },
  ),
  /** Whether email as a second factor meets `required`. */
  emailFactor: flag({
    ...{ default: false, columnDefault: true, sensitive: true },
    says: 'Whether email as a second factor satisfies `REQUIRED`.',
    control: {
      section: 'factors',
      label: {
        en: 'Email counts as a second factor',
        de: 'E-Mail gilt als zweiter Faktor',
        es: 'El correo cuenta como segundo factor',
        fr: 'L’e-mail compte comme second facteur',
        ja: 'メールを第 2 要素とみなす',
      },
      help: {
        en: 'Off: a mail code does not satisfy Required.',
        de: 'Aus: Ein E-Mail-Code genügt der Pflicht nicht.',
        es: 'Desactivado: un código por correo no satisface «Obligatorio».',
        fr: 'Désactivé : un code e-mail ne satisfait pas l’obligation.',
        ja: 'オフの場合、メールのコードでは「必須」を満たしません。',
      },
    },
  }),
  passkeyPolicy: choice(
    { name: 'PasskeyPolicy', says: 'Use of passkeys at sign-in.', values: passkeyPolicies },
    { default: 'allowed', sensitive: true, view: false, input: 'Default: ALLOWED.' },
  ),
  /** Models of passkeys that users may create; empty: all, or all of the roots. */
  passkeyAaguids: texts({
    ...{ default: [], check: (aaguids) => checkedAaguids(aaguids), sensitive: true },
    says: 'AAGUIDs of the models of passkeys that users may create; empty: all, or all of `passkeyRoots`.',
    input:
      'AAGUIDs of the models of passkeys that users may create, at most 100. Empty: all, or all of `passkeyRoots`.',
  }),
  /** CA certificates in PEM that prove a model; empty: none is proved. */
  passkeyRoots: texts({
    ...{ default: [], check: (roots, _, { now }) => checkedRoots(roots, now), sensitive: true },
    says: 'CA certificates (PEM) that prove a model; empty: the claimed model is not verified.',
    input: 'CA certificates of their makers in PEM, at most 10. Empty: the claimed model is not verified.',
  }),
  /** Time for which a device may skip the second factor after `remember_me`; 0: never. */
  rememberMfaSeconds: number({
    ...{ default: 0, unit: 'seconds', bounds: [0, year], sensitive: true },
    says: 'Seconds for which a device can skip the second factor; 0: never.',
  }),
  deviceTrustSeconds: number({
    ...{ default: 30 * day, unit: 'seconds', bounds: [0, year], sensitive: true },
    says: 'Seconds for which a remembered device stays trusted after its last use.',
  }),
  deviceTrustDays: number({
    ...{ default: 180, unit: 'days', bounds: [1, 3650], sensitive: true },
    says: "Absolute lifetime of a device's trust, in days since its registration.",
    input: '1 to 3650.',
  }),
  smsCountries: texts({
    ...{ default: [], check: checkedCountries, sensitive: true },
    says: 'Countries that SMS can be sent to (ISO 3166-1 alpha-2); empty: all.',
    input: 'ISO 3166-1 alpha-2; empty: all countries.',
  }),
  smsPerDay: number({
    ...{ default: 1000, unit: 'messages', bounds: [0, 1_000_000], sensitive: true },
    says: 'SMS that the project can send per day.',
    input: '0 to 1,000,000; 0: none.',
  }),
  /** Many users share them: more codes may be requested from them (decisions/0345). */
  sharedNetworks: texts({
    ...{ default: [], check: (networks, field) => checkedNetworks(networks, { field, widest: [16, 32] }) },
    sensitive: true,
    says: 'Addresses and ranges (CIDR) that many users share, such as offices: 5,000 more codes an hour for each.',
    input: 'At most 20 addresses or ranges (CIDR), IPv4 /16 or smaller, IPv6 /32 or smaller.',
  }),
  /** False: organizations give no rights, and no request can name one (decisions/0382). */
  organizationsEnabled: flag({
    ...{ default: false, sensitive: true, input: 'Default: false.' },
    says: 'Whether the project has organizations.',
    control: {
      section: 'organizations',
      label: {
        en: 'Organizations',
        de: 'Organisationen',
        es: 'Organizaciones',
        fr: 'Organisations',
        ja: '組織',
      },
      help: {
        en: 'Group users by customer, each with its own members, roles and rules.',
        de: 'Benutzer nach Kunden ordnen, jeweils mit eigenen Mitgliedern, Rollen und Regeln.',
        es: 'Agrupa usuarios por cliente, cada uno con sus miembros, roles y reglas.',
        fr: 'Regroupe les utilisateurs par client, chacun avec ses membres, rôles et règles.',
        ja: 'ユーザーを顧客ごとに分け、それぞれにメンバー、ロール、ルールを設定します。',
      },
    },
  }),
  /** Which clients may introduce themselves by a metadata document (decisions/0392). */
  clientMetadataDocuments: choice(
    {
      name: 'ClientMetadataDocuments',
      says: 'Which clients may use the URL of a Client ID Metadata Document as their `client_id`.',
      values: clientDocumentModes,
    },
    { default: 'off', sensitive: true, says: "At the project's issuer." },
  ),
  clientMetadataDomains: texts({
    ...{ default: [], check: (domains, field) => checkedMailDomains(domains, { field, patterns: true }) },
    sensitive: true,
    says: 'Domains of the metadata documents, with `DOMAINS`.',
    input: 'At most 1,000 domains, such as example.com; *.example.com: all below it.',
  }),
  blockedClientDomains: texts({
    ...{ default: [], check: (domains, field) => checkedMailDomains(domains, { field, patterns: false }) },
    sensitive: true,
    says: 'Domains whose clients cannot introduce themselves, with all domains below them. Their tokens end.',
    input: 'At most 1,000 domains, such as example.com; the domains below them are blocked, too.',
  }),
  /** By domain, for both ways of introduction (decisions/0416). */
  clientPolicies: jsonOf(checkedClientPolicies, {
    ...{ default: null, clearable: true, sensitive: true },
    says: 'What clients of a domain that introduced themselves get at most: `domain`, or `*` for all; `scopes`, `apis`, `accessTokenTtlSeconds`, `refreshTokenTtlSeconds`, `consentText`.',
  }),
  clientRegistration: choice(
    {
      name: 'ClientRegistration',
      says: 'Which clients may register themselves (RFC 7591): none, those with an initial access token, or all.',
      values: clientRegistrationModes,
    },
    { default: 'off', sensitive: true, says: "At the project's issuer. Registered clients stay if it is turned off." },
  ),
  impersonation: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether admins with the right may use an application as a user for 15 minutes.',
    control: {
      section: 'impersonation',
      label: {
        en: 'Allow impersonation',
        de: 'Anmelden als Benutzer erlauben',
        es: 'Permitir la suplantación',
        fr: 'Autoriser l’emprunt d’identité',
        ja: '代理ログインを許可',
      },
      help: {
        en: 'Admins with the right can use an application as a user, for 15 minutes and with a reason.',
        de: 'Berechtigte Administratoren können eine Anwendung als Benutzer verwenden, 15 Minuten lang und mit Begründung.',
        es: 'Los administradores con permiso pueden usar una aplicación como un usuario, durante 15 minutos y con un motivo.',
        fr: 'Les administrateurs autorisés peuvent utiliser une application en tant qu’utilisateur, 15 minutes, avec un motif.',
        ja: '権限のある管理者は、理由を記録して 15 分間、ユーザーとしてアプリケーションを使用できます。',
      },
    },
  }),
  impersonationNotices: flag({
    ...{ default: true, sensitive: true },
    says: 'Whether the user gets a mail when an impersonation begins.',
    control: {
      section: 'impersonation',
      label: {
        en: 'Mail the user',
        de: 'Benutzer per E-Mail benachrichtigen',
        es: 'Avisar al usuario por correo',
        fr: 'Prévenir l’utilisateur par e-mail',
        ja: 'ユーザーにメールで通知',
      },
      help: {
        en: 'A mail with application and reason when an impersonation begins.',
        de: 'Eine E-Mail mit Anwendung und Begründung zu Beginn.',
        es: 'Un correo con la aplicación y el motivo al comenzar.',
        fr: 'Un e-mail avec l’application et le motif au début.',
        ja: '開始時に、アプリケーションと理由をメールで知らせます。',
      },
    },
  }),
  /** False in projects from before this setting. */
  notifyOnDeactivation: flag({
    ...{ default: null, columnDefault: false, clearable: true, sensitive: false },
    says: 'Whether applications get a logout token when the directory deactivates or deletes a user. Null: at the project issuer and custom domains, not at the base issuer.',
    input: 'Null: at the project issuer and custom domains, not at the base issuer. Default of new projects: null.',
  }),
};

/**
 * Lifetimes of a project's sessions and tokens (service.md 2.6). A signing key is published for a day after its longest
 * token.
 */
export const sessionPolicyFields = {
  /** Sliding. */
  idleTimeoutSeconds: number({
    ...{ default: 30 * 60, unit: 'seconds', bounds: [1, 90 * day], sensitive: true },
    says: 'Idle timeout of a session.',
  }),
  maxSessionSeconds: number({
    ...{ default: 8 * 3600, unit: 'seconds', bounds: [1, year], sensitive: true },
    says: 'Absolute lifetime of a session.',
  }),
  idTokenTtlSeconds: number({ default: 60, unit: 'seconds', bounds: [1, day], sensitive: true }),
  accessTokenTtlSeconds: number({
    ...{ default: 300, unit: 'seconds', bounds: [1, 3600], sensitive: true },
    says: '1 to 3600; a client can override it.',
  }),
  /** Absolute, after a sign-in. */
  refreshTokenTtlSeconds: number({
    ...{ default: 30 * day, unit: 'seconds', bounds: [60, year], sensitive: true },
    says: 'Lifetime of refresh tokens after a sign-in, in seconds.',
    input: '60 to 31,536,000.',
  }),
  /** Maximum time between two refreshes. */
  refreshTokenIdleSeconds: number({
    ...{ default: 7 * day, unit: 'seconds', bounds: [60, 90 * day], sensitive: true },
    says: 'Idle timeout of refresh tokens, in seconds.',
    input: '60 to 7,776,000.',
  }),
};

export type ProjectSettings = SettingsOf<typeof projectFields>;
export type SessionPolicy = SettingsOf<typeof sessionPolicyFields>;

function checkedFactors(factors: readonly MfaMethod[], field: string): MfaMethod[] {
  if (!Array.isArray(factors) || factors.length === 0)
    refuse({ code: 'invalid', field, reason: 'must contain at least one' });
  if (factors.some((one) => !mfaMethods.includes(one))) {
    refuse({ code: 'invalid', field, reason: `must contain only ${mfaMethods.join(', ')}` });
  }
  return mfaMethods.filter((one) => factors.includes(one));
}

function checkedCountries(codes: readonly string[], field: string): string[] {
  const unique = [...new Set(codes.map((code) => code.trim().toUpperCase()))];
  if (!unique.every(isCountry)) {
    refuse({ code: 'invalid', field, reason: 'must contain ISO 3166-1 alpha-2 country codes' });
  }
  return unique.sort();
}

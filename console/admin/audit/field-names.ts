import { switches } from '../generated/switches.ts';
import { serverText, t } from '../language/language.ts';
import { labelsOf, type Switches } from '../ui/forms/switches.tsx';

const sections = Object.values(switches).flatMap((of): Switches<string>[] => Object.values(of));

/** Fields of changes, named as on their pages. */
const names: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...sections.map(labelsOf)),
  accessTokenTtlSeconds: t('Access token lifetime'),
  backchannelLogoutSessionRequired: t('Session ID required'),
  startUri: t('Start address'),
  backchannelLogoutUri: t('Back-channel logout URI'),
  birthdate: t('Date of birth'),
  deviceTrustDays: t('Device trust ends after'),
  deviceTrustSeconds: t('Device trusted for'),
  directoryRoles: t('Roles of the directory'),
  emails: t('Email addresses'),
  externalId: t('External ID'),
  grantTypes: t('Grants'),
  gzip: t('Compress with gzip'),
  idTokenSignedResponseAlg: t('ID token signature'),
  idTokenTtlSeconds: t('ID token lifetime'),
  idleTimeoutSeconds: t('Idle timeout'),
  introspects: t('Introspection'),
  jwk: t('Public key'),
  jwkSet: t('JWK Set'),
  jwksUri: t('Key set address'),
  workloadIssuer: t('Workload issuer'),
  workloadSubject: t('Workload subject'),
  workloadAudience: t('Workload audience'),
  listLimit: t('Limit in ID tokens'),
  locale: t('Language'),
  logoutTokenType: t('Logout token type'),
  mappings: t('Mapped claims'),
  maxSessionSeconds: t('Longest session'),
  mfaPolicy: t('Second factor'),
  notifyOnDeactivation: t('Logout on deactivation'),
  offeredFactors: t('Factors offered'),
  passkeyAaguids: t('Allowed models of passkeys'),
  passkeyPolicy: t('Passkeys'),
  passkeyRoots: t('Root certificates'),
  pkceOptional: t('Sign-in without PKCE'),
  postLogoutRedirectUris: t('Post-logout redirect URIs'),
  redirectUri: t('Address of the request'),
  redirectUris: t('Redirect URIs'),
  refreshTokenIdleSeconds: t('Refresh token idle timeout'),
  refreshTokenTtlSeconds: t('Refresh token lifetime'),
  rememberMfaSeconds: t('Second factor remembered for'),
  scimAuthoritative: t('Lock phone numbers of directory users'),
  scimEnabled: t('Directory sync'),
  sharedNetworks: t('Shared networks'),
  signUp: t('Sign-up'),
  signUpDomains: t('Domains that may sign up'),
  signUpRequestDays: t('Requests expire after'),
  accountDeletionDays: t('Accounts are deleted after'),
  blockedSignUpDomains: t('Blocked domains'),
  smsCountries: t('SMS countries'),
  smsPerDay: t('SMS per day'),
  timezone: t('Time zone'),
  tokenEndpointAuthMethod: t('Client authentication'),
  types: t('Events'),
  url: t('URL'),
};

/** Name of a field; if it is on no page, the words of its code. */
export function fieldName(code: string): string {
  const name = Object.hasOwn(names, code) ? names[code] : undefined;
  if (name) return name;
  const spaced = code.replace(/([A-Z])/g, ' $1').toLowerCase();
  return serverText(spaced.charAt(0).toUpperCase() + spaced.slice(1));
}

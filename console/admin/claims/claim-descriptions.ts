import { t } from '../language/language.ts';

/** Descriptions of claims (OpenID Connect Core §2, §5.1; RFC 9068 §2.2; domain/claims/application-claims.ts). */
export const claimDescriptions: Record<string, string> = {
  iss: t('Issuer. Your application must check it.'),
  sub: t('Subject: stable user ID. Use it as the account key.'),
  aud: t('Audience: the only recipient that may accept the token.'),
  exp: t('Expiry: the token is invalid from this time.'),
  iat: t('Issued at.'),
  nbf: t('Not before: the token is invalid until this time.'),
  jti: t('Unique token ID.'),
  auth_time: t('Time of the last authentication.'),
  amr: t(
    'Authentication methods: swk software key, hwk hardware key, user and pop passkey, otp one-time code, sms text message, mfa second factor.',
  ),
  acr: t('Authentication context class; the same for every sign-in.'),
  azp: t('Authorized party: the requesting client.'),
  sid: t('Session ID, also in logout tokens.'),
  nonce: t('Value sent by the application, against replay.'),
  email: t('Email address (scope email).'),
  email_verified: t('Whether the address is verified.'),
  phone_number: t('Phone number (scope phone).'),
  phone: t('Phone number, for older applications.'),
  client_id: t('Client that the token was issued to.'),
  scope: t('Granted scopes.'),
  cnf: t('Key that the bearer must prove.'),
  name: t('Display name.'),
  given_name: t('First name.'),
  family_name: t('Last name.'),
  middle_name: t('Middle name.'),
  nickname: t('Nickname.'),
  preferred_username: t('User name. It can change; do not use it as a key.'),
  profile: t('Address of the profile page.'),
  picture: t('Address of a picture.'),
  groups: t('Groups of the user (scope groups).'),
  roles: t('Roles of the user in this application (scope roles).'),
  birthdate: t('Date of birth.'),
  address: t('Postal address (scope address).'),
  locale: t('Language and region.'),
  zoneinfo: t('Time zone.'),
  updated_at: t('When the profile last changed.'),
  alg: t('Signature algorithm.'),
  typ: t('Token type.'),
  kid: t('ID of the signing key in the JWKS.'),
};

const times = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);

/** A time claim in milliseconds; undefined for other claims. */
export function timeOf(name: string, value: unknown): number | undefined {
  return times.has(name) && typeof value === 'number' ? value * 1000 : undefined;
}

/** A claim value for display; JSON unless it is a plain string. */
export function formatClaim(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  return JSON.stringify(value);
}

/** Descriptions of claims (OpenID Connect Core §2, §5.1; RFC 9068 §2.2). */
export const claimDescriptions: Record<string, string> = {
  iss: 'Issuer. Your application must check it.',
  sub: 'Subject: stable user ID. Use it as the account key.',
  aud: 'Audience: the only recipient that may accept the token.',
  exp: 'Expiry: the token is invalid from this time.',
  iat: 'Issued at.',
  nbf: 'Not before: the token is invalid until this time.',
  jti: 'Unique token ID.',
  auth_time: 'Time of the last authentication.',
  amr: 'Authentication methods: swk software key, hwk hardware key, user and pop passkey, otp one-time code, sms text message, mfa second factor.',
  acr: 'Authentication context class; the same for every sign-in.',
  azp: 'Authorized party: the requesting client.',
  sid: 'Session ID, also in logout tokens.',
  nonce: 'Value sent by the application, against replay.',
  email: 'E-mail address (scope email).',
  email_verified: 'Whether the address is verified.',
  phone_number: 'Phone number (scope phone).',
  phone: 'Phone number, for older applications.',
  client_id: 'Client that the token was issued to.',
  scope: 'Granted scopes.',
  cnf: 'Key that the bearer must prove.',
  name: 'Display name.',
  given_name: 'First name.',
  family_name: 'Last name.',
  birthdate: 'Date of birth.',
  address: 'Postal address (scope address).',
  locale: 'Language and region.',
  zoneinfo: 'Time zone.',
  updated_at: 'When the profile last changed.',
  alg: 'Signature algorithm.',
  typ: 'Token type.',
  kid: 'ID of the signing key in the JWKS.',
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

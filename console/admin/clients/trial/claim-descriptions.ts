/** Descriptions of claims (OpenID Connect Core §2, §5.1; RFC 9068 §2.2). */
export const claimDescriptions: Record<string, string> = {
  iss: 'Issuer: who says all this. Your application checks it.',
  sub: 'Subject: the person, for good. Key your accounts on it.',
  aud: 'Audience: for whom it is. Nobody else may accept it.',
  exp: 'Expires: refused from this moment on.',
  iat: 'Issued at.',
  nbf: 'Not before: refused until this moment.',
  jti: 'Token id: tells two tokens apart.',
  auth_time: 'When the person last proved who they are.',
  amr: 'How they proved it: swk is a device key, otp a one-time code, sms a text message, mfa a second factor.',
  acr: 'The kind of sign-in that all of this service are.',
  azp: 'Authorized party: which client asked for it.',
  sid: 'The session in this browser; a logout token names it, too.',
  nonce: 'What the application sent along, so that an old token cannot be passed off as new.',
  email: 'Their address, where the scope email was granted.',
  email_verified: 'Codes have been sent there.',
  phone_number: 'Their number, where the scope phone was granted.',
  phone: 'The same number, for older applications.',
  client_id: 'The application that it was issued to.',
  scope: 'What was granted.',
  cnf: 'The key that the bearer has to hold.',
  name: 'The whole name, as it is shown.',
  given_name: 'First name.',
  family_name: 'Last name.',
  birthdate: 'Date of birth.',
  address: 'Postal address, where the scope address was granted.',
  locale: 'Language and region.',
  zoneinfo: 'Time zone.',
  updated_at: 'When the profile last changed.',
  alg: 'How it is signed.',
  typ: 'What kind of token it is: nothing else passes for it.',
  kid: 'Which of the published keys signed it.',
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

import type { AuditEvent } from '../audit/audit-event.entity.ts';
import type { MailCodeFault } from '../ceremonies/steps/verify-email-otp.ts';
import type { GrantFault, Problem } from '../kernel/problem.ts';

/** The reason for a refusal, and its remedy by the person or an admin. */
export interface Explanation {
  meaning: string;
  remedy: string;
}

const explain = (meaning: string, remedy: string): Explanation => ({ meaning, remedy });

const startAgain = 'Start the sign-in again.';
const requestCode = 'Request a new code.';
const wait = 'Wait until the limit ends, then try again.';
const developer = 'A developer must correct the application.';
const noAccess = explain(
  'The user has no access to this application.',
  'Give access to the user, or to one of their groups or roles.',
);
const requestValues = 'Send the values of the authorization request.';

/** `otp.rejected`. */
export const codeFaults: Record<MailCodeFault, Explanation> = {
  wrong: explain('The code did not match.', 'Use the code of the newest message.'),
  expired: explain('The code was older than five minutes.', requestCode),
  used: explain('The code had been used before.', requestCode),
  spent: explain('The code had too many wrong entries.', requestCode),
  'none-sent': explain('No code had been sent for this sign-in.', startAgain),
  'other-key': explain(
    'The code was entered in a different browser or application than the one that requested it.',
    'Enter the code where it was requested.',
  ),
  'account-changed': explain('The address or account changed after the code was sent.', startAgain),
  'no-user': explain(
    'No account has this address, and sign-up is closed.',
    'Create or invite the user, or check the address for a typing error.',
  ),
  domain: explain(
    'No account has this address, and its domain may not sign up.',
    'Add the user, or change the domains for sign-up under Sign-in & MFA.',
  ),
  inactive: explain('The account is deactivated.', 'Activate the user here, or in the directory that manages them.'),
};

/** `signin.refused`; null: no step of a sign-in returns it. */
export const stepFaults: Record<Problem['code'], Explanation | null> = {
  'too-many': explain('A limit on attempts or codes was reached.', wait),
  unavailable: explain('Messages of this kind cannot be sent.', 'Check the mail or SMS settings under System.'),
  'transaction-expired': explain('The sign-in had ended: it lasts ten minutes and works once.', startAgain),
  'code-rejected': explain('The code was not accepted.', 'Enter a new code.'),
  'out-of-order': explain('The page sent a step out of order.', startAgain),
  'proof-required': explain('The page sent no proof of its device key.', developer),
  'proof-rejected': explain('The device key was not the one of this sign-in.', startAgain),
  'device-revoked': explain('This device was revoked.', 'Clear the site data of the browser, then sign in again.'),
  'account-inactive': explain(
    'The account is deactivated.',
    'Activate the user here, or in the directory that manages them.',
  ),
  'passkey-rejected': explain('The passkey was not accepted.', 'Use another passkey.'),
  'passkey-verification-required': explain(
    'The passkey was used without PIN or biometrics, which this sign-in needs.',
    'Use a passkey with PIN or biometrics.',
  ),
  'passkey-model-not-allowed': explain(
    'The policy allows only some models of security keys.',
    'Use an allowed model, or change the policy under Sign-in & MFA.',
  ),
  'passkeys-not-allowed': explain(
    'Passkeys are off, or cannot be used on this page.',
    'Turn passkeys on under Sign-in & MFA, or sign in on the hosted page.',
  ),
  'passkey-required': explain(
    'A passkey is required, which this page cannot use.',
    'The application must send its users to the hosted page.',
  ),
  'last-sign-in-method': null,
  'no-access': noAccess,
  'connection-required': explain(
    'The organization requires sign-ins by its connection.',
    'Check the connections and the mail domains of the organization.',
  ),
  'approval-required': explain(
    'A new user waits for approval.',
    'Approve or decline the request under Users, Sign-up requests.',
  ),
  'hosted-page-required': explain('A third-party application must use the hosted page.', developer),
  'pkce-required': explain('The application must use PKCE.', developer),
  'mfa-method-not-allowed': explain(
    'The second factor is off, not offered or not enough for the policy.',
    'Choose another factor or use a recovery code. An admin can reset the factors.',
  ),
  'phone-not-allowed': explain(
    'SMS to this country or kind of number is not allowed.',
    'Use another number, or allow the country under Sign-in & MFA.',
  ),
  'phone-invalid': explain('The phone number had no country code or was malformed.', 'Enter the number as +44….'),
  'phone-locked': explain('The directory manages the phone number.', 'Change the number in the directory.'),
  taken: explain('Another user has this phone number.', 'Use another number.'),
  invalid: explain('A parameter of the page’s request was not valid.', developer),
  conflict: explain('The user changed at the same time.', 'Try again.'),
  forbidden: explain('The page’s address is not allowed for this application.', 'Add its redirect URI.'),
  unauthenticated: explain('The publishable key is not valid.', 'Use a current key of the application.'),
  'nonce-rejected': null,
  'flow-expired': explain('The sign-in page had expired.', 'Start again at the application.'),
  'not-found': null,
  'grant-rejected': null,
  'client-rejected': null,
};

/** `token.refused`. */
export const grantFaults: Record<GrantFault, Explanation> = {
  unknown: explain('The code or token is unknown here.', 'Check that the request goes to the issuer that issued it.'),
  expired: explain('The code or token had expired.', 'Exchange codes immediately; they last one minute.'),
  used: explain('The code or token had been used before.', 'Use each code once; store the newest refresh token.'),
  revoked: explain('The access was revoked.', startAgain),
  malformed: explain('The code or token has the wrong form.', developer),
  'wrong-client': explain('The code or token was issued to another application.', requestValues),
  'wrong-issuer': explain(
    'The code or token was issued by another issuer.',
    'Check that the request goes to the issuer that issued it.',
  ),
  'wrong-redirect-uri': explain('The redirect URI is not that of the authorization request.', requestValues),
  'wrong-authentication': explain(
    'The application did not authenticate by its method.',
    'Check its client secret or key.',
  ),
  'missing-verifier': explain('The code_verifier is missing.', developer),
  'unexpected-verifier': explain('A code_verifier was sent for a code without code_challenge.', developer),
  'wrong-verifier': explain('The code_verifier does not match the code_challenge.', requestValues),
  'missing-proof': explain('The code or token is bound to a key, and the DPoP proof is missing.', developer),
  'wrong-proof-key': explain('The DPoP proof is of another key.', developer),
  target: explain('The requested API is not granted.', developer),
  scope: explain('More scopes were requested than granted.', developer),
  'api-not-granted': explain('The application may no longer use the API.', 'Grant the API to the application.'),
  'no-consent': explain('The user no longer allows this to the application.', startAgain),
  'no-access': noAccess,
  user: explain('The user is deactivated or was erased.', 'Activate the user.'),
  'session-ended': explain('The session has ended.', startAgain),
  policy: explain('The sign-in no longer meets the policy.', startAgain),
  'client-policy': explain(
    'The project’s policy for introduced applications does not allow it.',
    'Change the policy of its domain.',
  ),
  'third-party': explain('Third-party applications exchange no tokens.', developer),
  'subject-ended': explain('A token that was exchanged before has ended.', startAgain),
  actor: explain('The actor token has ended, or is of another application.', developer),
  'act-loop': explain('The application has exchanged this token before.', developer),
  'act-depth': explain('Too many applications have exchanged this token.', developer),
  exchange: explain('The API accepts no token exchange.', 'Turn on token exchange for the API.'),
  'untrusted-issuer': explain(
    'No connection accepts identity assertions of the issuer.',
    'Turn on identity assertions for the connection of the issuer.',
  ),
  unreachable: explain('The keys of the issuer of the assertion cannot be read.', 'Test the connection of the issuer.'),
  signature: explain('The signature of the assertion is not valid.', developer),
  'wrong-audience': explain('The assertion is for another authorization server.', developer),
  'unsupported-claim': explain('The assertion has a claim that is not supported.', developer),
  'no-account': explain(
    'No user is linked to the subject of the assertion.',
    'The user signs in once by the connection of the issuer.',
  ),
  'no-cross-app-access': explain(
    'The application gets no identity assertions for this server.',
    'Add the server to the cross-app access of the application.',
  ),
  mismatch: explain('The code belongs to another client, redirect URI or code_verifier.', requestValues),
};

/** `authorization.refused` that ended on an error page; others carry the description that the application received. */
export const pageFaults: Record<'client' | 'redirect-uri' | 'parameters' | 'flow-expired', Explanation> = {
  client: explain('The client ID is unknown, or its application is disabled.', 'Check client_id and the issuer.'),
  'redirect-uri': explain(
    'The redirect URI is not one of the application.',
    'Correct it in your application, or add it exactly as sent.',
  ),
  parameters: explain('A parameter is repeated or malformed.', developer),
  'flow-expired': explain('The pushed request had expired or was used before.', startAgain),
};

const factorRejected = explain(
  'The code of the second factor did not match.',
  'Use the newest code; check the clock of the authenticator app.',
);
const passkeyFaults: Record<string, Explanation> = {
  unknown: explain('No user here has this passkey.', 'Use another passkey, or sign in by email and add one.'),
  user: explain('The account of this passkey is deactivated.', 'Activate the user.'),
  challenge: explain('The page was open too long, or the passkey was used twice.', startAgain),
  counter: explain('The passkey may be a copy: its counter went back.', 'Revoke the passkey and add a new one.'),
  taken: explain('Another user has registered this passkey.', 'Use another passkey.'),
  model: explain('This model of security key is not allowed.', 'Use an allowed model.'),
  'user-verification': explain('The passkey was used without PIN or biometrics.', 'Set a PIN on the security key.'),
  origin: explain('The page’s address does not belong to the passkey.', 'Sign in at the address of the issuer.'),
};
const passkeyRejected = explain('The response of the passkey was not valid.', 'Use another passkey.');

/** `device.proof_rejected`; the rest are faults of the page's code. */
const proofFaults: Record<string, Explanation> = {
  time: explain('The clock of the device is wrong by minutes.', 'Correct the clock of the device.'),
  thumbprint: explain('The browser has lost or replaced its device key.', startAgain),
};
const proofRejected = explain('The proof of the device key was not valid.', startAgain);

/** `otp.suppressed`, by the reason in the message log. */
export const suppressions: Record<string, Explanation> = {
  'no account has this address, and sign-up is closed': codeFaults['no-user'],
  'no account has this address, and its domain may not sign up': codeFaults.domain,
  'the user is not active': codeFaults.inactive,
  'the user no longer exists': explain('The account was erased.', 'Create the user again.'),
  'the user has no address': explain('The user has no email address.', 'Add an address to the profile.'),
  'an account has this address now': codeFaults['account-changed'],
  'another account has this address now': codeFaults['account-changed'],
  'the address is reserved for a deactivated user': explain(
    'The address is reserved for a deactivated user, for 30 days.',
    'Activate the user, or erase them to free the address.',
  ),
  'the address changed': codeFaults['account-changed'],
  'too many requests for this address': explain('Too many codes were requested for this address.', wait),
};

type Explained = Pick<AuditEvent, 'type' | 'result' | 'detail'>;

/** The explanation of a failed event; null for others. */
export function explanationOf({ type, result, detail }: Explained): Explanation | null {
  if (result === 'success') return null;
  const fault = String(detail?.['fault'] ?? detail?.['reason'] ?? '');
  const known: Record<string, Explanation | null> = tables[type] ?? {};
  if (Object.hasOwn(known, fault)) return known[fault] ?? null;
  const ofClient = type === 'client.rejected' ? clientFaults.find(([pattern]) => pattern.test(fault)) : undefined;
  if (ofClient) return ofClient[1];
  const description = detail?.['description'];
  if (type === 'authorization.refused' && typeof description === 'string') return explain(description, developer);
  return others[type] ?? null;
}

const secretsElsewhere = explain(
  'The application could not prove its identity.',
  'Configure the project issuer in the application: secrets do not work at this one.',
);

/** `client.rejected`, by the beginning of the reason: with the advice of the response. */
const clientFaults: readonly (readonly [RegExp, Explanation])[] = [
  [/^(?:client secrets are not supported|the issuer does not offer client_secret)/, secretsElsewhere],
  [
    /^another kind of key was sent/,
    explain('The application could not prove its identity.', 'Send the client secret (lk_cs_…).'),
  ],
];

const tables: Record<string, Record<string, Explanation | null>> = {
  'otp.rejected': codeFaults,
  'otp.suppressed': suppressions,
  'signin.refused': stepFaults,
  'token.refused': grantFaults,
  'authorization.refused': pageFaults,
  'passkey.rejected': passkeyFaults,
  'device.proof_rejected': proofFaults,
};

/** By event type, for faults without a specific text. */
const others: Record<string, Explanation> = {
  'access.refused': noAccess,
  'otp.failed': explain('The message could not be delivered.', 'See the mail server’s response under Messages.'),
  'otp.suppressed': explain('The code was not sent.', 'Open Messages for the reason.'),
  'signin.network_limited': explain(
    'Too many codes were requested from this network.',
    'If it is an office, add it to the shared networks under Sign-in & MFA.',
  ),
  'mfa.rejected': factorRejected,
  'passkey.rejected': passkeyRejected,
  'device.proof_rejected': proofRejected,
  'client.rejected': explain('The application could not prove its identity.', 'Check its client secret or key.'),
  'token.refused': explain('The proof or the code of the application was not valid.', developer),
  'code.replayed': explain('An authorization code was used twice.', 'Exchange each code once.'),
  'refresh-token.replayed': explain(
    'A refresh token was used again after its replacement.',
    'Store the newest refresh token; sign in again.',
  ),
  'user.email_change_refused': explain('The change of the email address was refused.', 'Try again.'),
  'logout.address_refused': explain(
    'The post-logout redirect URI is not one of the application.',
    'Correct it in your application, or add it exactly as sent.',
  ),
  'user.phone_change_refused': explain('The change of the phone number was refused.', 'Try again.'),
};

import type { PasskeyRequestOptions } from '@latchkey/contracts';
import type { Passkey } from '../credentials/passkey.entity.ts';
import type { CheckedPage } from './callers.ts';
import { isPasskeyRequired, isPersonRequired, policyOf, siteOfPage } from './sign-in-context.ts';

/** Milliseconds that a browser waits for the user. */
export const timeoutMs = 5 * 60 * 1000;

/** `PublicKeyCredentialRequestOptionsJSON` of a page. Without `known`, any passkey may be used. */
export function requestOptions(
  deps: { issuer: string },
  asking: Parameters<typeof verificationOf>[0],
  challenge: string,
  known?: readonly Passkey[],
): PasskeyRequestOptions {
  return {
    challenge,
    rpId: siteOfPage({ deps, caller: asking.caller }).hostname,
    timeout: timeoutMs,
    userVerification: verificationOf(asking),
    ...(known && { allowCredentials: known.map(descriptor) }),
  };
}

/** Whether a sign-in must end with PIN or biometrics. */
export function verificationOf(asking: {
  caller: Pick<CheckedPage, 'project' | 'client' | 'request' | 'organization'>;
  ceremony: Parameters<typeof isPersonRequired>[0]['ceremony'];
}): 'required' | 'preferred' {
  const { project } = asking.caller;
  const isRequired =
    policyOf(asking.caller).mfaPolicy === 'required' ||
    project.builtIn === 'console' ||
    isPasskeyRequired(asking.caller);
  return isPersonRequired(asking) || isRequired ? 'required' : 'preferred';
}

export function descriptor({ credentialId: id, transports }: Passkey) {
  return { type: 'public-key' as const, id, ...(transports.length > 0 && { transports }) };
}

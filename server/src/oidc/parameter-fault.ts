import { isStorableText } from '../domain/kernel/secret.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { Parameters } from '../http/parameters.ts';
import { OAuthError } from './oauth-error.ts';

/** Parameters that an error may name: refusals are recorded with their description, and anyone can invent other names. */
const names: readonly string[] = [
  ...['response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'resource'],
  ...['code_challenge', 'code_challenge_method', 'dpop_jkt', 'prompt', 'max_age', 'claims', 'acr_values', 'display'],
  ...['id_token_hint', 'login_hint', 'ui_locales', 'request', 'request_uri', 'registration'],
  ...['grant_type', 'code', 'code_verifier', 'refresh_token', 'device_code', 'token', 'token_type_hint'],
  ...['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type', 'requested_token_type', 'audience'],
  ...['client_secret', 'client_assertion', 'client_assertion_type'],
];

/**
 * The error for a parameter that is repeated or malformed; undefined if there is none.
 *
 * @param issuer set: `resource` may be repeated, if the issuer has APIs (RFC 8707 §2)
 */
export function parameterFault({ faults, all }: Parameters, issuer?: Issuer): OAuthError | undefined {
  const isFine = (name: string) =>
    issuer?.capabilities.apis === true && name === 'resource' && all(name).every(isStorableText);
  const fault = faults.find((name) => !isFine(name));
  if (fault === undefined) return undefined;
  const isShown =
    names.includes(fault) ||
    (['connection', 'organization'].includes(fault) && issuer?.capabilities.organizations === true);
  const shown = isShown ? fault : 'A parameter';
  return new OAuthError('invalid_request', `${shown} is repeated or malformed.`);
}

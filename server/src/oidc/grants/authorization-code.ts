import { deviceRedirect } from '../../domain/tokens/device/device-authorizations.ts';
import type { TokenResponse } from '../../domain/tokens/mint.ts';
import { omitsPkceAt } from '../authorization-request.ts';
import { OAuthError } from '../oauth-error.ts';
import { aboutTarget, type GrantDeps, onlyResource, type TokenRequest } from './grant.ts';

/** RFC 7636 §4.1. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;

/** `authorization_code` (RFC 6749 §4.1.3): the parameters. The code is checked in `domain/tokens/grants`. */
export async function authorizationCode({ tokens }: GrantDeps, request: TokenRequest): Promise<TokenResponse | null> {
  const { parameters, issuer, proof, actor } = request;
  const { by, ...caller } = request.caller;
  const code = parameters.get('code');
  if (code === undefined) throw new OAuthError('invalid_request', 'code is missing.');
  const codeVerifier = parameters.get('code_verifier');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === deviceRedirect) {
    const description = 'redirect_uri does not match the authorization request.';
    throw new OAuthError('invalid_grant', description, { reason: 'wrong-redirect-uri' });
  }
  // A code of the SDK has neither and requires a confidential client's credential; all others need both.
  const isRedirected = by === 'none' || redirectUri !== undefined;
  if (isRedirected && codeVerifier === undefined && !omitsPkceAt(issuer, caller.client)) {
    throw new OAuthError('invalid_request', 'code_verifier is missing.', { isOfClient: by !== 'none' });
  }
  // FAPI requires pushed requests, and a code of the SDK was not pushed.
  const isWithoutRedirect = by === 'none' || caller.client.fapiProfile;
  if (isWithoutRedirect && redirectUri === undefined)
    throw new OAuthError('invalid_request', 'redirect_uri is missing.', { isOfClient: by !== 'none' });
  if (codeVerifier !== undefined && !verifierSyntax.test(codeVerifier)) {
    throw new OAuthError('invalid_grant', 'code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~.');
  }
  return tokens
    .exchange({
      ...caller,
      issuer,
      code,
      codeVerifier,
      redirectUri,
      authenticatedBy: by,
      resource: issuer.capabilities.apis ? onlyResource(parameters) : undefined,
      proof,
      actor,
    })
    .catch(aboutTarget);
}

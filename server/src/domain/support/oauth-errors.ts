import type { Explanation } from './explanations.ts';

const explain = (meaning: string, remedy: string, events: readonly string[] = []) => ({ meaning, remedy, events });

/** OAuth errors, and the events that recorded them, besides `authorization.refused`. */
export const oauthErrors: Record<string, Explanation & { events: readonly string[] }> = {
  invalid_request: explain(
    'A parameter is missing, repeated or malformed.',
    'Compare the request with the quickstart.',
  ),
  invalid_client: explain(
    'The application could not prove its identity.',
    'Check client_id, and its client secret or key.',
    ['client.rejected'],
  ),
  invalid_grant: explain(
    'The code or refresh token is unknown, expired, used, or from another request.',
    'Sign in again; exchange each code once, with the values of its request.',
    ['token.refused', 'code.replayed', 'refresh-token.replayed'],
  ),
  invalid_scope: explain('The scope lacks openid or is not allowed.', 'Ask for openid and allowed scopes.'),
  invalid_target: explain('The application may not use this API.', 'Give the application the API under APIs.'),
  invalid_token: explain('The access token is expired, revoked or of another issuer.', 'Get a new access token.'),
  insufficient_scope: explain('The access token lacks a scope.', 'Ask for the scope at sign-in.'),
  invalid_dpop_proof: explain('The DPoP proof is missing or not valid.', 'Check the key, the time and the URL.', [
    'token.refused',
  ]),
  use_dpop_nonce: explain('The proof must contain the current nonce.', 'Retry with the DPoP-Nonce header.'),
  unsupported_grant_type: explain('This issuer does not offer the grant.', 'Use the issuer of the project.'),
  unauthorized_client: explain('The application may not use this grant.', 'Allow the grant in its settings.'),
  unsupported_response_type: explain('Only response_type=code is offered.', 'Use the code flow with PKCE.'),
  access_denied: explain('The user refused, or the sign-in expired.', 'Start the sign-in again.', [
    'consent.refused',
    'device-authorization.denied',
  ]),
  expired_token: explain('The device code expired.', 'Start again on the device.'),
  login_required: explain(
    'The user is not signed in, and the application asked not to show a page; or another user signed in.',
    'Start an ordinary sign-in, without prompt=none.',
  ),
  consent_required: explain('The user must allow the access first.', 'Start a sign-in without prompt=none.'),
  unmet_authentication_requirements: explain(
    'The sign-in does not have an acr that the application requires.',
    'Compare the essential acr of the request with those of the issuer; phr and phrh need a passkey.',
  ),
  request_not_supported: explain('Request objects are not supported.', 'Send plain parameters.'),
  request_uri_not_supported: explain(
    'A request URI is not supported here.',
    'Push the request to the project’s issuer.',
  ),
  registration_not_supported: explain('Dynamic registration is not supported.', 'Create the application here.'),
  server_error: explain('The server failed.', 'Search the server’s log for the request ID.'),
  temporarily_unavailable: explain('A limit was reached, or the server is busy.', 'Wait, then try again.'),
};

import { grantTypeNames } from '../../domain/kernel/openid.ts';
import type { Issuer } from '../../domain/projects/issuer.ts';
import { accessTokenType, idJagType } from '../../domain/tokens/mint.ts';
import {
  type Answer,
  form,
  json,
  named,
  type Operation,
  pathParameters,
  type Schema,
  secured,
  statuses,
  text,
} from '../../http/openapi/document.ts';
import { assertionType } from '../client-credential.ts';
import { subjectTypes } from '../grants/issued-assertion.ts';
import { type OAuthErrorCode, statusOf } from '../oauth-error.ts';

type Capabilities = Issuer['capabilities'];

/** Context of the descriptions of an issuer's endpoints. */
export interface Context {
  issuer: Issuer;
  /** Adds the parameters of the path, and the prefix of the id. */
  operation(name: string, operation: Omit<Operation, 'operationId'>): Operation;
}

/** Errors that the token endpoint and similar ones send as JSON. */
const codes: readonly OAuthErrorCode[] = [
  'invalid_request',
  'invalid_client',
  'server_error',
  'temporarily_unavailable',
];
const oauthError = { description: 'An OAuth error (RFC 6749 section 5.2).', content: json(named('OAuthError')) };
const oauthErrors = statuses([...codes.map(statusOf), 413, 415], oauthError);

const document = (summary: string): Omit<Operation, 'operationId'> => ({
  summary,
  responses: { 200: { description: 'Metadata of the issuer.', content: json(named('Discovery')) } },
  security: [],
});

export const discovery = ({ operation }: Context): Operation => operation('discovery', document('Discovery document'));

export const metadata = ({ operation }: Context): Operation =>
  operation('metadata', document('Discovery document, where RFC 8414 section 3.1 puts it'));

export const keys = ({ operation }: Context): Operation =>
  operation('keys', {
    summary: 'Signing keys (RFC 7517 section 5)',
    responses: { 200: { description: 'The JWK Set.', content: json(named('JwkSet')) } },
    security: [],
  });

const ofOrganization = ({ organizations }: Capabilities, description = 'Slug or id of an organization of the user.') =>
  organizations && { organization: text(description) };

function authorizationParameters(capabilities: Capabilities): Record<string, Schema> {
  const { apis, pushedRequests, responseModes } = capabilities;
  return {
    client_id: text('Client ID.'),
    response_type: text('', { const: 'code' }),
    redirect_uri: text('A registered redirect URI; must match exactly.'),
    scope: text(apis ? 'Must include openid, unless resource is given.' : 'Must include openid.'),
    code_challenge: text('PKCE challenge (RFC 7636).', { pattern: '^[A-Za-z0-9_-]{43}$' }),
    code_challenge_method: text('', { const: 'S256' }),
    state: text('Returned unchanged.'),
    nonce: text('Bound into the ID token.'),
    prompt: text('Space-separated: none, login, select_account, consent.'),
    max_age: { type: 'integer', minimum: 0, description: 'Seconds; an older sign-in is repeated.' },
    id_token_hint: text('An ID token of the expected user.'),
    login_hint: text('The address of the expected user.'),
    acr_values: text('Space-separated, in order of preference.'),
    ui_locales: text('Space-separated BCP 47 tags.'),
    display: text('', { enum: ['page', 'popup'] }),
    dpop_jkt: text('Thumbprint of the DPoP key that the code is bound to (RFC 9449 section 10).'),
    ...(responseModes.length > 1 && { response_mode: text('', { enum: [...responseModes] }) }),
    ...(apis && { resource: text('An API (RFC 8707); repeatable.') }),
    ...ofOrganization(capabilities),
    ...(pushedRequests && { request_uri: text('Of a pushed request (RFC 9126).') }),
  };
}

export function authorize({ issuer, operation }: Context): Operation {
  const { properties, required } = authorizationForm(issuer);
  const parameters = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query' as const,
    description: String(description),
    ...(required.includes(name) && { required: true }),
    schema,
  }));
  return operation('authorize', { ...ofAuthorization, parameters });
}

export function authorizeByPost({ issuer, operation }: Context): Operation {
  const { properties, required } = authorizationForm(issuer);
  return operation('authorizeByPost', { ...ofAuthorization, requestBody: form(properties, required) });
}

function authorizationForm({ capabilities }: Issuer) {
  const properties = authorizationParameters(capabilities);
  // The other parameters are in the pushed request.
  return { properties, required: capabilities.pushedRequests ? ['client_id'] : authorizationNeeds };
}

const authorizationNeeds = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'code_challenge',
  'code_challenge_method',
];

const page: Answer = { description: 'A page.', content: json({ type: 'string' }, 'text/html') };

const ofAuthorization = {
  summary: 'Authorization request (OpenID Connect Core section 3.1.2.1)',
  security: [],
  responses: {
    200: {
      description: 'A page of the sign-in, or with response_mode=form_post a form that posts the response.',
      content: json({ type: 'string' }, 'text/html'),
    },
    303: {
      description: 'To redirect_uri with code, state and iss, or with error; to the sign-in page; or to consent.',
      headers: { Location: { description: 'Target.', schema: { type: 'string' } } },
    },
    ...statuses([400, 429, 500, 503], { ...page, description: 'The client or redirect_uri is unknown: no redirect.' }),
  },
};

/** Parameters of client authentication. */
const authentication = ({ authMethods }: Capabilities): Record<string, Schema> => ({
  client_id: text('Client ID; of public clients, and with client_secret.'),
  client_assertion: text('JWT of a private_key_jwt client (RFC 7523).'),
  client_assertion_type: text('', { const: assertionType }),
  ...(authMethods.includes('client_secret_post') && { client_secret: text('Client secret (client_secret_post).') }),
});

const clientSecurity = ({ authMethods, apiKeys }: Capabilities): Operation['security'] => [
  ...(apiKeys ? secured('secretKey') : []),
  ...(authMethods.includes('client_secret_basic') ? secured('clientSecret') : []),
  {},
];

const dpopHeader = {
  name: 'DPoP',
  in: 'header' as const,
  description: 'DPoP proof, for tokens bound to its key (RFC 9449).',
  schema: { type: 'string' },
};

export function token({ issuer: { capabilities }, operation }: Context): Operation {
  const { grantTypes, apis } = capabilities;
  const has = (grant: (typeof grantTypes)[number]) => grantTypes.includes(grant);
  const properties = {
    grant_type: text('', { enum: grantTypes.map((grant) => grantTypeNames[grant]) }),
    code: text('Authorization code; single use.'),
    code_verifier: text('PKCE verifier.', { pattern: '^[A-Za-z0-9._~-]{43,128}$' }),
    redirect_uri: text('As in the authorization request.'),
    ...(has('refresh_token') && { refresh_token: text('Refresh token.') }),
    ...(has('device_code') && { device_code: text('Device code (RFC 8628).') }),
    ...(has('token_exchange') && {
      subject_token: text('Access token to exchange (RFC 8693); for an identity assertion, ID token or refresh token.'),
      subject_token_type: text('', { enum: [accessTokenType, ...Object.keys(subjectTypes)] }),
      actor_token: text('Access token of the application: on whose behalf it acts.'),
      actor_token_type: text('', { enum: [accessTokenType] }),
      requested_token_type: text('', { enum: [accessTokenType, idJagType] }),
      audience: text('The same as resource; for an identity assertion, the issuer of the other server.'),
    }),
    ...(has('jwt_bearer') && { assertion: text('Identity assertion of another issuer (ID-JAG).') }),
    ...((has('client_credentials') || has('refresh_token')) && { scope: text('Space-separated.') }),
    ...(apis && { resource: text('An API (RFC 8707).') }),
    ...ofOrganization(capabilities, 'With a refresh token: slug or id of the organization to continue in.'),
    ...authentication(capabilities),
  };
  return operation('token', {
    summary: 'Token request (RFC 6749 section 4.1.3)',
    parameters: [dpopHeader],
    requestBody: form(properties, ['grant_type']),
    responses: {
      200: { description: 'Tokens.', content: json(named('TokenResponse')) },
      ...oauthErrors,
    },
    security: clientSecurity(capabilities),
  });
}

const tokenForm = (capabilities: Capabilities, further: Parameters<typeof form>[0] = {}) =>
  form({ token: text('The token.'), token_type_hint: text('Ignored.'), ...further, ...authentication(capabilities) }, [
    'token',
  ]);

export function revoke({ issuer: { capabilities }, operation }: Context): Operation {
  return operation('revoke', {
    summary: 'Revoke a token (RFC 7009)',
    requestBody: tokenForm(capabilities),
    responses: { 200: { description: 'Revoked, or never valid. No body.' }, ...oauthErrors },
    security: clientSecurity(capabilities),
  });
}

const clientMetadata: Schema = { type: 'object', additionalProperties: true };
const ofRegistration = pathParameters({ clientId: 'The client_id.' });
const information = { description: 'The client.', content: json(clientMetadata) };
const registrationErrors = statuses([400, 401, 403, 413, 429, 500, 503], oauthError);

export const register = ({ operation }: Context): Operation =>
  operation('register', {
    summary: 'Register a client (RFC 7591), if the project accepts it',
    requestBody: { required: true, content: json(clientMetadata) },
    responses: { 201: information, ...registrationErrors },
    security: [{}, ...secured('registrationToken')],
  });

export const readRegistration = ({ operation }: Context): Operation =>
  operation('readRegistration', {
    summary: 'Read the registration of a client (RFC 7592)',
    parameters: ofRegistration,
    responses: { 200: information, ...registrationErrors },
    security: secured('registrationToken'),
  });

export const updateRegistration = ({ operation }: Context): Operation =>
  operation('updateRegistration', {
    summary: 'Replace the metadata of a registered client (RFC 7592)',
    parameters: ofRegistration,
    requestBody: { required: true, content: json(clientMetadata) },
    responses: { 200: information, ...registrationErrors },
    security: secured('registrationToken'),
  });

export const unregister = ({ operation }: Context): Operation =>
  operation('unregister', {
    summary: 'Delete a registered client (RFC 7592)',
    parameters: ofRegistration,
    responses: { 204: { description: 'Deleted. No body.' }, ...registrationErrors },
    security: secured('registrationToken'),
  });

export function introspect({ issuer: { capabilities }, operation }: Context): Operation {
  return operation('introspect', {
    summary: 'Introspect a token (RFC 7662)',
    requestBody: tokenForm(capabilities, {
      client_ip: text('The address from which the API got the token; an API key with networks needs it.'),
    }),
    responses: {
      200: {
        description: 'State and claims of the token.',
        content: {
          ...json({
            type: 'object',
            properties: { active: { type: 'boolean' } },
            required: ['active'],
            additionalProperties: true,
          }),
          ...json({ type: 'string' }, 'application/token-introspection+jwt'),
        },
      },
      ...oauthErrors,
    },
    security: clientSecurity(capabilities),
  });
}

export function push({ issuer: { capabilities }, operation }: Context): Operation {
  const { request_uri: _, ...properties } = authorizationParameters(capabilities);
  return operation('pushAuthorizationRequest', {
    summary: 'Push an authorization request (RFC 9126)',
    parameters: [dpopHeader],
    requestBody: form({ ...properties, ...authentication(capabilities) }, ['response_type', 'redirect_uri', 'scope']),
    responses: {
      201: {
        description: 'Use request_uri at the authorization endpoint, once.',
        content: json({
          type: 'object',
          properties: { request_uri: text('A reference.'), expires_in: { type: 'integer', description: 'Seconds.' } },
          required: ['request_uri', 'expires_in'],
        }),
      },
      ...oauthErrors,
      // RFC 9126 section 2.3.
      ...statuses([429], oauthError),
    },
    security: clientSecurity(capabilities),
  });
}

export function deviceAuthorization({ issuer: { capabilities }, operation }: Context): Operation {
  return operation('deviceAuthorization', {
    summary: 'Device authorization request (RFC 8628 section 3.1)',
    requestBody: form(
      {
        scope: text('Space-separated. Default: openid.'),
        ...ofOrganization(capabilities),
        ...authentication(capabilities),
      },
      [],
    ),
    responses: {
      200: {
        description: 'Codes for the device and its user.',
        content: json({
          type: 'object',
          properties: {
            device_code: text('For the token endpoint.'),
            user_code: text('Shown to the user.'),
            verification_uri: text('The page where the user enters it.'),
            verification_uri_complete: text('The page with the code.'),
            expires_in: { type: 'integer', description: 'Seconds.' },
            interval: { type: 'integer', description: 'Minimum seconds between token requests.' },
          },
          required: ['device_code', 'user_code', 'verification_uri', 'expires_in', 'interval'],
        }),
      },
      ...oauthErrors,
    },
    security: clientSecurity(capabilities),
  });
}

const userInfoRefusal = {
  description: 'A challenge (RFC 6750 section 3).',
  headers: { 'WWW-Authenticate': { description: 'The error.', schema: { type: 'string' } } },
  content: json(named('OAuthError')),
};

const ofUserInfo: Omit<Operation, 'operationId'> = {
  summary: 'Claims of the user (OpenID Connect Core section 5.3)',
  parameters: [dpopHeader],
  responses: {
    200: { description: 'Claims of the granted scopes.', content: json(named('UserInfo')) },
    ...statuses([400, 401, 403], userInfoRefusal),
    ...statuses([413, 415, 500, 503], { description: 'An error.', content: json(named('OAuthError')) }),
  },
  security: secured('accessToken'),
};

export const userInfo = ({ operation }: Context): Operation => operation('userInfo', ofUserInfo);
export const userInfoByPost = ({ operation }: Context): Operation => operation('userInfoByPost', ofUserInfo);

const logoutProperties = {
  client_id: text('The application that the user signs out of.'),
  id_token_hint: text('An ID token of the session, even an expired one.'),
  post_logout_redirect_uri: text('A registered URI; must match exactly.'),
  state: text('Returned unchanged.'),
  logout_scope: text('session: this session; global: all of the user. Default: global.', {
    enum: ['session', 'global'],
  }),
  ui_locales: text('Space-separated BCP 47 tags.'),
};
const ofLogout = {
  summary: 'End the session (RP-Initiated Logout 1.0)',
  security: [],
  responses: {
    200: { ...page, description: 'A page that asks for confirmation, or reports the sign-out.' },
    303: {
      description: 'To post_logout_redirect_uri.',
      headers: { Location: { description: 'Target.', schema: { type: 'string' } } },
    },
    ...statuses([400, 500, 503], { ...page, description: 'An error.' }),
  },
};

export function endSession({ operation }: Context): Operation {
  const parameters = Object.entries(logoutProperties).map(([name, { description, ...schema }]) => {
    return { name, in: 'query' as const, description: String(description), schema };
  });
  return operation('endSession', { ...ofLogout, parameters });
}

export const endSessionByPost = ({ operation }: Context): Operation =>
  operation('endSessionByPost', { ...ofLogout, requestBody: form(logoutProperties, []) });

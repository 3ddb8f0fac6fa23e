import type { Provider, UpstreamClient, UpstreamFault } from '../../domain/connections/upstream.ts';
import { seconds } from '../../domain/kernel/clock.ts';
import { exchange } from '../http/outbound.ts';

/** Loaded at the first sign-in by a provider (decisions/0381). */
const library = () => import('openid-client');
type Library = Awaited<ReturnType<typeof library>>;

interface Reach {
  /** Whether private addresses and http may be called. */
  allowPrivate: boolean;
  timeoutMs: number;
}

/** Thrown by our fetch: the provider could not be reached. */
class Unreachable extends Error {}

/** `openid-client` over our outgoing HTTP: public addresses only, no redirects, at most 64 KB (decisions/0386). */
export function upstreamClient(reach: Reach): UpstreamClient {
  return {
    async redeem(provider, code) {
      const openid = await library();
      try {
        const callback = new URL(`${code.redirectUri}?${code.parameters}`);
        const tokens = await openid.authorizationCodeGrant(configuration(openid, provider, code.now, reach), callback, {
          expectedState: code.state,
          expectedNonce: code.nonce,
          pkceCodeVerifier: code.verifier,
          idTokenExpected: true,
        });
        return { idToken: tokens.id_token ?? '', accessToken: tokens.access_token };
      } catch (error) {
        const claims = claimsOf(error);
        return claims ? { fault: faultOf(error), claims } : { fault: faultOf(error) };
      }
    },

    async userInfo(provider, accessToken, subject) {
      const openid = await library();
      try {
        // Times of a signed response are not read: the access token is as fresh as its code.
        const claims = await openid.fetchUserInfo(
          configuration(openid, provider, new Date(), reach),
          accessToken,
          subject,
        );
        return { claims: { ...claims } };
      } catch (error) {
        return { fault: isUnreachable(error) ? 'unreachable' : 'userinfo' };
      }
    },
  };
}

/** One for each call: the caches for keys and documents are ours, by our clock. */
function configuration(openid: Library, { metadata, clientId, secret }: Provider, now: Date, reach: Reach) {
  const { authorizationEndpoint, issuer, jwksUri, sendsIss, tokenEndpoint, userInfoEndpoint } = metadata;
  const server = {
    issuer,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    jwks_uri: jwksUri,
    authorization_response_iss_parameter_supported: sendsIss,
    id_token_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
    ...(userInfoEndpoint !== null && { userinfo_endpoint: userInfoEndpoint }),
  };
  const byPost = metadata.postsSecret ? openid.ClientSecretPost : openid.ClientSecretBasic;
  const authentication = secret === null ? openid.None() : byPost(secret);
  const skew = seconds(now) - seconds(new Date());
  const client = { [openid.clockSkew]: skew, [openid.clockTolerance]: 60 };
  const config = new openid.Configuration(server, clientId, client, authentication);
  if (reach.allowPrivate) openid.allowInsecureRequests(config);
  config[openid.customFetch] = (url, options) => fetchOver(url, options, reach);
  return config;
}

interface FetchOptions {
  method?: string | undefined;
  headers?: unknown;
  body?: unknown;
}

async function fetchOver(
  url: string,
  { method = 'GET', headers, body }: FetchOptions,
  reach: Reach,
): Promise<Response> {
  const sent = Object.fromEntries(new Headers(headers as ConstructorParameters<typeof Headers>[0]));
  const text = body == null ? '' : String(body);
  const length = { 'content-length': String(Buffer.byteLength(text)) };
  const answer = await exchange(
    method === 'POST' ? 'POST' : 'GET',
    url,
    { ...reach, headers: { ...sent, ...(method === 'POST' && length) } },
    text,
  );
  if ('error' in answer) throw new Unreachable(answer.error);
  const type = answer.headers['content-type'];
  // 204 and 304 have no body.
  const content = answer.body.length === 0 ? null : new Uint8Array(answer.body);
  return new Response(content, {
    status: answer.status,
    ...(type !== undefined && { headers: { 'content-type': type } }),
  });
}

function isUnreachable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof Unreachable) return true;
  return false;
}

/** By the code of the library's errors. */
function faultOf(error: unknown): UpstreamFault {
  if (isUnreachable(error)) return 'unreachable';
  const { code } = error as { code?: string };
  if (code === 'OAUTH_RESPONSE_BODY_ERROR' || code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return 'token-endpoint';
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return 'time';
  return faultsOfClaims[claimOf(error) ?? ''] ?? 'response';
}

const faultsOfClaims: Readonly<Record<string, UpstreamFault>> = {
  iss: 'issuer',
  nonce: 'nonce',
  aud: 'audience',
  azp: 'audience',
};

/** The claims of an ID token that the library refused. */
function claimsOf(error: unknown): Record<string, unknown> | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { claims } = (cause.cause ?? {}) as { claims?: unknown };
    if (typeof claims === 'object' && claims !== null) return claims as Record<string, unknown>;
  }
  return undefined;
}

/** The claim with a wrong value: the library wraps the error that names it. */
function claimOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { claim } = (cause.cause ?? {}) as { claim?: unknown };
    if (typeof claim === 'string') return claim;
  }
  return undefined;
}

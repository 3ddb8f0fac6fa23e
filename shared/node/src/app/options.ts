import { toBase64url, utf8 } from '../bytes.ts';
import { brokenRule, callback, having, text, wholeNumber } from '../checks.ts';
import { OAuthExchangeError } from '../error.ts';
import { checkApiKey, type TokenAndClaims } from '../exchange.ts';
import { checkAddress } from '../relying-party.ts';
import type { ReplayStore } from '../replay-store.ts';
import { processRevocations, type SessionRevocations } from '../session/revocations.ts';
import { type DefaultUser, Sessions } from '../session/sessions.ts';
import { faultOf } from '../verify-jwt.ts';

export interface LatchkeyOptions<User = DefaultUser> {
  /** The base issuer, for applications with the browser SDK; or the project issuer. */
  issuer: string;
  clientId: string;
  /** At the base issuer: the client's secret key, `lk_sk_…`. */
  apiKey?: string;
  /** At a project issuer: the client secret, `lk_cs_…`. */
  clientSecret?: string;
  /** The place of the client secret in a request. Default: `client_secret_basic`. */
  tokenEndpointAuthMethod?: 'client_secret_basic' | 'client_secret_post';
  /**
   * For `private_key_jwt`: the client's private key (PKCS #8), as a PEM or its path. Ed25519 signs with EdDSA, and at a
   * project issuer also P-256 with ES256, RSA with RS256.
   */
  privateKey?: string;
  /** `kid` of the private key, if several keys are registered. */
  keyId?: string;
  /** URL of the callback, as registered. Its origin is that of your application. For routes and sessions. */
  redirectUri?: string;
  /** For routes and sessions. */
  session?: SessionOptions;
  /**
   * Called after each sign-in, before the session begins: find or create the account of `claims.sub` here. Its result is
   * `session.user`: JSON of at most about 2 KB; null refuses the user. Default: `email`, `email_verified` and `name`.
   */
  onSignIn?: (signIn: TokenAndClaims) => Promise<User | null> | User | null;
  /** Path of the routes other than that of the callback. Default: `/auth`. */
  basePath?: string;
  /** Path of your page for failed sign-ins; gets `?error=` with the error's code. Default: JSON. */
  failurePath?: string;
  /** URL to which the service redirects after a sign-out, as registered. */
  postLogoutRedirectUri?: string;
  /** Default: `openid profile email phone`. */
  scope?: string;
  /** Algorithms of ID tokens. Default: those of the issuer. */
  algorithms?: string[];
  /** Tolerated clock skew in seconds. Default: 5, as clocks that are set by NTP can differ. */
  leeway?: number;
  /** Storage of used logout tokens. Default: process memory. */
  replayStore?: ReplayStore;
  /** Allows plain http to hosts other than loopback, for a network of containers. Logged. Default: false. */
  allowInsecureHttp?: boolean;
  /** Called on each failure, for logging. */
  onError?: (error: unknown) => void;
}

export interface SessionOptions {
  /**
   * At least 32 random characters (`openssl rand -base64 32`), the same in all processes. Of several, the first
   * encrypts, and all decrypt: to replace one, append the new one everywhere, then move it to the front, then remove
   * the old one.
   */
  secret: string | readonly string[];
  /** A session ends after this time without requests, in seconds. Default: 1,800. */
  idleSeconds?: number;
  /** A session ends this long after its sign-in, in seconds. Default: 43,200. */
  lifetimeSeconds?: number;
  /** Storage of ended sessions. Default: process memory, for a single process. */
  revocations?: SessionRevocations;
}

/** The options that routes and sessions need. */
export interface Site {
  redirectUri: URL;
  basePath: string;
  sessions: Sessions;
}

const secretMethods: readonly string[] = ['client_secret_basic', 'client_secret_post'];
const credentialNames = ['apiKey', 'clientSecret', 'privateKey'] as const;
/** For an option whose value is undefined, as that of a variable that is not set. */
const isUnset = ' is undefined: check its environment variable.';
const minSecretLength = 32;
const longestSeconds = 400 * 24 * 3600;

/** Throws `OAuthExchangeError` for missing or invalid options. */
export function checkOptions(options: LatchkeyOptions<unknown>): void {
  if (typeof options !== 'object' || options === null) invalid('options must be an object.');
  for (const name of ['issuer', 'clientId'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') missing(name, options[name]);
  }
  const { apiKey, clientSecret, privateKey, tokenEndpointAuthMethod: method } = options;
  if ([apiKey, clientSecret, privateKey].filter((credential) => credential !== undefined).length !== 1) {
    const unset = credentialNames.find((name) => Object.hasOwn(options, name) && options[name] === undefined);
    const which = 'one of apiKey, clientSecret and privateKey is required';
    invalid(unset === undefined ? `${which}.` : `${which}, and ${unset}${isUnset}`);
  }
  if (method !== undefined && (clientSecret === undefined || !secretMethods.includes(method))) {
    invalid(`tokenEndpointAuthMethod must be ${secretMethods.join(' or ')}, with clientSecret.`);
  }
  if (apiKey !== undefined) checkKey(apiKey);
  if (clientSecret !== undefined && (typeof clientSecret !== 'string' || clientSecret === '')) {
    invalid('clientSecret must not be empty.');
  }
  if (options.issuer.endsWith('/')) invalid('issuer must not end with a slash.');
  checkAddress('issuer', options.issuer, options.allowInsecureHttp);
  const fault = faultOf(options) ?? brokenRule(options, rules);
  if (fault) invalid(fault);
  const { allowInsecureHttp, postLogoutRedirectUri } = options;
  if (postLogoutRedirectUri != null) checkAddress('postLogoutRedirectUri', postLogoutRedirectUri, allowInsecureHttp);
}

const rules = {
  ...{ onSignIn: callback, onError: callback, replayStore: having('remember', 'forget'), scope: text },
  ...{ basePath: text, failurePath: text, keyId: text },
};

function checkKey(apiKey: unknown): void {
  if (typeof apiKey !== 'string' || apiKey === '') invalid('apiKey must not be empty.');
  if (apiKey.startsWith('lk_cs_')) invalid('apiKey is a client secret (lk_cs_…): pass it as clientSecret.');
  checkApiKey(apiKey);
}

/** The site's settings. Throws `OAuthExchangeError` for missing or invalid options. */
export function siteOf(options: LatchkeyOptions<unknown>): Site {
  const { allowInsecureHttp, basePath = '/auth', clientId, issuer, redirectUri, session } = options;
  if (typeof redirectUri !== 'string') missing('redirectUri', redirectUri);
  const address = checkAddress('redirectUri', redirectUri, allowInsecureHttp);
  if (!/^(\/[\w.~-]+)+$/.test(basePath)) invalid('basePath must be a path, such as /auth.');
  const secrets = [session?.secret ?? []].flat();
  if (secrets.length === 0) missing('session.secret', session?.secret);
  if (secrets.some((secret) => typeof secret !== 'string' || secret.length < minSecretLength)) {
    invalid(`session.secret must have at least ${minSecretLength} characters.`);
  }
  const { idleSeconds = 1800, lifetimeSeconds = 43_200, revocations = processRevocations() } = session ?? {};
  const seconds = wholeNumber(60, longestSeconds);
  const fault = brokenRule(
    { idleSeconds, lifetimeSeconds, revocations },
    { idleSeconds: seconds, lifetimeSeconds: seconds, revocations: having('revoke', 'revokedAt') },
  );
  if (fault) invalid(`session.${fault}`);
  const sessions = new Sessions({
    ...{ secrets, idleSeconds, lifetimeSeconds, revocations },
    context: toBase64url(utf8(`${issuer} ${clientId}`)),
    cookieName: cookieName(address, clientId),
  });
  return { redirectUri: address, basePath, sessions };
}

/**
 * `__Host-` needs https: only this host can set such a cookie, for all its paths. A name per client, because cookies are
 * shared between ports.
 */
function cookieName({ protocol }: URL, clientId: string): string {
  const name = `latchkey-${clientId.replace(/[^A-Za-z0-9]/g, '').slice(-8)}`;
  return protocol === 'https:' ? `__Host-${name}` : name;
}

function missing(name: string, value: unknown): never {
  return invalid(value === undefined ? `${name}${isUnset}` : `${name} is required.`);
}

function invalid(problem: string): never {
  throw new OAuthExchangeError('INVALID_OPTIONS', problem);
}

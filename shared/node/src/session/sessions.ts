import { toBase64url } from '../bytes.ts';
import { RelyingPartyError } from '../error.ts';
import type { TokenAndClaims } from '../exchange.ts';
import { cookiesOf, type Incoming } from '../incoming.ts';
import type { LogoutClaims } from '../logout-token.ts';
import type { SessionRevocations } from './revocations.ts';
import { Sealer } from './seal.ts';

/** A user's session with your application. */
export interface Session<User = DefaultUser> {
  /** The user's stable ID at the service. */
  sub: string;
  /** The result of `onSignIn`. */
  user: User;
  /** The session at the service. Absent after a sign-in with the browser SDK. */
  sid: string | undefined;
  /** Authentication context class, such as `phr`. */
  acr: string | undefined;
  amr: string[];
  /** Time of the sign-in, also of one by a device key alone. Unix seconds, as are all times here. */
  authTime: number | undefined;
  /** {@link authTime}, if the user took part in the sign-in; absent after one by a device key alone. */
  provedAt: number | undefined;
  signedInAt: number;
  /** End of the session, unless it is used before. */
  expiresAt: number;
}

/** Claims that a session keeps without `onSignIn`. */
export interface DefaultUser {
  email?: string;
  email_verified?: boolean;
  name?: string;
}

/** The content of a cookie. */
interface Content {
  id: string;
  sub: string;
  sid?: string | undefined;
  acr?: string | undefined;
  amr: string[];
  authTime?: number | undefined;
  user: unknown;
  /** `iat` of the ID token: by the clock of the service, as are logout tokens. */
  issuedAt: number;
  /** By this clock, in Unix seconds. */
  began: number;
  expires: number;
  /** For `id_token_hint`. Absent if it does not fit. */
  idToken?: string | undefined;
}

export interface SessionSettings {
  secrets: readonly string[];
  /** A cookie of another context cannot be decrypted. */
  context: string;
  cookieName: string;
  idleSeconds: number;
  lifetimeSeconds: number;
  revocations: SessionRevocations;
}

export interface Found {
  session: Session<unknown>;
  idToken: string | undefined;
  /** `Set-Cookie` that extends the session. */
  renewed: string | undefined;
}

/** Browsers store at most 4,096 bytes of name and value. */
const maxCookie = 4000;
/**
 * Maximum number of cookies with the same name that are tried: a sibling domain can set others, unless the name has the
 * prefix `__Host-`.
 */
const maxTries = 8;
/** A cookie is renewed at most this often. */
const renewSeconds = 300;
/** Tolerated skew between the clocks of processes. */
const skewSeconds = 300;
/** Tolerated difference between the clocks of the service's processes. */
const serviceSkewSeconds = 5;
/** Values of `amr` (RFC 8176) that the service states only if the user took part in the sign-in of `auth_time`. */
const personMethods = ['otp', 'sms', 'mfa'];

/** Sessions in sealed cookies. A cookie is valid until it expires, or its session is revoked. */
export class Sessions {
  private readonly settings: SessionSettings;
  private readonly sealer: Sealer;

  constructor(settings: SessionSettings) {
    this.settings = settings;
    this.sealer = new Sealer(settings.secrets, JSON.stringify([settings.cookieName, settings.context]));
  }

  /** The `Set-Cookie` of a new session; ends the browser's earlier one. */
  async begin({ claims, idToken }: TokenAndClaims, user: unknown, incoming: Incoming): Promise<string> {
    const now = nowSeconds();
    const cookie = await this.cookie({
      id: toBase64url(crypto.getRandomValues(new Uint8Array(16))),
      ...{ sub: claims.sub, sid: text(claims['sid']), acr: text(claims['acr']), user, idToken },
      amr: Array.isArray(claims['amr']) ? claims['amr'].map(String) : [],
      authTime: typeof claims['auth_time'] === 'number' ? claims['auth_time'] : undefined,
      issuedAt: claims.iat,
      began: now,
      expires: now + Math.min(this.settings.idleSeconds, this.settings.lifetimeSeconds),
    });
    await this.end(incoming);
    return cookie;
  }

  /** The session of a request. Throws `RelyingPartyError` if the revocations cannot be read. */
  async find(incoming: Incoming): Promise<Found | null> {
    const opened = await this.opened(incoming);
    if (!opened || (await this.isRevoked(opened.content))) return null;
    const { content, isOld } = opened;
    const { idleSeconds, lifetimeSeconds } = this.settings;
    const expires = Math.min(nowSeconds() + idleSeconds, content.began + lifetimeSeconds);
    const isDue = expires - content.expires >= Math.min(renewSeconds, idleSeconds / 2);
    const renewed = isDue || isOld ? { ...content, expires: Math.max(expires, content.expires) } : undefined;
    return {
      session: sessionOf(renewed ?? content),
      idToken: content.idToken,
      renewed: renewed && (await this.cookie(renewed)),
    };
  }

  /** Ends the session of a request, also in copies of its cookie. */
  async end(incoming: Incoming): Promise<void> {
    const opened = await this.opened(incoming);
    if (!opened) return;
    const until = nowSeconds() + this.settings.lifetimeSeconds + skewSeconds;
    // No session with this ID begins later.
    await this.revoke(this.key('id', opened.content.id), until, until);
  }

  /**
   * Ends the sessions that a logout token names (OpenID Connect Back-Channel Logout 1.0 §2.4). `toe` is the time of the
   * logout (RFC 8417 §2.2): a delayed attempt ends no session that began since.
   */
  async endByLogout({ iat, sid, sub, toe }: LogoutClaims): Promise<void> {
    const until = nowSeconds() + this.settings.lifetimeSeconds + skewSeconds;
    if (sid !== undefined) await this.revoke(this.key('sid', sid), until, until);
    else if (sub !== undefined) await this.revoke(this.key('sub', sub), logoutAt(iat, toe), until);
  }

  /** `Set-Cookie` that deletes the cookie. */
  get cleared(): string {
    return this.setCookie('', 0);
  }

  private async opened(incoming: Incoming): Promise<{ content: Content; isOld: boolean } | undefined> {
    const { cookieName } = this.settings;
    const found = cookiesOf(incoming).filter(([name, value]) => name === cookieName && value.length <= maxCookie);
    for (const [, value] of found.slice(0, maxTries)) {
      const opened = await this.sealer.open(value);
      if (!opened) continue;
      const content = JSON.parse(opened.text) as Content;
      if (this.isCurrent(content)) return { content, isOld: opened.isOld };
    }
    return undefined;
  }

  /** Applies the current settings: a shorter lifetime also limits existing sessions. */
  private isCurrent({ began, expires }: Content): boolean {
    const now = nowSeconds();
    const { idleSeconds, lifetimeSeconds } = this.settings;
    return now < Math.min(expires, began + lifetimeSeconds) && expires <= now + idleSeconds + skewSeconds;
  }

  private async isRevoked({ id, issuedAt, sid, sub }: Content): Promise<boolean> {
    const keys = [this.key('id', id), this.key('sub', sub), ...(sid === undefined ? [] : [this.key('sid', sid)])];
    const at = await this.stored((revocations) => revocations.revokedAt(keys));
    return at !== undefined && at >= issuedAt;
  }

  private revoke(key: string, at: number, until: number): Promise<void> {
    return this.stored((revocations) => revocations.revoke(key, at, new Date(until * 1000)));
  }

  private async stored<T>(use: (revocations: SessionRevocations) => Promise<T> | T): Promise<T> {
    try {
      return await use(this.settings.revocations);
    } catch (cause) {
      throw new RelyingPartyError('REVOCATIONS_FAILED', 'The storage of ended sessions failed.', { cause });
    }
  }

  private key(kind: 'id' | 'sid' | 'sub', value: string): string {
    return `${this.settings.context}:${kind}:${value}`;
  }

  private async cookie(content: Content): Promise<string> {
    const maxAge = content.expires - nowSeconds();
    for (const kept of [content, { ...content, idToken: undefined }]) {
      const value = await this.sealer.seal(JSON.stringify(kept));
      if (this.settings.cookieName.length + value.length < maxCookie) return this.setCookie(value, maxAge);
    }
    throw new RelyingPartyError('SESSION_TOO_LARGE', 'The session does not fit into a cookie.');
  }

  private setCookie(value: string, maxAge: number): string {
    const { cookieName } = this.settings;
    const secure = cookieName.startsWith('__Host-') ? '; Secure' : '';
    return `${cookieName}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  }
}

function sessionOf({ acr, amr, authTime, began, expires, sid, sub, user }: Content): Session<unknown> {
  const times = { authTime, provedAt: provedAt(amr, authTime), signedInAt: began, expiresAt: expires };
  return { sub, user, sid, acr, amr, ...times };
}

/**
 * Time at which the user last took part in a sign-in: `auth_time`, unless a device key alone has renewed it. A request
 * for `max_age` proves nothing: the browser can remove it from the URL.
 */
export function provedAt(amr: unknown, authTime: unknown): number | undefined {
  const isByPerson = Array.isArray(amr) && personMethods.some((method) => amr.includes(method));
  return isByPerson && typeof authTime === 'number' ? authTime : undefined;
}

function logoutAt(iat: number, toe: unknown): number {
  return typeof toe === 'number' ? Math.min(iat, toe + serviceSkewSeconds) : iat;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

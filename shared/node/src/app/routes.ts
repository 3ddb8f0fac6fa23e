import { OAuthExchangeError } from '../error.ts';
import type { TokenAndClaims } from '../exchange.ts';
import { type HostedRequest, local, type SignInRequest } from '../hosted-sign-in.ts';
import { BodyError, type Incoming, urlOf } from '../incoming.ts';
import {
  defaultScope,
  logoutFailure,
  meets,
  type Reply,
  reply,
  routesOf,
  signInFailure,
  unmet,
} from '../relying-party.ts';
import { type DefaultUser, provedAt, type Session } from '../session/sessions.ts';
import { type LatchkeyOptions, type Site, siteOf } from './options.ts';
import type { Service } from './service.ts';

/** The requirements of a page or an operation for a session. */
export interface SessionRequirements {
  /** Accepted classes of authentication: `phr` (a passkey), `phrh` (a passkey bound to its device). */
  acrValues?: readonly string[];
  /**
   * Maximum age of the user's last proof (code, second factor or passkey), in seconds, at least 60. A sign-in by a device key
   * alone does not count.
   */
  maxAgeSeconds?: number;
}

/** A response. `Set-Cookie` is separate, since there can be several. */
export interface Answer extends Reply {
  cookies: string[];
}

/** A session that meets the requirements, with cookies for the response; or the response. */
export type Required = { session: Session<unknown>; cookies: string[] } | { answer: Answer };

/** Routes and sessions of an application, for requests of any kind. */
export class Routes {
  private readonly service: Service;
  private readonly options: LatchkeyOptions<unknown>;
  private readonly party: ReturnType<typeof routesOf>;
  private made: Site | undefined;

  constructor(service: Service, options: LatchkeyOptions<unknown>) {
    this.service = service;
    this.options = options;
    this.party = routesOf({
      exchange: (code, more) => service.exchange(code, more),
      trust: () => service.trust(),
      hosted: () => this.client,
      authorizationEndpoint: async () => (await service.discovery()).authorization_endpoint,
      leeway: options.leeway,
      replayStore: options.replayStore,
    });
  }

  /** Throws `OAuthExchangeError` if options that routes and sessions need are missing. */
  get site(): Site {
    this.made ??= siteOf(this.options);
    return this.made;
  }

  /** Paths and methods, for routers. */
  get table(): { method: 'GET' | 'POST'; path: string; handle: (incoming: Incoming) => Promise<Answer> }[] {
    const { basePath, redirectUri } = this.site;
    return [
      { method: 'GET', path: `${basePath}/login`, handle: (incoming) => this.login(incoming) },
      { method: 'GET', path: redirectUri.pathname, handle: (incoming) => this.callback(incoming) },
      { method: 'POST', path: `${basePath}/sign-in`, handle: (incoming) => this.signIn(incoming) },
      { method: 'GET', path: `${basePath}/session`, handle: (incoming) => this.shown(incoming) },
      { method: 'POST', path: `${basePath}/sign-out`, handle: (incoming) => this.signOut(incoming) },
      { method: 'POST', path: `${basePath}/backchannel-logout`, handle: (incoming) => this.logout(incoming) },
    ];
  }

  /** The response of a route, or undefined for another path. */
  async handle(incoming: Incoming): Promise<Answer | undefined> {
    const path = urlOf(incoming).pathname;
    const rows = this.table.filter((row) => row.path === path);
    if (rows.length === 0) return undefined;
    const method = incoming.method === 'HEAD' ? 'GET' : incoming.method;
    const row = rows.find((one) => one.method === method);
    if (row) return row.handle(incoming);
    return answer({ ...reply(405), headers: { Allow: rows.map((one) => one.method).join(', ') } });
  }

  /** The session of a request. Throws `RelyingPartyError` if the storage of ended sessions fails. */
  async find(incoming: Incoming): Promise<Session<unknown> | null> {
    return (await this.site.sessions.find(incoming))?.session ?? null;
  }

  /** `Set-Cookie` that extends the session of a request. None if the storage of ended sessions fails. */
  async renewal(incoming: Incoming): Promise<string[]> {
    try {
      const found = await this.site.sessions.find(incoming);
      return found?.renewed ? [found.renewed] : [];
    } catch (error) {
      this.options.onError?.(error);
      return [];
    }
  }

  /** Checks a request, including that it is not from another site (CSRF). */
  async require(incoming: Incoming, asked: SessionRequirements = {}): Promise<Required> {
    try {
      this.checkOrigin(incoming);
      const found = await this.site.sessions.find(incoming);
      if (!found) return { answer: await this.demand(incoming, {}, 'login_required') };
      const { acr, provedAt: proved } = found.session;
      if (!meets(acr, proved, asked, Date.now() / 1000)) {
        return { answer: await this.demand(incoming, asked, 'insufficient_user_authentication') };
      }
      return { session: found.session, cookies: found.renewed ? [found.renewed] : [] };
    } catch (error) {
      return { answer: this.failed(error, 'session_unavailable') };
    }
  }

  /** A redirect to the hosted page. */
  async begin(incoming: Incoming, asked: HostedRequest): Promise<Answer> {
    const { cookies, location } = await this.party.begin(incoming, asked);
    return answer(reply(303, null, { Location: location }), cookies);
  }

  private async login(incoming: Incoming): Promise<Answer> {
    const query = urlOf(incoming).searchParams;
    const acrValues = query
      .get('acr_values')
      ?.match(/[\x21-\x7e]{1,100}/g)
      ?.slice(0, 10);
    const organization = /^[\da-z-]{1,63}$/i.exec(query.get('organization') ?? '')?.[0];
    const maxAge = /^\d{1,9}$/.exec(query.get('max_age') ?? '')?.[0];
    try {
      return await this.begin(incoming, {
        ...{ returnTo: query.get('return_to') ?? undefined, acrValues, organization },
        maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
      });
    } catch (error) {
      return this.failed(error);
    }
  }

  private async callback(incoming: Incoming): Promise<Answer> {
    const ended = this.party.endOfSignIn(incoming);
    try {
      const { asked, returnTo, signedIn } = await this.party.callback(incoming);
      const { amr, auth_time: authTime } = signedIn.claims;
      if (asked.maxAgeSeconds !== undefined && provedAt(amr, authTime) === undefined) {
        const again = await this.askPerson(incoming, { ...asked, returnTo });
        return { ...again, cookies: [ended, ...again.cookies] };
      }
      const cookie = await this.begun(signedIn, incoming);
      return answer(reply(303, null, { Location: returnTo }), [ended, cookie]);
    } catch (error) {
      const { failurePath } = this.options;
      const failed = this.failed(error);
      if (failurePath === undefined) return answer(failed, [ended]);
      const { code = 'FAILED' } = JSON.parse(failed.body ?? '{}') as { code?: string };
      return answer(reply(303, null, { Location: `${local(failurePath)}?error=${code}` }), [ended]);
    }
  }

  /**
   * For a sign-in by a device key alone in response to `max_age`: either the session of the service was fresh, or the
   * browser has removed `max_age` from the URL. The ID token does not show which, so the user signs in again, once.
   */
  private askPerson(incoming: Incoming, asked: HostedRequest): Promise<Answer> {
    if (asked.prompt !== undefined) throw unmet();
    return this.begin(incoming, { ...asked, prompt: 'login' });
  }

  private async signIn(incoming: Incoming): Promise<Answer> {
    try {
      this.checkOrigin(incoming);
      return answer(reply(204), [await this.begun(await this.party.signIn(incoming), incoming)]);
    } catch (error) {
      return this.failed(error);
    }
  }

  private async begun(signedIn: TokenAndClaims, incoming: Incoming): Promise<string> {
    const { onSignIn } = this.options;
    const user = onSignIn ? await onSignIn(signedIn) : defaultUser(signedIn);
    if (user === null) {
      throw new OAuthExchangeError('SIGN_IN_REFUSED', 'onSignIn has refused the user.', { error: 'access_denied' });
    }
    return this.site.sessions.begin(signedIn, user, incoming);
  }

  /** For pages: the session, or null. */
  private async shown(incoming: Incoming): Promise<Answer> {
    try {
      const found = await this.site.sessions.find(incoming);
      const body = found ? { ...found.session, sid: undefined } : null;
      const headers = { 'Content-Type': 'application/json', 'Cross-Origin-Resource-Policy': 'same-origin' };
      const shown = { ...reply(200, null, headers), body: JSON.stringify(body) };
      return answer(shown, found?.renewed ? [found.renewed] : []);
    } catch (error) {
      return this.failed(error);
    }
  }

  /** Ends the session here, and names the page that ends it at the service. */
  private async signOut(incoming: Incoming): Promise<Answer> {
    const { sessions } = this.site;
    try {
      this.checkOrigin(incoming);
      const found = await sessions.find(incoming);
      await sessions.end(incoming);
      const location = await this.service.logoutUrl({ idToken: found?.idToken }).catch((error: unknown) => {
        this.options.onError?.(error);
        return '/';
      });
      const isForm = incoming.header('content-type')?.startsWith('application/x-www-form-urlencoded') === true;
      const done = isForm ? reply(303, null, { Location: location }) : reply(200, { location });
      return answer(done, [sessions.cleared]);
    } catch (error) {
      return this.failed(error);
    }
  }

  private async logout(incoming: Incoming): Promise<Answer> {
    try {
      await this.party.logout(incoming, (claims) => this.site.sessions.endByLogout(claims));
      return answer(reply(200));
    } catch (error) {
      this.options.onError?.(error);
      return answer(logoutFailure(error));
    }
  }

  /** A page is redirected to the sign-in; a script gets 401 and the address. */
  private async demand(incoming: Incoming, asked: SessionRequirements, error: string): Promise<Answer> {
    if (isPageVisit(incoming)) {
      const { pathname, search } = urlOf(incoming);
      return this.begin(incoming, { ...asked, returnTo: pathname + search });
    }
    return answer(reply(401, { error, login: this.loginPath(asked) }));
  }

  /** Path of the route that redirects to the hosted page. */
  loginPath({ acrValues, maxAgeSeconds, organization, returnTo }: SignInRequest): string {
    const query = new URLSearchParams({
      ...(acrValues && { acr_values: acrValues.join(' ') }),
      ...(maxAgeSeconds !== undefined && { max_age: `${maxAgeSeconds}` }),
      ...(organization !== undefined && { organization }),
      ...(returnTo !== undefined && { return_to: local(returnTo) }),
    });
    return `${this.site.basePath}/login${query.size > 0 ? `?${query}` : ''}`;
  }

  /**
   * SameSite=Lax does not cover sibling subdomains and old browsers: a write must come from a page of this origin. So must a
   * WebSocket: it is opened by GET and exempt from CORS. Under `Referrer-Policy: no-referrer`, browsers send `Origin: null`
   * with a form of this origin too (Fetch §3.2), and only `Sec-Fetch-Site` distinguishes it.
   */
  private checkOrigin(incoming: Incoming): void {
    const isWebSocket = incoming.header('upgrade')?.toLowerCase() === 'websocket';
    if (['GET', 'HEAD', 'OPTIONS'].includes(incoming.method) && !isWebSocket) return;
    const origin = incoming.header('origin');
    const isOurs =
      origin === undefined || origin === 'null'
        ? incoming.header('sec-fetch-site') === 'same-origin'
        : origin === this.site.redirectUri.origin;
    if (!isOurs) throw new BodyError(403, 'The request must come from a page of this origin.');
  }

  private failed(error: unknown, name?: string): Answer {
    this.options.onError?.(error);
    return answer(signInFailure(error, error instanceof BodyError ? 'invalid_request' : name));
  }

  private get client() {
    const { clientId, issuer, scope = defaultScope } = this.options;
    return { issuer, clientId, scope, redirectUri: this.site.redirectUri.href };
  }
}

function answer(made: Reply, cookies: string[] = []): Answer {
  return { ...made, cookies };
}

function defaultUser({ claims: { email, email_verified, name } }: TokenAndClaims): DefaultUser {
  return { email, email_verified, ...(typeof name === 'string' && { name }) };
}

/** A visit of a page, which can be redirected: not a script, an image or a prefetch. */
function isPageVisit(incoming: Incoming): boolean {
  if (incoming.method !== 'GET' || incoming.header('sec-purpose')?.includes('prefetch')) return false;
  const target = incoming.header('sec-fetch-dest');
  return target === undefined ? incoming.header('accept')?.includes('text/html') === true : target === 'document';
}

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { AuthenticatorApp } from '../../support/authenticator-app.ts';

/** The server was unavailable or unreachable: retryable, and not a wrong response. */
export class Refused extends Error {
  /** Duration of the failed request. */
  readonly tookMs: number;

  constructor(message: string, tookMs = 0) {
    super(message);
    this.tookMs = tookMs;
  }
}
/** A response that must never occur. */
export class WrongAnswer extends Error {}

/** The application to sign in to. */
export interface App {
  issuer: string;
  projectId: string;
  clientId: string;
  publishableKey: string;
  secretKey: string;
  redirectUri: string;
}

/** Sends a step, with a device proof if `kind` requires one. */
type Post = (step: string, body: object, kind?: 'use' | 'registration') => Promise<Json>;
type Json = Record<string, unknown>;

const endOf = (success: Json): string => String(success['code'] ?? success['redirect_to']);

let addresses = 0;
/** A new client address per request, so that limits per network do not stop the load generator. */
const nextAddress = () => `2001:db8:${(++addresses % 65_536).toString(16)}::1`;

/** A {@link Person} as JSON. */
export interface SavedPerson {
  email: string;
  sub: string;
  privateKey: JWK;
  cookies: [name: string, value: string][];
  /** Secret of the authenticator app, base32. */
  totp?: string;
}

/** A user with a browser: device key and cookies. `base` is the request target, e.g. a proxy. */
export class Person {
  readonly email: string;
  readonly app: App;
  base: string;
  readonly cookies = new Map<string, string>();
  #key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  readonly #from = nextAddress();
  #jkt = '';
  #isKnown = false;
  #totp: string | undefined;
  #authenticator: AuthenticatorApp | undefined;
  /** The user's ID after the first sign-in; later sign-ins must return the same. */
  sub: string | undefined;

  constructor(app: App, email: string, base = app.issuer) {
    this.app = app;
    this.email = email;
    this.base = base;
  }

  /** A user of earlier sign-ins. */
  static from(app: App, { email, sub, privateKey, cookies, totp }: SavedPerson, base = app.issuer): Person {
    const person = new Person(app, email, base);
    person.#key = createPrivateKey({ key: { ...privateKey }, format: 'jwk' });
    person.#isKnown = true;
    person.sub = sub;
    for (const [name, value] of cookies) person.cookies.set(name, value);
    if (totp !== undefined) person.#authenticator = new AuthenticatorApp(totp);
    return person;
  }

  /** For {@link from}, after a sign-in. */
  save(): SavedPerson {
    if (this.sub === undefined) throw new Error(`${this.email} has not signed in`);
    return {
      email: this.email,
      sub: this.sub,
      privateKey: this.#key.export({ format: 'jwk' }) as JWK,
      cookies: [...this.cookies],
      ...(this.#totp !== undefined && { totp: this.#totp }),
    };
  }

  /** A full sign-in with the browser SDK: code, exchange, UserInfo. */
  async signIn(): Promise<void> {
    const { secretKey, clientId } = this.app;
    const code = await this.code();
    await this.#redeem(new URLSearchParams({ grant_type: 'authorization_code', code, client_id: clientId }), {
      'X-Api-Key': secretKey,
    });
  }

  /** The code of a sign-in with the browser SDK. */
  code(): Promise<string> {
    return this.#steps(this.#page());
  }

  /** Begins a sign-in as an unknown device, which sends a one-time code, and abandons it. */
  async askForOtp(): Promise<void> {
    await this.#steps(this.#page(), 'authenticate');
  }

  #page() {
    const { publishableKey, redirectUri } = this.app;
    return { origin: new URL(redirectUri).origin, headers: { 'X-Api-Key': publishableKey } };
  }

  /** A full sign-in on the hosted page, which creates a session; with a session, no page is shown. */
  async signInHosted(): Promise<void> {
    const { clientId, redirectUri } = this.app;
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    let next = await this.#get(`/authorize?${query}`);
    const flow = new URL(next, this.app.issuer).searchParams.get('flow');
    if (next.startsWith('/signin') && flow !== null) {
      const proxy = await this.#steps({ origin: this.app.issuer, headers: { 'Signin-Flow': flow } });
      next = await this.#get(proxy.replace(this.app.issuer, ''));
    }
    const code = new URL(next).searchParams.get('code');
    if (code === null) {
      if (next.includes('temporarily_unavailable')) throw new Refused(next);
      throw new WrongAnswer(`no code, but ${next}`);
    }
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id: clientId };
    await this.#redeem(new URLSearchParams({ ...form, redirect_uri: redirectUri }), {});
  }

  /** Ends the session with an ID token as hint. @param idToken of a sign-in of this user */
  async signOut(idToken: string): Promise<void> {
    const query = new URLSearchParams({ client_id: this.app.clientId, id_token_hint: idToken });
    await this.#request('GET', `/oauth2/end_session?${query}`, {}, undefined, [200, 303]);
  }

  /** Duration of each request. */
  readonly tookMs: number[] = [];
  /** ID token of the last sign-in. */
  idToken = '';
  accessToken = '';

  async #redeem(form: URLSearchParams, headers: Record<string, string>): Promise<void> {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { json } = await this.#request('POST', '/oauth2/token', { ...type, ...headers }, form.toString());
    this.idToken = String(json['id_token']);
    this.accessToken = String(json['access_token']);
    const bearer = { Authorization: `Bearer ${this.accessToken}` };
    const { json: claims } = await this.#request('GET', '/userinfo', bearer);
    this.sub ??= String(claims['sub']);
    if (claims['sub'] !== this.sub) throw new WrongAnswer(`signed in as ${claims['sub']} instead of ${this.sub}`);
  }

  async #get(path: string): Promise<string> {
    const { location } = await this.#request('GET', path, {}, undefined, [303]);
    return location;
  }

  /** Steps of decisions §8 in test mode, from challenge to SUCCESS: returns a code or a URL. */
  async #steps(by: { origin: string; headers: Record<string, string> }, last?: 'authenticate'): Promise<string> {
    this.#jkt ||= await calculateJwkThumbprint(this.#jwk);
    const context: Record<string, string> = {};
    const post: Post = async (step, body, kind) => {
      const text = JSON.stringify(body);
      const proof = kind && { 'Device-Proof': this.#prove(step, text, kind, by.origin, context) };
      const headers = { 'Content-Type': 'application/json', Origin: by.origin, ...by.headers, ...proof };
      const { json } = await this.#request('POST', `/v1/signin/${step}`, headers, text);
      if (typeof json['nonce'] === 'string') context['nonce'] = json['nonce'];
      return json;
    };
    const challenged = await post('challenge', { jkt: this.#jkt });
    for (const name of ['txn', 'issuer', 'project_id', 'client_id']) context[name] = String(challenged[name]);
    const txn = context['txn'];
    const who = { txn, userid: this.email };
    const first = await post('authenticate', { ...who, remember_device: true }, this.#isKnown ? 'use' : undefined);
    if (first['status'] === 'SUCCESS') return endOf(first);
    if (first['status'] === 'MFA_REQUIRED') return endOf(await this.#secondFactor(post, who, first));
    if (first['status'] !== 'OTP_NEEDED' || this.#isKnown) throw new WrongAnswer(`authenticate: ${first['status']}`);
    if (last === 'authenticate') return '';
    await post('verify-email-otp', { ...who, otp: first['code'] });
    const end = await post('verify-device', who, 'registration');
    this.#isKnown = true;
    if (end['status'] === 'MFA_ENROLLMENT_NEEDED') {
      await post('verify-device', { ...who, mfa_method: 'totp' }, 'registration');
      return endOf(await this.#secondFactor(post, who, await post('authenticate', who, 'use')));
    }
    if (end['status'] !== 'SUCCESS') throw new WrongAnswer(`verify-device: ${end['status']}`);
    return endOf(end);
  }

  /** Verifies the authenticator app, which is enrolled if there is none. */
  async #secondFactor(post: Post, who: object, { session_id }: Json): Promise<Json> {
    const { totp } = await post('initiate-mfa', { ...who, session_id }, 'use');
    if (totp !== undefined) {
      this.#totp = (totp as { secret: string }).secret;
      this.#authenticator = new AuthenticatorApp(this.#totp);
    }
    return post('verify-mfa', { ...who, otp: this.#authenticator?.next() ?? '' }, 'use');
  }

  get #jwk(): JWK {
    return createPublicKey(this.#key).export({ format: 'jwk' }) as JWK;
  }

  #prove(act: string, body: string, kind: string, org: string, context: Record<string, string>): string {
    const named = kind === 'use' ? { kid: this.#jkt } : { jwk: this.#jwk };
    const header = { typ: 'device-proof+jwt', alg: 'ES256', ...named };
    const payload = {
      act,
      aud: `${context['issuer']}/${context['project_id']}`,
      cid: context['client_id'],
      org,
      txn: context['txn'],
      nonce: context['nonce'],
      bh: createHash('sha256').update(body).digest('base64url'),
      iat: Math.floor(Date.now() / 1000),
      jti: randomBytes(16).toString('base64url'),
    };
    const input = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const key = { key: this.#key, dsaEncoding: 'ieee-p1363' as const };
    return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
  }

  async #request(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
    good: number[] = [200],
  ): Promise<{ json: Record<string, unknown>; location: string }> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const what = `${method} ${path.split('?')[0]}`;
    const init = {
      method,
      redirect: 'manual' as const,
      headers: { ...headers, 'X-Forwarded-For': this.#from, ...(cookie && { Cookie: cookie }) },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(20_000),
    };
    const startedAt = performance.now();
    const tookMs = () => performance.now() - startedAt;
    const response = await fetch(this.base + path, init).catch((error: unknown) => {
      throw refusedOr(what, error, tookMs());
    });
    const text = await response.text().catch((error: unknown) => {
      throw refusedOr(what, error, tookMs());
    });
    this.tookMs.push(tookMs());
    if (response.status === 503 && response.headers.get('retry-after') !== null) {
      throw new Refused(`${what}: 503`, tookMs());
    }
    if (!good.includes(response.status)) throw new WrongAnswer(`${what}: ${response.status} ${text.slice(0, 200)}`);
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(line)) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
      location: response.headers.get('location') ?? '',
    };
  }
}

function refusedOr(what: string, error: unknown, tookMs: number): Error {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError') return new WrongAnswer(`${what}: no response in 20 s`);
  return new Refused(`${what}: ${cause?.code ?? message}`, tookMs);
}

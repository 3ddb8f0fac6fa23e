import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { expect } from 'vitest';
import type { Client } from '../src/domain/clients/client.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from './browser.ts';
import type { TestApp } from './build-app.ts';
import { redirectUri } from './factories.ts';
import { fetchHere } from './fetch-here.ts';

export type Changes = Record<string, string | undefined>;

export interface TokenAnswer {
  id_token: string;
  access_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
}

/** A relying party and a user's browser over HTTP; tests can modify every request. */
export class RelyingParty {
  readonly browser = new CookieBrowser();
  readonly proof = pkce();
  readonly app: TestApp;
  readonly client: Client;

  readonly issuer: string;

  /** @param issuer its address; default: the base issuer */
  constructor(app: TestApp, client: Client, issuer = app.url) {
    this.app = app;
    this.client = client;
    this.issuer = issuer;
  }

  /** Puts the browser into the state after a sign-in; returns the session id. */
  async signIn(user: User, proof: 'person' | 'device-key' = 'person', amr = ['swk']): Promise<string> {
    const project = await this.app.services.projects.find(this.app.services.db.reader(), this.client.project.id);
    if (!project) throw new Error('the client has no project');
    const name = `lk-session-${project.id}`;
    const current = this.browser.cookies.get(name);
    const { session, secret } = await this.app.make.session(project, user, amr, current, proof);
    this.browser.cookies.set(name, secret);
    return session.id;
  }

  signOut(): void {
    this.browser.cookies.clear();
  }

  authorize(changes: Changes = {}, method: 'get' | 'post' = 'get'): Promise<Response> {
    const parameters = authorizationParameters(this.client.id, this.proof.challenge, changes);
    const url = `${this.issuer}/authorize`;
    if (method === 'post') return this.browser.post(url, parameters);
    return this.browser.get(`${url}?${new URLSearchParams(parameters)}`);
  }

  /** Parameters received at the redirect URI. */
  async answer(changes: Changes = {}): Promise<URLSearchParams> {
    const response = await this.authorize(changes);
    expect(response.status).toBe(303);
    const location = locationOf(response);
    expect(location.href.startsWith(changes['redirect_uri'] ?? redirectUri)).toBe(true);
    expect(location.searchParams.get('iss')).toBe(this.issuer);
    return location.searchParams;
  }

  async code(changes: Changes = {}): Promise<string> {
    const code = (await this.answer(changes)).get('code');
    if (code === null) throw new Error('no code in the redirect');
    return code;
  }

  exchange(code: string, changes: Changes = {}, headers: Record<string, string> = {}): Promise<Response> {
    const all: Changes = {
      grant_type: 'authorization_code',
      code,
      code_verifier: this.proof.verifier,
      client_id: this.client.id,
      redirect_uri: redirectUri,
      ...changes,
    };
    const form = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return fetchHere(`${this.issuer}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form), headers });
  }

  async tokens(changes: Changes = {}): Promise<TokenAnswer> {
    const response = await this.exchange(await this.code(changes), pick(changes, 'redirect_uri'));
    expect(response.status).toBe(200);
    return (await response.json()) as TokenAnswer;
  }

  /** Claims of an ID token, verified as a relying party does. */
  async claims(idToken: string): Promise<JWTPayload> {
    const response = await fetchHere(`${this.issuer}/.well-known/jwks.json`);
    const jwks = createLocalJWKSet((await response.json()) as Parameters<typeof createLocalJWKSet>[0]);
    const currentDate = this.app.clock.now();
    const options = { issuer: this.issuer, audience: this.client.id, algorithms: ['ES512'], currentDate };
    return (await jwtVerify(idToken, jwks, options)).payload;
  }

  userInfo(accessToken: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: `Bearer ${accessToken}`, ...init.headers };
    return fetchHere(`${this.issuer}/userinfo`, { ...init, headers });
  }

  endSession(
    parameters: Changes,
    method: 'get' | 'post' = 'get',
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const form = Object.fromEntries(
      Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const url = `${this.issuer}/oauth2/end_session`;
    if (method === 'post') return this.browser.post(url, form, headers);
    return this.browser.get(`${url}?${new URLSearchParams(form)}`, headers);
  }

  /** Whether `prompt=none` finds a session in the browser. */
  async isSignedIn(): Promise<boolean> {
    return (await this.answer({ prompt: 'none' })).has('code');
  }
}

function pick(changes: Changes, name: string): Changes {
  return name in changes ? { [name]: changes[name] } : {};
}

import { projectIssuerUrl } from '../src/domain/projects/issuer.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from './browser.ts';
import type { TestApp } from './build-app.ts';
import { fetchHere } from './fetch-here.ts';

type Fields = Record<string, string | undefined>;

/** Tokens, or the error of the token endpoint. */
export interface Answer {
  status: number;
  error?: string;
  access_token: string;
  refresh_token: string;
  id_token: string;
  scope: string;
}

interface ConsentPage {
  html: string;
  decide(answer: 'allow' | 'cancel'): Promise<URL>;
}

/** A client that introduces itself at a project's issuer, and the browser of a user. */
export class Stranger {
  readonly browser = new CookieBrowser();
  readonly proof = pkce();
  readonly issuer: string;
  private readonly app: TestApp;
  private readonly project: Project;
  /** `client_id`. */
  readonly id: string;
  readonly redirectUri: string;

  constructor(app: TestApp, project: Project, id: string, redirectUri: string) {
    this.app = app;
    this.project = project;
    this.id = id;
    this.redirectUri = redirectUri;
    this.issuer = projectIssuerUrl(app.url, project.slug);
  }

  async signIn(user: User): Promise<this> {
    const { secret } = await this.app.make.session(this.project, user, ['swk'], undefined, 'person');
    this.browser.cookies.set(`lk-session-${this.project.id}`, secret);
    return this;
  }

  authorize(changes: Fields = {}): Promise<Response> {
    const fields = { redirect_uri: this.redirectUri, scope: 'openid email', ...changes };
    const query = new URLSearchParams(authorizationParameters(this.id, this.proof.challenge, fields));
    return this.browser.get(`${this.issuer}/authorize?${query}`);
  }

  /** The consent page, and what the form leads to. */
  async consent(changes: Fields = {}): Promise<ConsentPage> {
    return this.consentAt(await this.authorize(changes));
  }

  /** The same for the answer to any authorization request. */
  async consentAt(answered: Response): Promise<ConsentPage> {
    const page = await this.browser.get(locationOf(answered).href);
    const html = await page.text();
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
    const action = new URL(/action="([^"]+)"/.exec(html)?.[1] ?? '', this.app.url).href;
    const fields = { flow: field('flow'), csrf: field('csrf') };
    return {
      html,
      decide: async (answer) => {
        const noted = await this.browser.post(action, { ...fields, answer });
        return locationOf(await this.browser.get(locationOf(noted).href));
      },
    };
  }

  /** A code, with the consent of the user if it is asked for. */
  async code(changes: Fields = {}): Promise<string> {
    const answer = locationOf(await this.authorize(changes));
    const target = answer.searchParams.has('code') ? answer : await (await this.consent(changes)).decide('allow');
    return target.searchParams.get('code') ?? '';
  }

  async token(fields: Fields): Promise<Answer> {
    const all = { client_id: this.id, ...fields };
    const form = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const response = await fetchHere(`${this.issuer}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    return { ...((await response.json()) as Answer), status: response.status };
  }

  exchange(code: string, fields: Fields = {}): Promise<Answer> {
    const { verifier } = this.proof;
    const request = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: this.redirectUri };
    return this.token({ ...request, ...fields });
  }

  refresh(token: string, fields: Fields = {}): Promise<Answer> {
    return this.token({ grant_type: 'refresh_token', refresh_token: token, ...fields });
  }

  /** The status of UserInfo. */
  async userInfo(token: string): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetchHere(`${this.issuer}/userinfo`, { headers })).status;
  }
}

import type { User } from '../src/domain/users/user.entity.ts';
import { CookieBrowser, locationOf } from './browser.ts';
import type { TestApp } from './build-app.ts';

/** A field of a form, or its action. */
const valueOf = (html: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';

/** The browser of a person who approves a device, without script. */
export class DeviceBrowser {
  readonly browser = new CookieBrowser();
  readonly app: TestApp;
  readonly issuer: string;

  constructor(app: TestApp, issuer: string) {
    this.app = app;
    this.issuer = issuer;
  }

  /** As after a sign-in at the hosted page. */
  async signIn(user: User, amr = ['swk'], projectId = user.project.id): Promise<string> {
    const project = await this.app.services.projects.find(this.app.services.db.reader(), projectId);
    if (!project) throw new Error('no such project');
    const name = `lk-session-${projectId}`;
    const { session, secret } = await this.app.make.session(project, user, amr, this.browser.cookies.get(name));
    this.browser.cookies.set(name, secret);
    return session.id;
  }

  form(query = ''): Promise<Response> {
    return this.browser.get(`${this.issuer}/device${query}`);
  }

  /** Types the code into the form. */
  async enter(code: string, changes: Record<string, string> = {}): Promise<Response> {
    const csrf = valueOf(await (await this.form()).text(), 'csrf');
    return this.browser.post(`${this.issuer}/device`, { csrf, user_code: code, ...changes });
  }

  /** Types the code; returns the flow of the decision. */
  async flowOf(code: string): Promise<string> {
    return locationOf(await this.enter(code)).searchParams.get('flow') ?? '';
  }

  approval(flow: string): Promise<Response> {
    return this.browser.get(`${this.issuer}/device/approval?flow=${flow}`);
  }

  async decide(flow: string, decision: string, changes: Record<string, string> = {}): Promise<Response> {
    const csrf = valueOf(await (await this.approval(flow)).text(), 'csrf');
    return this.post(flow, { csrf, decision, ...changes });
  }

  /** Submits the form of the decision with exactly these fields. */
  post(flow: string, fields: Record<string, string>): Promise<Response> {
    return this.browser.post(`${this.issuer}/device/approval`, { flow, ...fields });
  }

  /** All steps of a person who is signed in. */
  async allow(code: string): Promise<Response> {
    return this.decide(await this.flowOf(code), 'allow');
  }
}

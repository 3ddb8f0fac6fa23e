import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { systemRandom } from '../src/adapters/system/random.ts';
import type { Client } from '../src/domain/clients/client.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { User } from '../src/domain/users/user.entity.ts';
import { buildTestApp, type TestApp } from './build-app.ts';
import { fetchHere } from './fetch-here.ts';
import { type DeviceKey, newDeviceKey, SigninPage, type StepAnswer } from './signin-browser.ts';

/** A registered origin of the clients that the factories create. */
export const appOrigin = 'https://app.example.com';

type ProjectSettings = Partial<Parameters<TestApp['make']['project']>[0]>;

export const newAddress = (): string => `${systemRandom.id()}@example.com`;

/** Claims of a JWT, not verified. */
export function claimsOf(jwt: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from((jwt ?? '').split('.')[1] ?? '', 'base64url').toString());
}

/** A running instance with one current project and client, for tests of sign-in. */
export class SigninWorld {
  app!: TestApp;
  project!: Project;
  client!: Client;
  apiKey = '';
  secretKey = '';
  private read = 0;

  static async open(): Promise<SigninWorld> {
    const world = new SigninWorld();
    world.app = await buildTestApp();
    return world;
  }

  /** Registers hooks: opens the world before all tests, begins a new project before each, closes it after all. */
  static ofTests(settings: ProjectSettings = {}): SigninWorld {
    const world = new SigninWorld();
    beforeAll(async () => {
      world.app = await buildTestApp();
      // `npm run mutants` runs the tests of a file repeatedly; each run starts with an empty mailbox.
      world.read = 0;
    });
    afterAll(() => world.app.close());
    beforeEach(() => world.begin(settings));
    return world;
  }

  /** Creates a project and client, and advances one hour, so that tests do not share the network's send budget. */
  async begin(settings: ProjectSettings = {}): Promise<void> {
    this.project = await this.app.make.project({ name: 'Example', ...settings });
    const created = await this.app.make.client(this.project);
    this.client = created.client;
    this.apiKey = created.publishableKey;
    this.secretKey = created.secretKey;
    this.app.clock.turn(3600);
  }

  async set(settings: Parameters<TestApp['services']['projects']['update']>[1]): Promise<void> {
    this.project = await this.app.services.projects.update(this.project.id, settings, system);
  }

  /** A page of the application, in a new browser unless a key is given. */
  async page(key?: DeviceKey, over: { origin?: string; apiKey?: string } = {}): Promise<SigninPage> {
    const credential = { origin: appOrigin, apiKey: this.apiKey, ...over };
    const now = () => Math.floor(this.app.clock.now().getTime() / 1000);
    return new SigninPage(this.app.url, credential, key ?? (await newDeviceKey()), now);
  }

  /** The code of the newest unread message to that address or number. */
  async codeFor(to: string): Promise<string> {
    await this.app.runJobs();
    const messages = this.app.mailbox.slice(this.read);
    const message = messages.findLast((one) => one.to === to && /\b\d{6}\b/.test(one.text));
    const code = message && /\b\d{6}\b/.exec(message.text)?.[0];
    if (!code) throw new Error(`no code for ${to}`);
    this.read = this.app.mailbox.length;
    return code;
  }

  /** The ten-character code of the newest message to that address. */
  async longCodeFor(to: string): Promise<string> {
    await this.app.runJobs();
    const long = /\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b/;
    const message = this.app.mailbox.findLast((one) => one.to === to && long.test(one.text));
    const code = message && long.exec(message.text)?.[0];
    if (!code) throw new Error(`no long code for ${to}`);
    return code;
  }

  /** Subjects of the unread messages to that address. */
  async subjectsFor(to: string): Promise<string[]> {
    await this.app.runJobs();
    return this.app.mailbox.flatMap((one) => (one.to === to && 'subject' in one ? [one.subject] : []));
  }

  /** Runs a sign-in until the address is verified. */
  async verifyAddress(page: SigninPage, userid: string, fields: Record<string, unknown> = {}): Promise<void> {
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid, ...fields }), 'OTP_NEEDED');
    const otp = await this.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
  }

  /** Runs a first sign-in without a second factor; afterwards the page's key is a trusted device. */
  async register(page: SigninPage, userid: string): Promise<StepAnswer> {
    await this.verifyAddress(page, userid);
    return page.step('verify-device', { userid }, 'registration');
  }

  /**
   * The rows of a user whose trusted device has the page's key, as after {@link register}, without a sign-in: a fifth of
   * its statements. For tests of later steps.
   */
  async trusted(page: SigninPage, userid: string): Promise<User> {
    const { clock, services } = this.app;
    const { jkt, jwk } = page.key;
    const names = { userName: userid, userNameKey: userid, email: userid, emailKey: userid };
    const user = await this.user({ ...names, lastSignInAt: clock.now() });
    await services.db.transaction(async (em) => {
      const { device } = await services.devices.register(em, {
        ...{ project: this.project, clientId: this.client.id, userId: user.id, jkt, publicJwk: jwk },
        ...{ hosted: false, remembered: true, actor: { kind: 'anonymous', ip: '127.0.0.1', userAgent: 'node' } },
      });
      services.devices.trust(device, this.project);
    });
    return user;
  }

  /** Sets up a second factor on a new device, up to MFA_INITIATED of the authenticate that follows. */
  async enrol(page: SigninPage, userid: string, fields: Record<string, unknown>): Promise<StepAnswer> {
    await this.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid, ...fields }, 'registration'), 'DEVICE_REGISTERED');
    return this.initiateFactor(page, userid);
  }

  /** Runs authenticate and initiate-mfa on a trusted device. */
  async meetFactor(page: SigninPage, userid: string): Promise<StepAnswer> {
    await page.challenge();
    return this.initiateFactor(page, userid);
  }

  private async initiateFactor(page: SigninPage, userid: string): Promise<StepAnswer> {
    const required = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    return page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
  }

  /** The current TOTP code of that secret. */
  totp(secret: string): string {
    return generateSync({ secret, epoch: Math.floor(this.app.clock.now().getTime() / 1000) });
  }

  /** Enrolls an authenticator app; returns its secret and the last response. Advances to the next time step. */
  async enrolTotp(page: SigninPage, userid: string): Promise<{ secret: string; done: StepAnswer }> {
    const { totp: setup } = await this.enrol(page, userid, { mfa_method: 'totp' });
    const secret: string = setup.secret;
    const answer = await page.step('verify-mfa', { userid, otp: this.totp(secret) }, 'use');
    this.app.clock.turn(31);
    return { secret, done: expectStatus(answer, 'SUCCESS') };
  }

  /** `amr` of the ID token that the code is exchanged for. */
  async amrOf(code: string): Promise<unknown> {
    return claimsOf((await this.exchange(code)).body['id_token'])['amr'];
  }

  async user(values: Partial<User> = {}): Promise<User> {
    return this.app.make.user(this.project, values);
  }

  async findUser(userid: string): Promise<User | null> {
    return this.app.services.db.reader().findOne(User, { project: this.project.id, emailKey: userid });
  }

  async exchange(
    code: string,
    over: { headers?: Record<string, string>; form?: Record<string, string> } = {},
    issuer = this.app.url,
  ): Promise<{ status: number; body: Record<string, string> }> {
    const response = await fetchHere(`${issuer}/oauth2/token`, {
      method: 'POST',
      headers: over.headers ?? { 'X-Api-Key': this.secretKey },
      body: new URLSearchParams({ grant_type: 'authorization_code', code, client_id: this.client.id, ...over.form }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  }

  /** Types of this project's audit events, oldest first. */
  async events(): Promise<string[]> {
    const sql = 'select type from audit_log where project_id = ? order by id';
    const found = await this.app.services.db.reader().execute<{ type: string }[]>(sql, [this.project.id]);
    return found.map(({ type }) => type);
  }
}

export function expectStatus(answer: StepAnswer, status: string): StepAnswer {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.httpStatus} ${answer.text}`);
  return answer;
}

/** The expected response of a rejected step. */
export function refusal(code: string, httpStatus: number) {
  return { status: 'ERROR', httpStatus, error: expect.objectContaining({ code }) };
}

/** A code that differs from this one. */
export function otherCode(code: string, plus = 1): string {
  return String((Number(code) + plus) % 1_000_000).padStart(6, '0');
}

import { randomBytes } from 'node:crypto';
import { AdminApi } from '../../support/admin-api.ts';
import {
  freePort,
  type Latchkey,
  runDoctor,
  runLatchkey,
  runProgram,
  type StartOptions,
  startLatchkey,
} from '../../support/latchkey.ts';
import type { DatabaseClock } from './database-clock.ts';
import { MailSink } from './mail-sink.ts';
import { type App, Person, Refused, WrongAnswer } from './person.ts';
import { Postgres } from './postgres.ts';

const redirectUri = 'http://127.0.0.1:9/callback';

/** Creates an application in a project in test mode: responses contain codes. */
export async function createApp(issuer: string, admin: AdminApi, client: Record<string, unknown> = {}): Promise<App> {
  const projectId = await admin.createProject('Chaos');
  const query = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await admin.run(query, { input: { id: projectId, testMode: true, mfaPolicy: 'OFF' } });
  const made = await admin.createClient({ projectId, name: 'App', redirectUris: [redirectUri], ...client });
  return { issuer, projectId, redirectUri, ...made };
}

/** A PostgreSQL, a mail sink, and one or more Latchkey processes, as in production. */
export class World {
  readonly postgres: Postgres;
  readonly mail: MailSink;
  readonly processes: Latchkey[] = [];
  readonly #settings: Record<string, string>;
  readonly #closers: (() => unknown)[] = [];

  private constructor(postgres: Postgres, settings: Record<string, string>, mail: MailSink) {
    this.postgres = postgres;
    this.#settings = settings;
    this.mail = mail;
  }

  /** @param via port through which Latchkey reaches the database, if not its own */
  static async create(
    options: {
      via?: (postgres: Postgres) => Promise<number>;
      env?: Record<string, string>;
      /** Settings of PostgreSQL. */
      postgres?: Record<string, string>;
      /** Clock of PostgreSQL. Default: that of the machine. */
      clock?: DatabaseClock;
    } = {},
  ) {
    const postgres = await Postgres.create(options.postgres, options.clock);
    const mail = await MailSink.create();
    const issuerPort = await freePort();
    const port = (await options.via?.(postgres)) ?? postgres.port;
    return new World(
      postgres,
      {
        BASE_URL: `http://localhost:${issuerPort}`,
        DATABASE_URL: postgres.urlVia(port),
        MASTER_KEY: randomBytes(32).toString('base64'),
        BOOTSTRAP_ADMIN_TOKEN: randomBytes(24).toString('hex'),
        SMTP_URL: mail.url,
        MAIL_FROM: 'latchkey@example.com',
        // One load generator simulates many networks.
        TRUST_PROXY: 'loopback',
        SIGNIN_CHALLENGES_PER_MINUTE: '1000000',
        AUTHORIZE_REQUESTS_PER_MINUTE: '1000000',
        LOG_LEVEL: 'error',
        ...options.env,
      },
      mail,
    );
  }

  /** Port of the issuer; the first process uses it by default. */
  get issuerPort(): string {
    return new URL(this.issuer).port;
  }

  get issuer(): string {
    return this.#settings['BASE_URL'] as string;
  }

  get masterKey(): Buffer {
    return Buffer.from(this.#settings['MASTER_KEY'] as string, 'base64');
  }

  /** Settings of the processes. */
  get settings(): Readonly<Record<string, string>> {
    return this.#settings;
  }

  /** Starts another process; the first one on the issuer's port. */
  async start(env: Record<string, string> = {}, options: StartOptions = {}): Promise<Latchkey> {
    const port = this.processes.length === 0 ? this.issuerPort : String(await freePort());
    const latchkey = await startLatchkey({ ...this.#settings, PORT: port, ...env }, options);
    this.processes.push(latchkey);
    return latchkey;
  }

  /** Checks of `doctor`, by name. */
  async doctor(env: Record<string, string> = {}): Promise<Record<string, { level: string; summary: string }>> {
    const { checks } = await runDoctor({ ...this.#settings, ...env });
    return Object.fromEntries(checks.map((check) => [check.name, check]));
  }

  /** Runs an operator's command with the settings of the processes. Throws if it fails. */
  run(...args: string[]): Promise<string> {
    return this.runWith({}, ...args);
  }

  /** {@link run} with other settings. */
  runWith(env: Record<string, string>, ...args: string[]): Promise<string> {
    return runLatchkey({ ...this.#settings, ...env }, ...args);
  }

  /** {@link run} with the program of another release. */
  runProgram(main: string, ...args: string[]): Promise<string> {
    return runProgram(main, this.#settings, ...args);
  }

  /** Registers cleanup that runs before the rest. */
  onClose(close: () => unknown): void {
    this.#closers.push(close);
  }

  get admin(): AdminApi {
    return new AdminApi(this.issuer, this.#settings['BOOTSTRAP_ADMIN_TOKEN'] as string);
  }

  /** An admin API request with the owner's token. */
  graphql(body: string): RequestInit {
    const headers = {
      Authorization: `Bearer ${this.#settings['BOOTSTRAP_ADMIN_TOKEN']}`,
      'Content-Type': 'application/json',
    };
    return { method: 'POST', headers, body };
  }

  /** {@link createApp} at this issuer. */
  app(client: Record<string, unknown> = {}, admin = this.admin): Promise<App> {
    return createApp(this.issuer, admin, client);
  }

  /** Creates users with known devices: each has signed in once on the application's page. */
  async people(app: App, count: number, base?: string): Promise<Person[]> {
    const people = newPeople(app, count, base);
    for (const person of people) await person.signIn();
    return people;
  }

  /** Creates users with known devices of the hosted page, and sessions. */
  async hostedPeople(app: App, count: number, base?: string): Promise<Person[]> {
    const people = newPeople(app, count, base);
    for (const person of people) await person.signInHosted();
    return people;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    this.postgres.thaw();
    await Promise.all(this.processes.map((process) => process.stop()));
    await this.mail.close();
    await this.postgres.destroy();
  }
}

function newPeople(app: App, count: number, base?: string): Person[] {
  return Array.from({ length: count }, () => new Person(app, `${randomBytes(6).toString('hex')}@example.com`, base));
}

export class LoadResults {
  good = 0;
  /** 503 or unreachable. */
  refused: { at: number; tookMs: number; why: string }[] = [];
  wrong: string[] = [];
  goodAt: number[] = [];
  tookMs: number[] = [];

  async count(work: () => Promise<void>): Promise<boolean> {
    const startedAt = performance.now();
    try {
      await work();
      this.good += 1;
      this.goodAt.push(performance.now());
      this.tookMs.push(performance.now() - startedAt);
      return true;
    } catch (error) {
      const at = performance.now();
      if (error instanceof Refused) this.refused.push({ at, tookMs: error.tookMs, why: error.message });
      else this.wrong.push(error instanceof WrongAnswer ? error.message : String((error as Error).stack));
      return false;
    }
  }
}

/** Workers that repeat their work until they are stopped. */
export function load(
  workers: readonly (() => Promise<void>)[],
  results = new LoadResults(),
  betweenMs = 0,
): { results: LoadResults; stop(): Promise<void> } {
  let stopping = false;
  const running = workers.map(async (work) => {
    while (!stopping) {
      const isGood = await results.count(work);
      const waitMs = isGood ? betweenMs : 100;
      if (waitMs > 0) await new Promise((done) => setTimeout(done, waitMs));
    }
  });
  return {
    results,
    async stop() {
      stopping = true;
      await Promise.all(running);
    },
  };
}

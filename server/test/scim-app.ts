import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { openDatabase } from '../src/adapters/postgres/database.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { noQueue } from '../src/domain/kernel/queue.ts';
import { PoolTurns } from '../src/domain/limits/turns.ts';
import { withContext } from '../src/http/context.ts';
import { type AnswerLimits, defaultAnswerLimits } from '../src/scim/answers/limits.ts';
import type { RateLimit } from '../src/scim/rate-limit.ts';
import { mountScim } from '../src/scim/routes.ts';
import { buildServices, type Services } from '../src/services.ts';
import { type AdjustableClock, adjustableClock } from './clock.ts';
import { freshDatabase } from './database.ts';
import { Factories } from './factories.ts';

/** A SCIM response. */
export interface ScimReply {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

interface ScimRequestOptions {
  headers?: Record<string, string>;
  /** Sent unchanged. */
  raw?: string | Uint8Array;
}

/** A project with SCIM enabled, or an organization of it, from the perspective of its directory. */
export interface ScimProject {
  /** Of the project. */
  id: string;
  /** Null: the project's own directory. */
  organizationId: string | null;
  /** Without a trailing slash. */
  baseUrl: string;
  token: string;
  request(method: string, path: string, body?: unknown, options?: ScimRequestOptions): Promise<ScimReply>;
}

/** The SCIM routes over HTTP, with the domain on a separate database. */
export interface ScimApp {
  url: string;
  services: Services;
  clock: AdjustableClock;
  make: Factories;
  /** May be changed by a test. */
  answerLimits: AnswerLimits;
  /** Errors logged as bugs. Must be empty after each test. */
  bugs: unknown[];
  project(settings?: Partial<Parameters<Services['projects']['create']>[0]>): Promise<ScimProject>;
  /** The directory of a new organization of the project. */
  organization(of: ScimProject): Promise<ScimProject>;
  /** Sends a request without credentials. */
  send(method: string, url: string, headers: Record<string, string>, body?: string | Uint8Array): Promise<ScimReply>;
  close(): Promise<void>;
}

export async function startScimApp(
  options: { rateLimit?: RateLimit; poolSize?: number; answerLimits?: Partial<AnswerLimits> } = {},
): Promise<ScimApp> {
  const database = await freshDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: options.poolSize ?? 10, rowSecurity: true });
  const clock = adjustableClock();
  const bugs: unknown[] = [];
  const app = express();
  // As in production: keeps connections open during long tests.
  const server = createServer({ keepAliveTimeout: 65_000 }, app);
  const url = await new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  const services = buildServices(
    {
      orm,
      clock,
      random: systemRandom,
      queue: noQueue,
      senders: { mail: null, sms: null },
      postLogoutToken: async () => ({ status: 200 }),
    },
    { issuer: url, masterKey: new Uint8Array(32).fill(7), allowPrivateTargets: true },
  );
  const { directories, requestRecords } = services;
  const log = { error: (fields: object) => void bugs.push(fields) };
  const rateLimit = options.rateLimit ?? { perSecond: 1, burst: 1_000_000 };
  const poolTurns = new PoolTurns(options.poolSize);
  const answerLimits = { ...defaultAnswerLimits, ...options.answerLimits };
  app.disable('x-powered-by');
  app.use(withContext(systemRandom));
  mountScim(app, { ...services, issuer: url, clock, random: systemRandom, rateLimit, log, poolTurns, answerLimits });
  const make = new Factories(services, clock);

  const send: ScimApp['send'] = async (method, address, headers, body) => {
    const response = await fetch(address, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body: body as string }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };

  const directory = async (id: string, organizationId: string | null): Promise<ScimProject> => {
    const wanted = { projectId: id, organizationId, name: 'Directory' };
    const { token } = await directories.issueScimToken(wanted, system);
    const baseUrl = `${url}/v1/scim/${organizationId ?? id}`;
    const authorization = `Bearer ${token}`;
    return {
      id,
      organizationId,
      baseUrl,
      token,
      request: (method, path, body, { headers = {}, raw } = {}) => {
        const address = path.startsWith('http') ? path : `${baseUrl}${path}`;
        const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
        const type: Record<string, string> = content === undefined ? {} : { 'content-type': 'application/scim+json' };
        return send(method, address, { authorization, ...type, ...headers }, content);
      },
    };
  };

  return {
    url,
    services,
    clock,
    make,
    answerLimits,
    bugs,
    send,
    async project(settings) {
      const project = await make.project({ name: 'Directory', ...settings });
      return directory(project.id, null);
    },
    async organization({ id }) {
      await services.projects.update(id, { organizationsEnabled: true }, system);
      const slug = `o${systemRandom.id()}`;
      const organization = await services.organizations.create(id, { slug, name: 'Organization' }, system);
      return directory(id, organization.id);
    },
    async close() {
      await requestRecords.settled();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await orm.close(true);
      await database.drop();
    },
  };
}

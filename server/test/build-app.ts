import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exchange, fetchDocument, fetchJson, fetchMetadata, soapHeaders } from '../src/adapters/http/outbound.ts';
import { upstreamClient } from '../src/adapters/oidc/upstream-client.ts';
import { openDatabase } from '../src/adapters/postgres/database.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { openLog } from '../src/adapters/telemetry/log.ts';
import { type AppOptions, buildApp } from '../src/app.ts';
import type { OutgoingMail, OutgoingSms } from '../src/domain/delivery/sender.ts';
import type { Queue } from '../src/domain/kernel/queue.ts';
import type { Random } from '../src/domain/kernel/random.ts';
import type { ReadTxt } from '../src/domain/projects/dns-proof.ts';
import type { SendBatch } from '../src/domain/streams/batch.ts';
import type { PostWebhook } from '../src/domain/webhooks/webhook-round.ts';
import { jobs } from '../src/jobs/jobs.ts';
import { buildServices, type Services } from '../src/services.ts';
import { type AdjustableClock, adjustableClock } from './clock.ts';
import { freshDatabase } from './database.ts';
import { documentHere } from './document-host.ts';
import { Factories } from './factories.ts';
import { deliverDue } from './relayed.ts';

/** A complete instance in this process: HTTP, a separate database and a manual clock. */
export interface TestApp {
  url: string;
  /** To start a second process on the same database. */
  databaseUrl: string;
  services: Services;
  /** Options of its routes. */
  options: AppOptions;
  clock: AdjustableClock;
  make: Factories;
  /** Logout tokens, captured instead of sent. */
  logoutTokens: { uri: string; token: string }[];
  /** Runs all queued jobs in order, then sends all messages and logout tokens that are due. */
  runJobs(): Promise<void>;
  /** Mail and SMS sent by {@link runJobs}, oldest first. */
  mailbox: (OutgoingMail | OutgoingSms)[];
  /** All log lines. */
  logLines: string[];
  close(): Promise<void>;
}

/** The bootstrap token of the admin API. */
export const bootstrapToken = 'bootstrap-token-for-tests-0123456789';

/** @param way maps the database URL, e.g. to a proxy */
export async function buildTestApp(
  way?: (url: string) => Promise<string>,
  ports: Partial<TestPorts> = {},
): Promise<TestApp> {
  const database = await freshDatabase();
  return build(database, { ...realPorts(), ...ports }, (await way?.(database.url)) ?? database.url);
}

/** A second process with the database, master key and clock of the first, the same issuer by default, and its own port. */
export function buildSibling(first: TestApp, issuer = first.url, ports: Partial<TestPorts> = {}): Promise<TestApp> {
  const database = { url: first.databaseUrl, drop: async () => undefined };
  return build(database, { ...realPorts(), clock: first.clock, ...ports }, first.databaseUrl, issuer);
}

/** Clock and randomness of one process. */
interface TestPorts {
  clock: AdjustableClock;
  random: Random;
  authorizationsPerMinute: number;
  /** Whether PostgreSQL enforces the scope of statements. */
  rowSecurity: boolean;
  readTxt?: ReadTxt;
  postWebhook?: PostWebhook;
  sendBatch?: SendBatch;
  queue: TestQueue;
  /** Connections to the database. Default: 10. */
  poolSize?: number;
  /** `application_name` of its connections. */
  connectionName?: string;
}

/** A queue whose jobs a test runs one by one. */
export interface TestQueue extends Queue {
  /** The oldest job, which leaves the queue. */
  take(): Promise<{ job: string; data: Record<string, unknown> } | undefined>;
}

/** In memory: a job stays even if its transaction is rolled back. */
function queueInMemory(): TestQueue {
  const asked: { job: string; data: Record<string, unknown> }[] = [];
  return {
    send: async (_em, job, data) => void asked.push({ job, data }),
    take: async () => asked.shift(),
  };
}

const realPorts = (): TestPorts => ({
  clock: adjustableClock(),
  random: systemRandom,
  authorizationsPerMinute: 1000,
  rowSecurity: true,
  queue: queueInMemory(),
});

async function build(
  database: { url: string; drop(): Promise<void> },
  ports: TestPorts,
  way: string,
  behind?: string,
): Promise<TestApp> {
  const { clock, random, authorizationsPerMinute, rowSecurity, readTxt, queue, poolSize } = ports;
  const { connectionName: name, postWebhook, sendBatch } = ports;
  const logLines: string[] = [];
  const log = openLog('debug', { write: (line) => void logLines.push(line) });
  const orm = await openDatabase({
    ...{ url: way, rowSecurity, log },
    ...(poolSize !== undefined && { poolSize }),
    ...(name !== undefined && { name }),
  });
  const logoutTokens: TestApp['logoutTokens'] = [];
  const mailbox: TestApp['mailbox'] = [];
  // As in production: keeps connections open during long tests.
  const server = createServer({ keepAliveTimeout: 65_000 });
  const url = await listen(server);
  const issuer = behind ?? url;
  const services = buildServices(
    {
      orm,
      clock,
      random,
      queue,
      senders: {
        mail: { kind: 'mailbox', send: async (mail) => void mailbox.push(mail) },
        sms: { kind: 'mailbox', send: async (sms) => void mailbox.push(sms) },
      },
      ...(readTxt && { readTxt }),
      ...(postWebhook && { postWebhook }),
      ...(sendBatch && { sendBatch }),
      fetchDocument: (url) => fetchDocument(documentHere(url), { allowPrivate: true, timeoutMs: 5000 }),
      upstream: upstreamClient({ allowPrivate: true, timeoutMs: 5000 }),
      fetchMetadata: (url) => fetchMetadata(url, { allowPrivate: true, timeoutMs: 5000 }),
      fetchJson: (uri) => fetchJson(uri, { allowPrivate: true, timeoutMs: 5000 }),
      postSoap: (uri, envelope) =>
        exchange('POST', uri, { allowPrivate: true, timeoutMs: 5000, headers: soapHeaders }, envelope),
      postLogoutToken: async (uri, token) => {
        logoutTokens.push({ uri, token });
        return { status: 200 };
      },
    },
    {
      issuer,
      masterKey: new Uint8Array(32).fill(7),
      allowPrivateTargets: true,
      challengesPerMinute: 1000,
      authorizationsPerMinute,
    },
  );
  await services.keys.maintain();
  const options: AppOptions = {
    services,
    clock,
    random,
    log,
    issuer,
    trustProxy: 'loopback',
    bootstrapToken,
    consoleFolder: join(import.meta.dirname, '../../console/dist'),
    sdkFolder: join(import.meta.dirname, '../../shared/dist'),
  };
  server.on('request', buildApp(options));
  const { queued } = jobs(services);
  const runJobs = async () => {
    for (let next = await queue.take(); next; next = await queue.take()) {
      await queued.find(({ name }) => name === next?.job)?.run(next.data);
    }
    const count = mailbox.length;
    await deliverDue(services.delivery.relay);
    // Ids are in the order of creation; several messages are sent at a time.
    mailbox.push(...mailbox.splice(count).sort((a, b) => (a.id < b.id ? -1 : 1)));
    await deliverDue(services.logout.relay);
  };
  return {
    url,
    databaseUrl: database.url,
    services,
    options,
    clock,
    make: new Factories(services, clock),
    logoutTokens,
    logLines,
    mailbox,
    runJobs,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await orm.close(true);
      await database.drop();
    },
  };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

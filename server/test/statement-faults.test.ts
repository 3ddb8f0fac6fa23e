/**
 * PostgreSQL fails at each statement of a request in turn: nothing is half-written, and the client can repeat the request.
 * `LATCHKEY_FAULTS=<pattern of names>` runs all flows whose name matches, with every kind of fault; `.` matches all.
 */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from './admin-harness.ts';
import { buildTestApp } from './build-app.ts';
import { accountFlows } from './faults/account-flows.ts';
import { adminFlows } from './faults/admin-flows.ts';
import { type Fault, faults } from './faults/connection-faults.ts';
import { consoleFlows } from './faults/console-flows.ts';
import { delegationFlows } from './faults/delegation-flows.ts';
import { type Flow, openAdmin, queueInTable, sweep } from './faults/fault-lab.ts';
import { grantFlows } from './faults/grant-flows.ts';
import { jobFlows } from './faults/job-flows.ts';
import { openidFlows } from './faults/openid-flows.ts';
import { scimFlows } from './faults/scim-flows.ts';
import { signinFlows } from './faults/signin-flows.ts';
import { appOrigin, SigninWorld } from './signin-world.ts';

const pattern = process.env['LATCHKEY_FAULTS'];
const kinds: readonly Fault[] = pattern === undefined ? ['57014'] : faults;
/** Flows of each run. */
const short = [
  'openid: token with a code at the project issuer',
  'openid: authorize with a pushed request',
  'signin: verify-email-otp, first registration',
  'scim: PATCH a user',
  'job: domains.check',
];

function testsOf(flows: () => readonly Flow[], names: readonly string[], instance: () => Parameters<typeof sweep>[0]) {
  it.each(names)(
    '%s',
    async (name) => {
      const flow = flows().find((one) => one.name === name);
      if (!flow) throw new Error(`no flow ${name}`);
      for (const fault of kinds) expect(await sweep(instance(), flow, fault)).toMatchObject({ findings: [] });
    },
    1_200_000,
  );
}

const isChosen = (name: string) => (pattern === undefined ? short.includes(name) : new RegExp(pattern).test(name));

const world = new SigninWorld();
let watching: pg.Client;
const requests = [
  ...[...openidFlows(world, () => watching), ...signinFlows(world), ...scimFlows(world), ...accountFlows(world)],
  ...[...delegationFlows(world), ...jobFlows(world, () => watching), ...grantFlows(world), ...consoleFlows(world)],
];
const chosenRequests = requests.map(({ name }) => name).filter(isChosen);

describe.runIf(chosenRequests.length > 0)('a request of', () => {
  let otherKey: string;

  beforeAll(async () => {
    const onDatabase = async (url: string) => {
      watching = await openAdmin(url);
      return url;
    };
    // A connection that is not returned soon blocks the others.
    world.app = await buildTestApp(onDatabase, {
      queue: queueInTable(() => watching),
      poolSize: 3,
      postWebhook: async () => ({ status: 204 }),
      sendBatch: async () => ({ accepted: true }),
      readTxt: async () => 'missing',
    });
    otherKey = (await world.app.make.client(await world.app.make.project())).publishableKey;
  });
  afterAll(async () => {
    await watching.end();
    await world.app.close();
  });

  const serves = async () => {
    const headers = { 'content-type': 'application/json', origin: appOrigin, 'x-api-key': otherKey };
    const challenge = { method: 'POST', headers, body: '{}' };
    return (await fetch(`${world.app.url}/v1/signin/challenge`, challenge)).ok;
  };
  testsOf(
    () => requests,
    chosenRequests,
    () => ({ admin: watching, serves }),
  );
});

let harness: AdminHarness;
const mutations = adminFlows(() => harness);
const chosen = mutations.map(({ name }) => name).filter(isChosen);

describe.runIf(chosen.length > 0)('a mutation of', () => {
  let admin: pg.Client;

  beforeAll(async () => {
    const onDatabase = async (url: string) => {
      admin = await openAdmin(url);
    };
    const mail = { kind: 'mailbox', send: async () => undefined } as const;
    const senders = { mail, sms: null };
    harness = await openAdminHarness({ onDatabase, senders, queue: queueInTable(() => admin), poolSize: 3 });
  });
  afterAll(async () => {
    await admin.end();
    await harness.close();
  });

  const serves = async () => (await harness.call('{ projects(first: 1) { totalCount } }')).errors.length === 0;
  testsOf(
    () => mutations,
    chosen,
    () => ({ admin, serves }),
  );
});

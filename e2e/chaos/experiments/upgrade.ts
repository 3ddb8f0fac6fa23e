import { randomBytes } from 'node:crypto';
import { AdminApi } from '../../support/admin-api.ts';
import { freePort, type Latchkey } from '../../support/latchkey.ts';
import { backupOf, type Fixture, readFixture } from '../../upgrade/fixture.ts';
import { beforeFirst } from '../../upgrade/releases.ts';
import { lastingIn, rowsOf, shiftTimes } from '../../upgrade/rows.ts';
import { type Experiment, evaluate, pause, percentile } from '../experiment.ts';
import { Balancer } from '../support/balancer.ts';
import { Person } from '../support/person.ts';
import { buildRelease } from '../support/release.ts';
import { type LoadResults, load, World } from '../support/world.ts';

export const upgrade: Experiment = {
  name: 'upgrade',
  done: `the database of release ${beforeFirst.name} under load: this release starts alongside it and migrates, takes over, goes back to that release, and takes over again`,
  passes:
    '0 failed requests; earlier rows are the same; at each stage users sign in with earlier keys, factors and sessions, without a code',
  async run({ scale, log }) {
    const release = await buildRelease(beforeFirst);
    if (typeof release === 'string') return { verdict: 'skipped', measured: release };
    const fixture = readFixture(beforeFirst.name);
    const world = await World.create({
      env: { BASE_URL: fixture.baseUrl, MASTER_KEY: fixture.masterKey, SHUTDOWN_DELAY_SECONDS: '1' },
    });
    world.onClose(() => release.remove());
    const site = new Site(world, release.main);
    world.onClose(() => site.close());
    try {
      await world.runProgram(release.main, 'restore', backupOf(beforeFirst.name));
      await shiftTimes(world.postgres, await ageSeconds(world));
      const lasting = await lastingIn(world.postgres);
      const before = await rowsOf(world.postgres, lasting);
      await site.open();
      await site.replaceBy('earlier');
      const users = new Users(fixture, site.url);
      const under = load(workers(fixture, users, site.url), undefined, 20);
      const stage = async () => {
        await pause(Math.max(2_000, 5_000 * scale));
        for (const person of users.returning()) await under.results.count(() => person.signIn());
      };
      await stage();
      for (const next of ['head', 'earlier', 'head'] as const) {
        const seconds = await site.replaceBy(next);
        await stage();
        log(
          `${next} took over after ${seconds.toFixed(1)} s: ${under.results.good} operations, ${failures(under.results).length} failed`,
        );
      }
      await under.stop();
      const sessions = await begunSince(world, fixture);
      const after = new Set(await rowsOf(world.postgres, lasting));
      const changed = before.filter((row) => !after.has(row));
      const { results } = under;
      return evaluate(
        `${results.good} operations (p99 ${percentile(results.tookMs, 0.99)} ms), ${failures(results).length} failed over 3 changes of release; ${before.length - changed.length} of ${before.length} rows in ${lasting.length} tables the same`,
        [
          results.good < 100 && `only ${results.good} operations`,
          ...failures(results),
          ...changed.map((row) => `lost or changed: ${row}`),
          sessions > 0 && `${sessions} users with a session had to sign in again`,
          ...site.errors(),
        ],
      );
    } finally {
      await world.close();
    }
  },
};

/** Age of the backup, in seconds. */
async function ageSeconds({ postgres }: World): Promise<number> {
  const [row] = await postgres.query<{ seconds: number }>(
    'select extract(epoch from now() - max(created_at))::int as seconds from users',
  );
  return row?.seconds ?? 0;
}

const failures = ({ refused, wrong }: LoadResults): string[] => [...refused.map(({ why }) => why), ...wrong];

/** One address, behind which processes of one release replace those of another. */
class Site {
  readonly #world: World;
  readonly #earlier: string;
  readonly #balancer = new Balancer();
  #serving: Latchkey | undefined;
  #port = 0;

  constructor(world: World, earlier: string) {
    this.#world = world;
    this.#earlier = earlier;
  }

  get url(): string {
    return `http://localhost:${this.#port}`;
  }

  async open(): Promise<void> {
    this.#port = await freePort();
    await this.#balancer.listen(this.#port);
  }

  /** Starts the next process, lets both serve, and stops the other. @returns seconds until it was ready */
  async replaceBy(release: 'earlier' | 'head'): Promise<number> {
    const port = await freePort();
    const startedAt = performance.now();
    const next = await this.#world.start({ PORT: String(port) }, release === 'earlier' ? { main: this.#earlier } : {});
    const seconds = (performance.now() - startedAt) / 1000;
    await this.#balancer.add(next, port);
    const last = this.#serving;
    this.#serving = next;
    if (!last) return seconds;
    await pause(2_000);
    await last.stop();
    this.#balancer.remove(last);
    return seconds;
  }

  /** Log lines with the reason of a failed request. */
  errors(): string[] {
    const lines = this.#world.processes.flatMap((process) => process.output().split('\n'));
    return lines.filter((line) => /"level":[56]0/.test(line));
  }

  close(): void {
    this.#balancer.close();
  }
}

/** Users of the database: some are under load, the others return at each stage. */
class Users {
  readonly sdk: readonly Person[];
  readonly hosted: readonly Person[];
  readonly #resting: readonly Person[];
  /** A code of an authenticator app is valid once: one user for each stage. */
  readonly #factors: Person[];

  constructor({ sdk, hosted, factors }: Fixture, url: string) {
    const [busy, ...resting] = [sdk.people.slice(0, 4), sdk.people.slice(4)].map((people) =>
      people.map((saved) => Person.from(sdk.app, saved, url)),
    );
    this.sdk = busy as Person[];
    this.#resting = resting.flat();
    this.hosted = hosted.people.map((saved) => Person.from(hosted.app, saved, url));
    this.#factors = factors.people.map((saved) => Person.from(factors.app, saved, url));
  }

  returning(): Person[] {
    return [...this.#resting, ...this.#factors.splice(0, 1)];
  }
}

/** Number of new sessions of users who have one; they should not begin another. */
async function begunSince({ postgres }: World, { hosted }: Fixture): Promise<number> {
  const ids = hosted.people.map(({ sub }) => `'${sub}'`).join(', ');
  const [row] = await postgres.query<{ count: number }>(
    `select count(*)::int as count from sessions where user_id in (${ids})`,
  );
  return (row?.count ?? 0) - hosted.people.length;
}

function workers(fixture: Fixture, { sdk, hosted }: Users, url: string): (() => Promise<void>)[] {
  const admin = new AdminApi(url, fixture.adminToken);
  return [
    ...sdk.map((person) => () => person.signIn()),
    ...hosted.map((person) => () => person.signInHosted()),
    () => register(fixture, url),
    () => provision(fixture, url),
    () => administer(fixture, admin),
    async () => void (await ask(200, `${url}/.well-known/jwks.json`)),
  ];
}

/** Signs up with a new device, then signs in with it, wherever the requests arrive. */
async function register({ sdk }: Fixture, url: string): Promise<void> {
  const person = new Person(sdk.app, `${randomBytes(6).toString('hex')}@example.com`, url);
  await person.signIn();
  await person.signIn();
}

/** Creates, finds, changes, adds to a group and deletes a user, as a directory does. */
async function provision({ directory }: Fixture, url: string): Promise<void> {
  const scim = (
    status: number,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ id: string; totalResults?: number }> =>
    ask(status, `${url}/v1/scim/${directory.projectId}${path}`, {
      method,
      headers: { Authorization: `Bearer ${directory.scimToken}`, 'Content-Type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const schema = 'urn:ietf:params:scim:schemas:core:2.0';
  const userName = `${randomBytes(6).toString('hex')}@example.com`;
  const { id } = await scim(201, 'POST', '/Users', { schemas: [`${schema}:User`], userName });
  const group = await scim(201, 'POST', '/Groups', {
    schemas: [`${schema}:Group`],
    displayName: userName,
    members: [{ value: id }],
  });
  await scim(200, 'PATCH', `/Users/${id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'displayName', value: 'Changed' }],
  });
  const found = await scim(200, 'GET', `/Users?${new URLSearchParams({ filter: `userName eq "${userName}"` })}`);
  if (found.totalResults !== 1) throw new Error(`${found.totalResults} users found after creation`);
  for (const earlier of directory.userIds.slice(0, 3)) await scim(200, 'GET', `/Users/${earlier}`);
  await scim(204, 'DELETE', `/Groups/${group.id}`);
  await scim(204, 'DELETE', `/Users/${id}`);
}

async function administer({ sdk, directory }: Fixture, admin: AdminApi): Promise<void> {
  for (const id of [sdk.app.projectId, directory.projectId]) {
    await admin.run(
      `query ($id: ID!) { project(id: $id) { id name } users(projectId: $id, first: 20) { edges { node { id } } }
        clients(projectId: $id) { edges { node { id } } } auditEvents(projectId: $id, first: 20) { edges { node { id } } } }`,
      { id },
    );
  }
  await pause(100);
}

async function ask<T>(status: number, url: string, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) });
  const text = await answer.text();
  if (answer.status !== status)
    throw new Error(`${init.method ?? 'GET'} ${url}: ${answer.status} ${text.slice(0, 200)}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/**
 * User enumeration (decision 0021): 500 known and 500 unknown addresses in random order, one request at a time. Bodies
 * must be identical except for random values; times are compared by the Mann–Whitney U test, whose p-value is printed.
 *
 * `npm run bench -- enumeration`, or `node e2e/bench/enumeration.ts`.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { AdminApi } from '../support/admin-api.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';
import { Connection } from './harness/http.ts';
import { type Print, printColumns } from './harness/table.ts';

/** A p-value below this counts as a difference: by chance, one in a thousand comparisons. */
const significance = 0.001;
const origin = 'https://app.example.com';

/** Pairs of account kinds to compare, and the project's sign-up mode. */
const comparisons = [
  { signUp: 'OPEN', one: 'known', other: 'unknown' },
  { signUp: 'PROVISIONED_ONLY', one: 'known', other: 'unprovisioned' },
  { signUp: 'PROVISIONED_ONLY', one: 'known', other: 'disabled' },
  { signUp: 'PROVISIONED_ONLY', one: 'known', other: 'locked' },
] as const;
type Kind = (typeof comparisons)[number]['one' | 'other'];
const steps = ['authenticate', 'verify-email-otp'] as const;
type Step = (typeof steps)[number];

interface Sample {
  kind: Kind;
  bodies: Record<Step, string>;
  milliseconds: Record<Step, number>;
}

interface Site {
  projectId: string;
  apiKey: string;
}

export async function enumeration(print: Print, options: { quick?: boolean } = {}): Promise<void> {
  const count = options.quick ? 20 : 500;
  const latchkey = await startLatchkey(
    {
      LOG_LEVEL: 'warn',
      TRUST_PROXY: 'loopback',
      SIGNIN_CHALLENGES_PER_MINUTE: '1000000',
      AUTHORIZE_REQUESTS_PER_MINUTE: '1000000',
    },
    { adjustable: true },
  );
  try {
    const lines: string[][] = [];
    const verdicts: boolean[] = [];
    for (const { signUp, one, other } of comparisons) {
      const site = await siteOf(latchkey, signUp);
      // One per comparison: a connection serves a limited number of requests.
      const connection = new Connection(latchkey.baseUrl);
      const samples = await measure(latchkey, connection, site, [one, other], count);
      connection.close();
      for (const step of steps) {
        const [a, b] = [one, other].map((kind) => samples.filter((sample) => sample.kind === kind));
        const [x, y] = [a, b].map((some) => (some ?? []).map(({ milliseconds }) => milliseconds[step]));
        const bodies = new Set(samples.map((sample) => sample.bodies[step]));
        const p = mannWhitney(x ?? [], y ?? []);
        verdicts.push(bodies.size === 1 && p > significance);
        lines.push([
          `${signUp}: ${one} / ${other}`,
          step,
          `${x?.length} / ${y?.length}`,
          bodies.size === 1 ? 'identical' : `${bodies.size} kinds`,
          `${median(x ?? []).toFixed(2)} / ${median(y ?? []).toFixed(2)}`,
          p.toFixed(3),
        ]);
      }
    }
    printColumns(['who', 'step', 'samples', 'bodies', 'median ms', 'p'], lines, print);
    print('');
    print(
      `- ${verdicts.every(Boolean) ? '✓' : '✗'} bodies identical, times indistinguishable (two-sided, p > ${significance})`,
    );
    if (!verdicts.every(Boolean)) process.exitCode = 1;
  } finally {
    await latchkey.stop();
  }
}

/** Creates a project with a client. */
async function siteOf(latchkey: Latchkey, signUp: string): Promise<Site> {
  const api = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  const projectId = await api.createProject('Enumeration');
  const update = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await api.run(update, { input: { id: projectId, signUp } });
  const { publishableKey } = await api.createClient({
    projectId,
    name: 'Application',
    tokenEndpointAuthMethod: 'NONE',
    redirectUris: [`${origin}/callback`],
  });
  return { projectId, apiKey: publishableKey };
}

async function measure(
  latchkey: Latchkey,
  connection: Connection,
  site: Site,
  kinds: readonly Kind[],
  count: number,
): Promise<Sample[]> {
  const people = kinds.flatMap((kind) =>
    Array.from({ length: kind === 'locked' ? Math.max(count / 10, 20) : count }, () => ({
      kind,
      address: newAddress(),
    })),
  );
  await provision(latchkey, connection, site, people);
  const locked = people.filter(({ kind }) => kind === 'locked');
  for (const { address } of locked) await lock(connection, site, address);
  // After the resend delay of the code just sent, which would distinguish these accounts.
  await latchkey.turn(60);
  // Warm up code and caches.
  for (let n = 0; n < 50; n++) await signIn(connection, site, newAddress());
  const samples: Sample[] = [];
  for (const { kind, address } of shuffled(people)) {
    samples.push({ kind, ...(await signIn(connection, site, address)) });
  }
  return samples;
}

/** Creates 500 users through SCIM. */
async function provision(
  latchkey: Latchkey,
  connection: Connection,
  { projectId }: Site,
  people: { kind: Kind; address: string }[],
): Promise<void> {
  const token = await new AdminApi(latchkey.baseUrl, latchkey.adminToken).issueScimToken(projectId);
  for (const { kind, address } of people) {
    if (kind === 'unknown' || kind === 'unprovisioned') continue;
    const user = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: otherAddressOf(address),
      emails: [{ value: address, type: 'work', primary: true }],
      active: kind !== 'disabled',
    };
    const { status, body } = await connection.ask({
      method: 'POST',
      path: `/v1/scim/${projectId}/Users`,
      headers: { 'Content-Type': 'application/scim+json', Authorization: `Bearer ${token}` },
      body: JSON.stringify(user),
    });
    if (status !== 201) throw new Error(`SCIM: ${status} ${body}`);
  }
}

/** Uses up the account's daily attempts through its other address; only that address is notified. */
async function lock(connection: Connection, site: Site, address: string): Promise<void> {
  const alias = otherAddressOf(address);
  const { txn } = await begin(connection, site);
  await ask(connection, site, 'authenticate', { txn, userid: alias });
  for (let n = 0; n < 51; n++) await ask(connection, site, 'verify-email-otp', { txn, userid: alias, otp: '000000' });
}

async function signIn(connection: Connection, site: Site, address: string): Promise<Omit<Sample, 'kind'>> {
  const { txn } = await begin(connection, site);
  const sample: Omit<Sample, 'kind'> = {
    bodies: { authenticate: '', 'verify-email-otp': '' },
    milliseconds: { authenticate: 0, 'verify-email-otp': 0 },
  };
  for (const step of steps) {
    const fields = { txn, userid: address, ...(step === 'verify-email-otp' && { otp: 'wrong!' }) };
    const start = performance.now();
    const answer = await ask(connection, site, step, fields);
    sample.milliseconds[step] = performance.now() - start;
    sample.bodies[step] = `${answer.status} ${Object.keys(answer.headers).sort()} ${withoutChance(answer.body)}`;
  }
  return sample;
}

async function begin(connection: Connection, site: Site): Promise<{ txn: string }> {
  const { status, body } = await ask(connection, site, 'challenge', { jkt: randomBytes(32).toString('base64url') });
  if (status !== 200) throw new Error(`challenge: ${status} ${body}`);
  return JSON.parse(body) as { txn: string };
}

/** One network per request, because limits per network are tested elsewhere. */
function ask(connection: Connection, site: Site, step: string, fields: object) {
  const network = Array.from({ length: 3 }, () => randomInt(256)).join('.');
  return connection.ask({
    method: 'POST',
    path: `/v1/signin/${step}`,
    headers: {
      'Content-Type': 'application/json',
      'X-Api-Key': site.apiKey,
      'X-Forwarded-For': `10.${network}`,
      Origin: origin,
    },
    body: JSON.stringify(fields),
  });
}

/** Addresses of equal length and first letter, which the response repeats. */
function newAddress(): string {
  return `p${randomBytes(12).toString('hex')}@example.com`;
}

function otherAddressOf(address: string): string {
  return `u${address.slice(1)}`;
}

function withoutChance(body: string): string {
  return body.replace(/[\w-]{43}/g, '<secret>').replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>');
}

function shuffled<T>(items: readonly T[]): T[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last--) {
    const at = randomInt(last + 1);
    [all[last], all[at]] = [all[at] as T, all[last] as T];
  }
  return all;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Two-sided p-value of the Mann–Whitney U test, by normal approximation (valid from twenty values each). Tests whether
 * one sample tends to be larger, without assuming a distribution.
 */
export function mannWhitney(x: readonly number[], y: readonly number[]): number {
  const all = [...x.map((value) => ({ value, isX: true })), ...y.map((value) => ({ value, isX: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  let ties = 0;
  for (let at = 0; at < all.length; ) {
    let end = at + 1;
    while (end < all.length && all[end]?.value === all[at]?.value) end++;
    const rank = (at + 1 + end) / 2;
    rankSum += rank * all.slice(at, end).filter(({ isX }) => isX).length;
    ties += (end - at) ** 3 - (end - at);
    at = end;
  }
  const [n, m, total] = [x.length, y.length, all.length];
  const u = rankSum - (n * (n + 1)) / 2;
  const deviation = Math.sqrt(((n * m) / 12) * (total + 1 - ties / (total * (total - 1))));
  const z = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5) / deviation;
  return 2 * (1 - normal(z));
}

/** The standard normal distribution function (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - density * series;
}

if (process.argv[1] === import.meta.filename) {
  await enumeration((line) => console.log(line), { quick: process.argv.includes('--quick') });
}

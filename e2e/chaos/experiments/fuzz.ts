import { randomBytes } from 'node:crypto';
import type { Latchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate } from '../experiment.ts';
import type { App } from '../support/person.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { World } from '../support/world.ts';

/** Input of a fuzzer. */
interface Target {
  world: World;
  app: App;
  scimToken: string;
  userId: string;
  accessToken: string;
  idToken: string;
  random: SeededRandom;
}

/** Returns one generated request. */
type Fuzzer = (target: Target) => { path: string; init?: RequestInit };

const scimJson = 'application/scim+json';
const form = 'application/x-www-form-urlencoded';

const fuzzers: Record<string, Fuzzer> = {
  'SCIM filter': ({ app, scimToken, random }) => ({
    path: `/v1/scim/${app.projectId}/${random.one(['Users', 'Groups'])}?${new URLSearchParams({
      [random.one(['filter', 'filter', 'filter', 'attributes', 'sortBy', 'cursor', 'startIndex', 'count'])]:
        random.altered(
          random.one([
            'userName eq "bjensen"',
            'emails[type eq "work" and value co "@example.com"]',
            'not (meta.lastModified gt "2011-05-13T04:42:34Z") or title pr and active eq true',
            'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value eq "x"',
            '((((userName sw "a"))))',
          ]),
        ),
    })}`,
    init: { headers: { Authorization: `Bearer ${scimToken}` } },
  }),
  'SCIM PATCH': ({ app, scimToken, userId, random }) => {
    const value = random.json(3);
    const operation = {
      op: random.one(['add', 'remove', 'replace', 'Replace', random.altered('add')]),
      path: random.altered(
        random.one([
          'name.givenName',
          'emails[type eq "work"].value',
          'active',
          'phoneNumbers',
          'members[value eq "x"]',
          'roles',
        ]),
      ),
      value,
    };
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [operation, ...random.some(() => operation)],
    };
    return {
      path: `/v1/scim/${app.projectId}/Users/${userId}`,
      init: {
        method: random.one(['PATCH', 'PATCH', 'PUT', 'POST']),
        headers: { Authorization: `Bearer ${scimToken}`, 'Content-Type': scimJson },
        body: random.maybeAltered(JSON.stringify(body)),
      },
    };
  },
  JWT: ({ app, accessToken, idToken, random }) => {
    const token = random.alteredToken(random.one([accessToken, idToken]));
    const header = token.replace(/[^\x21-\x7e]/g, '_');
    return random.one<ReturnType<Fuzzer>>([
      { path: '/userinfo', init: { headers: { Authorization: `Bearer ${header}` } } },
      { path: `/oauth2/end_session?${new URLSearchParams({ client_id: app.clientId, id_token_hint: token })}` },
      {
        path: `/authorize?${new URLSearchParams({
          ...authorization(app),
          prompt: 'none',
          id_token_hint: token,
        })}`,
      },
      {
        path: '/oauth2/token',
        init: {
          method: 'POST',
          headers: { 'Content-Type': form },
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code: token,
            client_assertion: token,
            client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          }).toString(),
        },
      },
      {
        path: `/v1/signin/${random.one(['authenticate', 'verify-device', 'verify-mfa'])}`,
        init: {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            'X-Api-Key': app.publishableKey,
            Origin: 'http://127.0.0.1:9',
            'Device-Proof': header,
          },
          body: random.maybeAltered(JSON.stringify({ txn: random.text(), userid: random.text(), otp: random.json(1) })),
        },
      },
    ]);
  },
  JWE: ({ app, idToken, random }) => {
    const [header = '', payload = '', signature = ''] = idToken.split('.');
    const own = Buffer.from(
      JSON.stringify({
        alg: random.one(['ECDH-ES', 'dir', 'none']),
        enc: 'A256GCM',
        typ: 'delegation-req+jwe',
        epk: random.json(2),
      }),
    ).toString('base64url');
    const parts = [
      random.one([own, header]),
      random.one(['', payload]),
      randomBytes(12).toString('base64url'),
      payload,
      signature,
    ];
    return {
      path: '/v1/delegation',
      init: {
        method: 'POST',
        headers: { 'Content-Type': 'application/jose', 'X-Api-Key': app.secretKey },
        body: random.maybeAltered(parts.slice(0, random.below(7)).join('.')),
      },
    };
  },
  'redirect URI': ({ world, app, random }) => {
    const uri = random.altered(
      random.one([
        app.redirectUri,
        'https://app.example.com@evil.example/',
        'javascript:alert(1)',
        'http://[::1]:80/x',
        'https://a..b/%2e%2e',
      ]),
    );
    const register = {
      query: 'mutation ($input: CreateClientInput!) { createClient(input: $input) { client { id } } }',
      variables: {
        input: {
          projectId: app.projectId,
          name: 'x',
          redirectUris: [uri],
          postLogoutRedirectUris: [uri],
          backchannelLogoutUri: uri,
        },
      },
    };
    return random.one<ReturnType<Fuzzer>>([
      { path: `/authorize?${new URLSearchParams({ ...authorization(app), redirect_uri: uri })}` },
      {
        path: `/oauth2/end_session?${new URLSearchParams({ client_id: app.clientId, post_logout_redirect_uri: uri })}`,
      },
      { path: '/admin/graphql', init: world.graphql(JSON.stringify(register)) },
    ]);
  },
  GraphQL: ({ world, app, random }) => {
    const query = random.altered(
      random.one([
        `{ project(id: "${app.projectId}") { id name } }`,
        `{ users(projectId: "${app.projectId}", search: "a", first: 5) { edges { cursor node { id } } } }`,
        'query ($a: Int = 3) { projects(first: $a) { edges { node { id ...f } } } } fragment f on Project { name }',
        'mutation { createProject(input: {name: "x"}) { id } }',
        '{ __schema { types { name fields { name } } } }',
      ]),
    );
    const body = {
      query: random.one<unknown>([query, query, query, random.json(2)]),
      variables: random.json(3),
      operationName: random.json(1),
    };
    return { path: '/admin/graphql', init: world.graphql(random.maybeAltered(JSON.stringify(body))) };
  },
  'sign-in': ({ app, random }) => ({
    path: `/v1/signin/${random.one(['challenge', 'authenticate', 'verify-email-otp', 'verify-device', 'initiate-mfa', 'verify-mfa'])}`,
    init: {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Api-Key': app.publishableKey, Origin: 'http://127.0.0.1:9' },
      body: random.maybeAltered(
        JSON.stringify({
          txn: random.one<unknown>([randomBytes(32).toString('base64url'), random.json(2)]),
          userid: random.one<unknown>([`${random.text()}@example.com`, random.json(2)]),
          otp: random.json(1),
          code_challenge: random.json(1),
          jkt: random.json(1),
          mfa_method: random.json(1),
        }),
      ),
    },
  }),
};

function authorization({ clientId, redirectUri }: App): Record<string, string> {
  return {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  };
}

export const fuzz: Experiment = {
  name: 'fuzz',
  done: `all parsers fuzzed over HTTP (${Object.keys(fuzzers).join(', ')}), 30 s each; 10 minutes each and all at once with --full`,
  passes: 'no 5xx, no crash, no request without a response',
  async run({ scale, full, log }) {
    const seconds = full ? 600 : Math.max(3, 30 * scale);
    const world = await World.create();
    try {
      const latchkey = await world.start();
      const app = await world.app();
      const [person] = await world.people(app, 1);
      const scimToken = await world.admin.issueScimToken(app.projectId);
      const created = await fetch(`${world.issuer}/v1/scim/${app.projectId}/Users`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${scimToken}`, 'Content-Type': scimJson },
        body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'fuzz@example.com' }),
      });
      const { id: userId } = (await created.json()) as { id: string };
      const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
      const target: Target = {
        ...{ world, app, scimToken, userId },
        accessToken: person?.accessToken ?? '',
        idToken: person?.idToken ?? '',
        random: new SeededRandom(seed),
      };
      const faults: string[] = [];
      const counts: string[] = [];
      const fuzzOne = async ([name, make]: [string, Fuzzer]) => {
        const onFault = (fault: string) => void faults.push(`${name} (seed ${seed}): ${fault}`);
        const sent = await run(make, target, seconds, latchkey, onFault);
        counts.push(`${name} ${sent}`);
        log(`${name}: ${sent} requests`);
      };
      if (full) await Promise.all(Object.entries(fuzzers).map(fuzzOne));
      else for (const fuzzer of Object.entries(fuzzers)) await fuzzOne(fuzzer);
      return evaluate(`${counts.join(', ')}; ${faults.length} faults`, faults);
    } finally {
      await world.close();
    }
  },
};

async function run(
  make: Fuzzer,
  target: Target,
  seconds: number,
  latchkey: Latchkey,
  onFault: (fault: string) => void,
): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let sent = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const { path, init = {} } = make(target);
      const describe = () => `${init.method ?? 'GET'} ${path.slice(0, 300)} ${String(init.body ?? '').slice(0, 300)}`;
      sent += 1;
      try {
        const answer = await fetch(target.world.issuer + path, {
          ...init,
          redirect: 'manual',
          headers: { 'X-Forwarded-For': `2001:db8:${(sent % 65_536).toString(16)}::2`, ...(init.headers as object) },
          signal: AbortSignal.timeout(20_000),
        });
        const text = await answer.text();
        const isBug = answer.status >= 500 && answer.status !== 501;
        if (isBug || text.includes('INTERNAL_SERVER_ERROR'))
          onFault(`${answer.status} for ${describe()}: ${text.slice(0, 200)}`);
      } catch (error) {
        const { cause } = error as { cause?: { code?: string } };
        onFault(`${cause?.code ?? (error as Error).message} for ${describe()}: ${latchkey.output().slice(-300)}`);
        return;
      }
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return sent;
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, system)).id;
});
afterAll(() => harness.close());

const json = { 'Content-Type': 'application/json' };
const send = (init: RequestInit, path = '/admin/graphql') => fetch(`${harness.url}${path}`, init);

describe('the limit on the size of a request', () => {
  const nested = (depth: number) => `{ ${'project { '.repeat(depth)}id${' }'.repeat(depth)} }`;

  it('refuses a thousand aliases, and sixteen', async () => {
    for (const count of [16, 1000]) {
      const text = Array.from({ length: count }, (_, n) => `a${n}: me { kind }`).join(' ');
      const { status, data } = await harness.call(`{ ${text} }`);
      expect([status, data]).toEqual([400, undefined]);
    }
    const fifteen = Array.from({ length: 15 }, (_, n) => `a${n}: me { kind }`).join(' ');
    expect((await harness.call(`{ ${fifteen} }`)).status).toBe(200);
  });

  it('refuses a depth of 50, of 11, and depth that hides in fragments', async () => {
    expect((await harness.call(nested(50))).status).toBe(400);
    const deep = `{ auditEvents { edges { node { client { project { sessionPolicy { idTokenTtlSeconds } } } } } } }`;
    expect((await harness.call(deep)).status).toBe(200);
    const fields = 'fragment A on Client { apiKeys { id } project { contents { users } } }';
    const hidden = `{ clients(projectId: "${projectId}") { edges { node { ...A } } } } ${fields}`;
    expect((await harness.call(hidden)).status).toBe(200);
  });

  it('refuses a cost beyond the limit, whether `first` is written or a variable', async () => {
    const fields =
      'project { id name contents { users clients } sessionPolicy { idTokenTtlSeconds } } apiKeys { id kind hint createdAt lastUsedAt revokedAt }';
    const query = (first: string) => `query ($n: Int, $m: Int = 100) {
      a: clients(projectId: "${projectId}", first: ${first}) { edges { node { ${fields} } } }
      b: clients(projectId: "${projectId}", first: ${first}) { edges { node { ${fields} } } }
      me { kind name id } x: projects(first: $n) { totalCount } y: projects(first: $m) { totalCount } }`;
    for (const [first, n] of [
      ['100', 1],
      ['$n', 100],
      ['$m', 1],
      ['$n', 2_000_000_000],
    ] as const) {
      const { status, code, errors } = await harness.call(query(first), { n });
      expect([first, status, code, errors[0]?.extensions.limit]).toEqual([first, 400, 'too-complex', 'cost']);
    }
    expect((await harness.call(query('$n'), { n: 10 })).code).toBeUndefined();
  });

  it('refuses multiplying and cyclic fragments quickly', async () => {
    const bomb = Array.from({ length: 30 }, (_, n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`).join(
      ' ',
    );
    const text = `{ ...F0 } ${bomb} fragment F30 on Query { me { kind } projects { totalCount } }`;
    expect((await harness.call(text)).status).toBe(400);
    expect((await harness.call('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }')).status).toBe(400);
  });

  it('refuses more than 2,000 tokens and more than 64 KB', async () => {
    expect((await harness.call(`{ ${'me { kind } '.repeat(600)} }`)).status).toBe(400);
    const { status, code } = await harness.call(`# ${'x'.repeat(65_536)}\n{ me { kind } }`);
    expect([status, code]).toEqual([413, 'invalid']);
  });

  it('survives JSON variables of any depth', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const mutation = 'mutation ($input: CreateClientInput!) { createClient(input: $input) { secretKey } }';
    const body = `{"query": ${JSON.stringify(mutation)}, "variables": {"input": {"projectId": "${projectId}", "name": "Deep", "jwks": ${deep}}}}`;
    const response = await send({ method: 'POST', headers: { ...json, ...bootstrap }, body });
    expect([
      response.status,
      ((await response.json()) as { errors: { extensions: object }[] }).errors[0]?.extensions,
    ]).toMatchObject([200, { code: 'invalid' }]);
  });
});

describe('POST /admin/graphql', () => {
  const query = '{ me { kind } }';

  it('refuses GET, so that links and images cannot call it', async () => {
    const address = `/admin/graphql?query=${encodeURIComponent(query)}`;
    const response = await send({ headers: { ...bootstrap, 'Apollo-Require-Preflight': '1' } }, address);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/graphql',
    '',
  ])('refuses a body of type %j, which a form of another site could send', async (type) => {
    const userId = await harness.person(`form${type.length}@example.com`);
    const session = await harness.sessionOf(userId);
    const response = await send({
      method: 'POST',
      headers: { ...session, 'Content-Type': type },
      body: `query=${query}`,
    });
    expect(response.status).toBe(415);
  });

  it('refuses several operations in one request', async () => {
    const body = JSON.stringify([{ query }, { query }]);
    expect((await send({ method: 'POST', headers: { ...json, ...bootstrap }, body })).status).toBe(400);
  });

  it.each(['{', '', 'null', '"x"', '[]', '{"query": 1}', '{}', '{"query": "{ me { kind } }", "variables": "x"}'])(
    'refuses the body %s with 4xx',
    async (body) => {
      const response = await send({ method: 'POST', headers: { ...json, ...bootstrap }, body });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(await response.json()).toHaveProperty('errors');
    },
  );

  it.each([{}, { query }])(
    'reports to a client with persisted queries that they are not supported, so that it sends them whole: %j',
    async (whole) => {
      const extensions = { persistedQuery: { version: 1, sha256Hash: 'e'.repeat(64) } };
      const body = JSON.stringify({ ...whole, extensions });
      const response = await send({ method: 'POST', headers: { ...json, ...bootstrap }, body });
      const { errors } = (await response.json()) as { errors: object[] };
      expect(errors).toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }]);
      expect(response.headers.get('cache-control')).toBe('no-store');
    },
  );

  it('refuses any number of invalid values, without an internal error', async () => {
    const text = `query ($aaguids: [String!]!) {
      passkeyModelStanding(projectId: "x", aaguids: $aaguids, roots: []) { usersWithOthers } }`;
    const { status, errors } = await harness.call(text, { aaguids: Array(100).fill(1) });
    expect(status).toBe(400);
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
  });

  it('refuses subscriptions as unsupported, not as an internal error', async () => {
    const { status, code } = await harness.call('subscription { me { kind } }');
    expect([status, code]).toEqual([400, 'OPERATION_RESOLUTION_FAILURE']);
  });

  it('sends no-store, and the request id in each error', async () => {
    const answer = await harness.call('{ project(id: "x") { id } }');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.errors[0]).toEqual({
      message: 'This project does not exist, or you have no access to it.',
      path: ['project'],
      extensions: { code: 'not-found', what: 'project', requestId: answer.headers.get('x-request-id') },
    });
  });

  it('hides internal errors behind the request id, and logs them', async () => {
    const { list } = harness.services.keys;
    harness.services.keys.list = async () => {
      throw new Error('connection to 10.0.0.7 failed');
    };
    const answer = await harness.call('{ signingKeys { id } }');
    harness.services.keys.list = list;
    expect(answer.body).not.toContain('10.0.0.7');
    expect(answer.errors[0].extensions).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      requestId: answer.headers.get('x-request-id'),
    });
    expect(harness.bugs).toEqual([expect.objectContaining({ message: 'connection to 10.0.0.7 failed' })]);
    harness.bugs.length = 0;
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Answer, Connection } from '../harness/http.ts';
import type { Workload } from '../harness/measure.ts';
import { Browser, pkce } from './browser.ts';
import type { BenchedLatchkey } from './latchkey.ts';
import { redirectUri } from './relying.ts';

const resource = 'https://orders.example.com';

/** Workloads at the issuer of a project, for grants that the base issuer does not have. */
export interface Grants {
  refresh: Workload;
  clientCredentials: Workload;
  /** Client credentials, with a new DPoP proof for each request. */
  dpop: Workload;
  introspection: Workload;
  /** Of a user's token, by the API that it is for (RFC 8693). */
  exchange: Workload;
}

export async function grantsOf({ api, server }: BenchedLatchkey): Promise<Grants> {
  const projectId = await api.createProject('Grants');
  const testMode = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await api.run(testMode, { input: { id: projectId, testMode: true } });
  const issuer = await api.issuerOf(projectId);
  const base = new URL(issuer).pathname;
  const web = await api.createClient({
    projectId,
    name: 'Web',
    redirectUris: [redirectUri],
    grantTypes: ['REFRESH_TOKEN'],
  });
  const job = await api.createClient({
    projectId,
    name: 'Job',
    tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC',
    grantTypes: ['CLIENT_CREDENTIALS', 'TOKEN_EXCHANGE'],
  });
  const scopes = [{ key: 'orders:read', description: 'Read orders' }];
  const createApi = 'mutation ($input: CreateApiInput!) { createApi(input: $input) { id } }';
  const input = { projectId, name: 'Orders', identifier: resource, scopes, tokenExchange: true };
  const { createApi: made } = await api.run<{ createApi: { id: string } }>(createApi, { input });
  const setGrant = 'mutation ($input: SetApiGrantInput!) { setApiGrant(input: $input) { scopes } }';
  const granted = { apiId: made.id, scopes: ['orders:read'] };
  await api.run(setGrant, { input: { clientId: job.clientId, introspects: true, ...granted } });
  await api.run(setGrant, { input: { clientId: web.clientId, ...granted } });

  const basic = `Basic ${Buffer.from(`${job.clientId}:${job.clientSecret}`).toString('base64')}`;
  const ask = async (connection: Connection, path: string, form: Record<string, string>, headers = {}) => {
    const answer = await connection.ask({
      method: 'POST',
      path: `${base}/oauth2/${path}`,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    });
    return jsonOf(answer);
  };
  const machine = (connection: Connection, headers = {}) =>
    ask(connection, 'token', { grant_type: 'client_credentials' }, { Authorization: basic, ...headers });

  const application = { baseUrl: server.baseUrl, projectId, redirectUri, ...web };
  const proof = pkce();
  const begin = async (connection: Connection, worker: number, further: Record<string, string> = {}) => {
    const browser = new Browser(application, `person-${worker}@example.com`);
    await browser.beginSession();
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: web.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email offline_access',
      code_challenge: proof.challenge,
      code_challenge_method: 'S256',
      ...further,
    });
    const { headers } = await connection.ask({
      path: `${base}/authorize?${query}`,
      headers: { Cookie: browser.cookie },
    });
    const code = new URL(headers['location'] ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id: web.clientId, redirect_uri: redirectUri, code };
    return ask(connection, 'token', { ...form, code_verifier: proof.verifier });
  };

  const refreshTokens: string[] = [];
  const tokens: string[] = [];
  const userTokens: string[] = [];
  const tokenOfUser = async (connection: Connection, worker: number) =>
    String((await begin(connection, worker, { resource, scope: 'orders:read' }))['access_token']);
  const prove = proofs(`${issuer}/oauth2/token`);
  return {
    refresh: {
      operation: async (connection, worker) => {
        const token = (refreshTokens[worker] ??= String((await begin(connection, worker))['refresh_token']));
        const form = { grant_type: 'refresh_token', client_id: web.clientId, refresh_token: token };
        refreshTokens[worker] = String((await ask(connection, 'token', form))['refresh_token']);
      },
    },
    clientCredentials: {
      operation: async (connection) => {
        await machine(connection);
      },
    },
    dpop: {
      operation: async (connection) => {
        const { token_type: type } = await machine(connection, { DPoP: prove() });
        if (type !== 'DPoP') throw new Error(`a token of type ${String(type)}`);
      },
    },
    exchange: {
      operation: async (connection, worker) => {
        const subject = (userTokens[worker] ??= await tokenOfUser(connection, worker));
        const form = {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: subject,
          resource,
        };
        const type = { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' };
        await ask(connection, 'token', { ...form, ...type }, { Authorization: basic });
      },
    },
    introspection: {
      operation: async (connection, worker) => {
        const token = (tokens[worker] ??= String((await machine(connection))['access_token']));
        const { active } = await ask(connection, 'introspect', { token }, { Authorization: basic });
        if (active !== true) throw new Error('the token is not active');
      },
    },
  };
}

function jsonOf({ body, status }: Answer): Record<string, unknown> {
  if (status !== 200) throw new Error(`${status} ${body}`);
  return JSON.parse(body) as Record<string, unknown>;
}

/** Makes DPoP proofs (RFC 9449) by one key for POST to this address. */
function proofs(url: string): () => string {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const header = part({ typ: 'dpop+jwt', alg: 'ES256', jwk: pair.publicKey.export({ format: 'jwk' }) });
  return () => {
    const iat = Math.floor(Date.now() / 1000);
    const input = `${header}.${part({ htm: 'POST', htu: url, iat, jti: randomBytes(16).toString('hex') })}`;
    const key = { key: pair.privateKey, dsaEncoding: 'ieee-p1363' as const };
    return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
  };
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

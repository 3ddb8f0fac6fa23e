import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Connection } from '../harness/http.ts';
import type { Workload } from '../harness/measure.ts';
import { type Application, authorizePath, Browser, pkce } from './browser.ts';
import type { BenchedLatchkey } from './latchkey.ts';
import type { Peer } from './peer.ts';

/** An OpenID provider with a public and a `private_key_jwt` client, and a live session per worker. */
export interface Provider {
  public: Relying;
  confidential: Relying;
}

/** A relying party and its provider's endpoints. */
export interface Relying {
  clientId: string;
  redirectUri: string;
  /** Absent for a public client. */
  key?: KeyObject | undefined;
  issuer: string;
  tokenPath: string;
  userInfoPath: string;
  /** Cookies of a worker's live session. */
  cookie(worker: number): string;
  authorize(challenge: string): string;
  /** Extra parameter of the token request (RFC 8707). */
  resource?: string | undefined;
  /** A separate token, if UserInfo does not accept that of the exchange. */
  userInfoToken?: string | undefined;
}

export const redirectUri = 'https://app.example.com/callback';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export async function latchkeyProvider(
  { api, server }: BenchedLatchkey,
  workers: number,
): Promise<Provider & { projectId: string }> {
  const projectId = await api.createProject('Benchmark');
  const testMode = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await api.run(testMode, { input: { id: projectId, testMode: true } });
  const pair = generateKeyPairSync('ed25519');
  const jwks = pair.publicKey.export({ format: 'jwk' });
  const common = { projectId, redirectUris: [redirectUri] };
  const open = await api.createClient({ ...common, name: 'Public', tokenEndpointAuthMethod: 'NONE' });
  const secured = await api.createClient({
    ...common,
    name: 'Confidential',
    tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT',
    jwks,
  });
  const application = (client: { clientId: string; publishableKey: string }): Application => ({
    baseUrl: server.baseUrl,
    projectId,
    clientId: client.clientId,
    publishableKey: client.publishableKey,
    redirectUri,
  });
  const cookies: string[] = [];
  for (let worker = 0; worker < workers; worker += 1) {
    const browser = new Browser(application(open), `person-${worker}@example.com`);
    await browser.beginSession();
    cookies.push(browser.cookie);
  }
  const relying = (client: { clientId: string; publishableKey: string }, key?: KeyObject): Relying => ({
    clientId: client.clientId,
    redirectUri,
    key,
    issuer: server.baseUrl,
    tokenPath: '/oauth2/token',
    userInfoPath: '/userinfo',
    cookie: (worker) => cookies[worker] ?? '',
    authorize: (challenge) => authorizePath(application(client), challenge),
  });
  return { projectId, public: relying(open), confidential: relying(secured, pair.privateKey) };
}

export function relyingOf(peer: Peer, kind: keyof Provider): Relying {
  const client = peer.clients[kind];
  if (!client) throw new Error(`${peer.subject.name} has no such client`);
  return {
    ...client,
    key: client.privateJwk && createPrivateKey({ key: client.privateJwk, format: 'jwk' }),
    issuer: peer.issuer,
    tokenPath: peer.tokenPath,
    userInfoPath: peer.userInfoPath,
    userInfoToken: peer.userInfoToken,
    cookie: (worker) => peer.cookies[worker] ?? '',
    authorize: (challenge) => {
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: client.redirectUri,
        scope: 'openid profile email',
        state: 'af0ifjsldkj',
        nonce: 'n-0S6_WzA2Mj',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...(client.resource && { resource: client.resource }),
      });
      return `${peer.authorizePath}?${query}`;
    },
  };
}

interface Tokens {
  id_token: string;
  access_token: string;
}

/** Authorization with a live session → code → exchange → UserInfo. */
export function signInAndAsk(relying: Relying): Workload {
  const operation: Workload['operation'] = async (connection, worker) => {
    const { access_token: accessToken } = await exchange(relying, connection, await code(relying, connection, worker));
    await userInfo(relying, connection, relying.userInfoToken ?? accessToken);
  };
  return { operation };
}

/** Codes live 60 seconds, here and at the peers, so rounds use few. */
const codesOfConnection = 75;

/** Exchange only: codes are issued before each round. */
export function exchangeAlone(relying: Relying, perConnection = codesOfConnection): Workload {
  let codes: string[] = [];
  return {
    stock: {
      fill: async (connections) => {
        codes = [];
        const fetched = connections.map(async (connection, worker) => {
          for (let left = perConnection; left > 0; left -= 1) codes.push(await code(relying, connection, worker));
        });
        await Promise.all(fetched);
      },
      isEmpty: () => codes.length === 0,
    },
    operation: async (connection) => {
      const next = codes.pop();
      if (next !== undefined) await exchange(relying, connection, next);
    },
  };
}

export function codeAlone(relying: Relying): Workload {
  const operation: Workload['operation'] = async (connection, worker) => {
    await code(relying, connection, worker);
  };
  return { operation };
}

export function userInfoAlone(relying: Relying): Workload {
  const tokens: { token: string; until: number }[] = [];
  const operation: Workload['operation'] = async (connection, worker) => {
    let held = tokens[worker];
    if (!held || held.until < Date.now()) {
      const { access_token: accessToken } = await exchange(
        relying,
        connection,
        await code(relying, connection, worker),
      );
      held = { token: relying.userInfoToken ?? accessToken, until: Date.now() + 240_000 };
      tokens[worker] = held;
    }
    await userInfo(relying, connection, held.token);
  };
  return { operation };
}

export function get(path: string): Workload {
  const operation: Workload['operation'] = async (connection) => {
    const { status, body } = await connection.ask({ path });
    if (status !== 200 || !body.startsWith('{')) throw new Error(`${path}: ${status}`);
  };
  return { operation };
}

const proof = pkce();

async function code(relying: Relying, connection: Connection, worker: number): Promise<string> {
  const path = relying.authorize(proof.challenge);
  const answer = await connection.ask({ path, headers: { Cookie: relying.cookie(worker) } });
  const found = /[?&]code=([^&]+)/.exec(answer.headers['location'] ?? '')?.[1];
  if (found === undefined) throw new Error(`no code: ${answer.status} ${answer.headers['location']} ${answer.body}`);
  return decodeURIComponent(found);
}

async function exchange(relying: Relying, connection: Connection, codeValue: string): Promise<Tokens> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: codeValue,
    code_verifier: proof.verifier,
    redirect_uri: relying.redirectUri,
    client_id: relying.clientId,
    ...(relying.resource && { resource: relying.resource }),
    ...(relying.key && { client_assertion_type: assertionType, client_assertion: assertion(relying, relying.key) }),
  });
  const answer = await connection.ask({
    method: 'POST',
    path: relying.tokenPath,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  });
  if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.body}`);
  const tokens = JSON.parse(answer.body) as Tokens;
  if (algOf(tokens.id_token) !== 'ES512') throw new Error('the ID token is not signed with ES512');
  if (tokens.access_token.split('.').length !== 3) throw new Error('the access token is not a JWT');
  return tokens;
}

async function userInfo(relying: Relying, connection: Connection, token: string): Promise<void> {
  const answer = await connection.ask({ path: relying.userInfoPath, headers: { Authorization: `Bearer ${token}` } });
  if (answer.status !== 200 || !answer.body.includes('"email"')) {
    throw new Error(`no claims: ${answer.status} ${answer.body} ${answer.headers['www-authenticate']}`);
  }
}

function algOf(jws: string): string {
  const header = JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()) as { alg: string };
  return header.alg;
}

function assertion({ clientId, issuer }: Relying, key: KeyObject): string {
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    iss: clientId,
    sub: clientId,
    aud: issuer,
    iat: now,
    exp: now + 60,
    jti: randomBytes(16).toString('hex'),
  };
  const input = [{ alg: 'EdDSA' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

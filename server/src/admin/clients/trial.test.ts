import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CookieBrowser, locationOf } from '../../../test/browser.ts';
import { changed, rows } from '../../../test/rows.ts';
import { newDeviceKey, SigninPage } from '../../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import type { Role } from '../../domain/admins/membership.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { AuthorizationCode } from '../../domain/tokens/authorization-code.entity.ts';
import { csrfHeader } from '../api/server.ts';

const world = SigninWorld.ofTests();
let browser: CookieBrowser;
let address: string;

beforeAll(async () => {
  await world.app.services.seed.create({ demo: true });
});
beforeEach(async () => {
  address = newAddress();
  browser = await adminsBrowser('project_admin');
});

/** A browser in which an admin with that role in the project has signed in to the console. */
async function adminsBrowser(role: Role, email = newAddress()): Promise<CookieBrowser> {
  const { db, sessions, admins } = world.app.services;
  const projectId = role === 'owner' ? undefined : world.project.id;
  const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
  await admins.grantRole({ email, role, projectId }, by);
  const secret = await db.transaction(async (em) => {
    const project = await em.findOneOrFail(Project, { builtIn: 'console' });
    const user = await world.app.services.users.findByAddress(em, project.id, email);
    const authTime = world.app.clock.now();
    const signIn = { project, userId: String(user?.id), amr: ['swk'], authTime, freshAt: authTime, actor: system };
    return { cookie: `lk-session-${project.id}`, ...(await sessions.signIn(em, signIn)) };
  });
  const jar = new CookieBrowser();
  jar.cookies.set(secret.cookie, secret.secret);
  return jar;
}

const cookieOf = (jar: CookieBrowser) => [...jar.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

async function call(query: string, variables: object, jar = browser): Promise<any> {
  const response = await fetch(`${world.app.url}/admin/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', [csrfHeader]: '1', Cookie: cookieOf(jar) },
    body: JSON.stringify({ query, variables }),
  });
  for (const line of response.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    jar.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  }
  const body: any = await response.json();
  return { ...body, code: body.errors?.[0]?.extensions.code };
}

const begin = (clientId = world.client.id, jar = browser) =>
  call('mutation ($id: ID!) { beginTrial(clientId: $id) { address } }', { id: clientId }, jar);

/** Signs in on the hosted page. Returns the URL at which the browser comes back to the console. */
async function signIn(to: string, jar = browser): Promise<URL> {
  const flow = new URL(to, world.app.url).searchParams.get('flow') as string;
  const credential = { origin: world.app.url, flow, cookie: cookieOf(jar) };
  const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
  const page = new SigninPage(world.app.url, credential, await newDeviceKey(), now);
  const done = expectStatus(await world.register(page, address), 'SUCCESS');
  for (const line of done.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    jar.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  }
  return locationOf(await jar.get(done['redirect_to']));
}

const finish = (back: URL, over: object = {}, jar = browser) =>
  call(
    `mutation ($input: FinishTrialInput!) { finishTrial(input: $input) {
      client { id } scope expiresInSeconds revoked userInfo
      idToken { header claims verified } accessToken { header claims verified } } }`,
    {
      input: {
        clientId: world.client.id,
        state: back.searchParams.get('state'),
        code: back.searchParams.get('code'),
        ...over,
      },
    },
    jar,
  );

const tried = async (): Promise<URL> => signIn((await begin()).data.beginTrial.address);

describe('a trial sign-in', () => {
  it('shows both tokens decoded and verified, and UserInfo, and leaves no valid token', async () => {
    const back = await tried();
    expect(`${back.origin}${back.pathname}`).toBe(`${world.app.url}/admin/trial`);
    const answer = await finish(back);
    const result = answer.data.finishTrial;
    expect(result).toMatchObject({
      client: { id: world.client.id },
      scope: 'openid profile email phone address',
      expiresInSeconds: 300,
      revoked: true,
      userInfo: { email: address },
      idToken: {
        header: { alg: 'ES512', typ: 'JWT', kid: expect.any(String) },
        claims: { aud: world.client.id, email: address, amr: ['swk', 'otp'], sid: expect.any(String) },
        verified: true,
      },
      accessToken: { header: { alg: 'EdDSA', typ: 'at+jwt' }, claims: { aud: world.app.url }, verified: true },
    });
    expect(JSON.stringify(answer)).not.toMatch(/eyJ/);
    const id = result.accessToken.claims.jti;
    const code = await world.app.services.db.reader().findOneOrFail(AuthorizationCode, { id });
    expect(code.revokedAt).not.toBeNull();
  });

  it('works for a private_key_jwt client without its key, which the token endpoint still requires', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
    const settings = { tokenEndpointAuthMethod: 'private_key_jwt' as const, jwks };
    world.client = (await world.app.make.client(world.project, settings)).client;
    const back = await tried();
    const form = {
      grant_type: 'authorization_code',
      client_id: world.client.id,
      code: back.searchParams.get('code') as string,
      redirect_uri: `${world.app.url}/admin/trial`,
      code_verifier: 'v'.repeat(43),
    };
    const outside = await browser.post(`${world.app.url}/oauth2/token`, form);
    expect(await outside.json()).toMatchObject({ error: 'invalid_client' });
    expect((await finish(back)).data.finishTrial.idToken.verified).toBe(true);
  });

  it('shows the tokens of the issuer that the application uses, and keeps no refresh token', async () => {
    const issuer = `${world.app.url}/p/${world.project.slug}`;
    const settings = {
      tokenEndpointAuthMethod: 'client_secret_basic' as const,
      idTokenSignedResponseAlg: 'RS256' as const,
      grantTypes: ['authorization_code' as const, 'refresh_token' as const],
    };
    world.client = (await world.app.make.client(world.project, settings)).client;
    const result = (await finish(await tried())).data.finishTrial;
    expect(result).toMatchObject({
      idToken: { header: { alg: 'RS256' }, claims: { iss: issuer }, verified: true },
      accessToken: { claims: { iss: issuer, aud: issuer }, verified: true },
      userInfo: { email: address, groups: [], roles: [] },
      scope: 'openid profile email phone address groups roles',
      revoked: true,
    });
    const grants = await rows(world.app.services.db, 'select id from refresh_grants where client_id = ?', [
      world.client.id,
    ]);
    expect(grants).toEqual([]);
  });

  it("shows the project issuer's tokens if the application got its latest tokens there", async () => {
    expect((await finish(await tried())).data.finishTrial.idToken.claims.iss).toBe(world.app.url);
    const issuer = `${world.app.url}/p/${world.project.slug}`;
    await changed(world.app.services.db, 'update participations set issuer = ? where client_id = ?', [
      issuer,
      world.client.id,
    ]);
    expect((await finish(await tried())).data.finishTrial).toMatchObject({
      idToken: { claims: { iss: issuer }, verified: true },
      accessToken: { claims: { iss: issuer }, verified: true },
    });
  });

  it('works once, and revokes no other token', async () => {
    const other = await world.exchange((await world.register(await world.page(), newAddress()))['code']);
    const back = await tried();
    expect((await finish(back)).code).toBeUndefined();
    expect((await finish(back)).code).toBe('grant-rejected');
    const headers = { Authorization: `Bearer ${other.body['access_token']}` };
    expect((await fetch(`${world.app.url}/userinfo`, { headers })).status).toBe(200);
  });

  it('reports an ID token with another nonce as not verified', async () => {
    const back = await tried();
    await changed(world.app.services.db, 'update authorization_codes set nonce = ? where client_id = ?', [
      'of another',
      world.client.id,
    ]);
    expect((await finish(back)).data.finishTrial).toMatchObject({
      idToken: { claims: { nonce: 'of another' }, verified: false },
      accessToken: { verified: true },
    });
  });

  it('leaves no valid token if it fails half-way', async () => {
    const { db } = world.app.services;
    const back = await tried();
    const rule = 'alter table audit_log add constraint no_trials';
    await changed(db, `${rule} check (type <> 'client.tried') not valid`);
    try {
      expect((await finish(back)).code).toBe('INTERNAL_SERVER_ERROR');
    } finally {
      await changed(db, 'alter table audit_log drop constraint no_trials');
    }
    const sql = 'select used_at is not null as used, revoked_at is not null as revoked from authorization_codes';
    const codes = await rows(db, `${sql} where client_id = ?`, [world.client.id]);
    expect(codes).toEqual([{ used: true, revoked: true }]);
  });

  it('continues only in the session that started it: not in another session, of this or another admin', async () => {
    const email = newAddress();
    browser = await adminsBrowser('project_admin', email);
    const back = await tried();
    const others = await Promise.all([adminsBrowser('owner'), adminsBrowser('project_admin', email)]);
    for (const other of others) expect((await finish(back, {}, other)).code).toBe('grant-rejected');
    const altered = { state: `${world.client.id}.${'x'.repeat(43)}` };
    expect((await finish(back, altered)).code).toBe('grant-rejected');
    const other = (await world.app.make.client(world.project)).client.id;
    expect((await finish(back, { clientId: other })).code).toBe('grant-rejected');
    expect((await finish(back)).code).toBeUndefined();
  });

  it('can be completed only in the browser that started it', async () => {
    const { address: to } = (await begin()).data.beginTrial;
    const elsewhere = await new CookieBrowser().get(world.app.url + to);
    expect(elsewhere.status).toBe(400);
  });

  it('ends when the code expires', async () => {
    const back = await tried();
    world.app.clock.turn(60);
    expect((await finish(back)).code).toBe('grant-rejected');
  });

  it('adds no redirect URI: codes cannot be requested for the console', async () => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: world.client.id,
      redirect_uri: `${world.app.url}/admin/trial`,
      scope: 'openid',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    });
    const answer = await browser.get(`${world.app.url}/authorize?${query}`);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  it('is for project admins in a browser: not for viewers, nor for tokens', async () => {
    expect((await begin(world.client.id, await adminsBrowser('project_viewer'))).code).toBe('forbidden');
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    const { token } = await world.app.services.admins.createToken(
      { name: 'CI', role: 'project_admin', projectId: world.project.id },
      by,
    );
    const response = await fetch(`${world.app.url}/admin/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: `mutation { beginTrial(clientId: "${world.client.id}") { address } }` }),
    });
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'forbidden' } }] });
  });

  it("is not for the console's own client, nor for one that is disabled", async () => {
    const owner = await adminsBrowser('owner');
    const { data } = await call('{ projects(first: 50) { edges { node { id builtIn } } } }', {}, owner);
    const own = data.projects.edges.find((edge: any) => edge.node.builtIn === 'CONSOLE').node.id;
    const clients = await call(
      'query ($id: ID!) { clients(projectId: $id) { edges { node { id } } } }',
      { id: own },
      owner,
    );
    expect((await begin(clients.data.clients.edges[0].node.id, owner)).code).toBe('forbidden');
    const back = await tried();
    await world.app.make.disable(world.client);
    expect((await begin()).code).toBe('forbidden');
    expect((await finish(back)).code).toBe('forbidden');
  });

  it('has its start and end in the audit log, under the application', async () => {
    await finish(await tried());
    expect(await world.events()).toEqual(expect.arrayContaining(['client.trial_begun', 'client.tried']));
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

/** RFC 6749 §5.2. */
const descriptionSyntax = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  ({ client } = await app.make.client(project));
  rp = new RelyingParty(app, client);
});

describe('POST /oauth2/token (RFC 6749 §4.1.3)', () => {
  it('returns the tokens of service.md 2.2 with the headers that forbid caching (RFC 6749 §5.1)', async () => {
    const sid = await rp.signIn(user);
    const code = await rp.code({ nonce: 'n-1', scope: 'openid email unknown' });
    const response = await rp.exchange(code);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    const body = (await response.json()) as TokenAnswer;
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 300, scope: 'openid email' });
    expect(await rp.claims(body.id_token)).toMatchObject({ sub: user.id, sid, nonce: 'n-1', email: user.email });
  });

  it.each<[string, Record<string, string | undefined>, number, string]>([
    ['no grant_type', { grant_type: undefined }, 400, 'invalid_request'],
    ['another grant_type', { grant_type: 'refresh_token' }, 400, 'unsupported_grant_type'],
    ['no code', { code: undefined }, 400, 'invalid_request'],
    ['no verifier', { code_verifier: undefined }, 400, 'invalid_request'],
    ['a wrong verifier', { code_verifier: 'w'.repeat(43) }, 400, 'invalid_grant'],
    ['a short verifier', { code_verifier: 'short' }, 400, 'invalid_grant'],
    ['a long verifier', { code_verifier: 'v'.repeat(129) }, 400, 'invalid_grant'],
    ['a verifier with bad characters', { code_verifier: `${'v'.repeat(42)}!` }, 400, 'invalid_grant'],
    ['no redirect_uri', { redirect_uri: undefined }, 400, 'invalid_request'],
    ['another redirect_uri', { redirect_uri: `${redirectUri}/` }, 400, 'invalid_grant'],
    ['an unknown code', { code: 'x'.repeat(43) }, 400, 'invalid_grant'],
    ['NUL in the code', { code: 'x\0' }, 400, 'invalid_request'],
    ['no client', { client_id: undefined }, 400, 'invalid_request'],
    ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['a client secret', { client_secret: 'x' }, 401, 'invalid_client'],
    ['an assertion of a public client', assertionOf('x.y.z'), 401, 'invalid_client'],
  ])('refuses %s', async (_name, changes, status, error) => {
    await rp.signIn(user);
    const code = await rp.code();
    const response = await rp.exchange(code, changes);
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const described = expect.stringMatching(descriptionSyntax);
    expect(await response.json()).toMatchObject({ error, error_description: described });
  });

  it('takes lifetimes from the project, and the access token’s from the client if it has one', async () => {
    await rp.signIn(user);
    await app.services.projects.updateSessionPolicy(
      project.id,
      { idTokenTtlSeconds: 120, accessTokenTtlSeconds: 600 },
      system,
    );
    const byProject = await rp.tokens();
    const { exp, iat } = await rp.claims(byProject.id_token);
    expect([Number(exp) - Number(iat), byProject.expires_in]).toEqual([120, 600]);
    await app.services.clients.update(client, { accessTokenTtlSeconds: 30 }, system);
    const byClient = await rp.tokens();
    expect(byClient.expires_in).toBe(30);
    app.clock.turn(30);
    expect((await rp.userInfo(byClient.access_token)).status).toBe(401);
    expect((await rp.userInfo(byProject.access_token)).status).toBe(200);
  });

  it('refuses the code of another client, and of another project', async () => {
    await rp.signIn(user);
    const { client: sibling } = await app.make.client(project);
    const { client: stranger } = await app.make.client(await app.make.project());
    for (const other of [sibling, stranger]) {
      const code = await rp.code();
      expect(await (await rp.exchange(code, { client_id: other.id })).json()).toMatchObject({ error: 'invalid_grant' });
    }
  });

  it('refuses HTTP Basic, JSON bodies, repeated parameters, a GET and 100 KB', async () => {
    const url = `${app.url}/oauth2/token`;
    const basic = await fetch(url, {
      method: 'POST',
      headers: { Authorization: 'Basic eDp5' },
      body: new URLSearchParams({ grant_type: 'authorization_code' }),
    });
    expect(basic.status).toBe(401);
    expect(basic.headers.get('www-authenticate')).toContain('Basic');
    const json = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
    expect([json.status, await json.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    const repeated = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams([
        ['grant_type', 'authorization_code'],
        ['grant_type', 'authorization_code'],
      ]),
    });
    const error_description = 'grant_type is repeated or malformed.';
    expect([repeated.status, await repeated.json()]).toEqual([400, { error: 'invalid_request', error_description }]);
    expect((await fetch(url)).status).toBe(405);
    const large = await fetch(url, { method: 'POST', body: new URLSearchParams({ code: 'x'.repeat(100_000) }) });
    expect([large.status, await large.json()]).toMatchObject([413, { error: 'invalid_request' }]);
  });

  it('redeems a code of the SDK with the client’s secret key only', async () => {
    const { client: backEnd, secretKey, publishableKey } = await app.make.client(project);
    const { secretKey: foreign } = await app.make.client(project);
    const sdkCode = () =>
      app.services.db.transaction((em) =>
        app.services.tokens.issueCode(em, {
          projectId: project.id,
          clientId: backEnd.id,
          userId: user.id,
          scope: 'openid email',
          authTime: app.clock.now(),
          amr: ['swk'],
        }),
      );
    const redeem = async (key: string | undefined) => {
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code: await sdkCode(),
        client_id: backEnd.id,
      });
      const response = await fetch(`${app.url}/oauth2/token`, {
        method: 'POST',
        body,
        headers: key === undefined ? {} : { 'X-Api-Key': key },
      });
      return response.status;
    };
    expect(await redeem(secretKey)).toBe(200);
    expect(await redeem(publishableKey)).toBe(401);
    expect(await redeem(foreign)).toBe(401);
    expect(await redeem('lk_sk_wrong')).toBe(401);
    expect(await redeem(undefined)).toBe(400);
  });
});

function assertionOf(assertion: string): Record<string, string | undefined> {
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  return { client_assertion: assertion, client_assertion_type: type };
}

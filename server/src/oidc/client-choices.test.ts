/** Choices of clients at the issuer of their project: algorithms of ID tokens, PKCE, response modes. */
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
});

/** A client and its parties at the issuer of its project and at the base issuer, signed in. */
async function partyOf(settings: Parameters<TestApp['make']['client']>[1]) {
  const { client, clientSecret } = await app.make.client(project, settings);
  const party = partyAt(app, project, client);
  await party.signIn(user);
  const base = new RelyingParty(app, client);
  await base.signIn(user);
  return { party, client, secret: clientSecret ?? '', base };
}

async function outcome(response: Response): Promise<[number, string | undefined, string | undefined]> {
  const { error, error_description } = (await response.json()) as { error?: string; error_description?: string };
  return [response.status, error, error_description];
}

describe('ID tokens', () => {
  const keysAt = async (url: string) =>
    (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { alg: string; kid: string }[] };
  const algorithms = async (url: string) => (await keysAt(url)).keys.map(({ alg }) => alg).sort();

  it.each(['ES512', 'ES256', 'RS256', 'EdDSA'] as const)(
    'are signed with %s at the project’s issuer, with ES512 at the base',
    async (alg) => {
      const { party, base } = await partyOf({ idTokenSignedResponseAlg: alg });
      expect(await algorithms(party.issuer)).toEqual([alg]);
      const { id_token } = await party.tokens();
      const jwks = createLocalJWKSet(await keysAt(party.issuer));
      const options = {
        issuer: party.issuer,
        audience: party.client.id,
        algorithms: [alg],
        currentDate: app.clock.now(),
      };
      expect((await jwtVerify(id_token, jwks, options)).payload.sub).toBe(user.id);
      expect(decodeProtectedHeader((await base.tokens()).id_token).alg).toBe('ES512');
      expect(await algorithms(app.url)).toEqual(['ES512', 'EdDSA']);
      // The hint of each algorithm is accepted at its issuer.
      expect((await party.answer({ id_token_hint: id_token, prompt: 'none' })).has('code')).toBe(true);
      const ended = await party.endSession({
        id_token_hint: id_token,
        post_logout_redirect_uri: 'https://app.example.com/bye',
      });
      expect(ended.headers.get('location')).toBe('https://app.example.com/bye');
    },
  );

  it.each([
    ['changed', (client: Client) => app.services.clients.update(client, { idTokenSignedResponseAlg: 'ES512' }, system)],
    ['disabled', (client: Client) => app.services.clients.update(client, { disabled: true }, system)],
    ['deleted', (client: Client) => app.services.clients.delete(client, system)],
  ])('keep verifying for a day after their client is %s', async (_, end) => {
    const { party, client } = await partyOf({ idTokenSignedResponseAlg: 'RS256' });
    const { id_token } = await party.tokens();
    const signedAt = app.clock.now();
    await end(client);
    app.clock.turn(24 * 3600 - 60);
    const jwks = createLocalJWKSet(await keysAt(party.issuer));
    await jwtVerify(id_token, jwks, { currentDate: signedAt });
    app.clock.turn(240);
    expect(await algorithms(party.issuer)).toEqual(['ES512']);
  });

  it('signed with EdDSA are not access tokens, nor the reverse', async () => {
    const { party } = await partyOf({ idTokenSignedResponseAlg: 'EdDSA' });
    const { id_token, access_token } = await party.tokens();
    expect((await party.userInfo(id_token)).status).toBe(401);
    expect((await party.answer({ id_token_hint: access_token, prompt: 'none' })).get('error')).toBe('login_required');
  });

  it('keep verifying through a rotation and stop at a withdrawal', async () => {
    const { party } = await partyOf({ idTokenSignedResponseAlg: 'RS256' });
    const { keys } = app.services;
    const before = (await keysAt(party.issuer)).keys.map(({ kid }) => kid);
    await keys.rotate(system);
    app.clock.turn(6);
    expect((await keysAt(party.issuer)).keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining(before));
    expect((await keysAt(party.issuer)).keys).toHaveLength(before.length + 1);
    await keys.withdrawAll(system);
    app.clock.turn(6);
    expect((await keysAt(party.issuer)).keys).toHaveLength(1);
    expect(await algorithms(app.url)).toEqual(['ES512', 'EdDSA']);
  });
});

describe('a new client with a secret', () => {
  it('signs in as products do: RS256, without PKCE, and with a refresh token', async () => {
    const { party, base, secret } = await partyOf({ tokenEndpointAuthMethod: 'client_secret_basic' });
    const without: Changes = { code_challenge: undefined, code_challenge_method: undefined };
    const form = { client_secret: secret, code_verifier: undefined };
    const response = await party.exchange(await party.code({ ...without, scope: 'openid offline_access' }), form);
    const tokens = (await response.json()) as Record<string, string>;
    const { alg } = decodeProtectedHeader(tokens['id_token'] ?? '');
    const { exp = 0, iat = 0 } = decodeJwt(tokens['id_token'] ?? '');
    expect([response.status, alg, exp - iat, typeof tokens['refresh_token']]).toEqual([200, 'RS256', 300, 'string']);
    // The base issuer demands PKCE, and takes no secret.
    expect((await base.answer(without)).get('error')).toBe('invalid_request');
  });

  it('has a challenge bound once it was sent, and none added later', async () => {
    const { party, secret } = await partyOf({ tokenEndpointAuthMethod: 'client_secret_post' });
    const without: Changes = { code_challenge: undefined, code_challenge_method: undefined };
    const form = { client_secret: secret };
    for (const verifier of [undefined, 'x'.repeat(43)]) {
      const downgraded = await party.exchange(await party.code(), { ...form, code_verifier: verifier });
      expect([verifier, (await outcome(downgraded))[1]]).toEqual([verifier, 'invalid_grant']);
    }
    const added = await party.exchange(await party.code(without), form);
    expect((await outcome(added)).slice(0, 2)).toEqual([400, 'invalid_grant']);
    expect((await party.exchange(await party.code(), form)).status).toBe(200);
  });

  it('has ID tokens of its own lifetime, also after a refresh; without one, that of the project', async () => {
    const { party, client, secret } = await partyOf({ tokenEndpointAuthMethod: 'client_secret_post' });
    const lifetimes = async () => {
      const response = await party.exchange(await party.code({ scope: 'openid offline_access' }), {
        client_secret: secret,
      });
      const first = (await response.json()) as Record<string, string>;
      const refreshed = await fetch(`${party.issuer}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' },
          ...{ client_id: client.id, client_secret: secret },
        }),
      });
      const second = (await refreshed.json()) as Record<string, string>;
      return [first, second].map(({ id_token = '' }) => {
        const { exp = 0, iat = 0 } = decodeJwt(id_token);
        return exp - iat;
      });
    };
    expect(await lifetimes()).toEqual([300, 300]);
    await app.services.clients.update(client, { idTokenTtlSeconds: 7200 }, system);
    expect(await lifetimes()).toEqual([7200, 7200]);
    await app.services.clients.update(client, { idTokenTtlSeconds: null }, system);
    expect(await lifetimes()).toEqual([60, 60]);
  });
});

describe('PKCE and response modes', () => {
  const without: Changes = { code_challenge: undefined, code_challenge_method: undefined };

  it('lets a confidential client omit PKCE only if permitted, at its project’s issuer', async () => {
    const settings = { tokenEndpointAuthMethod: 'client_secret_post', pkceRequired: true } as const;
    const { party, base, client, secret } = await partyOf(settings);
    expect((await party.answer(without)).get('error_description')).toContain('an administrator allows it');
    await app.services.clients.update(client, { pkceOptional: true }, system);
    const exchange = async (changes: Changes) => {
      const code = await party.code(without);
      return party.exchange(code, { client_secret: secret, code_verifier: undefined, ...changes });
    };
    expect((await exchange({})).status).toBe(200);
    expect((await outcome(await exchange({ code_verifier: party.proof.verifier })))[1]).toBe('invalid_grant');
    // A code with a challenge always needs its verifier (RFC 9700 §4.8.2).
    const downgraded = await party.exchange(await party.code(), { client_secret: secret, code_verifier: undefined });
    expect((await outcome(downgraded))[1]).toBe('invalid_grant');
    expect((await party.answer({ code_challenge: undefined })).get('error')).toBe('invalid_request');
    expect((await base.answer(without)).get('error_description')).toContain('use PKCE, or the issuer of its project');
    await app.services.clients.update(client, { tokenEndpointAuthMethod: 'none' }, system);
    expect((await party.answer(without)).get('error')).toBe('invalid_request');
  });

  it('reports a missing verifier in the same way for all clients, at both issuers', async () => {
    const open = await partyOf({});
    const closed = await partyOf({ tokenEndpointAuthMethod: 'client_secret_post', pkceRequired: true });
    for (const [rp, changes] of [
      [open.base, {}],
      [open.party, {}],
      [closed.party, { client_secret: closed.secret }],
    ] as [RelyingParty, Changes][]) {
      const response = await rp.exchange(await rp.code(), { ...changes, code_verifier: undefined });
      expect(await outcome(response)).toEqual([400, 'invalid_request', 'code_verifier is missing.']);
    }
  });

  it('responds with a form that the browser posts, including for errors and after a sign-in', async () => {
    const { party } = await partyOf({});
    const fields = async (changes: Changes) => {
      const response = await party.authorize({ response_mode: 'form_post', state: '"><script>', ...changes });
      expect(response.status).toBe(200);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'sha256-");
      expect(policy).not.toContain('unsafe');
      const page = await response.text();
      expect(page).not.toContain('"><script>');
      expect(page).toContain('<form method="post" action="https://app.example.com/callback">');
      expect(page).toContain('<button>');
      return Object.fromEntries(
        [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      );
    };
    const { code = '', iss, state } = await fields({});
    expect([iss, state]).toEqual([party.issuer, '&quot;&gt;&lt;script&gt;']);
    expect((await party.exchange(code)).status).toBe(200);
    expect(await fields({ scope: 'profile' })).toMatchObject({ error: 'invalid_scope', iss: party.issuer });
    party.signOut();
    const flow = new URL(
      (await party.authorize({ response_mode: 'form_post' })).headers.get('location') ?? '',
      app.url,
    );
    await party.signIn(user);
    const resumed = await party.browser.get(`${party.issuer}/authorize/resume${flow.search}`);
    expect(await resumed.text()).toContain('name="code"');
    expect((await party.answer({ response_mode: 'fragment' })).get('error_description')).toBe(
      'response_mode must be query or form_post.',
    );
  });
});

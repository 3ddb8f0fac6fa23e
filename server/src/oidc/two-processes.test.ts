/** A change in one process applies immediately in another that has the client cached (decisions/0080). */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let here: TestApp;
let there: TestApp;
let project: Project;
let user: User;
let client: Client;
/** The same user and client, served by the other process. */
let rp: RelyingParty;

beforeAll(async () => {
  here = await buildTestApp();
  there = await buildSibling(here);
});

afterAll(async () => {
  await there.close();
  await here.close();
});

beforeEach(async () => {
  project = await here.make.project();
  user = await here.make.user(project);
  client = (await here.make.client(project)).client;
  rp = new RelyingParty(there, client);
  await rp.signIn(user);
});

/** Gets a code from the other process, which then has the client cached. */
async function codeFromThere(): Promise<string> {
  const code = locationOf(await rp.authorize()).searchParams.get('code');
  if (code === null) throw new Error('the other process returned no code');
  return code;
}

function change(input: Parameters<TestApp['services']['clients']['update']>[1]): Promise<unknown> {
  return here.services.clients.update(client, input, system);
}

describe('a change in one process', () => {
  it('that disables a client applies in another with the client cached, at /authorize and at the exchange', async () => {
    const code = await codeFromThere();
    await change({ disabled: true });
    const refusal = await rp.authorize();
    expect(refusal.status).toBe(400);
    expect(refusal.headers.get('location')).toBeNull();
    const exchange = await rp.exchange(code);
    expect(exchange.status).toBe(401);
    expect(await exchange.json()).toMatchObject({ error: 'invalid_client' });
  });

  it('that removes a redirect URI applies in another: no code is sent there', async () => {
    await codeFromThere();
    await change({ redirectUris: ['https://elsewhere.example.com/callback'] });
    const refusal = await rp.authorize({ redirect_uri: redirectUri });
    expect(refusal.status).toBe(400);
    expect(refusal.headers.get('location')).toBeNull();
  });

  it('that adds a redirect URI applies in another immediately', async () => {
    await codeFromThere();
    await change({ redirectUris: [redirectUri, 'https://new.example.com/callback'] });
    const answer = await rp.authorize({ redirect_uri: 'https://new.example.com/callback' });
    expect(locationOf(answer).searchParams.has('code')).toBe(true);
  });

  it('that lets a client omit PKCE applies in another immediately, at the exchange, too', async () => {
    const { client: web, clientSecret } = await here.make.client(project, {
      tokenEndpointAuthMethod: 'client_secret_basic',
    });
    const issuer = partyAt(here, project, web).issuer;
    const at = (app: TestApp) => new RelyingParty(app, web, issuer.replace(here.url, app.url));
    const [first, second] = [at(here), at(there)];
    await first.signIn(user);
    const secret = { Authorization: `Basic ${Buffer.from(`${web.id}:${clientSecret}`).toString('base64')}` };
    // The other process has the client cached.
    expect((await second.exchange('x', {}, secret)).status).toBe(400);
    await here.services.clients.update(web, { pkceOptional: true }, system);
    const code = await first.code({ code_challenge: undefined, code_challenge_method: undefined });
    expect((await second.exchange(code, { code_verifier: undefined }, secret)).status).toBe(200);
    await here.services.clients.update(web, { pkceOptional: false }, system);
    const refused = await second.exchange('x', { code_verifier: undefined }, secret);
    expect(await refused.json()).toMatchObject({
      error: 'invalid_request',
      error_description: 'code_verifier is missing.',
    });
  });

  it('that deactivates a user or ends the session applies in another', async () => {
    const code = await codeFromThere();
    await here.services.accounts.setActive(project.id, user.id, false, system);
    expect(locationOf(await rp.authorize({ prompt: 'none' })).searchParams.get('error')).toBe('login_required');
    expect(await (await rp.exchange(code)).json()).toMatchObject({ error: 'invalid_grant' });
  });

  it('that shortens the lifetime of tokens or sessions applies in another immediately', async () => {
    await codeFromThere();
    await change({ accessTokenTtlSeconds: 7 });
    expect(await (await rp.exchange(await codeFromThere())).json()).toMatchObject({ expires_in: 7 });
    await here.services.projects.updateSessionPolicy(project.id, { idleTimeoutSeconds: 60 }, system);
    here.clock.turn(61);
    expect(locationOf(await rp.authorize({ prompt: 'none' })).searchParams.get('error')).toBe('login_required');
  });

  it('that demands proofs of a key, assigns access or disables a client applies to tokens in another', async () => {
    const { access_token } = (await (await rp.exchange(await codeFromThere())).json()) as { access_token: string };
    const read = async () => (await rp.userInfo(access_token)).status;
    const settings = [
      { dpopRequired: true },
      { access: 'assigned' },
      { thirdParty: true },
      { disabled: true },
    ] as const;
    for (const refused of settings) {
      expect(await read()).toBe(200);
      await change(refused);
      expect([refused, await read()]).toEqual([refused, 401]);
      await change({ dpopRequired: false, access: 'everyone', thirdParty: false, disabled: false });
    }
    expect(await read()).toBe(200);
  });

  it('is found stale once by another, which then caches the new client', async () => {
    await codeFromThere();
    const { registry } = there.services;
    const { version } = client;
    await change({ name: 'Renamed' });
    expect(await registry.cached.byId(client.id)).toMatchObject({ version });
    await codeFromThere();
    expect(await registry.cached.byId(client.id)).toMatchObject({ version: version + 1, name: 'Renamed' });
  });

  it('that replaces the key of a client applies in another immediately', async () => {
    const [old, young] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
    const jwkOf = ({ publicKey }: typeof old) => publicKey.export({ format: 'jwk' });
    const settings = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: jwkOf(old) } as const;
    client = (await here.make.client(project, settings)).client;
    rp = new RelyingParty(there, client);
    await rp.signIn(user);
    const exchange = async ({ privateKey }: typeof old, code: string) => {
      const times = { iat: seconds(there.clock.now()), exp: seconds(there.clock.now()) + 60 };
      const claims = { iss: client.id, sub: client.id, aud: `${here.url}/oauth2/token`, jti: randomUUID(), ...times };
      const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(privateKey);
      const form = { client_id: undefined, client_assertion: assertion, client_assertion_type: assertionType };
      return (await rp.exchange(code, form)).status;
    };
    expect(await exchange(old, await codeFromThere())).toBe(200);
    const code = await codeFromThere();
    await change({ jwks: jwkOf(young) });
    expect(await exchange(old, code)).toBe(401);
    expect(await exchange(young, code)).toBe(200);
  });
});

/** Access tokens end with the secret or key that obtained them, and with the start of a demand for proofs of a key. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { administer, type Machine, machineOf, send, tokenOf } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
});

type Tokens = Record<'access_token' | 'refresh_token', string>;
const tokensIn = async (response: Response) => {
  const tokens = (await response.json()) as Tokens;
  expect([response.status, tokens]).toMatchObject([200, { access_token: expect.any(String) }]);
  return tokens;
};

/** Revokes the secret or API key that ends with these characters. */
async function revokeSecret(client: Client, secret: string): Promise<void> {
  const { clientSecrets, db } = app.services;
  const all = await clientSecrets.of(db.reader(), [client]);
  const found = all.find(({ hint }) => secret.endsWith(hint));
  if (found) await clientSecrets.revoke(found, system);
  else throw new Error('no such secret');
}

describe('a revoked client secret', () => {
  it('ends the access tokens of users that it obtained, by code and by refresh, and no others', async () => {
    const made = await app.make.client(project, { tokenEndpointAuthMethod: 'client_secret_post' });
    const { client, clientSecret: first } = made;
    const { secret: second } = await app.services.clientSecrets.issue(client, system);
    const party = partyAt(app, project, client);
    await party.signIn(user);
    const obtain = async (secret: string | null) =>
      tokensIn(
        await party.exchange(await party.code({ scope: 'openid offline_access' }), { client_secret: secret ?? '' }),
      );
    const refresh = (secret: string | null, { refresh_token }: Tokens) =>
      fetch(`${party.issuer}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ grant_type: 'refresh_token', refresh_token },
          ...{ client_id: client.id, client_secret: secret ?? '' },
        }),
      });
    const byFirst = await obtain(first);
    const bySecond = await obtain(second);
    const renewed = await tokensIn(await refresh(first, bySecond));
    const statuses = async () =>
      Promise.all([byFirst, bySecond, renewed].map(async (one) => (await party.userInfo(one.access_token)).status));
    expect(await statuses()).toEqual([200, 200, 200]);

    await revokeSecret(client, first ?? '');
    expect(await statuses()).toEqual([401, 200, 401]);
    // The refresh grant is refused without a live secret, and stays usable with one.
    expect((await refresh(first, byFirst)).status).toBe(401);
    const again = await tokensIn(await refresh(second, byFirst));
    expect((await party.userInfo(again.access_token)).status).toBe(200);
    await revokeSecret(client, second);
    expect((await party.userInfo(again.access_token)).status).toBe(401);
  });

  it('ends the tokens of the application itself: at the admin API and by introspection', async () => {
    const machine = await machineOf(app, project, { adminScopes: ['users:read'] });
    const { secret } = await app.services.clientSecrets.issue(machine.client, system);
    const other: Machine = { ...machine, secret };
    const tokens = [await tokenOf(machine), await tokenOf(other)];
    const read = `{ user(id: "${user.id}") { id } }`;
    const seen = async () =>
      Promise.all(
        tokens.map(async (token) => {
          const introspected = (await (await send(other, '/oauth2/introspect', { token })).json()) as {
            active: boolean;
          };
          return [(await administer(app, token, read)).status, introspected.active];
        }),
      );
    expect(await seen()).toEqual([
      [200, true],
      [200, true],
    ]);
    await revokeSecret(machine.client, machine.secret);
    expect(await seen()).toEqual([
      [401, false],
      [200, true],
    ]);
  });
});

it('a revoked secret key ends the access tokens that it obtained', async () => {
  const { client, secretKey } = await app.make.client(project);
  const party = new RelyingParty(app, client);
  await party.signIn(user);
  const byKey = await tokensIn(await party.exchange(await party.code(), {}, { 'X-Api-Key': secretKey }));
  const without = await party.tokens();
  const statuses = async () =>
    Promise.all([byKey, without].map(async (one) => (await party.userInfo(one.access_token)).status));
  expect(await statuses()).toEqual([200, 200]);
  const keys = await app.services.clients.apiKeysOf(app.services.db.reader(), [client]);
  const key = keys.find(({ hint, kind }) => kind === 'secret' && secretKey.endsWith(hint));
  if (!key) throw new Error('no such key');
  await app.services.clients.revokeApiKey(key, system);
  expect(await statuses()).toEqual([401, 200]);
});

describe('a key that is removed from jwks', () => {
  const pairs = {
    EdDSA: generateKeyPairSync('ed25519'),
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  };
  type Alg = keyof typeof pairs;
  const setOf = (...algs: Alg[]) => ({
    keys: algs.map((alg) => ({ ...pairs[alg].publicKey.export({ format: 'jwk' }), kid: alg })),
  });
  const assertionOf = (party: RelyingParty, key: KeyObject, header: { alg: string; kid?: string }) => {
    const now = Math.floor(app.clock.now().getTime() / 1000);
    const { id } = party.client;
    const claims = { iss: id, sub: id, aud: party.issuer, iat: now, exp: now + 60, jti: randomUUID() };
    return new SignJWT(claims).setProtectedHeader(header).sign(key);
  };
  const obtain = async (party: RelyingParty, key: KeyObject, header: { alg: string; kid?: string }) =>
    tokensIn(
      await party.exchange(await party.code(), {
        client_id: undefined,
        client_assertion: await assertionOf(party, key, header),
        client_assertion_type: assertionType,
      }),
    );

  it.each(['EdDSA', 'ES256', 'RS256'] as const)('ends the access tokens that it obtained: %s', async (alg) => {
    const settings = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: setOf('EdDSA', 'ES256', 'RS256') } as const;
    const { client } = await app.make.client(project, settings);
    const party = partyAt(app, project, client);
    await party.signIn(user);
    const removed = await obtain(party, pairs[alg].privateKey, { alg, kid: alg });
    const rest = (['EdDSA', 'ES256', 'RS256'] as const).filter((one) => one !== alg);
    const [kept = 'EdDSA'] = rest;
    const other = await obtain(party, pairs[kept].privateKey, { alg: kept, kid: kept });
    const statuses = async () =>
      Promise.all([removed, other].map(async (one) => (await party.userInfo(one.access_token)).status));
    expect(await statuses()).toEqual([200, 200]);
    await app.services.clients.update(client, { jwks: setOf(...rest) }, system);
    expect(await statuses()).toEqual([401, 200]);
  });

  it('ends the access tokens of devices that it obtained', async () => {
    const settings = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: setOf('EdDSA', 'ES256') } as const;
    const { client } = await app.make.client(project, { ...settings, grantTypes: ['device_code'] });
    const party = partyAt(app, project, client);
    const person = new DeviceBrowser(app, party.issuer);
    await person.signIn(user);
    const post = async (path: string, fields: Record<string, string>) => {
      const assertion = await assertionOf(party, pairs.EdDSA.privateKey, { alg: 'EdDSA', kid: 'EdDSA' });
      const body = { ...fields, client_assertion: assertion, client_assertion_type: assertionType };
      return fetch(`${party.issuer}/oauth2/${path}`, { method: 'POST', body: new URLSearchParams(body) });
    };
    const codes = (await (await post('device_authorization', { scope: 'openid' })).json()) as Record<string, string>;
    await person.allow(codes['user_code'] ?? '');
    const code = { grant_type: grantTypeNames.device_code, device_code: codes['device_code'] ?? '' };
    const { access_token } = await tokensIn(await post('token', code));
    expect((await party.userInfo(access_token)).status).toBe(200);
    await app.services.clients.update(client, { jwks: setOf('ES256') }, system);
    expect((await party.userInfo(access_token)).status).toBe(401);
  });

  it('ends them at the base issuer, too, once its only key is replaced', async () => {
    const jwks = pairs.EdDSA.publicKey.export({ format: 'jwk' });
    const { client } = await app.make.client(project, { tokenEndpointAuthMethod: 'private_key_jwt', jwks });
    const party = new RelyingParty(app, client);
    await party.signIn(user);
    const { access_token } = await obtain(party, pairs.EdDSA.privateKey, { alg: 'EdDSA' });
    await app.services.clients.update(client, { name: 'Renamed' }, system);
    expect((await party.userInfo(access_token)).status).toBe(200);
    const next = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    await app.services.clients.update(client, { jwks: next }, system);
    expect((await party.userInfo(access_token)).status).toBe(401);
  });
});

describe('once proofs of a key are demanded', () => {
  it('a bearer token for the admin API is refused, and is not active', async () => {
    const machine = await machineOf(app, project, { adminScopes: ['users:read'] });
    const token = await tokenOf(machine);
    const read = `{ user(id: "${user.id}") { id } }`;
    expect((await administer(app, token, read)).status).toBe(200);
    await app.services.clients.update(machine.client, { dpopRequired: true }, system);
    expect((await administer(app, token, read)).status).toBe(401);
    expect(await (await send(machine, '/oauth2/introspect', { token })).json()).toEqual({ active: false });
    await app.services.clients.update(machine.client, { dpopRequired: false }, system);
    expect((await administer(app, token, read)).status).toBe(200);
  });

  it('a bearer token for UserInfo is refused', async () => {
    const { client } = await app.make.client(project);
    const party = new RelyingParty(app, client);
    await party.signIn(user);
    const { access_token } = await party.tokens();
    await app.services.clients.update(client, { dpopRequired: true }, system);
    expect((await party.userInfo(access_token)).status).toBe(401);
  });
});

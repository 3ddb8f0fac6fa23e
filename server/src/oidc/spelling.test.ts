/** A token has one spelling (RFC 7515 §2): every endpoint refuses other encodings of the same bytes. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { reencoded } from '../../test/reencoded.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let project: Project;
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
  rp = new RelyingParty(app, (await app.make.client(project)).client);
  await rp.signIn(user);
});

it('an access token is accepted at UserInfo in one spelling, before and after the token was cached', async () => {
  const { access_token: accessToken } = await rp.tokens();
  for (let round = 0; round < 2; round += 1) {
    for (const other of reencoded(accessToken)) expect((await rp.userInfo(other)).status).toBe(401);
    expect((await rp.userInfo(accessToken)).status).toBe(200);
  }
});

it('an ID token as a hint is accepted in one spelling', async () => {
  const { id_token: hint } = await rp.tokens();
  for (const other of [`${hint}=`, `${hint}==`, hint.replaceAll('-', '+').replaceAll('_', '/')]) {
    const response = await rp.endSession({ client_id: rp.client.id, id_token_hint: other });
    expect([response.status, await rp.isSignedIn()]).toEqual([200, true]);
    expect((await rp.answer({ id_token_hint: other, prompt: 'none' })).get('error')).toBe('login_required');
  }
});

it('a client assertion is accepted in one spelling', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const settings = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: publicKey.export({ format: 'jwk' }) } as const;
  rp = new RelyingParty(app, (await app.make.client(project, settings)).client);
  await rp.signIn(user);
  const id = rp.client.id;
  const now = seconds(app.clock.now());
  const claims = { iss: id, sub: id, aud: app.url, jti: randomUUID(), iat: now, exp: now + 60 };
  const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(privateKey);
  const exchange = async (text: string) => {
    const form = { client_id: id, client_assertion: text, client_assertion_type: assertionType };
    return (await rp.exchange(await rp.code(), form)).status;
  };
  for (const other of reencoded(assertion)) expect(await exchange(other)).toBe(401);
  expect(await exchange(assertion)).toBe(200);
});

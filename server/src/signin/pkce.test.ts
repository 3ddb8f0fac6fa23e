/** Clients that require PKCE (RFC 9700 §2.1.1). */

import { expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { pkce } from '../../test/browser.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
const demand = () => world.app.services.clients.update(world.client, { pkceRequired: true }, system);
const demanded = refusal('PKCE_REQUIRED', 400);
const { verifier, challenge } = pkce();
const begun = ({ key: { jkt } }: SigninPage) => ({ jkt, code_challenge: challenge });

it('a challenge without code_challenge is rejected, even with a cached key', async () => {
  const page = await world.page();
  expect((await page.challenge()).httpStatus).toBe(200);
  await demand();
  for (let n = 0; n < 2; n += 1) expect(await page.challenge()).toMatchObject(demanded);
  const open = 'select from ceremonies where project_id = ?';
  expect(await rows(world.app.services.db, open, [world.project.id])).toHaveLength(1);
  expect((await page.challenge(begun(page))).httpStatus).toBe(200);
});

it('the hosted page continues: its request has the code_challenge', async () => {
  await demand();
  const hosted = new HostedBrowser(world, new SoftAuthenticator());
  await hosted.open();
  const done = expectStatus(await hosted.register(newAddress()), 'SUCCESS');
  expect((await hosted.claims(done))['aud']).toBe(world.client.id);
});

it('a sign-in begun without code_challenge cannot continue; with one, the code needs its verifier', async () => {
  const userid = newAddress();
  const page = await world.page();
  await page.challenge();
  await demand();
  expect(await page.step('authenticate', { userid })).toMatchObject(demanded);
  await page.challenge(begun(page));
  expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
  const otp = await world.codeFor(userid);
  expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
  const { code } = expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  expect((await world.exchange(code)).body['error']).toBe('invalid_grant');
  expect((await world.exchange(code, { form: { code_verifier: verifier } })).status).toBe(200);
});

it('a page begins with one request, which refuses nothing and writes no event, where PKCE is required and passkeys are off', async () => {
  await demand();
  await world.set({ passkeyPolicy: 'off' });
  const page = await world.page();
  const before = await world.events();
  const { jkt } = page.key;
  const answer = await page.challenge({ jkt, passkey: true, code_challenge_if_required: challenge });
  expect(answer).toMatchObject({ httpStatus: 200, code_challenge_method: 'S256' });
  expect(answer).not.toHaveProperty('passkey_options');
  expect(await world.events()).toEqual(before);
});

it('a spare code_challenge is used only if the client requires PKCE, and nothing is refused', async () => {
  const spare = ({ key: { jkt } }: SigninPage) => ({ jkt, code_challenge_if_required: challenge });
  const signIn = async () => {
    const [userid, page] = [newAddress(), await world.page()];
    const { code_challenge_method: method } = await page.challenge(spare(page));
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    const { code } = expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    return { method, code };
  };
  const free = await signIn();
  expect(free.method).toBeUndefined();
  expect((await world.exchange(free.code)).status).toBe(200);
  await demand();
  const bound = await signIn();
  expect(bound.method).toBe('S256');
  expect((await world.exchange(bound.code)).body['error']).toBe('invalid_grant');
  expect((await world.exchange(bound.code, { form: { code_verifier: verifier } })).status).toBe(200);
  const page = await world.page();
  expect((await page.challenge({ code_challenge_if_required: 'short' })).httpStatus).toBe(400);
});

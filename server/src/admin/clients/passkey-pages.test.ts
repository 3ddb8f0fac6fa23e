/** Clients whose pages can use passkeys (`relatedOrigins`), changed by clients with scopes at the admin API. */
import { expect, it } from 'vitest';
import { SoftAuthenticator } from '../../../test/authenticator.ts';
import { HostedBrowser } from '../../../test/hosted-browser.ts';
import { administer, machineOf, tokenOf } from '../../../test/machine.ts';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';

const world = SigninWorld.ofTests();

const holding = async (...adminScopes: AdminScope[]) =>
  tokenOf(await machineOf(world.app, world.project, { adminScopes }));
const evil = 'https://evil.example';
const setting = (settings: string) => `redirectUris: ["${evil}/cb"], ${settings}`;
const create = (token: string, settings: string) => {
  const input = `projectId: "${world.project.id}", name: "X", ${settings}`;
  return administer(world.app, token, `mutation { createClient(input: { ${input} }) { publishableKey } }`);
};
const update = async (token: string, settings: string) => {
  const change = `mutation { updateClient(input: { id: "${world.client.id}", ${settings} }) { redirectUris } }`;
  return (await administer(world.app, token, change)).code;
};

it('such a page can add a passkey for a user who signs in with one: its client needs `users:write`', async () => {
  const userid = newAddress();
  const [own, other] = [new SoftAuthenticator(), new SoftAuthenticator()];
  const hosted = new HostedBrowser(world, own);
  await hosted.open();
  expectStatus(await hosted.register(userid), 'SUCCESS');
  expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');

  expect((await create(await holding('clients:write', 'users:read'), setting('relatedOrigins: true'))).code).toBe(
    'forbidden',
  );
  const { data } = await create(await holding('clients:write', 'users:write'), setting('relatedOrigins: true'));
  const page = await world.page(undefined, { origin: evil, apiKey: data.createClient.publishableKey });
  await page.challenge();
  await page.step('authenticate', { userid, step_up: 'create_passkey' });
  const { options } = await page.step('passkey-options', {});
  const at = { origin: evil, rpId: options.rpId };
  expectStatus(await page.step('verify-passkey', { credential: own.get(options, at) }), 'SUCCESS');
  const { options: wanted } = await page.step('passkey-options', { purpose: 'registration' });
  expectStatus(await page.step('register-passkey', { credential: other.create(wanted, at) }), 'PASSKEY_REGISTERED');
  const elsewhere = new HostedBrowser(world, other);
  await elsewhere.open();
  expectStatus(await elsewhere.usePasskey(), 'SUCCESS');
});

it('without `users:write` a client neither lets pages use passkeys nor adds such pages', async () => {
  const weak = await holding('clients:write');
  expect(await update(weak, setting('relatedOrigins: false'))).toBeUndefined();
  expect(await update(weak, 'relatedOrigins: true')).toBe('forbidden');
  await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
  expect(await update(weak, 'redirectUris: ["https://worse.example/cb"]')).toBe('forbidden');
  expect(await update(weak, 'name: "Renamed", redirectUris: null')).toBeUndefined();
  expect((await create(weak, setting('relatedOrigins: false'))).code).toBeUndefined();
  const both = await holding('clients:write', 'users:write');
  expect(await update(both, setting('relatedOrigins: true'))).toBeUndefined();
  expect(await update(weak, 'relatedOrigins: false')).toBeUndefined();
});

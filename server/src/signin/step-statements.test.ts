/** The statements of a step in the table of steps, without shortcuts (decisions/0369). */
import { expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { buildSibling } from '../../test/build-app.ts';
import { newDeviceKey, SigninPage } from '../../test/signin-browser.ts';
import { appOrigin, expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';

const world = SigninWorld.ofTests();
const now = () => Math.floor(world.app.clock.now().getTime() / 1000);

/** The statements of `authenticate` in the second of two sign-ins, long after the registration. */
async function statementsOf(page: () => Promise<SigninPage>, userid: string): Promise<number> {
  let count = 0;
  for (let signIn = 0; signIn < 2; signIn += 1) {
    world.app.clock.turn(15 * 60);
    const one = await page();
    await one.challenge();
    const statements = await statementsDuring(async () => {
      expectStatus(await one.step('authenticate', { userid }, 'use'), 'SUCCESS');
    });
    count = statements.length;
  }
  return count;
}

it('a trusted device on the hosted page takes 11, its request and the transaction included', async () => {
  const browser = new CookieBrowser();
  const [key, userid] = [await newDeviceKey(), newAddress()];
  const page = async () => {
    const query = new URLSearchParams(authorizationParameters(world.client.id, pkce().challenge, {}));
    const flow = locationOf(await browser.get(`${world.app.url}/authorize?${query}`)).searchParams.get('flow') ?? '';
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new SigninPage(world.app.url, { origin: world.app.url, flow, cookie }, key, now);
  };
  expectStatus(await world.register(await page(), userid), 'SUCCESS');
  expect(await statementsOf(page, userid)).toBe(11);
});

it('a trusted device on an application’s page takes 10', async () => {
  const plain = await buildSibling(world.app, undefined, { signInShortcuts: false });
  try {
    const userid = newAddress();
    const first = await world.page();
    await world.register(first, userid);
    const page = async () => new SigninPage(plain.url, { origin: appOrigin, apiKey: world.apiKey }, first.key, now);
    expect(await statementsOf(page, userid)).toBe(10);
  } finally {
    await plain.close();
  }
});

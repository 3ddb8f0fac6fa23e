/** The statements of a step on the hosted page (decisions/0085). */
import { expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { newDeviceKey, SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';

const world = SigninWorld.ofTests();
const now = () => Math.floor(world.app.clock.now().getTime() / 1000);

/** The statements of `authenticate` in the second of two sign-ins, long after the registration. @param before what happens before it */
async function statementsOf(page: () => Promise<SigninPage>, userid: string, before = () => {}): Promise<number> {
  let count = 0;
  for (let signIn = 0; signIn < 2; signIn += 1) {
    world.app.clock.turn(15 * 60);
    const one = await page();
    await one.challenge();
    before();
    const statements = await statementsDuring(async () => {
      expectStatus(await one.step('authenticate', { userid }, 'use'), 'SUCCESS');
    });
    count = statements.length;
  }
  return count;
}

it('a trusted device takes two: its request, and the end of the sign-in; and the facts, if another process began it', async () => {
  const browser = new CookieBrowser();
  const [key, userid] = [await newDeviceKey(), newAddress()];
  const page = async () => {
    const query = new URLSearchParams(authorizationParameters(world.client.id, pkce().challenge, {}));
    const flow = locationOf(await browser.get(`${world.app.url}/authorize?${query}`)).searchParams.get('flow') ?? '';
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new SigninPage(world.app.url, { origin: world.app.url, flow, cookie }, key, now);
  };
  expectStatus(await world.register(await page(), userid), 'SUCCESS');
  expect(await statementsOf(page, userid)).toBe(2);
  expect(await statementsOf(page, userid, () => world.app.services.begunDevices.invalidate())).toBe(3);
});

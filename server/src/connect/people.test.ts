import { expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { ConnectWorld } from '../../test/connect-world.ts';
import { newAddress } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const own = ConnectWorld.ofTests();
const { world } = own;
const services = () => world.app.services;

const person = () => {
  const email = newAddress();
  Object.assign(own.provider.person, { email });
  return email;
};

async function signedUp(): Promise<{ id: string; email: string }> {
  const email = person();
  const { sub } = await own.signIn();
  return { id: String(sub), email };
}

it('a deactivated user is refused, and signs in again once active', async () => {
  const { id } = await signedUp();
  await services().accountAccess.deactivate(world.project.id, id, system);
  const browser = await own.browser();
  const to = await own.through(browser);
  expect(to.searchParams.get('connect')).toBe('inactive');
  expect(await own.sessions()).toBe(0);
  await services().accounts.setActive(world.project.id, id, true, system);
  expect((await own.signIn())['sub']).toBe(id);
});

it('an erased user leaves no identity: the same account at the provider is a stranger', async () => {
  const { id } = await signedUp();
  await services().accountAccess.erase(world.project.id, id, system);
  expect(await own.identities()).toEqual([]);
  const again = await own.signIn();
  expect(again['sub']).not.toBe(id);
});

it('a subject that was deleted and created again is another one', async () => {
  const { id } = await signedUp();
  own.provider.person['sub'] = 'recreated';
  const browser = await own.browser();
  const to = await own.through(browser);
  // Its address has an account here, which the new subject does not get.
  expect(to.pathname).toBe('/signin');
  expect(await own.identities()).toHaveLength(1);
  expect((await own.identities())[0]?.[0]).toBe(id);
});

it('an identity at one connection is none at another with the same issuer', async () => {
  const { id } = await signedUp();
  const other = await own.connect({ name: 'Second' });
  const browser = await own.browser();
  const back = own.provider.agree(await own.start(browser, other));
  expect(locationOf(await browser.browser.get(back.href)).pathname).toBe('/signin');
  expect((await own.identities()).map(([user]) => user)).toEqual([id]);
});

it('a change of hands ends the identities of the former person', async () => {
  const { id } = await signedUp();
  const { userTables } = await import('../domain/nouns.ts');
  await services().db.transaction(async (em) => {
    const user = await services().users.locked(em, world.project.id, id);
    if (!user) throw new Error('no user');
    for (const { handOver } of userTables) await handOver?.(em, user, world.app.clock.now());
  });
  expect(await own.identities()).toEqual([]);
});

it('a new person signs in by a second answer, though an earlier one of the flow waits for the proof of an account', async () => {
  const { email } = await world.user();
  Object.assign(own.provider.person, { email });
  const browser = await own.browser();
  expect((await own.through(browser)).pathname).toBe('/signin');
  Object.assign(own.provider.person, { sub: 'another', email: newAddress() });
  expect((await own.through(browser)).pathname).toBe('/authorize/resume');
  expect((await own.identities()).map(([, subject]) => subject)).toEqual(['another']);
});

it.each([1e13, Number.MAX_SAFE_INTEGER])('auth_time %d is no time, and is left out', async (auth) => {
  person();
  own.provider.lies = { claims: { auth_time: auth } };
  expect((await own.through(await own.browser())).pathname).toBe('/authorize/resume');
});

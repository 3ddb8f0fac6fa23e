/** A sign-in during an admin's change of the user's login address (`updateUser`). */
import { expect, it } from 'vitest';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();

/** Moves the user to another login address. */
async function move(userid: string, email: string): Promise<void> {
  const user = await world.findUser(userid);
  await world.app.services.userEdits.edit(world.project.id, user?.id ?? '', { email }, system);
}

it('the change ends an open sign-in with the previous address, and signs the same user in with the new one', async () => {
  const [before, after] = [newAddress(), newAddress()];
  const first = await world.page();
  expectStatus(await world.register(first, before), 'SUCCESS');
  const { id } = (await world.findUser(before)) as { id: string };
  world.app.clock.turn(31);
  const open = await world.page();
  await open.challenge();
  expectStatus(await open.step('authenticate', { userid: before }), 'OTP_NEEDED');
  const otp = await world.codeFor(before);
  await move(before, after);
  const late = await open.step('verify-email-otp', { userid: before, otp });
  expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  world.app.clock.turn(31);
  expectStatus(await world.register(await world.page(), after), 'SUCCESS');
  expect((await world.findUser(after))?.id).toBe(id);
  expect((await world.findUser(before))?.id).toBeUndefined();
});

it('the change notifies the previous address, and codes go to the new one only', async () => {
  const [before, after] = [newAddress(), newAddress()];
  expectStatus(await world.register(await world.page(), before), 'SUCCESS');
  await move(before, after);
  world.app.clock.turn(31);
  await world.verifyAddress(await world.page(), after);
  expect((await world.subjectsFor(before)).at(-1)).toMatch(/^Sign-in details changed for /);
  expect((await world.subjectsFor(after)).join()).not.toContain('Sign-in details changed');
});

it('the change notifies the previous address even if it is immediately given to another user, and the user deactivated', async () => {
  const [before, after] = [newAddress(), newAddress()];
  expectStatus(await world.register(await world.page(), before), 'SUCCESS');
  await world.app.runJobs();
  await move(before, after);
  const { accounts, newUsers } = world.app.services;
  await newUsers.add(world.project.id, { email: before }, { invite: false }, system);
  await accounts.setActive(world.project.id, (await world.findUser(after))?.id ?? '', false, system);
  expect((await world.subjectsFor(before)).at(-1)).toMatch(/^Sign-in details changed for /);
});

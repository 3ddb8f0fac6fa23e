/** Sign-ins in an export, if the user name of one user is the address of another. */
import { expect, it } from 'vitest';
import { expectStatus, newAddress, SigninWorld } from '../../../test/signin-world.ts';
import { query } from '../kernel/sql.ts';
import type { User } from '../users/user.entity.ts';
import { ceremonyTables } from './user-tables.ts';

const world = SigninWorld.ofTests();

it('an export has the sign-ins of its user, and those of an address until they are another user’s', async () => {
  const address = newAddress();
  const userName = `user-of-${address}`;
  const holder = await world.user({ userName, userNameKey: userName, email: address, emailKey: address });
  const namesake = await world.user({ userName: address, userNameKey: address, email: null, emailKey: null });
  const page = await world.page();
  await page.challenge();
  expectStatus(await page.step('authenticate', { userid: address }), 'OTP_NEEDED');
  const exported = async (user: User) => {
    const of = ceremonyTables.exportRows['signInsUnderWay'];
    if (!of) throw new Error('no such section');
    return (await query(world.app.services.db.reader(), of(user))).length;
  };
  expect([await exported(holder), await exported(namesake)]).toEqual([1, 1]);
  const otp = await world.codeFor(address);
  expectStatus(await page.step('verify-email-otp', { userid: address, otp }), 'SUCCESS');
  expectStatus(await page.step('verify-device', { userid: address }, 'registration'), 'SUCCESS');
  expect([await exported(holder), await exported(namesake)]).toEqual([1, 0]);
});

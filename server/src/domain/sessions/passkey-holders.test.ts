/** Sessions of users with a passkey, if the project requires a second factor or passkeys. */
import { expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import { changed } from '../../../test/rows.ts';
import { SigninWorld } from '../../../test/signin-world.ts';
import type { User } from '../users/user.entity.ts';

const world = SigninWorld.ofTests();

/** Whether a session of the user is live. */
async function isLive(user: User, amr = ['pop', 'mfa']): Promise<boolean> {
  const { project } = world;
  const { services } = world.app;
  const { secret } = await world.app.make.session(project, user, amr);
  return (await services.db.transaction((em) => services.sessions.resume(em, project, secret))) !== null;
}

it('a verified passkey meets the policy, until it is revoked or passkeys are off; another user’s does not', async () => {
  const [user, other] = [await world.user(), await world.user()];
  await world.set({ mfaPolicy: 'required', passkeyPolicy: 'allowed' });
  const passkey = await peopleOf(world).givePasskey(user);
  const change = (what: string) =>
    changed(world.app.services.db, `update credentials set ${what} where id = ?`, [passkey.id]);
  expect([await isLive(user), await isLive(other)]).toEqual([true, false]);
  await change('user_verified = false');
  expect(await isLive(user)).toBe(false);
  await change('user_verified = true');
  await world.set({ passkeyPolicy: 'off' });
  expect(await isLive(user)).toBe(false);
  await world.set({ passkeyPolicy: 'allowed' });
  expect(await isLive(user)).toBe(true);
  await change('revoked_at = now()');
  expect(await isLive(user)).toBe(false);
});

it('a session must be by passkey where passkeys are required; in sessions of the previous release, amr states it', async () => {
  const user = await world.user();
  await peopleOf(world).givePasskey(user);
  await world.set({ passkeyPolicy: 'required' });
  expect([await isLive(user), await isLive(user, ['swk', 'otp', 'mfa']), await isLive(user, ['pop'])]).toEqual([
    true,
    false,
    false,
  ]);
});

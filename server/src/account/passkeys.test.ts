import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { expectStatus, SigninWorld } from '../../test/signin-world.ts';
import { Credential } from '../domain/credentials/credential.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { visitOf, somebody, giveFactor, givePasskey } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

const reader = () => app.services.db.reader();
const isLive = async ({ id }: { id: string }) => (await reader().findOneOrFail(Credential, { id })).revokedAt === null;
const locationOf = (response: Response) => response.headers.get('location') ?? '';

describe('a passkey, while passkeys are switched off,', () => {
  it('is not removed by the mailbox alone, nor is anything else that it protects', async () => {
    const { user } = await somebody();
    const passkey = await givePasskey(user);
    const factor = await giveFactor(user, 'email');
    await world.set({ passkeyPolicy: 'off' });
    const byMail = await visitOf(user, ['swk', 'otp']);
    for (const change of ['remove-factor', 'renew-recovery-codes', 'change-phone']) {
      const response = await byMail.change(change, { id: factor.id, phone: '+4917066000001' });
      expect([change, response.status]).toEqual([change, 403]);
    }
    expect((await byMail.change('revoke-device', { id: passkey.id })).status).toBe(403);
    expect(await isLive(passkey)).toBe(true);
    const byFactor = await visitOf(user, ['swk', 'otp', 'mfa']);
    expect(locationOf(await byFactor.change('revoke-device', { id: passkey.id }))).toContain('saved');
    expect(await isLive(passkey)).toBe(false);
  });

  it('keeps the mailbox from adding a factor that the project does not require', async () => {
    const { address, user } = await somebody();
    await givePasskey(user);
    await world.set({ passkeyPolicy: 'off', mfaPolicy: 'optional' });
    app.clock.turn(31);
    const page = await world.page();
    await world.verifyAddress(page, address);
    expectStatus(await page.step('verify-device', { userid: address, mfa_method: 'totp' }, 'registration'), 'SUCCESS');
    await world.set({ mfaPolicy: 'required' });
    app.clock.turn(31);
    const other = await world.page();
    await world.verifyAddress(other, address);
    const asked = await other.step('verify-device', { userid: address }, 'registration');
    expectStatus(asked, 'MFA_ENROLLMENT_NEEDED');
  });
});

describe('the last way to sign in', () => {
  /** A user without a mailbox. */
  async function withoutMail(): Promise<User> {
    const { users } = app.services;
    const values = { userName: `badge-${crypto.randomUUID()}`, active: true, attributes: {} } as never;
    const { id } = await app.services.accounts.provision(world.project.id, values, system);
    const user = await users.find(reader(), world.project.id, id);
    return user as User;
  }

  it('cannot be removed: a passkey of a user without a mailbox', async () => {
    const user = await withoutMail();
    const [first, second] = [await givePasskey(user), await givePasskey(user)];
    const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa'], first.id);
    expect(locationOf(await visit.change('revoke-device', { id: second.id }))).toContain('saved');
    const refused = await visit.change('revoke-device', { id: first.id });
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('could not sign in without it');
    expect([await isLive(first), await isLive(second)]).toEqual([true, false]);
    expect(await visit.isSignedIn()).toBe(true);
  });

  it('may be removed by a user with a mailbox: a code by mail signs in', async () => {
    const { user } = await somebody();
    const passkey = await givePasskey(user);
    const visit = await visitOf(user, ['swk', 'user', 'pop', 'mfa']);
    expect(locationOf(await visit.change('revoke-device', { id: passkey.id }))).toContain('saved');
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { buildSibling, type TestApp } from '../../test/build-app.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

/**
 * Each end of a user's access also ends the sign-ins in progress: if it runs at the same moment as the last step
 * of one, in another process, then nothing that the step issued works afterwards, whichever comes first.
 */
const world = SigninWorld.ofTests();
let other: TestApp;
beforeAll(async () => {
  other = await buildSibling(world.app);
});
afterAll(() => other.close());

/** A user with a trusted device. */
interface Known {
  address: string;
  user: User;
  page: SigninPage;
}

async function known(): Promise<Known> {
  const address = newAddress();
  const page = await world.page();
  expectStatus(await world.register(page, address), 'SUCCESS');
  world.app.clock.turn(61);
  return { address, page, user: (await world.findUser(address)) as User };
}

const userInfo = async (token: string | undefined) =>
  (await fetch(`${world.app.url}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status === 200;
const isRedeemed = async (code: unknown) =>
  typeof code === 'string' && (await userInfo((await world.exchange(code)).body['access_token']));

/** Prepares a sign-in up to its last step; the step resolves to a check whether its code or token still works. */
type Prepare = (known: Known) => Promise<() => Promise<() => Promise<boolean>>>;

/** The last step of a sign-in that had named the user before the end. */
const begun: Record<string, Prepare> = {
  'registers a new device': async ({ address }) => {
    const page = await world.page();
    await world.verifyAddress(page, address);
    return async () => {
      const { code } = await page.step('verify-device', { userid: address }, 'registration');
      return () => isRedeemed(code);
    };
  },
  'enters a second factor': async ({ address, page }) => {
    await world.set({ mfaPolicy: 'optional' });
    const enrolling = await world.page();
    const { secret } = await world.enrolTotp(enrolling, address);
    await world.meetFactor(page, address);
    return async () => {
      const { code } = await page.step('verify-mfa', { userid: address, otp: world.totp(secret) }, 'use');
      return () => isRedeemed(code);
    };
  },
  'exchanges its code': async ({ address, page }) => {
    await page.challenge();
    const { code } = expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'SUCCESS');
    return async () => {
      const { body } = await world.exchange(code);
      return () => userInfo(body['access_token']);
    };
  },
};
/** On the hosted page, which makes a session: once it exists, only the ends that end sessions revoke it. */
const hosted: Record<string, Prepare> = {
  'registers a new device on the hosted page': async ({ address }) => {
    const hosted = new HostedBrowser(world, new SoftAuthenticator());
    await hosted.open();
    await world.verifyAddress(hosted.page, address);
    return async () => {
      const done = await hosted.page.step('verify-device', { userid: address }, 'registration');
      return async () => {
        if (done.status !== 'SUCCESS') return false;
        const back = await hosted.follow(done);
        return back.searchParams.has('code') && 'sub' in (await hosted.claimsAt(back).catch(() => ({})));
      };
    };
  },
};
/** Sign-ins that name the user in their last step, by a credential that the end revokes. */
const single: Record<string, Prepare> = {
  'uses a trusted device': async ({ address, page }) => {
    await page.challenge();
    return async () => {
      const { code } = await page.step('authenticate', { userid: address }, 'use');
      return () => isRedeemed(code);
    };
  },
};

const access = () => other.services.accountAccess;
type End = (known: Known) => Promise<unknown>;
const endsSessions: Record<string, End> = {
  'the user is deactivated': ({ user }) => access().deactivate(world.project.id, user.id, system),
  'the user is erased': ({ user }) => access().erase(world.project.id, user.id, system),
  'an admin ends the sessions': ({ user }) => access().endSessions(world.project.id, user.id, system),
};
const endsDevice: Record<string, End> = {
  'the user is deactivated': ({ user }) => access().deactivate(world.project.id, user.id, system),
  'the user is erased': ({ user }) => access().erase(world.project.id, user.id, system),
  'an admin revokes the device': async ({ user, page }) => {
    const { db, devices } = other.services;
    const owned = await devices.list(db.reader(), { projectId: world.project.id, userId: user.id });
    const device = owned.find(({ jkt }) => jkt === page.key.jkt);
    await access().revokeDevice(world.project.id, user.id, device?.id ?? '', system);
  },
};
const endsBegun: Record<string, End> = {
  ...endsSessions,
  ...endsDevice,
  'an admin resets the factors': ({ user }) => access().resetFactors(world.project.id, user.id, system),
  'the address changes': ({ user }) => {
    const moved = newAddress();
    const edit = (current: Parameters<typeof valuesOf>[0]) => ({ ...valuesOf(current), userName: moved, email: moved });
    return other.services.accounts.change(world.project.id, user.id, edit, system);
  },
};

/** Rounds of each race; more rounds cover more interleavings. */
const rounds = Number(process.env['LATCHKEY_RACE_ROUNDS'] ?? 2);

async function race(prepare: Prepare, end: End): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await world.begin();
    const who = await known();
    const step = await prepare(who);
    const ending = async () => {
      // A later start in each round, so that the end coincides with other parts of the step.
      for (let turns = 0; turns < round; turns += 1) await other.services.db.reader().execute('select 1');
      await end(who);
    };
    const [isAlive] = await Promise.all([step(), ending()]);
    expect([round, await isAlive()]).toEqual([round, false]);
  }
}

it.each(Object.entries({ ...begun, ...hosted, ...single }))(
  'a sign-in that %s works if nothing ends it',
  async (_what, prepare) => {
    const step = await prepare(await known());
    const isAlive = await step();
    expect(await isAlive()).toBe(true);
  },
);

const groups = [
  [endsBegun, begun],
  [endsSessions, hosted],
  [endsDevice, single],
] as const;
const races = groups.flatMap(([ends, steps]) =>
  Object.entries(ends).flatMap(([how, end]) =>
    Object.entries(steps).map(([what, prepare]) => ({ how, what, end, prepare })),
  ),
);
it.each(races)('$how while a sign-in $what: nothing that it issued works', ({ end, prepare }) => race(prepare, end));

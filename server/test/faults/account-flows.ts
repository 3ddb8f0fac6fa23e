import { randomInt } from 'node:crypto';
import { system } from '../../src/domain/kernel/actor.ts';
import { peopleOf } from '../account-visit.ts';
import { partyAt } from '../project-issuer.ts';
import { newDeviceKey } from '../signin-browser.ts';
import { expectStatus, newAddress, type SigninWorld } from '../signin-world.ts';
import type { Flow } from './fault-lab.ts';
import { answerOf } from './openid-flows.ts';

export function accountFlows(world: SigninWorld): Flow[] {
  const { registeredUser, visitOf, giveFactor, givePasskey, pageOf, afterwards } = peopleOf(world);
  const changeOf = (
    name: string,
    make: () => Promise<{
      visit: Awaited<ReturnType<typeof visitOf>>;
      change: string;
      fields?: Record<string, string>;
    }>,
  ): Flow => ({
    name: `account: ${name}`,
    again: 'anything',
    prepare: async () => {
      await world.begin();
      const { visit, change, fields } = await make();
      const csrf = await visit.csrf();
      const all = { change, project: world.project.id, csrf, ...fields };
      const cookies = new Map(visit.browser.cookies);
      return async () => {
        for (const [key, value] of cookies) visit.browser.cookies.set(key, value);
        const response = await visit.browser.post(`${world.app.url}/account`, all);
        return answerOf(response, () => response.status < 400);
      };
    },
  });
  const totp = async () => {
    const person = await registeredUser();
    const factor = await giveFactor(person.user);
    return { person, factor, visit: await visitOf(person.user, ['swk', 'otp', 'mfa']) };
  };

  return [
    changeOf('rename-device', async () => {
      const { visit, device } = await registeredUser();
      return { visit, change: 'rename-device', fields: { id: device.id, name: 'signin: My laptop' } };
    }),
    changeOf('revoke-device', async () => {
      const { device, user } = await registeredUser();
      return { visit: await visitOf(user), change: 'revoke-device', fields: { id: device.id } };
    }),
    changeOf('end-session', async () => {
      const { visit, user } = await registeredUser();
      const other = await visitOf(user);
      return { visit, change: 'end-session', fields: { id: other.sessionId } };
    }),
    changeOf('end-other-sessions', async () => {
      const { visit, user } = await registeredUser();
      await visitOf(user);
      return { visit, change: 'end-other-sessions' };
    }),
    changeOf('edit-profile', async () => {
      const { visit } = await registeredUser();
      return {
        visit,
        change: 'edit-profile',
        fields: { fields: 'displayName givenName', displayName: 'Ada', givenName: 'Ada' },
      };
    }),
    changeOf('remove-factor', async () => {
      const { visit, factor } = await totp();
      return { visit, change: 'remove-factor', fields: { id: factor.id } };
    }),
    changeOf('renew-recovery-codes', async () => {
      const { visit } = await totp();
      return { visit, change: 'renew-recovery-codes' };
    }),
    changeOf('change-phone', async () => {
      const { visit } = await totp();
      return { visit, change: 'change-phone', fields: { phone: '+12025550143' } };
    }),
    changeOf('add-authenticator', async () => {
      const { user } = await registeredUser();
      await world.set({ mfaPolicy: 'optional' });
      return { visit: await visitOf(user, ['swk', 'otp']), change: 'add-authenticator' };
    }),
    changeOf('forget-browser', async () => {
      const { visit } = await registeredUser();
      return { visit, change: 'forget-browser' };
    }),
    changeOf('revoke a passkey', async () => {
      const { user } = await registeredUser();
      const passkey = await givePasskey(user);
      return {
        visit: await visitOf(user, ['swk', 'user', 'pop', 'mfa']),
        change: 'revoke-device',
        fields: { id: passkey.id },
      };
    }),
    {
      name: 'account: page',
      again: 'succeeds',
      prepare: async () => {
        await world.begin();
        const { visit } = await registeredUser();
        return async () => {
          const response = await visit.browser.get(`${world.app.url}/account`);
          return answerOf(response, (body) => response.status === 200 && !body.includes('You are not signed in'));
        };
      },
    },
    changeOf('edit-address', async () => {
      const { visit } = await registeredUser();
      return { visit, change: 'edit-address', fields: { locality: 'London', country: 'GB' } };
    }),
    changeOf('remove-application', async () => {
      const { user, visit } = await registeredUser();
      const { client } = await world.app.make.client(world.project, { grantTypes: ['refresh_token'] });
      const party = partyAt(world.app, world.project, client);
      await party.signIn(user);
      await party.tokens({ scope: 'openid offline_access' });
      return { visit, change: 'remove-application', fields: { id: client.id } };
    }),
    changeOf('cancel-recovery', async () => {
      const { user, visit } = await registeredUser();
      await world.app.services.recoveries.grant(world.project.id, user.id, { reason: 'Lost', hours: 24 }, system);
      return { visit, change: 'cancel-recovery' };
    }),
    ...['confirm', 'add-passkey'].map((change) =>
      changeOf(change, async () => ({ visit: (await registeredUser()).visit, change })),
    ),
    ...['verify-phone', 'drop-phone'].map((change) =>
      changeOf(change, async () => {
        const { visit } = await registeredUser();
        const phone = `+1202555${randomInt(1000, 10_000)}`;
        await visit.change('change-phone', { phone });
        return { visit, change, fields: { code: await world.codeFor(phone) } };
      }),
    ),
    changeOf('change-email', async () => {
      const { visit } = await registeredUser();
      return { visit, change: 'change-email', fields: { email: newAddress() } };
    }),
    ...['verify-email', 'drop-email'].map((change) =>
      changeOf(change, async () => {
        const { visit } = await registeredUser();
        const email = newAddress();
        await visit.change('change-email', { email });
        return { visit, change, fields: { code: await world.codeFor(email) } };
      }),
    ),
    ...['verify-authenticator', 'drop-authenticator'].map((change) =>
      changeOf(change, async () => {
        await world.set({ mfaPolicy: 'optional' });
        const { address, visit } = await registeredUser();
        world.app.clock.turn(31);
        const page = await pageOf(visit, 'add-authenticator', await newDeviceKey());
        await afterwards(visit, expectStatus(await world.register(page, address), 'SUCCESS'));
        const secret = /secret=([A-Z2-7]{32})/.exec(await visit.page())?.[1] ?? '';
        return { visit, change, fields: { code: world.totp(secret) } };
      }),
    ),
    {
      name: 'account: sign-in',
      again: 'anything',
      prepare: async () => {
        await world.begin();
        const { visit } = await registeredUser();
        visit.browser.cookies.clear();
        const fields = { change: 'sign-in', project: world.project.id };
        return async () => {
          const response = await visit.browser.post(`${world.app.url}/account`, fields);
          return answerOf(response, () => (response.headers.get('location') ?? '').startsWith('/signin?'));
        };
      },
    },
    {
      name: 'account: cancel a recovery by its link',
      prepare: async () => {
        await world.begin();
        const { address, user, visit } = await registeredUser();
        await world.app.services.recoveries.grant(world.project.id, user.id, { reason: 'Lost', hours: 24 }, system);
        await world.app.runJobs();
        const notice = world.app.mailbox.findLast(({ to, text }) => to === address && text.includes('cancel='));
        const link = new URL(/https?:\S+cancel=\S+/.exec(notice?.text ?? '')?.[0] ?? '');
        const fields = Object.fromEntries(link.searchParams);
        return async () => answerOf(await visit.browser.post(`${world.app.url}${link.pathname}`, fields));
      },
    },
  ];
}

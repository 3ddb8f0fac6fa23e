/** Applications with access to an account, on the account page. */
import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
const { registeredUser } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

/** Signs a user in to a new application with refresh tokens. */
async function accessOf(user: User, name: string, scope = 'openid email offline_access') {
  const { client } = await app.make.client(world.project, { name });
  await app.services.clients.update(client, { grantTypes: ['refresh_token'] }, system);
  const party = partyAt(app, world.project, client);
  await party.signIn(user);
  const tokens = (await party.tokens({ scope })) as { access_token: string; refresh_token?: string };
  const post = (token: string) =>
    fetch(`${party.issuer}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, grant_type: 'refresh_token', refresh_token: token }),
    });
  return {
    client,
    refresh: () => post(tokens.refresh_token ?? ''),
    reads: async () => (await party.userInfo(tokens.access_token)).status,
  };
}

describe('an application with refresh tokens', () => {
  it('is listed with its scopes, and loses them and its access tokens when its user removes it', async () => {
    const { user, visit } = await registeredUser();
    const [calendar, notes] = [await accessOf(user, 'Calendar'), await accessOf(user, 'Notes', 'openid profile')];
    const page = await visit.page();
    for (const text of [
      'Applications with access',
      'Calendar',
      'Notes',
      'See your email address',
      'Until you sign out',
    ]) {
      expect(page).toContain(text);
    }
    const renewed = (await (await calendar.refresh()).json()) as { access_token: string };
    expect(renewed.access_token).toBeDefined();
    const removal = await visit.change('remove-application', { id: calendar.client.id });
    expect(removal.headers.get('location')).toContain('saved');
    expect([(await calendar.refresh()).status, await calendar.reads()]).toEqual([400, 401]);
    expect([(await notes.refresh()).status, await notes.reads()]).toEqual([200, 200]);
    expect(await visit.page()).not.toContain('Calendar');
    // A repeated or unknown request changes nothing.
    for (const id of [calendar.client.id, 'x', '']) await visit.change('remove-application', { id });
    expect((await world.events()).filter((type) => type === 'access.removed')).toHaveLength(1);
  });

  it('keeps its access when another user asks to remove it', async () => {
    const victim = await registeredUser();
    const access = await accessOf(victim.user, 'Shared');
    const stranger = await registeredUser();
    expect(await stranger.visit.page()).not.toContain('Shared');
    await stranger.visit.change('remove-application', { id: access.client.id });
    await world.begin();
    const otherUser = await registeredUser();
    await otherUser.visit.change('remove-application', { id: access.client.id });
    // Its access token has expired in the meantime.
    expect((await access.refresh()).status).toBe(200);
  });
});

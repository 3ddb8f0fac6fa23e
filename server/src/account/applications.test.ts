/** Applications with access to an account, on the account page. */

import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { pngOf } from '../../test/pictures.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { AuditEvent } from '../domain/audit/audit-event.entity.ts';
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
    signInAgain: (again: string) => party.tokens({ scope: again }),
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
    const removals = async () => (await world.events()).filter((type) => type === 'access.removed').length;
    expect(await removals()).toBe(1);
    // A repeated or unknown request changes nothing.
    for (const id of [calendar.client.id, 'x', '']) {
      expect((await visit.change('remove-application', { id })).status).toBe(303);
    }
    expect(await removals()).toBe(1);
  });

  it('is listed with its first sign-in and its last use, the last used first', async () => {
    const { user, visit } = await registeredUser();
    const now = () => {
      app.clock.turn(60);
      return app.clock.now().toISOString();
    };
    const first = now();
    await accessOf(user, 'Mail');
    const second = now();
    const calendar = await accessOf(user, 'Calendar');
    const third = now();
    await accessOf(user, 'Notes', 'openid');
    now();
    await calendar.signInAgain('openid');
    const used = now();
    expect((await calendar.refresh()).status).toBe(200);
    // An application that the user has allowed, without refresh tokens.
    const { client } = await app.make.client(world.project, { name: 'Allowed' });
    const { consents, db } = app.services;
    const allowed = now();
    await db.transaction((em) =>
      consents.give(em, client, user, { scope: 'openid phone', resources: [], organizationId: null }, system),
    );

    const section = /aria-labelledby="applications".*?<\/section>/s.exec(await visit.page())?.[0] ?? '';
    const listed = section.split('<li class="row">').slice(1);
    const names = listed.map((one) => /Allowed|Calendar|Mail|Notes/.exec(one)?.[0]);
    expect(names).toEqual(['Allowed', 'Calendar', 'Notes', 'Mail']);
    const times = listed.map((one) => [...one.matchAll(/datetime="([^"]+)"/g)].map(([, at]) => at));
    expect(times).toEqual([[allowed], [second, used], [third, third], [first, first]]);
    expect(listed.map((one) => one.includes('Until you sign out'))).toEqual([false, false, true, false]);
    expect(listed[0]).toContain('See your phone number');
    await visit.change('remove-application', { id: client.id });
    expect(await visit.page()).not.toContain('Allowed');
    const where = { projectId: world.project.id, type: 'access.removed' };
    expect(await db.reader().find(AuditEvent, where)).toMatchObject([{ detail: { grants: 0, consent: true } }]);
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

describe('the applications that a user can open', () => {
  const section = async (page: Promise<string>) =>
    /aria-labelledby="openable".*?<\/section>/s.exec(await page)?.[0] ?? '';
  const links = async (page: Promise<string>) =>
    [...(await section(page)).matchAll(/<a class="tile" href="([^"]+)">.*?<span>([^<]+)<\/span><\/a>/g)].map(
      ([, to, name]) => [name, to],
    );

  it('are those with a start address, by name, without disabled ones and those of other projects', async () => {
    const elsewhere = await app.make.project({ name: 'Other' });
    await app.make.client(elsewhere, { name: 'Foreign', startUri: 'https://foreign.example.com/' });
    const { visit } = await registeredUser();
    expect(await section(visit.page())).toBe('');
    for (const name of ['wiki', 'Calendar', 'Off', 'Bare']) {
      const startUri = name === 'Bare' ? null : `https://${name.toLowerCase()}.example.com/?a=1&b=%22`;
      const { client } = await app.make.client(world.project, { name, startUri });
      if (name === 'Off') await app.services.clients.update(client, { disabled: true }, system);
    }
    expect(await links(visit.page())).toEqual([
      ['Calendar', 'https://calendar.example.com/?a=1&amp;b=%22'],
      ['wiki', 'https://wiki.example.com/?a=1&amp;b=%22'],
    ]);
  });

  it('are those that the user has access to', async () => {
    const { user, visit } = await registeredUser();
    const settings = { name: 'Ledger', access: 'assigned', startUri: 'https://ledger.example.com/' } as const;
    const { client } = await app.make.client(world.project, settings);
    expect(await links(visit.page())).toEqual([]);
    const rule = await app.services.accessRules.grant(client, { userId: user.id }, system);
    expect(await links(visit.page())).toEqual([['Ledger', 'https://ledger.example.com/']]);
    await app.services.accessRules.revoke(rule, system);
    expect(await links(visit.page())).toEqual([]);
  });

  it('have their logo, which is an uploaded picture of the project', async () => {
    const { clients, db, experiences } = app.services;
    const { visit } = await registeredUser();
    const settings = { name: 'Wiki', startUri: 'https://wiki.example.com/' } as const;
    const { client } = await app.make.client(world.project, settings);
    expect(await section(visit.page())).toContain('<span class="app-logo" aria-hidden="true">W</span>');
    const elsewhere = await app.make.project();
    const foreign = await experiences.addLogo(elsewhere.id, pngOf(64, 64), system);
    const [used, stray] = await Promise.all(
      [64, 65].map((side) => experiences.addLogo(world.project.id, pngOf(side, side), system)),
    );
    for (const logoId of [foreign.id, 'x', '"><script>', client.id]) {
      const refused = { problem: { code: 'invalid', field: 'logoId' } };
      await expect(clients.update(client, { logoId }, system)).rejects.toMatchObject(refused);
    }
    await clients.update(client, { logoId: used?.id ?? '' }, system);
    const shown = /<img class="app-logo" src="([^"]+)" alt="">/.exec(await section(visit.page()))?.[1] ?? '';
    expect((await fetch(`${app.url}${shown}`)).headers.get('content-type')).toBe('image/png');
    app.clock.turn(2 * 24 * 3600);
    await db.transaction((em) => experiences.sweep(em));
    const kept = await Promise.all([used, stray].map((logo) => experiences.logo(db.reader(), logo?.id ?? '')));
    expect(kept.map((logo) => logo?.id)).toEqual([used?.id, undefined]);
    await clients.update(client, { logoId: null }, system);
    expect(await section(visit.page())).not.toContain('<img');
  });
});

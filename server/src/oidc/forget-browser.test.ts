import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../test/account-visit.ts';
import type { TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { Passkey } from '../domain/credentials/passkey.entity.ts';

const world = SigninWorld.ofTests();
const { givePasskey, registeredUser, visitOf } = peopleOf(world);
let app: TestApp;

beforeAll(() => {
  ({ app } = world);
});

/** A relying party in the browser of a signed-in user. */
async function partyOf({ visit }: RegisteredUser): Promise<RelyingParty> {
  const rp = new RelyingParty(app, (await app.make.client(world.project)).client);
  for (const [name, value] of visit.browser.cookies) rp.browser.cookies.set(name, value);
  return rp;
}

const keysOn = (html: string) => /data-device-keys="([^"]*)"/.exec(html)?.[1]?.split(' ').filter(Boolean);
const csrfOn = (html: string) => /name="csrf" value="([^"]+)"/.exec(html)?.[1];
const isRevoked = async ({ device }: RegisteredUser) =>
  (await app.services.db.reader().findOneOrFail(Device, { id: device.id })).revokedAt != null;

async function canSignInByKey({ address, key }: RegisteredUser): Promise<boolean> {
  const page = await world.page(key);
  await page.challenge();
  return (await page.step('authenticate', { userid: address }, 'use')).status === 'SUCCESS';
}

describe('signing out and forgetting this browser', () => {
  it('lists only the keys of this user, revokes the device, and its key no longer signs in', async () => {
    const [ada, bob] = [await registeredUser(), await registeredUser()];
    const second = await world.page();
    await world.register(second, ada.address);
    const rp = await partyOf(ada);
    const html = await (await rp.endSession({ client_id: rp.client.id })).text();
    expect(keysOn(html)?.toSorted()).toEqual([ada.device.jkt, second.key.jkt].toSorted());
    const done = await rp.endSession({ client_id: rp.client.id, csrf: csrfOn(html), forget: '1' }, 'post');
    expect(await done.text()).toContain('You are signed out');
    expect(await rp.isSignedIn()).toBe(false);
    expect([await isRevoked(ada), await isRevoked(bob)]).toEqual([true, false]);
    expect(await canSignInByKey(ada)).toBe(false);
  });

  it('also works without a client', async () => {
    const ada = await registeredUser();
    const rp = await partyOf(ada);
    const html = await (await rp.endSession({})).text();
    expect(keysOn(html)).toEqual([ada.device.jkt]);
    await rp.endSession({ csrf: csrfOn(html), forget: '1' }, 'post');
    expect(await isRevoked(ada)).toBe(true);
  });

  it('signs out if the device no longer exists', async () => {
    const ada = await registeredUser();
    const rp = await partyOf(ada);
    const html = await (await rp.endSession({ client_id: rp.client.id })).text();
    await changed(app.services.db, 'delete from credentials where id = ?', [ada.device.id]);
    const done = await rp.endSession({ client_id: rp.client.id, csrf: csrfOn(html), forget: '1' }, 'post');
    expect([done.status, await rp.isSignedIn()]).toEqual([200, false]);
  });

  it('keeps the passkey of the session, and the other devices', async () => {
    const ada = await registeredUser();
    const passkey = await givePasskey(ada.user);
    const visit = await visitOf(ada.user, ['swk', 'user', 'mfa'], passkey.id);
    const rp = await partyOf({ ...ada, visit });
    const html = await (await rp.endSession({})).text();
    await rp.endSession({ csrf: csrfOn(html), forget: '1' }, 'post');
    expect([await rp.isSignedIn(), await isRevoked(ada)]).toEqual([false, false]);
    expect(await app.services.db.reader().findOne(Passkey, { id: passkey.id, revokedAt: null })).not.toBeNull();
  });

  it('is optional: without it the device stays, and the last page lists its key', async () => {
    const ada = await registeredUser();
    const rp = await partyOf(ada);
    const html = await (await rp.endSession({ client_id: rp.client.id })).text();
    const done = await rp.endSession({ client_id: rp.client.id, csrf: csrfOn(html) }, 'post');
    expect(keysOn(await done.text())).toEqual([ada.device.jkt]);
    expect(await isRevoked(ada)).toBe(false);
    expect(await canSignInByKey(ada)).toBe(true);
  });

  it('revokes nothing for another site’s form, nor by an ID token without the session cookie', async () => {
    const ada = await registeredUser();
    const rp = await partyOf(ada);
    const { id_token: hint } = await rp.tokens();
    const forged = { client_id: rp.client.id, csrf: 'x', forget: '1' };
    expect((await rp.endSession(forged, 'post')).status).toBe(200);
    expect([await rp.isSignedIn(), await isRevoked(ada)]).toEqual([true, false]);
    rp.signOut();
    const elsewhere = await rp.endSession({ client_id: rp.client.id, id_token_hint: hint, forget: '1' }, 'post');
    expect(keysOn(await elsewhere.text())).toEqual([]);
    expect(await isRevoked(ada)).toBe(false);
  });
});

describe('the account page', () => {
  it('lists the keys of its user, and forgets this browser: device, session and cookie', async () => {
    const [ada, bob] = [await registeredUser(), await registeredUser()];
    const html = await ada.visit.page();
    expect(keysOn(html)).toEqual([ada.device.jkt]);
    expect(html).toMatch(/<button type="submit" name="forget" value="1"/);
    await ada.visit.change('forget-browser', { forget: '1' });
    expect([...ada.visit.browser.cookies.keys()]).toEqual([]);
    expect([await isRevoked(ada), await isRevoked(bob)]).toEqual([true, false]);
    expect(await canSignInByKey(ada)).toBe(false);
    expect(await bob.visit.isSignedIn()).toBe(true);
  });
});

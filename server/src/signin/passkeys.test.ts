import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { passkeyVisits } from '../../test/passkey-visits.ts';
import { appOrigin, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Session } from '../domain/sessions/session.entity.ts';

const world = SigninWorld.ofTests();
let userid: string;
let authenticator: SoftAuthenticator;

beforeEach(() => {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
});

const { byMail, enrolled, open } = passkeyVisits(world, () => ({ userid, authenticator }));

const subOf = async () => (await world.findUser(userid))?.id;

describe('a passkey', () => {
  it('signs in without an address, as the user who created it', async () => {
    await enrolled({ flags: { BE: true, BS: true } });
    const hosted = await open();
    const done = expectStatus(await hosted.usePasskey(), 'SUCCESS');
    expect(done['passkey_offer']).toBeUndefined();
    expect(await hosted.claims(done)).toMatchObject({ sub: await subOf(), amr: ['swk', 'user', 'pop', 'mfa'] });
  });

  it('that is bound to its device gives hwk, and without PIN or biometrics it is one factor', async () => {
    await enrolled({ flags: { UV: false } });
    const hosted = await open();
    const done = expectStatus(await hosted.usePasskey({ flags: { UV: false } }), 'SUCCESS');
    expect(await hosted.claims(done)).toMatchObject({ amr: ['hwk', 'user', 'pop'] });
  });

  it('proves the person for prompt=login only with PIN or biometrics', async () => {
    await enrolled();
    const hosted = await open({ prompt: 'login' });
    const refused = await hosted.usePasskey({ flags: { UV: false } });
    expect(refused).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
  });

  it('without PIN or biometrics does not replace an enrolled second factor', async () => {
    await world.set({ mfaPolicy: 'optional' });
    await world.enrolTotp(await world.page(), userid);
    const { hosted, answer } = await byMail();
    expectStatus(answer, 'DEVICE_REGISTERED');
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('totp');
    // The factor is still required, so no passkey can be added.
    const early = await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(early).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });

  it('works once per challenge, and only in its transaction', async () => {
    await enrolled();
    const hosted = await open();
    await hosted.page.challenge({});
    const { options } = await hosted.page.step('passkey-options', {});
    const credential = authenticator.get(options, { origin: world.app.url });
    const other = await open();
    await other.page.challenge({});
    expect(await other.page.step('verify-passkey', { credential })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    await other.page.step('passkey-options', {});
    expect(await other.page.step('verify-passkey', { credential })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    const bad = { ...credential, response: { ...credential.response, signature: 'AAAA' } };
    expect(await hosted.page.step('verify-passkey', { credential: bad })).toMatchObject(
      refusal('PASSKEY_REJECTED', 401),
    );
    // The wrong try has used the challenge up.
    expect(await hosted.page.step('verify-passkey', { credential })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
    expect(await hosted.page.step('verify-passkey', { credential })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('does not accept the challenge of a registration for a sign-in, nor the reverse', async () => {
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    expect(await hosted.page.step('passkey-options', {})).toMatchObject(refusal('OUT_OF_ORDER', 409));
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(options, { origin: world.app.url, type: 'webauthn.get' });
    expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    const again = await open();
    await again.page.challenge({});
    const early = await again.page.step('passkey-options', { purpose: 'registration' });
    expect(early).toMatchObject(refusal('OUT_OF_ORDER', 409));
  });

  it.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['a sibling subdomain', { origin: 'http://sibling.localhost' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['no presence', { flags: { UP: false } }],
    ['a frame of another origin', { crossOrigin: true }],
    ['another backup eligibility', { flags: { BE: true } }],
    ['bytes after the data', { trailing: new Uint8Array([1]) }],
  ])('is refused with %s, and only the challenge changes', async (_, over) => {
    await enrolled();
    const hosted = await open();
    const before = await passkeyRows();
    expect(await hosted.usePasskey(over)).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expect(await passkeyRows()).toEqual(before);
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
  });

  it('whose counter goes back is refused if it is bound to one device', async () => {
    await enrolled({ signCount: 5 });
    const hosted = await open();
    expect(await hosted.usePasskey({ signCount: 5 })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expect(await world.events()).toContain('passkey.rejected');
    expectStatus(await hosted.usePasskey({ signCount: 6 }), 'SUCCESS');
  });

  it('of a deactivated user is refused until the user is activated again', async () => {
    await enrolled();
    const [projectId, user] = [world.project.id, (await subOf()) ?? ''];
    await world.app.services.accountAccess.deactivate(projectId, user, system);
    const hosted = await open();
    expect(await hosted.usePasskey()).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    await world.app.services.accountAccess.activate(projectId, user, system);
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
  });

  it('that was revoked is unknown, and its sessions have ended', async () => {
    await enrolled();
    const hosted = await open();
    await hosted.claims(expectStatus(await hosted.usePasskey(), 'SUCCESS'));
    const [projectId, user] = [world.project.id, (await subOf()) ?? ''];
    const { db, passkeys } = world.app.services;
    const [passkey] = await passkeys.list(db.reader(), { projectId, userId: user });
    await world.app.services.accountAccess.revokeDevice(projectId, user, passkey?.id ?? '', system);
    // With its session, the browser would return to the application immediately.
    await hosted.open();
    expect(await hosted.usePasskey()).toMatchObject(refusal('PASSKEY_UNKNOWN', 401));
  });

  it('of another project is refused, and not called unknown', async () => {
    await enrolled();
    await world.begin();
    const hosted = await open();
    expect(await hosted.usePasskey()).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    authenticator = new SoftAuthenticator();
    const foreign = { challenge: 'x', rp: { id: '127.0.0.1' }, user: { id: 'AAAA' }, pubKeyCredParams: [{ alg: -7 }] };
    authenticator.create(foreign, { origin: world.app.url });
    expect(await (await open()).usePasskey()).toMatchObject(refusal('PASSKEY_UNKNOWN', 401));
  });

  it('cannot be used if the project has turned passkeys off', async () => {
    await enrolled();
    await world.set({ passkeyPolicy: 'off' });
    const hosted = await open();
    await hosted.page.challenge({});
    expect(await hosted.page.step('passkey-options', {})).toMatchObject(refusal('PASSKEYS_NOT_ALLOWED', 403));
  });

  it('finishes one sign-in if it is used twice concurrently', async () => {
    await enrolled();
    const hosted = await open();
    await hosted.page.challenge({});
    const { options } = await hosted.page.step('passkey-options', {});
    const credential = authenticator.get(options, { origin: world.app.url });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => hosted.page.step('verify-passkey', { credential })),
    );
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
  });
});

describe('adding a passkey', () => {
  it('is offered after a mail code, notifies the user, and is not offered again', async () => {
    await enrolled();
    expect((await world.subjectsFor(userid)).some((subject) => subject.startsWith('Passkeys changed'))).toBe(true);
    const { answer } = await byMail();
    expect(expectStatus(answer, 'SUCCESS')['passkey_offer']).toBeUndefined();
  });

  it('is not offered on a shared device', async () => {
    const hosted = await open();
    await world.verifyAddress(hosted.page, userid, { remember_device: false });
    const done = expectStatus(await hosted.page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    expect(done['passkey_offer']).toBeUndefined();
  });

  it('ends five minutes after the sign-in, and when the devices of the user are revoked', async () => {
    const late = await open();
    expectStatus(await late.register(userid), 'SUCCESS');
    world.app.clock.turn(301);
    expect(await late.page.step('passkey-options', { purpose: 'registration' })).toMatchObject(
      refusal('TRANSACTION_EXPIRED', 410),
    );
    const { hosted } = await byMail();
    await world.app.services.accountAccess.endSessions(world.project.id, (await subOf()) ?? '', system);
    expect(await hosted.page.step('passkey-options', { purpose: 'registration' })).toMatchObject(
      refusal('TRANSACTION_EXPIRED', 410),
    );
  });

  it.each(['no user', 'another user'])('ends when the user signs out and %s signs in', async (next) => {
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    const begun = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(begun['options'], { origin: world.app.url });
    const { db, logout, sessions } = world.app.services;
    const [session] = await sessions.listLive(db.reader(), world.project, (await subOf()) ?? '');
    await logout.endSession(session as Session, system);
    if (next === 'another user') {
      const { browser } = await peopleOf(world).visitOf(await world.user());
      for (const [name, value] of browser.cookies) hosted.browser.cookies.set(name, value);
      hosted.keep(begun);
    }
    const expired = refusal('TRANSACTION_EXPIRED', 410);
    expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(expired);
    expect(await hosted.page.step('passkey-options', { purpose: 'registration' })).toMatchObject(expired);
    expect(await passkeyRows()).toEqual([]);
  });

  it('adds each credential once, even if it is sent twice concurrently', async () => {
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(options, { origin: world.app.url });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => hosted.page.step('register-passkey', { credential })),
    );
    expect(answers.filter(({ status }) => status === 'PASSKEY_REGISTERED')).toHaveLength(1);
    expect(await passkeyRows()).toHaveLength(1);
  });

  it('does not accept the credential of another user', async () => {
    const first = await open();
    expectStatus(await first.register(userid), 'SUCCESS');
    const begun = await first.page.step('passkey-options', { purpose: 'registration' });
    const taken = authenticator.create(begun['options'], { origin: world.app.url });
    expectStatus(await first.page.step('register-passkey', { credential: taken }), 'PASSKEY_REGISTERED');
    userid = newAddress();
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const { clientDataJSON } = authenticator.create(options, { origin: world.app.url }).response;
    // Without attestation nothing signs the challenge of a registration.
    const credential = { ...taken, response: { ...taken.response, clientDataJSON } };
    const refused = await hosted.page.step('register-passkey', { credential });
    expect(refused).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    expect(await passkeyRows()).toHaveLength(1);
  });

  it('without a dialog needs no presence of the user, and is then not a second factor', async () => {
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    const flags = { UP: false, UV: false };
    expect(await hosted.addPasskey({ flags })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    const { options } = await hosted.page.step('passkey-options', { purpose: 'conditional_registration' });
    const credential = authenticator.create(options, { origin: world.app.url, flags });
    expectStatus(await hosted.page.step('register-passkey', { credential }), 'PASSKEY_REGISTERED');
    expect(await passkeyRows()).toMatchObject([{ user_verified: false }]);
    const again = await open();
    expectStatus(await again.usePasskey(), 'SUCCESS');
    expect(await passkeyRows()).toMatchObject([{ user_verified: true }]);
  });

  it('refuses nonsense of any size', async () => {
    const hosted = await open();
    expectStatus(await hosted.register(userid), 'SUCCESS');
    const huge = await hosted.page.step('register-passkey', { credential: { id: 'A'.repeat(1_000_000) } });
    expect(huge.httpStatus).toBe(413);
    for (const credential of [
      {},
      { id: 1 },
      { id: '\u0000' },
      { response: null },
      { response: { clientDataJSON: 'e30' } },
    ]) {
      const refused = await hosted.page.step('register-passkey', { credential });
      expect(refused).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    }
    expect(await hosted.page.step('register-passkey', {})).toMatchObject(refusal('INVALID_REQUEST', 400));
  });
});

describe('an application whose pages can use passkeys', () => {
  beforeEach(() => world.app.services.clients.update(world.client, { relatedOrigins: true }, system));

  it('adds one after a step-up, signs in with it, and no other origin can use it', async () => {
    const page = await world.page();
    await world.verifyAddress(page, userid, { step_up: 'create_passkey' });
    const { code } = expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    const created = expectStatus(await page.step('passkey-options', { purpose: 'registration' }), 'PASSKEY_OPTIONS');
    const { rp } = created['options'];
    const credential = authenticator.create(created['options'], { origin: appOrigin, rpId: rp.id });
    const added = expectStatus(await page.step('register-passkey', { credential }), 'PASSKEY_REGISTERED');
    expect(added).toMatchObject({ rp_id: rp.id, credential_ids: [credential.id] });
    expect((await world.exchange(code)).status).toBe(200);

    const other = await world.page();
    await other.challenge({});
    const sign = async (over: Record<string, unknown> = {}) => {
      const { options } = await other.step('passkey-options', {});
      return authenticator.get(options, { origin: appOrigin, rpId: rp.id, ...over });
    };
    const foreign = await sign({ origin: world.app.url });
    expect(await other.step('verify-passkey', { credential: foreign })).toMatchObject(refusal('PASSKEY_REJECTED', 401));
    const done = expectStatus(await other.step('verify-passkey', { credential: await sign() }), 'SUCCESS');
    expect(await world.amrOf(done['code'])).toEqual(['hwk', 'user', 'pop', 'mfa']);
  });

  it('is listed for browsers, unless it is disabled, a third party, or its project has turned passkeys off', async () => {
    const listed = async () =>
      ((await (await fetch(`${world.app.url}/.well-known/webauthn`)).json()) as { origins: string[] }).origins;
    const own = `https://${world.client.id}.example.com`;
    await world.app.services.clients.update(world.client, { redirectUris: [`${own}/back`] }, system);
    expect(await listed()).toContain(own);
    // A new application of another project comes last, regardless of its name: browsers read about five names.
    const { client: newer } = await world.app.make.client(await world.app.make.project());
    await world.app.services.clients.update(
      newer,
      { redirectUris: ['https://0.example/'], relatedOrigins: true },
      system,
    );
    expect((await listed()).slice(-2)).toEqual([own, 'https://0.example']);
    await world.set({ passkeyPolicy: 'off' });
    world.app.clock.turn(6);
    expect(await listed()).not.toContain(own);
    await world.set({ passkeyPolicy: 'allowed' });
    world.app.clock.turn(6);
    expect(await listed()).toContain(own);
    await world.app.services.clients.update(world.client, { thirdParty: true }, system);
    expect(await listed()).not.toContain(own);
    await world.app.services.clients.update(world.client, { thirdParty: false }, system);
    expect(await listed()).toContain(own);
    await world.app.services.clients.update(world.client, { disabled: true }, system);
    expect(await listed()).not.toContain(own);
  });

  it('needs PKCE for a passkey, too, if the client requires it', async () => {
    await world.app.services.clients.update(world.client, { pkceRequired: true }, system);
    const page = await world.page();
    expect(await page.challenge({})).toMatchObject(refusal('PKCE_REQUIRED', 400));
  });
});

it('a sign-in with nonsense for a passkey is refused, and recorded', async () => {
  const hosted = await open();
  await hosted.page.challenge({});
  for (const credential of [{}, { id: '\u0000' }, { id: 'A'.repeat(5000) }, { id: 'AAAA', response: [] }]) {
    const { options } = await hosted.page.step('passkey-options', {});
    const clientDataJSON = Buffer.from(JSON.stringify({ challenge: options.challenge })).toString('base64url');
    const sent = { credential: { response: { clientDataJSON }, ...credential } };
    expect((await hosted.page.step('verify-passkey', sent)).httpStatus).toBe(401);
  }
  expect(await world.events()).toContain('passkey.rejected');
});

it('points passkey managers to the account page', async () => {
  const found = await fetch(`${world.app.url}/.well-known/passkey-endpoints`);
  expect(await found.json()).toEqual({ enroll: `${world.app.url}/account`, manage: `${world.app.url}/account` });
});

describe('an application that adds a passkey', () => {
  it('cannot do so from another origin', async () => {
    const page = await world.page();
    expectStatus(await world.register(page, userid), 'SUCCESS');
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid, step_up: 'create_passkey' }, 'use'), 'OTP_NEEDED');
    expect(await page.step('passkey-options', {})).toMatchObject(refusal('PASSKEYS_NOT_ALLOWED', 403));
  });

  it('cannot change the phone number with that sign-in', async () => {
    const page = await world.page();
    await world.verifyAddress(page, userid, { step_up: 'create_passkey' });
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    const change = await page.step('change-phone-number', { userid, phone_number: '+4915112345678' }, 'use');
    expect(change).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });
});

function passkeyRows() {
  return world.app.services.db.reader().execute<{ credential_id: string }[]>(
    `select credential_id, sign_count, last_used_at, user_verified, backed_up, revoked_at from credentials
       where project_id = ? and kind = 'passkey' order by id`,
    [world.project.id],
  );
}

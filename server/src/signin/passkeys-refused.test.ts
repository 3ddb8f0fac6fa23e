/**
 * Responses of authenticators that must not register or sign in; `webauthn-registration.test.ts` and
 * `webauthn-assertion.test.ts` test each malformation.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { lockWaits } from '../../test/lock-waits.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests();
let userid: string;
let authenticator: SoftAuthenticator;

beforeEach(() => {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
});

async function open(): Promise<HostedBrowser> {
  const hosted = new HostedBrowser(world, authenticator);
  world.app.clock.turn(31);
  await hosted.open();
  return hosted;
}

/** A browser in which the user may add a passkey. */
async function signedUp(): Promise<HostedBrowser> {
  const hosted = await open();
  expect(expectStatus(await hosted.register(userid), 'SUCCESS')['passkey_offer']).toBe(true);
  return hosted;
}

const rejected = refusal('PASSKEY_REJECTED', 401);
const rows = async () => {
  const sql = `select * from credentials where project_id = ? and kind = 'passkey' order by id`;
  return world.app.services.db.reader().execute(sql, [world.project.id]);
};

describe('a registration', () => {
  it.each([
    ['of a foreign origin', { origin: 'https://evil.example' }],
    ['of a sibling subdomain', { origin: 'http://sibling.localhost' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['without presence', { flags: { UP: false } }],
    ['in a frame of another origin', { crossOrigin: true }],
    ['by an algorithm that was not offered', { alg: -35 }],
    ['backed up, but not eligible for it', { flags: { BS: true } }],
    ['with bytes after the attestation object', { trailingObject: new Uint8Array([1]) }],
    ['with bytes after the authenticator data', { trailing: new Uint8Array([1]) }],
    ['with another challenge', { challenge: 'AAAA' }],
  ])('%s is refused and adds nothing; its challenge is used up', async (_, over) => {
    const hosted = await signedUp();
    expect(await hosted.addPasskey(over)).toMatchObject(rejected);
    expect(await rows()).toEqual([]);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  });

  it('of a credential that the user has is refused', async () => {
    const hosted = await signedUp();
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
    const [known] = authenticator.credentials;
    const again = await open();
    const { services } = world.app;
    const id = (await world.findUser(userid))?.id ?? '';
    const [passkey] = await services.passkeys.list(services.db.reader(), { projectId: world.project.id, userId: id });
    await services.accountAccess.revokeDevice(world.project.id, id, passkey?.id ?? '', system);
    // It is refused even after its revocation.
    expectStatus(await again.register(userid), 'SUCCESS');
    const { options } = await again.page.step('passkey-options', { purpose: 'registration' });
    const other = authenticator.create(options, { origin: world.app.url });
    const credential = { ...other, id: known?.id, rawId: known?.id };
    expect(await again.page.step('register-passkey', { credential })).toMatchObject(rejected);
    expect(await rows()).toHaveLength(1);
  });

  it('by the challenge of another person is refused', async () => {
    const theirs = await signedUp();
    const begun = await theirs.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(begun['options'], { origin: world.app.url });
    userid = newAddress();
    const hosted = await signedUp();
    await hosted.page.step('passkey-options', { purpose: 'registration' });
    expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(rejected);
    expect(await rows()).toEqual([]);
  });

  it('of fifty passkeys by one challenge, sent concurrently, adds one', async () => {
    const hosted = await signedUp();
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => {
        const credential = new SoftAuthenticator().create(options, { origin: world.app.url });
        return hosted.page.step('register-passkey', { credential });
      }),
    );
    expect(answers.filter(({ status }) => status === 'PASSKEY_REGISTERED')).toHaveLength(1);
    expect(answers.filter(({ httpStatus }) => httpStatus === 401 || httpStatus === 410)).toHaveLength(49);
    expect(await rows()).toHaveLength(1);
    const registered = (await world.events()).filter((type) => type === 'passkey.registered');
    expect(registered).toHaveLength(1);
  });

  it('of a credential that another user is registering is refused', async () => {
    const hosted = await signedUp();
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(options, { origin: world.app.url });
    const { make, services } = world.app;
    const { id } = await make.user(world.project);
    let answer: Promise<unknown> | undefined;
    await services.db.transaction(async (em) => {
      const user = (await services.users.find(em, world.project.id, id)) as User;
      const created = {
        ...{ credentialId: credential.id, publicKey: 'pQECAyYg', alg: -7, transports: [], signCount: 0 },
        ...{ aaguid: '00000000-0000-0000-0000-000000000000', attestedRoot: null, attestationFormat: 'none' },
        ...{ backupEligible: false, backedUp: false, userVerified: true },
      };
      await services.passkeys.register(em, { user, created, createdBy: 'mail-code', actor: system });
      await em.flush();
      answer = hosted.page.step('register-passkey', { credential });
      await expect.poll(() => lockWaits(world.app.services.db)).toBe(1);
    });
    expect(await answer).toMatchObject(rejected);
    expect(await rows()).toHaveLength(1);
    expectStatus(await hosted.addPasskey(), 'PASSKEY_REGISTERED');
  });

  it('of a user who is deactivated in the meantime is refused', async () => {
    const hosted = await signedUp();
    const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
    const credential = authenticator.create(options, { origin: world.app.url });
    const id = (await world.findUser(userid))?.id ?? '';
    await world.app.services.accountAccess.deactivate(world.project.id, id, system);
    const answer = await hosted.page.step('register-passkey', { credential });
    expect(answer).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(await rows()).toEqual([]);
  });

  it('that is malformed CBOR is refused', async () => {
    const hosted = await signedUp();
    for (const broken of ['', '00', 'ff', 'a1', '5f', '9f', `${'81'.repeat(2000)}00`, 'bf61616161']) {
      const { options } = await hosted.page.step('passkey-options', { purpose: 'registration' });
      const made = authenticator.create(options, { origin: world.app.url });
      const attestationObject = Buffer.from(broken, 'hex').toString('base64url');
      const credential = { ...made, response: { ...made.response, attestationObject } };
      expect(await hosted.page.step('register-passkey', { credential })).toMatchObject(rejected);
    }
    expect(await rows()).toEqual([]);
  });
});

describe('a sign-in', () => {
  it.each([
    ['that is no longer eligible for backup', { BE: false, BS: false }],
    ['that is backed up, but not eligible for it', { BE: false, BS: true }],
  ])('by a synced passkey %s is refused, and changes nothing', async (_, flags) => {
    const isSynced = { flags: { BE: true, BS: true } };
    expectStatus(await (await signedUp()).addPasskey(isSynced), 'PASSKEY_REGISTERED');
    const before = await rows();
    const hosted = await open();
    expect(await hosted.usePasskey({ flags })).toMatchObject(rejected);
    expect(await rows()).toEqual(before);
    expect(await world.events()).toContain('passkey.rejected');
    expectStatus(await hosted.usePasskey(isSynced), 'SUCCESS');
  });

  it('by a passkey of one device that is now backed up is refused', async () => {
    expectStatus(await (await signedUp()).addPasskey(), 'PASSKEY_REGISTERED');
    const hosted = await open();
    for (const flags of [{ BS: true }, { BE: true, BS: true }]) {
      expect(await hosted.usePasskey({ flags })).toMatchObject(rejected);
    }
    expect(await rows()).toMatchObject([{ backup_eligible: false, backed_up: false }]);
  });

  it('records whether an eligible passkey is backed up now', async () => {
    expectStatus(await (await signedUp()).addPasskey({ flags: { BE: true } }), 'PASSKEY_REGISTERED');
    expect(await rows()).toMatchObject([{ backup_eligible: true, backed_up: false }]);
    for (const BS of [true, false]) {
      const hosted = await open();
      expectStatus(await hosted.usePasskey({ flags: { BE: true, BS } }), 'SUCCESS');
      expect(await rows()).toMatchObject([{ backup_eligible: true, backed_up: BS }]);
    }
  });

  it('by the challenge of another client is refused', async () => {
    expectStatus(await (await signedUp()).addPasskey(), 'PASSKEY_REGISTERED');
    const hosted = await open();
    await hosted.page.challenge({});
    const { options } = await hosted.page.step('passkey-options', {});
    const credential = authenticator.get(options, { origin: world.app.url });
    const created = await world.app.make.client(world.project);
    const before = world.client;
    world.client = created.client;
    const other = await open();
    world.client = before;
    await other.page.challenge({});
    await other.page.step('passkey-options', {});
    expect(await other.page.step('verify-passkey', { credential })).toMatchObject(rejected);
    expectStatus(await hosted.page.step('verify-passkey', { credential }), 'SUCCESS');
  });

  it('by a passkey whose key is of another user of the project is refused', async () => {
    expectStatus(await (await signedUp()).addPasskey(), 'PASSKEY_REGISTERED');
    const [mine] = authenticator.credentials;
    userid = newAddress();
    authenticator = new SoftAuthenticator();
    expectStatus(await (await signedUp()).addPasskey(), 'PASSKEY_REGISTERED');
    const before = await rows();
    const hosted = await open();
    expect(await hosted.usePasskey({ json: { id: mine?.id, rawId: mine?.id } })).toMatchObject(rejected);
    expect(await hosted.usePasskey({ userHandle: mine?.userHandle })).toMatchObject(rejected);
    expect(await rows()).toEqual(before);
  });

  it('without user verification is refused if a second factor is required', async () => {
    expectStatus(await (await signedUp()).addPasskey(), 'PASSKEY_REGISTERED');
    await world.set({ mfaPolicy: 'required' });
    const hosted = await open();
    expect(await hosted.usePasskey({ flags: { UV: false } })).toMatchObject(rejected);
    expectStatus(await hosted.usePasskey(), 'SUCCESS');
  });

  it('with a megabyte of nonsense is refused before it is read', async () => {
    const hosted = await open();
    await hosted.page.challenge({});
    const huge = await hosted.page.step('verify-passkey', { credential: { id: 'A'.repeat(1_000_000) } });
    expect(huge.httpStatus).toBe(413);
  });
});

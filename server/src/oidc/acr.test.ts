/** `acr` follows from the evidence (OpenID Connect Core §5.5.1.1, OpenID EAP ACR Values 1.0, decisions §11). */
import { beforeEach, describe, expect, it } from 'vitest';
import { SoftAuthenticator } from '../../test/authenticator.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { changed } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';

const standard = 'urn:service:pwdless:v1';
const world = SigninWorld.ofTests();
let userid: string;
let authenticator: SoftAuthenticator;
let hosted: HostedBrowser;

beforeEach(async () => {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
  hosted = new HostedBrowser(world, authenticator);
});

const essential = (...values: string[]) => JSON.stringify({ id_token: { acr: { essential: true, values } } });

/** A first sign-in by mail code that adds a passkey; the browser keeps its session and its device key. */
async function enrolled(over: Record<string, unknown> = {}): Promise<void> {
  await hosted.open();
  const done = expectStatus(await hosted.register(userid), 'SUCCESS');
  expectStatus(await hosted.addPasskey(over), 'PASSKEY_REGISTERED');
  await hosted.follow(done);
}

/** Signs in with the passkey in a new browser. */
async function withPasskey(asked: Record<string, string>): Promise<URL> {
  const fresh = new HostedBrowser(world, authenticator);
  await fresh.open(asked);
  return fresh.follow(expectStatus(await fresh.usePasskey(), 'SUCCESS'));
}

describe('acr', () => {
  it.each([
    ['phr', { BE: true, BS: true }, 'phr'],
    ['phrh', { BE: true, BS: true }, standard],
    ['phrh', {}, 'phrh'],
    ['phr phrh', {}, 'phr'],
    ['phrh phr', { BE: true, BS: true }, 'phr'],
    ['loa3', {}, standard],
    ['constructor phr', {}, 'phr'],
    [`${standard} phr`, {}, standard],
    [`phr ${standard}`, {}, 'phr'],
    [`loa3 phrh ${standard}`, { BE: true, BS: true }, standard],
  ])('acr_values=%s, with a passkey whose flags are %o, is %s', async (acr_values, flags, expected) => {
    await enrolled({ flags });
    const fresh = new HostedBrowser(world, authenticator);
    await fresh.open({ acr_values });
    const done = expectStatus(await fresh.usePasskey({ flags }), 'SUCCESS');
    expect((await fresh.claims(done))['acr']).toBe(expected);
  });

  it('stays the standard one if no request asks for another', async () => {
    await enrolled();
    expect((await hosted.claimsAt(await withPasskey({})))['acr']).toBe(standard);
  });

  it('is not met by a passkey without PIN or biometrics', async () => {
    await enrolled({ flags: { UV: false } });
    const fresh = new HostedBrowser(world, authenticator);
    await fresh.open({ acr_values: 'phr' });
    const done = expectStatus(await fresh.usePasskey({ flags: { UV: false } }), 'SUCCESS');
    expect((await fresh.claims(done))['acr']).toBe(standard);
  });
});

describe('an essential acr', () => {
  it('is met under a session that a passkey began, and refused under another with prompt=none', async () => {
    await enrolled();
    const back = await hosted.open({ claims: essential('phr'), prompt: 'none' });
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'unmet_authentication_requirements' });
    await hosted.open({ claims: essential('phr') });
    await hosted.follow(expectStatus(await hosted.usePasskey(), 'SUCCESS'));
    const met = await hosted.open({ claims: essential('phr'), prompt: 'none' });
    expect((await hosted.claimsAt(met))['acr']).toBe('phr');
  });

  it('asks the owner of a passkey for it, even on a trusted device', async () => {
    await enrolled();
    await hosted.open({ claims: essential('phr') });
    await hosted.page.challenge();
    const asked = expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    expect(asked['method']).toBe('passkey');
    const done = expectStatus(await hosted.usePasskey(), 'SUCCESS');
    expect((await hosted.claims(done))['acr']).toBe('phr');
  });

  it('that the sign-in does not meet causes one error at the application', async () => {
    await hosted.open({ claims: essential('phr') });
    const done = expectStatus(await hosted.register(userid), 'SUCCESS');
    const back = await hosted.follow(done);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'unmet_authentication_requirements',
      state: expect.any(String),
    });
    expect(back.searchParams.has('code')).toBe(false);
    const again = await hosted.browser.get(done['redirect_to']);
    expect(again.status).toBe(400);
  });

  it('of phrh is not met by a synced passkey', async () => {
    await enrolled({ flags: { BE: true, BS: true } });
    await hosted.open({ claims: essential('phrh') });
    const back = await hosted.follow(
      expectStatus(await hosted.usePasskey({ flags: { BE: true, BS: true } }), 'SUCCESS'),
    );
    expect(back.searchParams.get('error')).toBe('unmet_authentication_requirements');
  });

  it.each([[''], ['none']])('that no sign-in meets is refused immediately, with prompt=%s', async (prompt) => {
    await enrolled();
    const back = await hosted.open({ claims: essential('urn:example:loa3'), ...(prompt && { prompt }) });
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'unmet_authentication_requirements',
      error_description: expect.stringContaining('claims'),
      state: expect.any(String),
    });
    expect(back.searchParams.has('code')).toBe(false);
  });

  it.each([[['urn:example:loa3', standard]], [['phr', standard]]])(
    '%j is met by every sign-in, without a further prompt',
    async (values) => {
      await hosted.open({ claims: essential(...values) });
      const done = expectStatus(await hosted.register(userid), 'SUCCESS');
      expect((await hosted.claims(done))['acr']).toBe(standard);
      const silent = await hosted.open({ claims: essential(...values), prompt: 'none' });
      expect((await hosted.claimsAt(silent))['acr']).toBe(standard);
    },
  );
});

describe('acr_values', () => {
  it('with the standard one at the end prefer a passkey, and are met without it', async () => {
    await enrolled();
    const silent = await hosted.open({ acr_values: `phr ${standard}`, prompt: 'none' });
    expect((await hosted.claimsAt(silent))['acr']).toBe(standard);
    await hosted.open({ claims: essential('phr') });
    await hosted.follow(expectStatus(await hosted.usePasskey(), 'SUCCESS'));
    const met = await hosted.open({ acr_values: `phr ${standard}`, prompt: 'none' });
    expect((await hosted.claimsAt(met))['acr']).toBe('phr');
  });

  it('ask the owner of a passkey for more than the device key, and no other user', async () => {
    await hosted.open();
    await hosted.follow(expectStatus(await hosted.register(userid), 'SUCCESS'));
    const without = await hosted.open({ acr_values: 'phr' });
    expect((await hosted.claimsAt(without))['acr']).toBe(standard);

    userid = newAddress();
    hosted = new HostedBrowser(world, authenticator);
    await enrolled();
    expect((await hosted.open({ acr_values: 'phr' })).pathname).toBe('/signin');
    await hosted.page.challenge();
    world.app.clock.turn(60);
    expectStatus(await hosted.page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
    const silent = await hosted.open({ acr_values: 'phr', prompt: 'none' });
    expect(silent.searchParams.get('error')).toBe('login_required');
  });
});

it('acr_values require nothing more of a user who has lost the passkey', async () => {
  await enrolled();
  const { db } = world.app.services;
  await changed(db, 'update credentials set revoked_at = now() where project_id = ? and kind = ?', [
    world.project.id,
    'passkey',
  ]);
  const back = await hosted.open({ acr_values: 'phr' });
  expect((await hosted.claimsAt(back))['acr']).toBe(standard);
});

const malformed = [
  'phr',
  { essential: 'true', values: ['phr'] },
  { essential: true, values: [1] },
  { values: 'phr' },
  { value: 1 },
  { essential: true, values: Array<string>(21).fill('phr') },
];

it.each(malformed)('a malformed acr in claims is refused: %j', async (acr) => {
  const back = await hosted.open({ claims: JSON.stringify({ id_token: { acr } }) });
  expect(back.searchParams.get('error')).toBe('invalid_request');
  expect(back.searchParams.get('error_description')).toContain('acr in claims');
});

const ignored = [{ id_token: { acr: null } }, { id_token: null }, { id_token: { name: 1 } }, { userinfo: { acr: 1 } }];

it.each(ignored)('other claims are ignored: %j', async (claims) => {
  await hosted.open({ claims: JSON.stringify(claims) });
  const done = expectStatus(await hosted.register(userid), 'SUCCESS');
  expect((await hosted.claims(done))['acr']).toBe(standard);
});

it.each([['{'], ['[]'], ['"x"'], ['1']])('a claims parameter that is not an object is refused: %s', async (claims) => {
  const back = await hosted.open({ claims });
  expect(back.searchParams.get('error')).toBe('invalid_request');
});

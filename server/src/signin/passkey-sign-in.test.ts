/** Sign-in by passkey on an application's page: one statement reads the facts, one ends it (decisions/0085). */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GetDeviations, SoftAuthenticator } from '../../test/authenticator.ts';
import { givenNow, onceRead, outcomeOf } from '../../test/endings.ts';
import { HostedBrowser } from '../../test/hosted-browser.ts';
import { indexConditions, multiply } from '../../test/plan.ts';
import { changed, rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { appOrigin, claimsOf, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';
import { passkeyFactsStatement } from '../domain/ceremonies/steps/verified-passkey.ts';
import { system } from '../domain/kernel/actor.ts';
import { digest } from '../domain/kernel/secret.ts';

const world = SigninWorld.ofTests();
let authenticator: SoftAuthenticator;
let userid: string;
let page: SigninPage;
let release = () => {};

beforeEach(() => begin());
afterEach(() => release());

/** A user with a passkey, and a page of the application in another browser. */
async function begin(over: Record<string, unknown> = {}): Promise<void> {
  userid = newAddress();
  authenticator = new SoftAuthenticator();
  await world.app.services.clients.update(world.client, { relatedOrigins: true }, system);
  const hosted = new HostedBrowser(world, authenticator);
  await hosted.open();
  expectStatus(await hosted.register(userid), 'SUCCESS');
  expectStatus(await hosted.addPasskey(over), 'PASSKEY_REGISTERED');
  page = await world.page();
  world.app.clock.turn(60);
}

const rejected = refusal('PASSKEY_REJECTED', 401);
const flags = { BE: true, BS: true };

/** The credential for a new challenge of that page. */
async function answered(at = page, over: Partial<GetDeviations> = {}) {
  const { passkey_options: options } = await at.challenge({ passkey: true });
  return authenticator.get(options, { origin: appOrigin, ...over });
}

const change = (sql: string, ...params: unknown[]) => changed(world.app.services.db, sql, params);

describe('a passkey on a page of an application', () => {
  it('signs in with two requests, and two statements for the second', async () => {
    const { ceremonies, callers } = world.app.services;
    const credential = await answered();
    const site = await callers.byApiKey(world.apiKey, appOrigin);
    const caller = { ...site, actor: { kind: 'anonymous' as const }, locale: 'en' as const };
    const statements = await statementsDuring(async () => {
      const input = { txn: page.txn, credential, body: Buffer.alloc(0) };
      expect(await ceremonies.take('verify-passkey', caller, input)).toMatchObject({ status: 'SUCCESS' });
    });
    expect(statements).toHaveLength(2);
  });

  it('yields tokens of its user, with mfa, for the page’s code_challenge', async () => {
    const verifier = 'v'.repeat(43);
    const challenge = { code_challenge: digest(verifier), code_challenge_method: 'S256', passkey: true };
    const { passkey_options: options } = await page.challenge(challenge);
    const credential = authenticator.get(options, { origin: appOrigin });
    const { code } = expectStatus(await page.step('verify-passkey', { credential }), 'SUCCESS');
    expect((await world.exchange(code)).status).toBe(400);
    const { body } = await world.exchange(code, { form: { code_verifier: verifier } });
    const sub = (await world.findUser(userid))?.id;
    expect(claimsOf(body['id_token'])).toMatchObject({ sub, amr: ['hwk', 'user', 'pop', 'mfa'] });
  });

  it('deletes the networks of its user that are no longer known', async () => {
    const user = await world.findUser(userid);
    const longAgo = new Date(world.app.clock.now().getTime() - 180 * 24 * 3600 * 1000);
    const insert = 'insert into known_networks (project_id, user_id, network, last_at) values (?, ?, ?, ?)';
    await change(insert, user?.project.id, user?.id, 'long ago', longAgo);
    const networks = () =>
      rows(world.app.services.db, 'select network from known_networks where user_id = ?', [user?.id]);
    expect(await networks()).toHaveLength(2);
    expectStatus(await page.step('verify-passkey', { credential: await answered() }), 'SUCCESS');
    expect(await networks()).toEqual([{ network: expect.not.stringMatching('long ago') }]);
  });

  it('gets one code for one response in 40 concurrent requests', async () => {
    const credential = await answered();
    const answers = await Promise.all(Array.from({ length: 40 }, () => page.step('verify-passkey', { credential })));
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    expect(await givenNow(world)).toHaveLength(3);
  });

  it('gets options with its challenge only if it can use passkeys', async () => {
    expect(await page.challenge({})).not.toHaveProperty('passkey_options');
    const { passkey_options: options } = await page.challenge({ passkey: true });
    expect(options).toMatchObject({ rpId: '127.0.0.1', userVerification: 'preferred' });
    expect(options).not.toHaveProperty('allowCredentials');
    await world.set({ passkeyPolicy: 'required' });
    const required = await page.challenge({ passkey: true });
    expect(required['passkey_options']).toMatchObject({ userVerification: 'required' });
    await world.app.services.clients.update(world.client, { relatedOrigins: false }, system);
    const { passkey_options: none } = await page.challenge({ passkey: true });
    expect(none).toBeUndefined();
    const credential = authenticator.get(options, { origin: appOrigin });
    expect(await page.step('verify-passkey', { credential })).toMatchObject(rejected);
  });

  it('is found by its keys, regardless of the statistics', async () => {
    const { db } = world.app.services;
    const name = 'gen_random_uuid()';
    await multiply(db, 'users', { id: name, user_name_key: name, email_key: name, phone: 'null' });
    await multiply(db, 'credentials', { id: name, jkt: name, credential_id: name });
    const asked = { txn: 'txn', challenge: 'c', credentialId: 'id', domain: null, now: world.app.clock.now() };
    const { project, client } = world;
    const found = await indexConditions(
      db,
      passkeyFactsStatement({ project, client, origin: appOrigin, request: null, organization: null }, asked),
    );
    expect(
      Object.entries(found)
        .map(([table, [first]]) => `${table}: ${first}`)
        .sort(),
    ).toEqual(['credentials: (credential_id = ?)', expect.stringContaining('(id = k.user_id)')]);
  });
});

/** Moves the passkey to a custom domain, without a change of the data that the authenticator signs. */
const toDomain = () =>
  change(
    `update credentials set domain = 'login.example.com' where kind = 'passkey' and project_id = ?`,
    world.project.id,
  );

const changes: readonly (readonly [what: string, change: () => Promise<unknown>, answer: object])[] = [
  ['its user is deactivated', () => change('update users set active = false where email_key = ?', userid), rejected],
  [
    'the passkey is revoked',
    () =>
      change(`update credentials set revoked_at = now() where kind = 'passkey' and project_id = ?`, world.project.id),
    refusal('PASSKEY_UNKNOWN', 401),
  ],
  ['the passkey is of a custom domain', () => toDomain(), rejected],
  [
    'its counter has moved past the response',
    () => change(`update credentials set sign_count = 7 where kind = 'passkey' and project_id = ?`, world.project.id),
    rejected,
  ],
  [
    'the challenge was used',
    () => change('update ceremonies set passkey_challenge_hash = null where txn_hash = ?', digest(page.txn)),
    rejected,
  ],
  [
    'the challenge is for a registration',
    () => change(`update ceremonies set passkey_purpose = 'registration' where txn_hash = ?`, digest(page.txn)),
    rejected,
  ],
  [
    'the sign-in has expired',
    () => change('update ceremonies set expires_at = ? where txn_hash = ?', world.app.clock.now(), digest(page.txn)),
    refusal('TRANSACTION_EXPIRED', 410),
  ],
  [
    'the sign-in is finished',
    () => change('update ceremonies set finished_at = now() where txn_hash = ?', digest(page.txn)),
    refusal('TRANSACTION_EXPIRED', 410),
  ],
  [
    'the sign-in is in another state',
    () => change(`update ceremonies set state = 'otp_verified' where txn_hash = ?`, digest(page.txn)),
    refusal('OUT_OF_ORDER', 409),
  ],
  [
    'the sign-in has evidence of another user',
    async () =>
      change(
        `update ceremonies set evidence = jsonb_build_array(jsonb_build_object('kind', 'device-key', 'account', ?::text))
         where txn_hash = ?`,
        (await world.user()).id,
        digest(page.txn),
      ),
    refusal('TRANSACTION_EXPIRED', 410),
  ],
  [
    'the API key is revoked',
    () => change('update api_keys set revoked_at = now() where hash = ?', digest(world.apiKey)),
    refusal('INVALID_API_KEY', 401),
  ],
  [
    'the client is disabled, with an unchanged version',
    () => change('update clients set disabled_at = now() where id = ?', world.client.id),
    refusal('INVALID_API_KEY', 401),
  ],
  [
    'the project has turned passkeys off',
    () =>
      change(
        `update projects set version = version + 1, passkeys = false, passkey_policy = 'off' where id = ?`,
        world.project.id,
      ),
    refusal('PASSKEYS_NOT_ALLOWED', 403),
  ],
];

describe('a valid response gets no code', () => {
  it.each(changes)('if, between the two statements, %s', async (_, what, answer) => {
    const credential = await answered();
    const seen = onceRead(world.app, 'verified-passkey.facts', what);
    release = seen.release;
    expect(await page.step('verify-passkey', { credential })).toMatchObject(answer);
    expect(seen.count).toBe(1);
    expect(await givenNow(world)).toEqual([]);
  });

  it('for a passkey of a custom domain, even if it is signed for this host', async () => {
    const credential = await answered();
    await toDomain();
    const seen = onceRead(world.app, 'verified-passkey.facts', () => Promise.resolve());
    release = seen.release;
    expect(await page.step('verify-passkey', { credential })).toMatchObject(rejected);
    expect(seen.count).toBe(0);
    expect(await givenNow(world)).toEqual([]);
  });

  it('on another page, client or origin', async () => {
    const credential = await answered();
    const { client } = await world.app.make.client(world.project);
    for (const [column, value] of [
      ['client_id', client.id],
      ['origin', 'https://second.example.com'],
    ]) {
      await change(`update ceremonies set ${column} = ? where txn_hash = ?`, value, digest(page.txn));
      const answer = await page.step('verify-passkey', { credential });
      expect([column, answer]).toEqual([column, expect.objectContaining(refusal('TRANSACTION_EXPIRED', 410))]);
    }
    expect(await givenNow(world)).toEqual([]);
  });
});

describe('a response', () => {
  const responses: [what: string, over: Partial<GetDeviations>, registered: Record<string, unknown>][] = [
    ['of one device', { signCount: 3 }, { signCount: 2 }],
    ['of a synced key', { flags }, { flags }],
    ['of a synced key whose counter goes back', { flags, signCount: 1 }, { flags, signCount: 2 }],
  ];

  it.each(responses)('%s ends a sign-in the same if the facts change meanwhile', async (_, over, registered) => {
    const outcomes = [];
    for (const when of ['never', 'between']) {
      await world.begin();
      await begin(registered);
      const credential = await answered(page, over);
      const another = () => change(`update ceremonies set nonce_hash = 'another' where txn_hash = ?`, digest(page.txn));
      const seen = onceRead(world.app, 'verified-passkey.facts', async () => when === 'between' && another());
      outcomes.push(await outcomeOf(world, await page.step('verify-passkey', { credential })));
      expect(seen.count).toBe(1);
      seen.release();
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  const rejecteds: [what: string, over: Partial<GetDeviations>, registered?: Record<string, unknown>][] = [
    ['whose counter goes back, of one device', { signCount: 2 }, { signCount: 2 }],
    ['of a foreign origin', { origin: 'https://evil.example' }],
    ['in a frame of another origin', { crossOrigin: true }],
    ['without a user handle', { userHandle: null }],
    ['with a foreign signature', { signature: 'AAAA' }],
  ];

  it.each(rejecteds)('%s is rejected, and uses up its challenge', async (_, over, registered = {}) => {
    await begin(registered);
    const { passkey_options: options } = await page.challenge({ passkey: true });
    for (const deviations of [over, { signCount: 9 }]) {
      const credential = authenticator.get(options, { origin: appOrigin, ...deviations });
      expect(await page.step('verify-passkey', { credential })).toMatchObject(rejected);
    }
    expect(await givenNow(world)).toEqual([]);
  });
});

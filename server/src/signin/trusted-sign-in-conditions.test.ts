/**
 * Each condition of the two statements of a trusted sign-in (decisions/0085), violated one at a time with a valid
 * proof: before the facts are read, and between both statements.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { givenNow, onceRead, outcomeOf } from '../../test/endings.ts';
import { redirectUri } from '../../test/factories.ts';
import { changed, rows } from '../../test/rows.ts';
import { type SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { appOrigin, claimsOf, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import { digest } from '../domain/kernel/secret.ts';

const otherUri = 'https://second.example.com/callback';

let world: SigninWorld;
let page: SigninPage;
let userid: string;
/** The owner of the page's device. */
let userId: string;
let stranger: string;
/** Another client of the same project. */
let otherClient: string;

beforeAll(async () => {
  world = await SigninWorld.open();
});
afterAll(() => world.app.close());

async function begin(): Promise<void> {
  await world.begin();
  userid = newAddress();
  page = await world.page();
  userId = (await world.trusted(page, userid)).id;
  stranger = (await world.user()).id;
  otherClient = (await world.app.make.client(world.project)).client.id;
  // A second valid key of the same client.
  await world.app.services.clients.issueApiKey(world.client, 'publishable', system);
  world.app.clock.turn(60);
}
let release = () => {};
afterEach(() => release());

type Params = () => readonly unknown[];
type Change = readonly [sql: string, params: Params];

function change([sql, params]: Change): Promise<number> {
  return changed(world.app.services.db, sql, params());
}

function now(plusSeconds = 0): Date {
  return new Date(world.app.clock.now().getTime() + plusSeconds * 1000);
}

const ofUser: Params = () => [userId];
const ofDevice: Params = () => [page.key.jkt];
const ofClient: Params = () => [world.client.id];
const ofKey: Params = () => [digest(world.apiKey)];
const ofSignIn: Params = () => [digest(page.txn)];
const atNow =
  (params: Params): Params =>
  () => [now(), ...params()];

const verified = `insert into enrolments (project_id, id, user_id, method, created_at, verified_at)
  select project_id, gen_random_uuid(), id, 'email', now(), now() from users where id = ?`;
/** A mail code proved in this sign-in, after which the page did not finish: DEVICE_REGISTERED. */
const mailed: Change = [
  `update ceremonies set state = 'registered', address = ?, evidence = jsonb_build_array(jsonb_build_object(
      'kind', 'mail-code', 'account', ?::text, 'address', ?::text, 'ceremony', id::text, 'at', ?::text))
    where txn_hash = ?`,
  () => [userid, userId, userid, now().toISOString(), ...ofSignIn()],
];
const elsewhere = '{https://elsewhere.example.com/}';

/** Changes that violate one condition, and the step's response. */
const inProgress: readonly (readonly [what: string, change: Change, answer: object])[] = [
  ['its user is deactivated', ['update users set active = false where id = ?', ofUser], { status: 'OTP_NEEDED' }],
  [
    'its user has another address',
    [`update users set email_key = 'x' || email_key, user_name_key = 'x' || user_name_key where id = ?`, ofUser],
    { status: 'OTP_NEEDED' },
  ],
  ['its user has a factor', [verified, ofUser], { status: 'MFA_REQUIRED' }],
  [
    'the device is revoked',
    ['update credentials set revoked_at = ? where jkt = ?', atNow(ofDevice)],
    { status: 'OTP_NEEDED' },
  ],
  [
    'its trust ends at this instant',
    ['update credentials set trusted_until = ? where jkt = ?', atNow(ofDevice)],
    { status: 'OTP_NEEDED' },
  ],
  [
    'it is not trusted',
    ['update credentials set trusted_until = null where jkt = ?', ofDevice],
    { status: 'OTP_NEEDED' },
  ],
  [
    'it was registered as long ago as a device may be',
    ['update credentials set registered_at = ? where jkt = ?', () => [now(-180 * 24 * 3600), ...ofDevice()]],
    { status: 'OTP_NEEDED' },
  ],
  ['the device is deleted', ['delete from credentials where jkt = ?', ofDevice], { status: 'OTP_NEEDED' }],
  [
    'it belongs to another user',
    ['update credentials set user_id = ? where jkt = ?', () => [stranger, page.key.jkt]],
    { status: 'OTP_NEEDED' },
  ],
  ['it has another key', [`update credentials set jkt = 'another' where jkt = ?`, ofDevice], { status: 'OTP_NEEDED' }],
  [
    'it belongs to another client',
    ['update credentials set client_id = ? where jkt = ?', () => [otherClient, page.key.jkt]],
    { status: 'OTP_NEEDED' },
  ],
  [
    'the nonce was used',
    [`update ceremonies set nonce_hash = 'another' where txn_hash = ?`, ofSignIn],
    refusal('NONCE_REJECTED', 401),
  ],
  [
    'the nonce expires at this instant',
    ['update ceremonies set nonce_expires_at = ? where txn_hash = ?', atNow(ofSignIn)],
    refusal('NONCE_REJECTED', 401),
  ],
  [
    'the sign-in expires at this instant',
    ['update ceremonies set expires_at = ? where txn_hash = ?', atNow(ofSignIn)],
    refusal('TRANSACTION_EXPIRED', 410),
  ],
  [
    'the sign-in is finished',
    ['update ceremonies set finished_at = ? where txn_hash = ?', atNow(ofSignIn)],
    refusal('TRANSACTION_EXPIRED', 410),
  ],
  [
    'the sign-in is in another state',
    [`update ceremonies set state = 'otp_verified' where txn_hash = ?`, ofSignIn],
    refusal('OUT_OF_ORDER', 409),
  ],
  [
    'the API key is revoked',
    ['update api_keys set revoked_at = ? where hash = ?', atNow(ofKey)],
    refusal('INVALID_API_KEY', 401),
  ],
  [
    'the API key is a secret key',
    [`update api_keys set kind = 'secret' where hash = ?`, ofKey],
    refusal('INVALID_API_KEY', 401),
  ],
  [
    'the API key is another client’s',
    ['update api_keys set client_id = ? where hash = ?', () => [otherClient, ...ofKey()]],
    refusal('TRANSACTION_EXPIRED', 410),
  ],
  [
    'the client is disabled, with an unchanged version',
    ['update clients set disabled_at = ? where id = ?', atNow(ofClient)],
    refusal('INVALID_API_KEY', 401),
  ],
  [
    'the client has lost the origin',
    [
      'update clients set version = version + 1, redirect_uris = ?::text[] where id = ?',
      () => [elsewhere, ...ofClient()],
    ],
    refusal('ORIGIN_NOT_ALLOWED', 403),
  ],
  [
    'the project requires a factor',
    [`update projects set version = version + 1, mfa_policy = 'required' where id = ?`, () => [world.project.id]],
    { status: 'OTP_NEEDED' },
  ],
];

/** Expects no code and no sign-in event. */
const expectNothingGiven = async () => expect(await givenNow(world)).toEqual([]);

/** Commits the change after the facts are read and before the write, in a process that did not begin the sign-in. */
function between(what: Change): { count: number } {
  world.app.services.begunDevices.invalidate();
  const seen = onceRead(world.app, 'trusted-device.facts', () => change(what));
  ({ release } = seen);
  return seen;
}

describe('a valid proof of a trusted device gets no code', () => {
  beforeEach(begin);

  it.each(inProgress)('if %s', async (_, what, answer) => {
    await page.challenge();
    await change(what);
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(answer);
    await expectNothingGiven();
  });

  it.each(inProgress)('if, between the two statements, %s', async (_, what, answer) => {
    await page.challenge();
    const seen = between(what);
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(answer);
    expect(seen.count).toBe(1);
    await expectNothingGiven();
  });

  it('for another user’s or an unknown address', async () => {
    const other = newAddress();
    await world.user({ userName: other, userNameKey: other, email: other, emailKey: other });
    for (const address of [other, newAddress()]) {
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid: address }, 'use'), 'OTP_NEEDED');
      await expectNothingGiven();
    }
  });

  it('if its user has no factor and the project already requires one', async () => {
    await world.set({ mfaPolicy: 'required' });
    for (let remembered = 0; remembered < 2; remembered += 1) {
      world.app.clock.turn(30);
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid }, 'use'), 'OTP_NEEDED');
      await expectNothingGiven();
    }
    await world.set({ mfaPolicy: 'optional' });
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('in a sign-in of another client, project, page or origin', async () => {
    const { make, services } = world.app;
    await changed(
      services.db,
      'update clients set redirect_uris = redirect_uris || ?, version = version + 1 where id = ?',
      [`{${otherUri}}`, world.client.id],
    );
    const { client: foreign } = await make.client(await make.project());
    await services.db.transaction((em) =>
      services.requests.begin(em, {
        ...{ projectId: world.project.id, clientId: world.client.id },
        ...{ redirectUri, scope: 'openid', codeChallenge: 'c'.repeat(43) },
      }),
    );
    // The other client also trusts the device.
    await change([
      `insert into credentials select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'client_id', ?::text))).*
       from credentials d where jkt = ?`,
      () => [otherClient, page.key.jkt],
    ]);
    const foreignTo: [string, unknown][] = [
      ['client_id = ?', otherClient],
      ['(project_id, client_id) = (select project_id, id from clients where id = ?)', foreign.id],
      ['origin = ?', new URL(otherUri).origin],
      ['request_id = (select id from authorization_requests where client_id = ?)', world.client.id],
    ];
    for (const [column, value] of foreignTo) {
      await page.challenge();
      await change([`update ceremonies set ${column} where txn_hash = ?`, () => [value, ...ofSignIn()]]);
      const answer = await page.step('authenticate', { userid }, 'use');
      expect([column, answer]).toEqual([column, expect.objectContaining(refusal('TRANSACTION_EXPIRED', 410))]);
      await expectNothingGiven();
    }
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

/** A change of the facts that changes nothing else. */
const harmless: Change = [
  `update credentials set last_used_at = last_used_at - interval '1 ms' where jkt = ?`,
  ofDevice,
];

it.each([
  ['', {}],
  [' for an unremembered device', { remember_device: false }],
])('a sign-in%s ends the same if the facts change meanwhile: same response, same rows', async (_, fields) => {
  const outcomes = [];
  for (const when of ['never', 'between']) {
    await begin();
    await page.challenge();
    if (when === 'between') between(harmless);
    outcomes.push(await outcomeOf(world, await page.step('authenticate', { userid, ...fields }, 'use')));
    release();
  }
  expect(outcomes[1]).toEqual(outcomes[0]);
});

describe('a trusted device', () => {
  beforeEach(begin);

  it.each(['before', 'between'] as const)(
    'adds to earlier evidence that was proved %s the statements',
    async (when) => {
      await page.challenge();
      if (when === 'before') await change(mailed);
      else between(mailed);
      expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
      const { db } = world.app.services;
      const [given] = await rows<{ amr: string[] }>(
        db,
        'select amr from authorization_codes where user_id = ? order by created_at desc, id desc limit 1',
        [userId],
      );
      expect(given?.amr.toSorted()).toEqual(['otp', 'swk']);
    },
  );

  const signIn = async (who = userid): Promise<StepAnswer> => {
    await page.challenge();
    return page.step('authenticate', { userid: who }, 'use');
  };
  const trust = async () => {
    const { db } = world.app.services;
    const [device] = await rows<{ trusted_until: string | null }>(
      db,
      'select trusted_until from credentials where jkt = ?',
      [page.key.jkt],
    );
    return device?.trusted_until ?? null;
  };

  it('signs in until the last millisecond of its trust, its nonce and the sign-in', async () => {
    await page.challenge();
    await change(['update credentials set trusted_until = ? where jkt = ?', () => [now(0.001), page.key.jkt]]);
    await change([
      'update ceremonies set nonce_expires_at = ?, expires_at = ? where txn_hash = ?',
      () => [now(0.001), now(0.001), ...ofSignIn()],
    ]);
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('is no longer trusted if `remembered` is cleared between the two statements', async () => {
    await page.challenge();
    const seen = between(['update credentials set remembered = false where jkt = ?', ofDevice]);
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    expect([seen.count, await trust()]).toEqual([1, null]);
    expectStatus(await signIn(), 'OTP_NEEDED');
  });

  it('is trusted from its last use, for the project’s limit', async () => {
    await world.set({ deviceTrustSeconds: 3600 });
    expectStatus(await signIn(), 'SUCCESS');
    expect(new Date((await trust()) ?? 0)).toEqual(now(3600));
  });

  it('is audited with its origin, and yields tokens with amr and auth_time', async () => {
    const answer = expectStatus(await signIn(), 'SUCCESS');
    const [event] = await rows(
      world.app.services.db,
      `select actor_kind, ip, user_agent, request_id, client_id, subject_id from audit_log
       where type = 'user.signed_in' and project_id = ? order by id desc limit 1`,
      [world.project.id],
    );
    expect(event).toEqual({
      actor_kind: 'anonymous',
      ip: '127.0.0.1',
      user_agent: 'node',
      request_id: answer.headers.get('x-request-id'),
      client_id: world.client.id,
      subject_id: userId,
    });
    const claims = claimsOf((await world.exchange(answer['code'])).body['id_token']);
    const signedInAt = Math.floor(now().getTime() / 1000);
    expect(claims).toMatchObject({ sub: userId, auth_time: signedInAt, acr: 'urn:service:pwdless:v1', amr: ['swk'] });
    expect(claims).not.toHaveProperty('sid');
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it('shared by two users signs in each as themselves', async () => {
    const other = newAddress();
    await world.register(await world.page(page.key), other);
    world.app.clock.turn(60);
    for (const who of [userid, other, userid]) {
      const { code } = expectStatus(await signIn(who), 'SUCCESS');
      const { body } = await world.exchange(code);
      expect(claimsOf(body['id_token'])).toMatchObject({
        email: who,
        amr: ['swk'],
        sub: (await world.findUser(who))?.id,
      });
    }
  });

  it('can sign in after a code was requested or it was registered in the same sign-in', async () => {
    for (const state of ['otp_sent', 'registered']) {
      await page.challenge();
      await change(['update ceremonies set state = ? where txn_hash = ?', () => [state, ...ofSignIn()]]);
      expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    }
  });

  it('gets a code bound to the page’s code_challenge', async () => {
    const verifier = 'v'.repeat(43);
    await page.challenge({ jkt: page.key.jkt, code_challenge: digest(verifier), code_challenge_method: 'S256' });
    const { code } = expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    expect((await world.exchange(code)).status).toBe(400);
    expect((await world.exchange(code, { form: { code_verifier: 'w'.repeat(43) } })).status).toBe(400);
    expect((await world.exchange(code, { form: { code_verifier: verifier } })).status).toBe(200);
  });

  it('works on pages of each origin of its client, each in its own sign-ins', async () => {
    await changed(
      world.app.services.db,
      'update clients set redirect_uris = redirect_uris || ?, version = version + 1 where id = ?',
      [`{${otherUri}}`, world.client.id],
    );
    const there = await world.page(page.key, { origin: new URL(otherUri).origin });
    await there.challenge();
    const other = await world.page(page.key, { origin: appOrigin });
    await other.challenge();
    [other.txn, other.nonce] = [there.txn, there.nonce];
    expect(await other.step('authenticate', { userid }, 'use')).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expectStatus(await there.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

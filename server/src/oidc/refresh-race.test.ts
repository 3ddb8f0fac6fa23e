/** What ends between the read and the write of a refresh, or of a device's exchange, counts: the write compares what the read saw. */
import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../test/account-visit.ts';
import { DeviceBrowser } from '../../test/device-browser.ts';
import { untilLockWaits } from '../../test/lock-waits.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { RelyingParty, TokenAnswer } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { grantTypeNames } from '../domain/kernel/openid.ts';
import type { Enrolment } from '../domain/mfa/enrolment.entity.ts';

const world = SigninWorld.ofTests();
const people = peopleOf(world);
let client: Client;
let person: RegisteredUser;
let party: RelyingParty;
let factor: Enrolment;
let sid: string;

beforeEach(async () => {
  await world.set({ mfaPolicy: 'off', passkeyPolicy: 'allowed' });
  const grantTypes = ['refresh_token', 'device_code'] as const;
  ({ client } = await world.app.make.client(world.project, { grantTypes: [...grantTypes] }));
  person = await people.registeredUser();
  factor = await people.giveFactor(person.user);
  party = partyAt(world.app, world.project, client);
  sid = await party.signIn(person.user, 'person', ['pop', 'mfa', 'hwk']);
});

const change = (sql: string, values: unknown[]) => changed(world.app.services.db, sql, values);

/** A request between whose read and write `between` runs: for its ID token it reads tables that are locked until then. */
async function around(request: () => Promise<Response>, between: () => Promise<unknown>): Promise<Response> {
  const { db } = world.app.services;
  const { answer } = await db.transaction(async (em) => {
    await em.execute('lock table claim_settings in access exclusive mode');
    const running = request();
    await untilLockWaits(db, 1);
    await between();
    return { answer: running };
  });
  return answer;
}

const send = (fields: Record<string, string>) => () =>
  fetch(`${party.issuer}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id, ...fields }),
  });

/** A request to refresh the tokens of a new grant. */
async function refreshing(scope: string) {
  const { refresh_token: token } = (await party.tokens({ scope })) as TokenAnswer & { refresh_token: string };
  return send({ grant_type: 'refresh_token', refresh_token: token });
}

/** The poll of a device that the user has allowed. */
async function polling() {
  const asked = await fetch(`${party.issuer}/oauth2/device_authorization`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: client.id }),
  });
  const codes = (await asked.json()) as { device_code: string; user_code: string };
  const browser = new DeviceBrowser(world.app, party.issuer);
  await browser.signIn(person.user, ['pop', 'mfa', 'hwk']);
  await browser.allow(codes.user_code);
  return send({ grant_type: grantTypeNames.device_code, device_code: codes.device_code });
}

const removeFactor = () => change('delete from enrolments where id = ?', [factor.id]);
const deactivate = () => change('update users set active = false where id = ?', [person.user.id]);
const demandFactor = () =>
  change(`update projects set mfa_policy = 'required', version = version + 1 where id = ?`, [world.project.id]);

/** Reasons of refused requests. */
async function faults() {
  const found = await rows<{ fault: string }>(
    world.app.services.db,
    `select detail->>'fault' as fault from audit_log where project_id = ? and type = 'token.refused' and client_id = ?`,
    [world.project.id, client.id],
  );
  return found.map(({ fault }) => fault);
}

describe.each([
  ['a refresh', () => refreshing('openid')],
  ['a refresh without a session', () => refreshing('openid offline_access')],
  ['the poll of a device', polling],
])('%s is refused if, between its read and its write,', (_, prepared) => {
  it('the user is deactivated', async () => {
    expect((await around(await prepared(), deactivate)).status).toBe(400);
    expect(await faults()).toEqual(['user']);
  });

  it('the user loses the factor that the policy requires', async () => {
    await world.set({ mfaPolicy: 'required' });
    expect((await around(await prepared(), removeFactor)).status).toBe(400);
    expect(await faults()).toEqual(['policy']);
  });

  it('the policy requires a factor, which the user lacks', async () => {
    await removeFactor();
    expect((await around(await prepared(), demandFactor)).status).toBe(400);
    expect(await faults()).toEqual(['policy']);
  });
});

it.each<[string, () => Promise<unknown>, string]>([
  ['ends', () => change('update sessions set ended_at = now() where id = ?', [sid]), 'session-ended'],
  ['is renewed without the required passkey', () => party.signIn(person.user, 'person', ['swk', 'otp']), 'policy'],
])('a refresh is refused if, between its read and its write, its session %s', async (_, between, fault) => {
  await world.app.services.clients.update(client, { passkeyRequired: true }, system);
  expect((await around(await refreshing('openid'), between)).status).toBe(400);
  expect(await faults()).toEqual([fault]);
});

it('a refresh succeeds although its session is used meanwhile, or a factor that no policy requires is removed', async () => {
  const use = () => change(`update sessions set last_seen_at = last_seen_at + interval '1 s' where id = ?`, [sid]);
  for (const between of [use, removeFactor]) {
    expect((await around(await refreshing('openid'), between)).status).toBe(200);
  }
});

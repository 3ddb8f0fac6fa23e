/** Facts that change between the read and the write of a code under a session: no code by old facts. */
import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf, type RegisteredUser } from '../../test/account-visit.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { Changes, RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
const people = peopleOf(world);
let client: Client;
let person: RegisteredUser;
let party: RelyingParty;
let sid: string;

beforeEach(async () => {
  await world.set({ mfaPolicy: 'off', passkeyPolicy: 'off' });
  const { projects } = world.app.services;
  await projects.updateSessionPolicy(world.project.id, { idleTimeoutSeconds: 1800 }, system);
  ({ client } = await world.app.make.client(world.project));
  person = await people.registeredUser();
  party = partyAt(world.app, world.project, client);
  sid = await party.signIn(person.user, 'person', ['swk', 'otp', 'mfa']);
});

/** The response to a request whose write begins after `change`, and whose read was before it. */
async function answered(change: string, values: unknown[], asked: Changes = {}): Promise<Response> {
  const { db } = world.app.services;
  const waiting = `select from pg_locks where relation = 'authorization_codes'::regclass and not granted`;
  const { response } = await db.transaction(async (em) => {
    await em.execute('lock table authorization_codes in access exclusive mode');
    const running = party.authorize({ prompt: 'none', ...asked });
    await expect.poll(async () => (await rows(db, waiting)).length).toBe(1);
    await em.execute(change, values);
    return { response: running };
  });
  return response;
}

/** Values of the redirect. */
const valuesOf = (response: Response) => new URL(response.headers.get('location') ?? '').searchParams;

async function stored() {
  const { db } = world.app.services;
  const [codes] = await rows<{ count: string }>(db, 'select count(*) from authorization_codes where user_id = ?', [
    person.user.id,
  ]);
  const [session] = await rows(db, 'select last_seen_at, idle_expires_at from sessions where id = ?', [sid]);
  return { codes: Number(codes?.count), session };
}

describe('between read and write', () => {
  it.each([
    ['the session ends', 'update sessions set ended_at = now() where id = ?', () => sid],
    ['another sign-in renews it', "update sessions set secret_hash = 'other' where id = ?", () => sid],
    ['the user is suspended', 'update users set active = false where id = ?', () => person.user.id],
    [
      'the policy requires a passkey',
      "update projects set passkeys = true, passkey_policy = 'required', version = version + 1 where id = ?",
      () => world.project.id,
    ],
    [
      'the client requires a passkey',
      'update clients set passkey_required = true, version = version + 1 where id = ?',
      () => client.id,
    ],
    [
      'the idle limit becomes shorter than the time since the last use',
      'update projects set idle_timeout_seconds = 60, version = version + 1 where id = ?',
      () => world.project.id,
    ],
  ])('%s: no code, and nothing is written', async (_, change, id) => {
    world.app.clock.turn(120);
    const before = await stored();
    const response = await answered(change, [id()]);
    expect(valuesOf(response).get('error')).toBe('login_required');
    expect(await stored()).toEqual(before);
  });

  it('access ends: no code, and nothing is written', async () => {
    const { accessRules, clients } = world.app.services;
    await clients.update(client, { access: 'assigned' }, system);
    await accessRules.grant(client, { userId: person.user.id }, system);
    world.app.clock.turn(120);
    const before = await stored();
    const response = await answered('delete from access_rules where user_id = ?', [person.user.id]);
    expect(valuesOf(response).get('error')).toBe('access_denied');
    expect(await stored()).toEqual(before);
  });

  it('the user loses the factor that the policy requires: no code', async () => {
    await world.set({ mfaPolicy: 'required' });
    const factor = await people.giveFactor(person.user);
    expect(valuesOf(await party.authorize({ prompt: 'none' })).has('code')).toBe(true);
    const before = await stored();
    const response = await answered('delete from enrolments where id = ?', [factor.id]);
    expect(valuesOf(response).get('error')).toBe('login_required');
    expect(await stored()).toEqual(before);
  });

  it('the user withdraws the consent: no code', async () => {
    client = await world.app.services.clients.update(client, { thirdParty: true }, system);
    const scope = 'openid email';
    await world.app.services.db.transaction((em) =>
      world.app.services.consents.give(em, client, person.user, { scope, resources: [], organizationId: null }, system),
    );
    expect(valuesOf(await party.authorize({ prompt: 'none', scope })).has('code')).toBe(true);
    const before = await stored();
    const response = await answered('delete from consents where user_id = ?', [person.user.id]);
    expect(valuesOf(response).get('error')).toBe('consent_required');
    expect(await stored()).toEqual(before);
  });

  it('the freshness of the session ends: no code with max_age', async () => {
    const before = await stored();
    const change = 'update sessions set fresh_at = null where id = ?';
    const response = await answered(change, [sid], { max_age: '600' });
    expect(valuesOf(response).get('error')).toBe('login_required');
    expect(await stored()).toEqual(before);
  });

  it('another request uses the session: a code', async () => {
    const response = await answered("update sessions set last_seen_at = last_seen_at + interval '1 s' where id = ?", [
      sid,
    ]);
    expect(valuesOf(response).has('code')).toBe(true);
  });
});

it('a refusal does not extend the session', async () => {
  world.app.clock.turn(120);
  const before = await stored();
  for (const asked of [{ max_age: '60' }, { id_token_hint: 'unknown' }]) {
    expect(valuesOf(await party.authorize({ prompt: 'none', ...asked })).get('error')).toBe('login_required');
  }
  expect(await stored()).toEqual(before);
  expect(valuesOf(await party.authorize({ prompt: 'none' })).has('code')).toBe(true);
  expect((await stored()).session).not.toEqual(before.session);
});

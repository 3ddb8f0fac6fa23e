/**
 * A process that holds what it read decides as one that reads now, whatever another process has changed in between (decisions/0080).
 */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf } from '../../test/browser.ts';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import type { Changes, RelyingParty } from '../../test/relying-party.ts';
import { changed } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

/** Holds the session and its codes. */
let here: TestApp;
/** Makes the changes, and reads. */
let there: TestApp;
let project: Project;
let client: Client;
let user: User;
let party: RelyingParty;
let sid: string;
const cookie = () => `lk-session-${project.id}`;
const scope = 'openid email phone offline_access';

beforeAll(async () => {
  here = await buildTestApp();
  there = await buildSibling(here);
});
afterAll(async () => {
  await there.close();
  await here.close();
});
beforeEach(async () => {
  project = await here.make.project();
  ({ client } = await here.make.client(project, { grantTypes: ['refresh_token'] }));
  user = await here.make.user(project);
  party = partyAt(here, project, client);
  sid = await party.signIn(user, 'person', ['swk', 'otp']);
});

const sql = (text: string, ...params: unknown[]) => changed(there.services.db, text, params);
const passkey = () =>
  sql(
    `insert into credentials (id, project_id, user_id, name, created_at, last_used_at, kind, credential_id, public_key, cose_alg, aaguid, transports, sign_count,
      backup_eligible, backed_up, user_verified)
    values (gen_random_uuid(), ?::uuid, ?::uuid, 'k', now(), now(), 'passkey', gen_random_uuid()::text, 'x', -7, 'a', '{}', 0, false, false, true)`,
    project.id,
    user.id,
  );
const totp = () =>
  sql(
    `insert into enrolments (id, project_id, user_id, method, created_at, verified_at) values (gen_random_uuid(), ?::uuid, ?::uuid, 'totp', now(), now())`,
    project.id,
    user.id,
  );
const set = async (settings: object) => {
  await there.services.projects.update(project.id, settings, system);
};
const setClient = async (settings: Parameters<TestApp['services']['clients']['update']>[1]) => {
  client = await there.services.clients.update(client, settings, system);
};

/** What the process answers to a request with the cookie of the session: the claims of the tokens, or the refusal. */
async function asked(at: TestApp, changes: Changes): Promise<Record<string, unknown>> {
  const path = new URL(party.issuer).pathname;
  const browser = new CookieBrowser();
  browser.cookies.set(cookie(), party.browser.cookies.get(cookie()) ?? '');
  const parameters = authorizationParameters(client.id, party.proof.challenge, { scope, prompt: 'none', ...changes });
  const response = await browser.get(`${at.url}${path}/authorize?${new URLSearchParams(parameters)}`);
  if (response.status !== 303) return { status: response.status };
  const { searchParams } = locationOf(response);
  const code = searchParams.get('code');
  return code === null ? { error: searchParams.get('error') } : redeemed(at, code);
}

async function redeemed(at: TestApp, code: string): Promise<Record<string, unknown>> {
  const form = {
    ...{ grant_type: 'authorization_code', code, code_verifier: party.proof.verifier, client_id: client.id },
    redirect_uri: redirectUri,
  };
  const path = new URL(party.issuer).pathname;
  const response = await fetch(`${at.url}${path}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) });
  const answer = (await response.json()) as Record<string, string>;
  if (response.status !== 200) return { status: response.status, error: answer['error'] };
  const { jti, exp, iat, nbf, ...claims } = decodeJwt(answer['id_token'] ?? '');
  return { claims, scope: answer['scope'], refreshes: 'refresh_token' in answer };
}

type Case = [name: string, change: () => Promise<unknown>, request?: Changes, before?: () => Promise<unknown>];

const cases: Case[] = [
  ['the user is deactivated', () => there.services.accountAccess.deactivate(project.id, user.id, system)],
  ['the user is erased', () => there.services.accountAccess.erase(project.id, user.id, system)],
  ['the session ends', () => there.services.logout.endSession(keyIn(project.id, sid), system)],
  [
    'the user gets another address',
    () =>
      there.services.accounts.change(
        project.id,
        user.id,
        (now) => ({ ...valuesOf(now), userName: 'new@example.com' }),
        system,
      ),
  ],
  [
    'the user gets the phone that they waited for',
    () => sql(`update users set phone = '+41791112233' where id = ?`, user.id),
  ],
  [
    'the user gets the address that was withheld',
    () => sql(`update users set email = 'a@example.org', email_key = 'a@example.org' where id = ?`, user.id),
    {},
    () => sql('update users set email = null, email_key = null where id = ?', user.id),
  ],
  ['a second factor is required', () => set({ mfaPolicy: 'required' })],
  ['a passkey is required', () => set({ passkeyPolicy: 'required' })],
  ['the application requires a passkey', () => setClient({ passkeyRequired: true })],
  ['the application is for assigned users', () => setClient({ access: 'assigned' })],
  [
    'the rule that gave access is removed',
    () => sql('delete from access_rules where user_id = ?', user.id),
    {},
    async () => {
      await setClient({ access: 'assigned' });
      await there.services.accessRules.grant(client, { userId: user.id }, system);
    },
  ],
  [
    'the consent is withdrawn',
    () => sql('delete from consents where user_id = ?', user.id),
    {},
    async () => {
      await setClient({ thirdParty: true });
      const given = { scope, resources: [], organizationId: null };
      await there.services.db.transaction((em) => there.services.consents.give(em, client, user, given, system));
    },
  ],
  ['the user gets a passkey', passkey],
  ['the user gets a passkey, and the request asks for one', passkey, { acr_values: 'phr' }],
  [
    'the passkey that met the policy is revoked',
    () => sql('update credentials set revoked_at = now() where user_id = ?', user.id),
    {},
    async () => {
      await passkey();
      await set({ mfaPolicy: 'required' });
    },
  ],
  [
    'the factor that met the policy is removed',
    () => sql('delete from enrolments where user_id = ?', user.id),
    {},
    async () => {
      await totp();
      await set({ mfaPolicy: 'required' });
    },
  ],
  ['the user gets a factor', totp],
  ['the application has other addresses', () => setClient({ redirectUris: ['https://other.example.com/'] })],
  ['refresh tokens are off', () => setClient({ grantTypes: [] })],
  ['sessions may be idle for less', () => set({ idleTimeoutSeconds: 300 }).then(() => here.clock.turn(301))],
  [
    'the freshness of the session ends',
    () => sql('update sessions set fresh_at = null, fresh_moment = null where id = ?', sid),
    { max_age: '5000' },
  ],
  [
    'the user signs in again in the browser',
    () => there.make.session(project, user, ['swk'], party.browser.cookies.get(cookie())),
  ],
];

it.each(cases)(
  '%s: a process that holds the session, or a code, answers as one that reads',
  async (_, change, changes = {}, before) => {
    await before?.();
    // For an application without demands, too: it reads less.
    expect(await asked(here, {})).toHaveProperty('claims');
    await asked(here, changes);
    const codes = [await party.code({ scope }), await party.code({ scope })] as const;
    await change();
    const held = await asked(here, changes);
    expect(held).toEqual(await asked(there, changes));
    // What it holds now is what it has just read.
    expect(await asked(here, changes)).toEqual(held);
    expect(await redeemed(here, codes[0])).toEqual(await redeemed(there, codes[1]));
  },
);

/** Each condition of the code exchange has its own reason in the events; the client cannot tell most of them apart. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { dpopKey } from '../../test/dpop.ts';
import { apiOf, basic, orders } from '../../test/machine.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const oneText = 'The code is unknown, expired or already used, or does not match this request.';
let app: TestApp;
let project: Project;
let user: User;
/** At the base issuer, and at the project's. */
let base: RelyingParty;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  const { client } = await app.make.client(project);
  base = new RelyingParty(app, client);
  party = partyAt(app, project, client);
  await base.signIn(user);
  for (const [name, value] of base.browser.cookies) party.browser.cookies.set(name, value);
});

const change = (sql: string, ...values: unknown[]) => changed(app.services.db, sql, values);
const end = async (sql: string, id: string): Promise<Sent> => {
  const code = await party.code();
  await change(sql, id);
  return { code };
};

/** A request at the token endpoint of `by`. */
interface Sent {
  code: string;
  by?: RelyingParty;
  form?: Changes;
  headers?: Record<string, string>;
}

/** A party with a secret, signed in, whose client may omit PKCE. */
async function confidential() {
  const settings = { tokenEndpointAuthMethod: 'client_secret_basic', pkceRequired: false } as const;
  const { client, clientSecret } = await app.make.client(project, settings);
  const by = partyAt(app, project, client);
  await by.signIn(user);
  return { by, headers: basic({ app, client, secret: clientSecret ?? '', issuer: by.issuer }) };
}

async function consented(client: Client, code: string) {
  await app.services.clients.update(client, { thirdParty: true }, system);
  return { code };
}

const cases: [reason: string, send: () => Promise<Sent>][] = [
  ['unknown', async () => ({ code: 'x'.repeat(43) })],
  [
    'wrong-client',
    async () => ({ code: await party.code(), form: { client_id: (await app.make.client(project)).client.id } }),
  ],
  [
    'used',
    async () => {
      const code = await party.code();
      expect((await party.exchange(code)).status).toBe(200);
      return { code };
    },
  ],
  [
    'expired',
    async () => {
      const code = await party.code();
      app.clock.turn(60);
      return { code };
    },
  ],
  ['wrong-issuer', async () => ({ code: await base.code() })],
  [
    'wrong-redirect-uri',
    async () => ({ code: await party.code(), form: { redirect_uri: 'https://app.example.com/other' } }),
  ],
  [
    'wrong-authentication',
    async () => {
      const { client, secretKey } = await app.make.client(project);
      const by = new RelyingParty(app, client);
      await by.signIn(user);
      const code = await by.code();
      await change(
        `update clients set token_endpoint_auth_method = 'private_key_jwt', version = version + 1 where id = ?`,
        client.id,
      );
      return { code, by, headers: { 'X-Api-Key': secretKey ?? '' } };
    },
  ],
  [
    'missing-verifier',
    async () => {
      const { by, headers } = await confidential();
      return { code: await by.code(), by, headers, form: { code_verifier: undefined, client_id: undefined } };
    },
  ],
  [
    'unexpected-verifier',
    async () => {
      const { by, headers } = await confidential();
      const code = await by.code({ code_challenge: undefined, code_challenge_method: undefined });
      return { code, by, headers, form: { client_id: undefined } };
    },
  ],
  ['wrong-verifier', async () => ({ code: await party.code(), form: { code_verifier: 'w'.repeat(43) } })],
  [
    'api-not-granted',
    async () => {
      const api = await apiOf(app, project);
      const grant = (scopes: string[]) =>
        app.services.apis.grant(party.client, api.id, { scopes, introspects: false }, system);
      await grant(['read']);
      const code = await party.code({ resource: orders, scope: 'openid read' });
      await grant([]);
      return { code };
    },
  ],
  ['missing-proof', async () => ({ code: await party.code({ dpop_jkt: (await dpopKey(app.clock)).jkt }) })],
  [
    'wrong-proof-key',
    async () => {
      const [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
      const DPoP = await other.proof({ url: `${party.issuer}/oauth2/token` });
      return { code: await party.code({ dpop_jkt: key.jkt }), headers: { DPoP } };
    },
  ],
  [
    'no-access',
    async () => {
      const code = await party.code();
      await app.services.clients.update(party.client, { access: 'assigned' }, system);
      return { code };
    },
  ],
  ['no-consent', async () => consented(party.client, await party.code())],
  ['user', () => end('update users set active = false where id = ?', user.id)],
  ['session-ended', () => end('update sessions set ended_at = now() where user_id = ?', user.id)],
  ['revoked', () => end('update authorization_codes set revoked_at = now() where user_id = ?', user.id)],
];

/** The rows that a refused exchange must leave as they are. */
async function state() {
  const tables = ['authorization_codes', 'refresh_grants', 'participations', 'sessions', 'users', 'clients'];
  const all = await Promise.all(
    tables.map((table) => rows<object>(app.services.db, `select * from ${table} where project_id = ?`, [project.id])),
  );
  return all.map((some) => some.map((row) => JSON.stringify(row)).sort());
}

const faults = () =>
  rows<{ fault: string }>(
    app.services.db,
    `select detail->>'fault' as fault from audit_log where project_id = ? and type = 'token.refused'`,
    [project.id],
  );

it.each(cases)('%s', async (reason, send) => {
  const { code, by = party, form, headers } = await send();
  const before = await state();
  const response = await by.exchange(code, form, headers);
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: 'invalid_grant', error_description: oneText },
  ]);
  expect(await faults()).toEqual([{ fault: reason }]);
  // A replay revokes the code's tokens (RFC 6749 §4.1.2); no other refusal changes anything.
  if (reason !== 'used') expect(await state()).toEqual(before);
});

it('an API beyond those of the code has its own error (RFC 8707 §2)', async () => {
  const response = await party.exchange(await party.code(), { resource: orders });
  expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_target' }]);
  expect(await faults()).toEqual([{ fault: 'target' }]);
});

it('a request without the proof that its client needs has its own error (RFC 9449 §5.2)', async () => {
  const code = await party.code();
  await app.services.clients.update(party.client, { dpopRequired: true }, system);
  const response = await party.exchange(code);
  expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_dpop_proof' }]);
  expect(await faults()).toEqual([{ fault: 'proof-required' }]);
});

it('of several faults, the first in the order of the checks is named', async () => {
  const code = await party.code({ dpop_jkt: (await dpopKey(app.clock)).jkt });
  await change('update users set active = false where id = ?', user.id);
  for (const wrong of [{ redirect_uri: 'https://app.example.com/other' }, { code_verifier: 'w'.repeat(43) }, {}]) {
    await party.exchange(code, wrong);
  }
  expect((await faults()).map(({ fault }) => fault)).toEqual(['wrong-redirect-uri', 'wrong-verifier', 'missing-proof']);
});

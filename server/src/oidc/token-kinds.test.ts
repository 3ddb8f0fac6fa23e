import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapToken, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { deliverDue } from '../../test/relayed.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let user: User;
let rp: RelyingParty;
let keys: { publishableKey: string; secretKey: string };

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  const created = await app.make.client(project, { backchannelLogoutUri: 'http://127.0.0.1:1/logout' });
  client = created.client;
  keys = created;
  user = await app.make.user(project);
  rp = new RelyingParty(app, client);
  await rp.signIn(user);
});

/** One of each kind of secret and token that Latchkey issues. */
async function everyKind(): Promise<Record<string, string>> {
  await rp.tokens();
  const { token: scimToken } = await app.services.directories.issueScimToken(
    { projectId: project.id, name: 'd' },
    system,
  );
  const setup = await app.services.admins.mintSetupLink(system);
  const sid = await rp.signIn(user);
  app.logoutTokens.length = 0;
  await app.services.logout.endSession({ project, id: sid }, system);
  await deliverDue(app.services.logout.relay);
  await rp.signIn(user);
  const { id_token: idToken, access_token: accessToken } = await rp.tokens();
  return {
    'ID token': idToken,
    'access token': accessToken,
    'logout token': app.logoutTokens[0]?.token ?? '',
    code: await rp.code(),
    'publishable key': keys.publishableKey,
    'secret key': keys.secretKey,
    'SCIM token': scimToken,
    'bootstrap token': bootstrapToken,
    'setup link': setup.token,
    'session secret': [...rp.browser.cookies.values()][0] ?? '',
  };
}

describe('a token of one kind in place of another', () => {
  it('is accepted at UserInfo only as an access token', async () => {
    for (const [kind, token] of Object.entries(await everyKind())) {
      expect([kind, (await rp.userInfo(token)).status]).toEqual([kind, kind === 'access token' ? 200 : 401]);
    }
  });

  it('is redeemed only as a code', async () => {
    for (const [kind, token] of Object.entries(await everyKind())) {
      expect([kind, (await rp.exchange(token)).status]).toEqual([kind, kind === 'code' ? 200 : 400]);
    }
  });

  it('authenticates a client only as a secret key', async () => {
    for (const [kind, token] of Object.entries(await everyKind())) {
      const { status } = await rp.exchange(await rp.code(), {}, { 'X-Api-Key': token });
      expect([kind, status]).toEqual([kind, kind === 'secret key' ? 200 : 401]);
    }
  });

  it('is accepted as a hint only as an ID token', async () => {
    for (const [kind, token] of Object.entries(await everyKind())) {
      const answer = await rp.answer({ prompt: 'none', id_token_hint: token });
      expect([kind, answer.has('code')]).toEqual([kind, kind === 'ID token']);
    }
  });

  it('is accepted by SCIM only as a SCIM token, and by the admin API only as an admin token', async () => {
    for (const [kind, token] of Object.entries(await everyKind())) {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const scim = await fetch(`${app.url}/v1/scim/${project.id}/Users`, { headers });
      expect([kind, scim.status]).toEqual([kind, kind === 'SCIM token' ? 200 : 401]);
      const body = JSON.stringify({ query: '{ me { kind } }' });
      const admin = await fetch(`${app.url}/admin/graphql`, { method: 'POST', headers, body });
      expect([kind, admin.status === 401]).toEqual([kind, kind !== 'bootstrap token']);
    }
  });
});

describe('credentials that were valid before', () => {
  it('are refused for a deleted user: session, code, access token', async () => {
    const [{ access_token: accessToken }, code] = [await rp.tokens(), await rp.code()];
    await app.services.db.transaction(async (em) => {
      em.remove(await em.findOneOrFail(User, { id: user.id }));
    });
    expect((await rp.userInfo(accessToken)).status).toBe(401);
    expect(await (await rp.exchange(code)).json()).toMatchObject({ error: 'invalid_grant' });
    expect(await rp.isSignedIn()).toBe(false);
  });

  it('are refused for a disabled client: code, access token, authorization', async () => {
    const [{ access_token: accessToken }, code] = [await rp.tokens(), await rp.code()];
    await app.services.clients.update(client, { disabled: true }, system);
    expect((await rp.userInfo(accessToken)).status).toBe(401);
    expect(await (await rp.exchange(code)).json()).toMatchObject({ error: 'invalid_client' });
    expect((await rp.authorize({ prompt: 'none' })).status).toBe(400);
  });
});

describe('the log and the database', () => {
  it('contain no code, token, key or session secret in plain text', async () => {
    const kinds = await everyKind();
    const log = app.logLines.join('\n');
    const tables = await app.services.db
      .reader()
      .execute<{ name: string }[]>(
        `select table_name as name from information_schema.tables where table_schema = 'public'`,
      );
    const dumps = await Promise.all(
      tables.map(async ({ name }) =>
        JSON.stringify(await app.services.db.reader().execute(`select t::text from "${name}" t`)),
      ),
    );
    for (const [kind, token] of Object.entries(kinds)) {
      // A publishable key is public: the console shows it.
      const isStored = kind === 'publishable key';
      expect([kind, log.includes(token), dumps.some((dump) => dump.includes(token))]).toEqual([kind, false, isStored]);
    }
  });
});

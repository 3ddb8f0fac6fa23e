/** What ends between the read and the write of a code exchange counts: the write compares what the read saw. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { untilLockWaits } from '../../test/lock-waits.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { changed, rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';

const tries = 24;
let app: TestApp;
/** Receives the exchanges: its connections may all wait. */
let there: TestApp;
let project: Project;
let user: User;
let party: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
  there = await buildSibling(app);
});
afterAll(async () => {
  await there.close();
  await app.close();
});
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
  const { client } = await app.make.client(project, { grantTypes: ['refresh_token'] });
  party = partyAt(app, project, client);
  await party.signIn(user);
});

const change = (sql: string, id: string) => changed(app.services.db, sql, [id]);

/**
 * Exchanges codes, and runs `between` when each has been read and checked: the claims of the ID token are then read from
 * tables that are locked until it is done.
 */
async function exchangeAround(
  codes: string[],
  between: () => Promise<unknown>,
  changes: Changes = {},
): Promise<Response[]> {
  let answers: Promise<Response[]> = Promise.resolve([]);
  await app.services.db.transaction(async (em) => {
    await em.execute('lock table claim_settings in access exclusive mode');
    const elsewhere = new RelyingParty(there, party.client, party.issuer.replace(app.url, there.url));
    const form = { code_verifier: party.proof.verifier, ...changes };
    answers = Promise.all(codes.map((code) => elsewhere.exchange(code, form)));
    // Not all get a connection at once.
    await untilLockWaits(app.services.db, 1);
    await between();
  });
  return answers;
}

/** Lets only the user use the client. */
async function assign(): Promise<void> {
  await app.services.clients.update(party.client, { access: 'assigned' }, system);
  await app.services.accessRules.grant(party.client, { userId: user.id }, system);
}

const codesOf = async (count: number) => {
  const codes: string[] = [];
  while (codes.length < count) codes.push(await party.code({ scope: 'openid email' }));
  return codes;
};

const grants = () => rows(app.services.db, 'select id from refresh_grants where user_id = ?', [user.id]);

describe('between read and write', () => {
  it.each<[string, string, () => Promise<unknown>]>([
    ['the user is suspended', 'user', () => change('update users set active = false where id = ?', user.id)],
    [
      'the session ends',
      'session-ended',
      () => change('update sessions set ended_at = now() where user_id = ?', user.id),
    ],
    [
      'the code is revoked',
      'revoked',
      () => change('update authorization_codes set revoked_at = now() where user_id = ? and used_at is null', user.id),
    ],
  ])('if %s, all of the requests are refused for it', async (_what, reason, between) => {
    const codes = await codesOf(tries);
    const before = await grants();
    const answers = await exchangeAround(codes, between);
    expect(answers.map(({ status }) => status)).toEqual(codes.map(() => 400));
    const refused = await rows<{ fault: string; count: number }>(
      app.services.db,
      `select detail->>'fault' as fault, (detail->>'count')::int as count from audit_log
       where project_id = ? and type = 'token.refused'`,
      [project.id],
    );
    expect(refused).toEqual([{ fault: reason, count: tries }]);
    expect(await grants()).toEqual(before);
  });

  it('if access ends, neither a code nor a refresh token gives tokens', async () => {
    await assign();
    const lasting = (await (await party.exchange(await party.code({ scope: 'openid offline_access' }))).json()) as {
      refresh_token: string;
    };
    const [code = ''] = await codesOf(1);
    const end = () => change('delete from access_rules where user_id = ?', user.id);
    const [exchanged] = await exchangeAround([code], end);
    expect([exchanged?.status, await exchanged?.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    await app.services.accessRules.grant(party.client, { userId: user.id }, system);
    const form = { grant_type: 'refresh_token', refresh_token: lasting.refresh_token, code_verifier: undefined };
    const [refreshed] = await exchangeAround([''], end, { ...form, code: undefined, redirect_uri: undefined });
    expect([refreshed?.status, await refreshed?.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    const refused = await rows<{ fault: string }>(
      app.services.db,
      `select detail->>'fault' as fault from audit_log where project_id = ? and type = 'token.refused'`,
      [project.id],
    );
    expect(refused).toEqual([{ fault: 'no-access' }]);
  });

  it('if the client is disabled, it is no client any more', async () => {
    const disable = () => change('update clients set disabled_at = now() where id = ?', party.client.id);
    const [answer] = await exchangeAround(await codesOf(1), disable);
    expect([answer?.status, await answer?.json()]).toMatchObject([401, { error: 'invalid_client' }]);
  });

  it('if the user’s address changes, the tokens have the new one', async () => {
    const [code = ''] = await codesOf(1);
    const [answer] = await exchangeAround([code], () =>
      change(`update users set email = 'new@example.com', version = version + 1 where id = ?`, user.id),
    );
    const given = (await answer?.json()) as TokenAnswer | undefined;
    expect(await party.claims(given?.id_token ?? '')).toMatchObject({ email: 'new@example.com' });
  });
});

it('while users are suspended in parallel, no token outlives its user', async () => {
  const parties = await Promise.all(
    Array.from({ length: tries }, async () => {
      const own = partyAt(app, project, party.client);
      const person = await app.make.user(project);
      await own.signIn(person);
      return { own, person, code: await own.code() };
    }),
  );
  const answers = await Promise.all(
    parties.map(async ({ own, person, code }) => {
      const [response] = await Promise.all([
        own.exchange(code),
        app.services.accounts.setActive(project.id, person.id, false, system),
      ]);
      return { own, response };
    }),
  );
  for (const { own, response } of answers) {
    if (response.status === 400) continue;
    const { access_token: accessToken } = (await response.json()) as TokenAnswer;
    expect((await own.userInfo(accessToken)).status).toBe(401);
  }
  const live = `select from refresh_grants g join users u on u.id = g.user_id where g.project_id = ? and not u.active and g.revoked_at is null`;
  expect(await rows(app.services.db, live, [project.id])).toEqual([]);
});

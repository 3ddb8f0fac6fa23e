/** The end of refresh grants and access tokens, and the rows of those that ended before. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { partyAt } from '../../../test/project-issuer.ts';
import { rows } from '../../../test/rows.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import type { Client } from '../clients/client.entity.ts';
import { sql } from '../kernel/sql.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import { endRefreshGrant, endRefreshGrantsAt, endRefreshGrantsOf, endTokens } from './user-tables.ts';

let app: TestApp;
let project: Project;
let user: User;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project();
  user = await app.make.user(project);
});

/** A new application with a refresh grant and an access token of the user. */
async function granted(): Promise<{ client: Client; issuer: string }> {
  const { client } = await app.make.client(project, { grantTypes: ['refresh_token'] });
  const party = partyAt(app, project, client);
  await party.signIn(user);
  await party.tokens({ scope: 'openid offline_access' });
  return { client, issuer: party.issuer };
}

/** End times of the client's rows. */
async function endsOf({ id }: Client): Promise<(Date | null)[]> {
  const text = `select revoked_at as at from refresh_grants where client_id = ?
    union all select revoked_at from authorization_codes where client_id = ?`;
  const found = await rows<{ at: Date | string | null }>(app.services.db, text, [id, id]);
  expect(found).toHaveLength(2);
  return found.map(({ at }) => (at === null ? null : new Date(at)));
}

const keyOf = ({ id }: { id: string }) => ({ project: { id: project.id }, id });

describe('the end of refresh grants', () => {
  it('comes with the end of the user’s open work, but not with a logout if access is offline', async () => {
    const { client } = await granted();
    const now = app.clock.now();
    const end = (isLogout?: boolean) =>
      app.services.db.transaction((em) =>
        endOpenWork(em, app.clock.now(), keyOf(user), isLogout === undefined ? {} : { isLogout }),
      );
    await end(true);
    expect((await endsOf(client))[0]).toBeNull();
    app.clock.turn(60);
    await end();
    expect(await endsOf(client)).toEqual([app.clock.now(), now]);
  });

  it('of one application leaves the user’s others', async () => {
    const [one, other] = [await granted(), await granted()];
    const now = app.clock.now();
    const end = () => app.services.db.transaction((em) => endTokens(em, keyOf(user), now, { clientId: one.client.id }));
    expect(await end()).toBe(1);
    expect([await endsOf(one.client), await endsOf(other.client)]).toEqual([
      [now, now],
      [null, null],
    ]);
  });

  it('of all users of an application counts those that end, and keeps the time of earlier ends', async () => {
    const [one, other] = [await granted(), await granted()];
    const now = app.clock.now();
    const end = () => app.services.db.transaction((em) => endRefreshGrantsOf(em, keyOf(one.client), app.clock.now()));
    expect(await end()).toBe(1);
    app.clock.turn(60);
    expect(await end()).toBe(0);
    expect([await endsOf(one.client), await endsOf(other.client)]).toEqual([
      [now, now],
      [null, null],
    ]);
  });

  it('of one grant returns whether it ended now, and keeps the time of an earlier end', async () => {
    const [one, other] = [await granted(), await granted()];
    const now = app.clock.now();
    const [grant] = await rows<{ id: string }>(app.services.db, 'select id from refresh_grants where client_id = ?', [
      one.client.id,
    ]);
    const end = () =>
      app.services.db.transaction((em) => endRefreshGrant(em, keyOf(grant ?? { id: '' }), app.clock.now()));
    expect(await end()).toBe(true);
    app.clock.turn(60);
    expect(await end()).toBe(false);
    expect([(await endsOf(one.client))[0], await endsOf(other.client)]).toEqual([now, [null, null]]);
  });

  it('of an issuer keeps the time of earlier ends, and the grants of other issuers and times', async () => {
    const { client, issuer } = await granted();
    const now = app.clock.now();
    const end = (at: string, isOver = true) =>
      endRefreshGrantsAt(
        app.services.db.alone,
        { projectId: project.id, issuer: at, isOver: () => (isOver ? sql`true` : sql`false`) },
        app.clock.now(),
      );
    await end('https://other.example.com');
    await end(issuer, false);
    expect(await endsOf(client)).toEqual([null, null]);
    await end(issuer);
    app.clock.turn(60);
    await end(issuer);
    expect(await endsOf(client)).toEqual([now, now]);
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { untilLockWaits } from '../../test/lock-waits.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';

let app: TestApp;
beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

it('an application that redeems a code while the session ends gets either no tokens or a logout token', async () => {
  const project = await app.make.project();
  const user = await app.make.user(project);
  const [one, other] = await Promise.all(
    ['one', 'other'].map(async (name) => {
      const { client } = await app.make.client(project, { backchannelLogoutUri: `https://${name}.example.com/logout` });
      return partyAt(app, project, client);
    }),
  );
  if (!one || !other) throw new Error('two applications');
  await one.signIn(user);
  for (const [name, value] of one.browser.cookies) other.browser.cookies.set(name, value);
  await one.tokens();
  const code = await other.code();
  const [session] = await rows<{ id: string }>(app.services.db, 'select id from sessions where user_id = ?', [user.id]);
  const { ending, redeeming } = await app.services.db.transaction(async (em) => {
    // The logout waits for this table just before its commit.
    await em.execute('lock table logout_deliveries in share mode');
    const first = app.services.logout.endSession({ project: { id: project.id }, id: session?.id ?? '' }, system);
    await untilLockWaits(app.services.db, 1);
    let isDone = false;
    const second = other.exchange(code).finally(() => (isDone = true));
    await untilLockWaits(app.services.db, 2, () => isDone);
    return { ending: { first }, redeeming: { second } };
  });
  await ending.first;
  const { status } = await redeeming.second;
  const deliveries = await rows<{ uri: string }>(
    app.services.db,
    'select uri from logout_deliveries where subject = ?',
    [user.id],
  );
  expect([status, deliveries]).toEqual([400, [{ uri: 'https://one.example.com/logout' }]]);
});

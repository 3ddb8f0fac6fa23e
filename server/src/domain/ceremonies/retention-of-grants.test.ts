/** Retention of ended grants, for the console and the export. */
import { expect, it } from 'vitest';
import { partyAt } from '../../../test/project-issuer.ts';
import { changed, rows } from '../../../test/rows.ts';
import { SigninWorld } from '../../../test/signin-world.ts';
import { system } from '../kernel/actor.ts';

const world = SigninWorld.ofTests();
const day = 24 * 3600;

const count = async (table: string, id: string) =>
  (await rows(world.app.services.db, `select from ${table} where user_id = ?`, [id])).length;
const ago = (seconds: number) => new Date(world.app.clock.now().getTime() - seconds * 1000);

it('a refresh grant is kept for 100 days after its last use or its end', async () => {
  const { make, services } = world.app;
  const { client } = await make.client(world.project, { grantTypes: ['refresh_token'] });
  for (const column of ['last_used_at', 'revoked_at']) {
    const user = await world.user();
    const party = partyAt(world.app, world.project, client);
    await party.signIn(user);
    await party.tokens({ scope: 'openid offline_access' });
    const left = async (seconds: number) => {
      await changed(services.db, `update refresh_grants set ${column} = ? where user_id = ?`, [ago(seconds), user.id]);
      await services.retention.sweep();
      return count('refresh_grants', user.id);
    };
    expect([column, await left(100 * day - 1), await left(100 * day)]).toEqual([column, 1, 0]);
  }
});

it('a recovery grant is kept for 30 days after it could be used, and longer if its expiry is not recorded', async () => {
  const { services } = world.app;
  const user = await world.user();
  const requested = { reason: 'Lost the key.', hours: 1 };
  await services.recoveries.grant(world.project.id, user.id, requested, system);
  const left = async (column: string, seconds: number) => {
    await changed(services.db, `update recovery_grants set ${column} = ? where user_id = ?`, [ago(seconds), user.id]);
    await services.retention.sweep();
    return count('recovery_grants', user.id);
  };
  expect(await left('expires_at', 31 * day)).toBe(1);
  expect(await left('expires_at', 30 * day - 1)).toBe(1);
  expect(await left('ended_at', 29 * day)).toBe(1);
  expect(await left('expires_at', 30 * day)).toBe(0);
});

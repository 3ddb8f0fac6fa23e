/** Revocation of the credentials of a custom domain. */
import { expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import { changed, rows } from '../../../test/rows.ts';
import { SigninWorld } from '../../../test/signin-world.ts';
import { sql } from '../kernel/sql.ts';
import type { Project } from '../projects/project.entity.ts';
import type { User } from '../users/user.entity.ts';
import { revokeCredentialsAt } from './user-tables.ts';

const world = SigninWorld.ofTests();
const { givePasskey, registeredUser } = peopleOf(world);
const domain = 'login.example.com';

/** A user of a new project with a device key and a passkey of the domain. */
async function holder(): Promise<{ user: User; project: Project }> {
  await world.begin();
  const { user } = await registeredUser();
  await givePasskey(user);
  await changed(world.app.services.db, 'update credentials set domain = ? where user_id = ?', [domain, user.id]);
  return { user, project: world.project };
}

const left = async ({ id }: User) => {
  const text = 'select kind from credentials where user_id = ? and revoked_at is null order by kind';
  return (await rows<{ kind: string }>(world.app.services.db, text, [id])).map(({ kind }) => kind);
};

it('the end of a domain revokes its device keys, and its passkeys if the project removed it; not those of other projects', async () => {
  const [mine, other] = [await holder(), await holder()];
  const revoke = (at: string, withPasskeys: boolean, isOver = true) =>
    revokeCredentialsAt(
      world.app.services.db.alone,
      { projectId: mine.project.id, domain: at, withPasskeys, isOver: () => (isOver ? sql`true` : sql`false`) },
      world.app.clock.now(),
    );
  await revoke('other.example.com', true);
  await revoke(domain, true, false);
  expect(await left(mine.user)).toEqual(['device-key', 'passkey']);
  await revoke(domain, false);
  expect(await left(mine.user)).toEqual(['passkey']);
  await revoke(domain, true);
  expect([await left(mine.user), await left(other.user)]).toEqual([[], ['device-key', 'passkey']]);
});

import type { EntityManager } from '@mikro-orm/postgresql';
import { endOrganizationRights } from '../admins/organization-rights.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { invalid } from '../kernel/problem.ts';
import { firstTakenName, guestsIn, moveToProject, usersAtHome } from '../organizations/home-people.ts';
import type { Organization } from '../organizations/organization.entity.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { AccessLost } from '../projects/lost-access.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { countRows } from '../users/listing.ts';
import type { Accounts } from './accounts.ts';

/** What a deletion does with users at home in the organization: erases them, or moves them to the project. */
type People = 'erase' | 'move';

const batch = 500;

/** Deletes organizations. */
export class OrganizationEnds {
  constructor(
    private readonly deps: Parameters<typeof moveToProject>[0] & {
      db: Database;
      accessLost: AccessLost;
      accounts: Pick<Accounts, 'erase'>;
      organizations: Pick<Organizations, 'locked' | 'remove'>;
    },
  ) {}

  /**
   * Deletes an organization with its memberships, invitations, domains and access rules; members at home elsewhere stay users. One
   * transaction. Refuses `not-found`, and `invalid` without `people` if users are at home there, and if one of those to be moved has the
   * userName of a user of the project.
   */
  delete(key: TenantKey, people: People | null, actor: Actor): Promise<void> {
    const { accessLost, db, organizations } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const organization = await organizations.locked(em, key);
        const some = await usersAtHome(em, organization, 1);
        if (some.length > 0 && people === null) invalid('people', 'is required: users are at home in the organization');
        if (people === 'erase') await this.erase(em, organization, actor);
        else await this.move(em, organization, actor);
        await this.removeGuests(em, organization, actor);
        // Its groups are deleted with it: their members lose what the groups gave.
        const home = { projectId: key.project.id, organizationId: key.id };
        if ((await countRows(em, 'groups', home)) > 0) await accessLost(em, { projectId: key.project.id });
        await endOrganizationRights(em, key);
        await organizations.remove(em, organization, actor);
      }),
    );
  }

  /** Their accounts stay. */
  private async removeGuests(em: EntityManager, organization: Organization, actor: Actor): Promise<void> {
    const home = { projectId: organization.project.id, organizationId: organization.id };
    for (;;) {
      const ids = await guestsIn(em, organization, batch);
      if (ids.length === 0) return;
      await this.deps.accounts.erase(em, home, ids, actor);
    }
  }

  private async erase(em: EntityManager, organization: Organization, actor: Actor): Promise<void> {
    for (;;) {
      const users = await usersAtHome(em, organization, batch);
      if (users.length === 0) return;
      const ids = users.map(({ id }) => id);
      await this.deps.accounts.erase(em, organization.project.id, ids, actor);
    }
  }

  private async move(em: EntityManager, organization: Organization, actor: Actor): Promise<void> {
    const taken = await firstTakenName(em, organization);
    if (taken !== null) invalid('people', `cannot be MOVE: the project has another user with the userName ${taken}`);
    for (;;) {
      const users = await usersAtHome(em, organization, batch);
      if (users.length === 0) return;
      await moveToProject(this.deps, em, organization, users, actor);
    }
  }
}

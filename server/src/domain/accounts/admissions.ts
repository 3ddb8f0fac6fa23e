import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { mailboxesOf, notifyEverywhere } from '../ceremonies/notices.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found } from '../kernel/problem.ts';
import { execute } from '../kernel/sql.ts';
import type { Memberships } from '../organizations/memberships.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { inside } from '../organizations/organization-events.ts';
import type { AccessLost } from '../projects/lost-access.ts';
import { existing, keyIn, type TenantKey } from '../projects/tenant.ts';
import { customUrn } from '../users/custom/definition.ts';
import type { CustomSchema } from '../users/custom/values.ts';
import { ownAttributes } from '../users/edits/profile-edit.ts';
import { holderElsewhere, isGuestOf, lockAddress, movedTo } from '../users/identity/guests.ts';
import { atProject, homeAt, type Place } from '../users/identity/home.ts';
import { isInDomainOf } from '../users/identity/verified-domains.ts';
import { recordOf, type ShownUser, type UserRecord, type UserValues } from '../users/user-record.ts';
import { loginOf, unlessTaken } from '../users/user-writing.ts';
import type { Users } from '../users/users.ts';
import type { Accounts } from './accounts.ts';

interface Options {
  /** For a caller that needs it in advance; a user who moves home keeps another one. */
  id?: string | undefined;
  /** Definitions that custom values were checked against; refuses `conflict` if they have changed. */
  schema?: CustomSchema | undefined;
}

interface Deps {
  db: Database;
  clock: Clock;
  audit: Audit;
  users: Users;
  accounts: Pick<Accounts, 'changeIn'>;
  memberships: Pick<Memberships, 'endOf' | 'follow' | 'openHome'>;
  delivery: Pick<Delivery, 'enqueue'>;
  accessLost: AccessLost;
}

/** A user at another home got the login email since it was looked up: roll back, and decide again. */
class TakenMeanwhile extends Error {}

/** Users whom directories create. */
export class Admissions {
  constructor(private readonly deps: Deps) {}

  /** Creates a user of the directory of a home; of a project, its own. Refuses `taken`, and `not-found` for the organization. */
  async provision(place: Place, values: UserValues, actor: Actor, options: Options = {}): Promise<ShownUser> {
    const { db, users } = this.deps;
    const { organizationId, projectId } = homeAt(place);
    if (organizationId === null) {
      const user = await users.create(db.alone, atProject(projectId), values, 'scim', actor, options);
      return users.shown(db.alone, projectId, user);
    }
    const key = keyIn(projectId, organizationId);
    const admit = () => db.transaction((em) => this.admit(em, key, values, actor, options));
    try {
      return await users.shown(db.alone, projectId, await pastDeadlocks(admit));
    } catch (error) {
      if (!(error instanceof TakenMeanwhile)) throw error;
      return users.shown(db.alone, projectId, await pastDeadlocks(admit));
    }
  }

  /**
   * Joins. A user at another home with this login email moves here if the organization has verified its domain; else the user becomes a
   * guest, of whom the directory has a record (decisions/0402).
   */
  private async admit(
    em: EntityManager,
    organization: TenantKey,
    values: UserValues,
    actor: Actor,
    options: Options,
  ): Promise<UserRecord> {
    const { memberships, users } = this.deps;
    const home = { projectId: organization.project.id, organizationId: organization.id };
    const { email, emailKey } = loginOf(values);
    if (emailKey !== null) await lockAddress(em, home.projectId, emailKey);
    const accountId = emailKey === null ? undefined : await holderElsewhere(em, home, emailKey);
    if (accountId === undefined) {
      const user = await users.create(em, home, values, 'scim', actor, options);
      if (user.withheldEmailKey == null || (await holderElsewhere(em, home, user.withheldEmailKey)) === undefined)
        return user;
      throw new TakenMeanwhile();
    }
    // The directory has the record of a guest: a second one with the address is refused like any other; if it has another address now, the
    // new user is at home, without a login email.
    if (await isGuestOf(em, home, accountId)) return users.create(em, home, values, 'scim', actor, options);
    if (await isInDomainOf(em, organization, email ?? '')) {
      return this.move(em, organization, accountId, values, actor, options);
    }
    const record = await users.create(em, home, values, 'scim', actor, { ...options, accountId });
    await em.flush();
    // A member whom an admin has suspended stays suspended.
    if (!values.active) await memberships.follow(em, organization, accountId, 'suspended', actor);
    return record;
  }

  /** Joins: moves a user home, with the values of the directory. `sub`, credentials and sessions stay. Refuses `taken`. */
  private async move(
    em: EntityManager,
    organization: TenantKey,
    userId: string,
    values: UserValues,
    actor: Actor,
    { schema }: Options,
  ): Promise<UserRecord> {
    const { accessLost, accounts, clock, memberships, users } = this.deps;
    const projectId = organization.project.id;
    const home = { projectId, organizationId: organization.id };
    const user = found(await users.locked(em, projectId, userId), 'user');
    const [before, mailboxes] = [recordOf(user), mailboxesOf(user)];
    const join = await memberships.openHome(em, organization);
    const userName = { name: values.userName, key: loginOf(values).userNameKey };
    for (const statement of movedTo(home, userId, userName, clock.now())) {
      await unlessTaken(() => execute(em, statement));
    }
    await join(userId, 'directory', actor);
    await em.flush();
    const former = before.organizationId ?? null;
    if (former !== null) await memberships.endOf(em, keyIn(projectId, former), userId, actor);
    await accessLost(em, { projectId, userIds: [userId] });
    await this.announce(em, organization, before, mailboxes, actor);
    await em.flush();
    const names = [...ownAttributes, customUrn].filter((name) => name in before.attributes);
    const kept = Object.fromEntries(names.map((name) => [name, before.attributes[name]]));
    const edit = () => ({ ...values, attributes: { ...kept, ...values.attributes } });
    return recordOf(await accounts.changeIn(em, home, userId, edit, actor, { ...(schema && { schema }) }));
  }

  /** Records the move, and sends a mail to all addresses that the user had. */
  private async announce(
    em: EntityManager,
    key: TenantKey,
    before: UserRecord,
    mailboxes: readonly string[],
    actor: Actor,
  ): Promise<void> {
    const { audit, clock, delivery, users } = this.deps;
    const organization = (await existing(em, Organization, key, 'organization')) as Organization;
    const subject = { kind: 'user', id: before.id, name: before.userName };
    const detail = { before: { organizationId: before.organizationId ?? null }, after: { organizationId: key.id } };
    audit.record(em, inside('user.moved', organization, { subject, actor, detail }));
    const user = found(await users.find(em, key.project.id, before.id), 'user');
    const { name: app } = await user.project.loadOrFail();
    const at = clock.now().toISOString();
    const notice = { template: 'account-moved', app, organization: organization.name, at } as const;
    await notifyEverywhere(em, delivery, user, notice, mailboxes);
  }
}

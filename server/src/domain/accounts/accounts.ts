import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isOfAdmins } from '../admins/admins-of.ts';
import { endRoles } from '../admins/ended-rights.ts';
import type { Audit } from '../audit/audit.ts';
import { mailboxesOf } from '../ceremonies/notices.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import { restoreDevices } from '../credentials/user-tables.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found } from '../kernel/problem.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { type Executing, execute, type Fragment, query } from '../kernel/sql.ts';
import type { LogoutNotices } from '../logout/notices.ts';
import { endGrants, followPhone } from '../mfa/user-tables.ts';
import { userTables } from '../nouns.ts';
import { passedMemberships } from '../organizations/home-people.ts';
import type { Memberships } from '../organizations/memberships.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { endOfSession, type Sessions } from '../sessions/sessions.ts';
import type { CustomSchema } from '../users/custom/values.ts';
import { giveLogins } from '../users/identity/given-logins.ts';
import { freeRecords } from '../users/identity/guests.ts';
import { type Place, projectOf } from '../users/identity/home.ts';
import {
  type CostlyPart,
  type Criteria,
  costlyPart,
  countRows,
  type Listed,
  type Selection,
} from '../users/listing.ts';
import { changesHands, type HeldIdentity, identityOf, newLogin } from '../users/suspension/hands.ts';
import { endSuspension, heldIdentity, suspend } from '../users/suspension/suspensions.ts';
import type { User } from '../users/user.entity.ts';
import { recordOf, type ShownUser, type UserRecord, type UserValues, valuesOf } from '../users/user-record.ts';
import type { ErasedUsers } from '../users/user-tables.ts';
import { changesLogin, loginOf } from '../users/user-writing.ts';
import type { Users } from '../users/users.ts';
import { cancelDeletion } from './deletions/pending-deletions.ts';
import { erasure, heldForErasure } from './erasure.ts';

/** Maps current values to new ones. */
type Edit = (current: UserRecord) => UserValues | Promise<UserValues>;

type Admits = (userId: string, user: UserRecord | undefined) => boolean;

interface ChangeOptions {
  /** Definitions that custom values are checked against; refuses `conflict` if they have changed. */
  schema?: CustomSchema | undefined;
  /**
   * Custom attributes that are never returned and count as changed in any case: the version, the time and the event must not
   * reveal whether the new value equals the old one.
   */
  hidden?: readonly string[];
  /** The user's session that makes the change: it stays fresh. */
  keepSessionId?: string;
  /** Joins the transaction of a change of the login address or phone. */
  onNewLogin?(em: EntityManager, before: UserRecord, after: User): Promise<void>;
}

/** Changes, deactivates and erases users, with everything that belongs to them (`user-tables.ts`), in one transaction. */
export class Accounts {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      audit: Audit;
      users: Users;
      sessions: Sessions;
      delivery: Pick<Delivery, 'enqueue'>;
      logoutNotices: Pick<LogoutNotices, 'ofUser' | 'ofUsers'>;
      memberships: Pick<Memberships, 'endElsewhere' | 'follow' | 'removedByDirectory'>;
    },
  ) {}

  /** Null if the place has no such user. */
  find(place: Place, userId: string): Promise<ShownUser | null> {
    return this.deps.users.findShown(this.deps.db.alone, place, userId);
  }

  /** A page of the users of a place, without groups. */
  list(place: Place, selection: Selection): Promise<Listed<ShownUser>[]> {
    return this.deps.users.list(this.deps.db.alone, place, selection);
  }

  /** See {@link Users.withGroups}. */
  withGroups<Row extends ShownUser>(projectId: string, users: readonly Row[], budget: number): Promise<Row[]> {
    return this.deps.users.withGroups(this.deps.db.alone, projectId, users, budget);
  }

  /** The number of users that meet `where`, a condition on the row `r`. */
  count(place: Place, where?: Fragment): Promise<number> {
    return countRows(this.deps.db.alone, 'users', place, where);
  }

  costlyPart(place: Place, criteria: Criteria): Promise<CostlyPart | undefined> {
    return costlyPart(this.deps.db.alone, 'users', place, criteria);
  }

  /**
   * Changes a user; one who becomes inactive loses all access, and may get devices back (decisions/0119). A change of
   * only the row takes no lock and is conditional on the version; any other change, or a conflict, takes the lock
   * (decisions/0086). Refuses `not-found`, `taken`; rethrows errors of `edit`.
   *
   * @param edit pure: called again with the current values if they changed meanwhile
   */
  async change(
    place: Place,
    userId: string,
    edit: Edit,
    actor: Actor,
    options: ChangeOptions = {},
  ): Promise<ShownUser> {
    const { schema, hidden } = options;
    const projectId = projectOf(place);
    const seen = found(await this.find(place, userId), 'user');
    const values = await edit(seen);
    const written = await pastDeadlocks(() =>
      this.deps.users.changeAtOnce(this.deps.db.alone, projectId, seen, values, actor, schema, hidden),
    );
    if (written) return written;
    const after = await this.inScopeOf(projectId, () =>
      this.deps.db.transaction((em) => this.changeIn(em, place, userId, edit, actor, options)),
    );
    return this.deps.users.shown(this.deps.db.alone, projectId, recordOf(after), seen);
  }

  /** Like {@link change}, under the user's lock; joins. */
  async changeIn(
    em: EntityManager,
    place: Place,
    userId: string,
    edit: Edit,
    actor: Actor,
    { schema, hidden, keepSessionId, onNewLogin }: ChangeOptions = {},
  ): Promise<User> {
    const user = found(await this.deps.users.locked(em, place, userId), 'user');
    const values = await edit(recordOf(user));
    const isNewLogin = user.accountId == null && changesLogin(user, values);
    if (isNewLogin) await this.endWorkOfLogin(em, user, values, actor, keepSessionId);
    const { before, after } = await this.deps.users.change(em, place, userId, edit, actor, schema, hidden);
    await this.follow(em, before, after, actor);
    if (isNewLogin) await onNewLogin?.(em, before, after);
    return after;
  }

  /**
   * Joins: what follows from a change of a user by an import, which has written the row. Does nothing if access and login
   * stay as they are.
   */
  async imported(em: EntityManager, before: UserRecord, after: User, actor: Actor): Promise<void> {
    const isSame = before.active === after.active && isDeepStrictEqual(identityOf(before), identityOf(after));
    if (isSame) return;
    if (Object.keys(newLogin(before, after)).length > 0) await this.endWorkOfLogin(em, after, valuesOf(before), actor);
    await this.follow(em, before, after, actor);
  }

  /**
   * Ends open sign-ins with a changed address or number, the freshness of sessions, a recovery grant and a pending deletion:
   * they belong to its previous holder.
   *
   * @param other the user's values before or after the change, with the addresses that the row does not have
   */
  private async endWorkOfLogin(
    em: EntityManager,
    user: User,
    other: UserValues,
    actor: Actor,
    keepSessionId?: string,
  ): Promise<void> {
    const now = this.deps.clock.now();
    // The directory of an organization may give addresses of other people.
    const addresses = user.organizationId == null ? [other.userName, loginOf(other).email] : [];
    await endOpenWork(em, now, user, { addresses, keepSessionId });
    await endGrants(em, user, now);
    const both =
      user.organizationId == null ? [user, { ...other, email: loginOf(other).email, organizationId: null }] : [user];
    const mailboxes = both.flatMap(mailboxesOf);
    await cancelDeletion(this.deps, em, user, {
      actor,
      reason: 'login-changed',
      mailboxes: [...new Set(mailboxes)],
    });
  }

  /** The consequences of a written change for access, credentials and second factors. */
  private async follow(em: EntityManager, before: UserRecord, after: User, actor: Actor): Promise<void> {
    const now = this.deps.clock.now();
    const { accountId, organizationId } = after;
    if (accountId != null) {
      if (before.active === after.active || organizationId == null) return;
      const organization = keyIn(after.project.id, organizationId);
      const state = after.active ? 'active' : 'suspended';
      await this.deps.memberships.follow(em, organization, accountId, state, actor);
      return;
    }
    if (before.active && !after.active) {
      await suspend(em, after, before, now);
      await this.revokeAccess(em, after, actor);
    }
    if (!before.active) await this.return(em, before, after, actor);
    if ((before.phone ?? null) !== (after.phone ?? null)) {
      await followPhone(em, after, before.phone ?? null, after.phone ?? null);
    }
  }

  /** A change of an inactive user: the same person returns, or the account passes to another one (decisions/0300). */
  private async return(em: EntityManager, before: UserRecord, after: User, actor: Actor): Promise<void> {
    const now = this.deps.clock.now();
    const held = await heldIdentity(em, after);
    const isHandedOver = changesHands({ before, after, held, now });
    if (isHandedOver) await this.handOver(em, after, actor, held);
    else if (after.active) await restoreDevices(em, after, now);
    if (isHandedOver || after.active) await endSuspension(em, after);
  }

  /**
   * Ends the credentials, consents and grants of the former person of an account.
   *
   * @param held null: the user was not deactivated. One who was never active is prepared, without an event
   */
  private async handOver(em: EntityManager, user: User, actor: Actor, held: HeldIdentity | null): Promise<void> {
    const now = this.deps.clock.now();
    const { subject: sub } = user;
    await endOpenWork(em, now, user);
    await this.deps.sessions.endAllOfUser(em, user, 'deactivated', actor);
    await this.deps.logoutNotices.ofUser(em, user, actor);
    for (const { handOver } of userTables) await handOver?.(em, user, now);
    const projectId = user.project.id;
    if (await isOfAdmins(em, projectId)) {
      const name = held ? (held.emailKey ?? held.userNameKey) : (user.email ?? user.userName);
      await endRoles(em, { id: user.id, projectId, name }, { actor, audit: this.deps.audit, now });
    }
    user.invitedAt = null;
    // Other organizations have admitted the former person, not the one that the directory of this one chooses.
    if (user.organizationId != null) {
      await this.deps.memberships.endElsewhere(em, keyIn(projectId, user.organizationId), user.id, actor);
    }
    if (!held) return;
    const subject = { kind: 'user', id: user.id, name: user.userName };
    this.deps.audit.record(em, {
      type: 'user.handed_over',
      actor,
      projectId,
      subject,
      ...(sub != null && { detail: { sub } }),
    });
  }

  /** Activates or deactivates a user. Refuses `not-found`. */
  setActive(projectId: string, userId: string, active: boolean, actor: Actor): Promise<ShownUser> {
    return this.change(projectId, userId, (current) => ({ ...valuesOf(current), active }), actor);
  }

  /** Erases a user and their personal data. Refuses `not-found`; rethrows errors of `check`, which gets the locked row. */
  remove(place: Place, userId: string, actor: Actor, check?: (user: UserRecord) => void): Promise<void> {
    return this.removeAll(place, [userId], actor, (_id, row) => {
      const user = found(row, 'user');
      check?.(user);
      return true;
    });
  }

  /**
   * Erases users with few statements, independent of their number.
   *
   * @param admits whether to erase a user; called with each id and its locked row, if any. If it throws, nothing is erased
   */
  removeAll(place: Place, userIds: readonly string[], actor: Actor, admits: Admits): Promise<void> {
    const { db } = this.deps;
    if (typeof place !== 'string' && place.organizationId !== null) {
      const key = keyIn(place.projectId, place.organizationId);
      return pastDeadlocks(() => db.transaction((em) => this.eraseOf(em, key, userIds, actor, admits)));
    }
    return pastDeadlocks(() => db.statements((on) => this.erase(on, place, userIds, actor, admits)));
  }

  /** Joins: deactivates the user, and ends their sessions, codes, devices and open sign-ins. */
  async deactivate(em: EntityManager, user: User, actor: Actor): Promise<void> {
    const edit: Edit = (current) => ({ ...valuesOf(current), active: false });
    const { before, after } = await this.deps.users.change(em, user.project.id, user.id, edit, actor);
    if (before.active) await suspend(em, after, before, this.deps.clock.now());
    // Also for a user whom the directory has deactivated: their devices are then not restored.
    await this.revokeAccess(em, after, actor);
  }

  /** Joins: like {@link erase}, for a directory of an organization. Ends the memberships of guests, whose accounts stay. */
  private async eraseOf(em: EntityManager, key: TenantKey, userIds: readonly string[], actor: Actor, admits: Admits) {
    const guests: string[] = [];
    const home = { projectId: key.project.id, organizationId: key.id };
    await this.erase(em, home, userIds, actor, (id, user) => {
      const isAdmitted = admits(id, user);
      if (isAdmitted && user?.accountId != null) guests.push(user.accountId);
      return isAdmitted;
    });
    for (const accountId of guests) await this.deps.memberships.removedByDirectory(em, key, accountId, actor);
  }

  /** Like {@link removeAll}; joins. The audit log keeps the users' events under the bare ids. */
  async erase(
    on: Executing,
    place: Place,
    userIds: readonly string[],
    actor: Actor,
    admits: Admits = () => true,
  ): Promise<void> {
    const { audit, clock, logoutNotices } = this.deps;
    const projectId = projectOf(place);
    const held = await heldForErasure(on, place, userIds);
    const users = userIds.flatMap((id) => {
      const user = held.get(id);
      return admits(id, user) && user ? [user] : [];
    });
    if (users.length === 0) return;
    const erased = { projectId, ids: users.map(({ id }) => id), users };
    const freed = users.some(({ isGuest }) => isGuest) ? await this.free(on, erased) : [];
    const events = users
      .filter(({ accountId }) => accountId == null)
      .map(({ id, organizationId, subject: sub }) => {
        const detail = { ...(sub != null && { sub }), ...(organizationId != null && { organizationId }) };
        const subject = { kind: 'user', id };
        const event = { type: 'user.erased' as const, actor, projectId, subject };
        return Object.keys(detail).length === 0 ? event : { ...event, detail };
      });
    const statement = erasure(erased, clock.now(), audit.insertions(events));
    const [ended] = await query(on, statement, { prepare: 'accounts.erase' });
    if (!ended) return;
    if (freed.length > 0) await this.settle(on, projectId, freed, actor);
    await logoutNotices.ofUsers(on, projectId, ended.uses, actor);
    if (ended.sessions.length === 0) return;
    const ends = ended.sessions.map((session) => endOfSession(projectId, session, 'deactivated', actor));
    await execute(on, audit.insertions(ends), { prepare: 'accounts.record-ended' });
  }

  /** Records of guests about to be erased become users at home, with the memberships (decisions/0402). */
  private async free(on: Executing, { projectId, ids }: ErasedUsers): Promise<UserRecord[]> {
    for (const statement of passedMemberships(projectId, ids, this.deps.clock.now())) await execute(on, statement);
    return freeRecords(on, projectId, ids);
  }

  /** The users of {@link free} get the login emails that are free now, in verified domains of their homes. */
  private async settle(on: Executing, projectId: string, freed: readonly UserRecord[], actor: Actor): Promise<void> {
    await giveLogins(on, projectId, freed, this.deps.clock.now());
    const events = freed.map(({ id, organizationId, provenance, userName }) => {
      const subject = { kind: 'user', id, name: userName };
      return { type: 'user.created' as const, actor, projectId, subject, detail: { provenance, organizationId } };
    });
    await execute(on, this.deps.audit.insertions(events));
  }

  private async revokeAccess(em: EntityManager, user: User, actor: Actor): Promise<void> {
    const now = this.deps.clock.now();
    await endOpenWork(em, now, user);
    const { logoutNotices, sessions } = this.deps;
    await sessions.endAllOfUser(em, user, 'deactivated', actor);
    await logoutNotices.ofUser(em, user, actor);
    await cancelDeletion(this.deps, em, user, { actor, reason: 'deactivated' });
    for (const tables of userTables) await tables.deactivate?.(em, user, now, actor.kind === 'scim');
  }

  /** Admins have roles in other projects, which end there. */
  private async inScopeOf<T>(projectId: string, work: () => Promise<T>): Promise<T> {
    const repeated = () => pastDeadlocks(work);
    return (await isOfAdmins(this.deps.db.alone, projectId)) ? inAllProjects(repeated) : repeated();
  }
}

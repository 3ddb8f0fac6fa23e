import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { endOpenWork } from '../ceremonies/open-work.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found } from '../kernel/problem.ts';
import { execute, type Sql, sql } from '../kernel/statement.ts';
import type { SessionEnd } from '../sessions/sessions.ts';
import { pastDeadlocks } from '../users/deadlock.ts';
import { countRows, type Listed, type Selection } from '../users/listing.ts';
import { contactsOf, foldCase } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import { recordOf, type ShownUser, type UserRecord, type UserValues, valuesOf } from '../users/user-record.ts';
import { changesLogin, loginOf } from '../users/user-writing.ts';
import type { Users } from '../users/users.ts';

/** Ends every live session of a user in the caller's transaction. Whether clients hear of it is not decided here. */
export type EndSessions = (em: EntityManager, userId: string, reason: SessionEnd, actor: Actor) => Promise<unknown>;

/** From what is there to what shall be there. */
type Edit = (current: UserRecord) => UserValues | Promise<UserValues>;

/** What happens to a person as a whole: one transaction over sessions, codes, devices and whatever else hangs on them. */
export class Accounts {
  private readonly db: Database;
  private readonly clock: Clock;
  private readonly audit: Audit;
  private readonly users: Users;
  private readonly endSessions: EndSessions;

  constructor(db: Database, clock: Clock, audit: Audit, users: Users, endSessions: EndSessions) {
    this.db = db;
    this.clock = clock;
    this.audit = audit;
    this.users = users;
    this.endSessions = endSessions;
  }

  /** Null if the project has no such user. */
  find(projectId: string, userId: string): Promise<ShownUser | null> {
    return this.users.findShown(this.db.alone, projectId, userId);
  }

  list(projectId: string, selection: Selection): Promise<Listed<ShownUser>[]> {
    return this.users.list(this.db.alone, projectId, selection);
  }

  /** How many users the project has under `where`, a condition on the row `r`. */
  count(projectId: string, where?: Sql): Promise<number> {
    return countRows(this.db.alone, 'users', projectId, where);
  }

  /** A user that a directory brings. Refuses `taken`. */
  provision(projectId: string, values: UserValues, actor: Actor, id?: string): Promise<UserRecord> {
    return this.users.create(this.db.alone, projectId, values, 'scim', actor, id);
  }

  /**
   * Changes a user and, where that deactivates them, takes their access away with it. What concerns the row alone is
   * read and written without a lock, the version being a condition of the write; whoever meets another change waits
   * their turn under the lock (decisions/0086). Refuses `not-found`, `taken`, and what `edit` throws.
   *
   * @param edit pure: it may be asked once more, of what has come in between
   */
  async change(projectId: string, userId: string, edit: Edit, actor: Actor): Promise<ShownUser> {
    const seen = found(await this.find(projectId, userId), 'user');
    const values = await edit(seen);
    const written = await pastDeadlocks(() => this.users.changeAtOnce(this.db.alone, projectId, seen, values, actor));
    if (written) return written;
    const after = await this.changeLocked(projectId, userId, edit, actor);
    return { ...recordOf(after), groups: seen.groups };
  }

  private changeLocked(projectId: string, userId: string, edit: Edit, actor: Actor): Promise<User> {
    return this.atomically(async (em) => {
      await this.endWorkOfLogin(em, found(await this.users.locked(em, projectId, userId), 'user'), edit);
      const { before, after } = await this.users.change(em, projectId, userId, edit, actor);
      if (before.active && !after.active) await this.revokeAccess(em, after, actor);
      if (after.phone && before.phone && after.phone !== before.phone) await this.followPhone(em, before, after.phone);
      return after;
    });
  }

  /** Open sign-ins were begun for the previous holder of this address or number. */
  private async endWorkOfLogin(em: EntityManager, user: User, edit: Edit): Promise<void> {
    const before = recordOf(user);
    const values = await edit(before);
    if (!changesLogin(before, values)) return;
    await endOpenWork(em, this.clock.now(), user, { addresses: [values.userName, loginOf(values).email] });
  }

  /** Switches a user on or off. Refuses `not-found`. */
  setActive(projectId: string, userId: string, active: boolean, actor: Actor): Promise<ShownUser> {
    return this.change(projectId, userId, (current) => ({ ...valuesOf(current), active }), actor);
  }

  /**
   * Erases a user and their personal data. Refuses `not-found`, and what `check` throws, which sees the row under
   * its lock.
   */
  async remove(projectId: string, userId: string, actor: Actor, check?: (user: User) => void): Promise<void> {
    await this.atomically(async (em) => {
      const user = found(await this.users.locked(em, projectId, userId), 'user');
      check?.(user);
      await this.erase(em, user, actor);
    });
  }

  /** Joins: switches the user off; sessions, codes, devices and sign-ins on their way end with it. */
  async deactivate(em: EntityManager, user: User, actor: Actor): Promise<void> {
    const edit: Edit = (current) => ({ ...valuesOf(current), active: false });
    const { changed, after } = await this.users.change(em, user.project.id, user.id, edit, actor);
    if (changed) await this.revokeAccess(em, after, actor);
  }

  /**
   * Joins: removes the identity and every trace of the person. What others must still be able to follow stays
   * without a name: the audit log keeps who did what under the bare id.
   */
  async erase(em: EntityManager, user: User, actor: Actor): Promise<void> {
    const { id } = user;
    const projectId = user.project.id;
    const now = this.clock.now();
    await endOpenWork(em, now, user);
    await this.endSessions(em, id, 'deactivated', actor);
    await em.flush();
    await execute(
      em,
      sql`update groups set version = version + 1, updated_at = ${now}
          where id in (select group_id from group_members where user_id = ${id})`,
    );
    await this.forgetCeremonies(em, user);
    const recipients = [user.email, user.phone].filter((recipient) => recipient != null);
    await execute(
      em,
      sql`delete from messages where project_id = ${projectId} and recipient = any(${recipients}::text[])`,
    );
    await this.forgetRequests(em, user);
    em.remove(user);
    await em.flush();
    await execute(
      em,
      sql`update audit_events set subject_name = null, detail = null,
            ip = case when actor_kind = 'anonymous' then null else ip end,
            user_agent = case when actor_kind = 'anonymous' then null else user_agent end
          where subject_kind = 'user' and subject_id = ${id}`,
    );
    await execute(
      em,
      sql`update audit_events set actor_name = null, ip = null, user_agent = null
          where actor_kind in ('user', 'admin') and actor_id = ${id}`,
    );
    this.audit.record(em, { type: 'user.erased', actor, projectId, subject: { kind: 'user', id } });
  }

  private async revokeAccess(em: EntityManager, user: User, actor: Actor): Promise<void> {
    const now = this.clock.now();
    await endOpenWork(em, now, user);
    await this.endSessions(em, user.id, 'deactivated', actor);
    await execute(em, sql`update devices set revoked_at = ${now} where user_id = ${user.id} and revoked_at is null`);
  }

  /** What a directory asked about them: by their id, or with one of their names in it. */
  private async forgetRequests(em: EntityManager, user: User): Promise<void> {
    // What other processes still hold back is then written without its texts; whoever is writing is waited for.
    await execute(em, sql`update projects set erasures = erasures + 1 where id = ${user.project.id}`);
    const emails = contactsOf(user.attributes, 'emails').map(({ value }) => value);
    const names = [user.userName, user.email, user.phone, user.externalId, user.displayName, ...emails];
    const told = names.flatMap((name) => (name ? [foldCase(name)] : []));
    await execute(
      em,
      sql`delete from scim_request_records r
          where r.resource_id = ${user.id} or (r.project_id = ${user.project.id} and exists (
            select 1 from unnest(${told}::text[]) as name
            where strpos(lower(concat_ws(' ', r.path, r.detail, r.request_body, r.response_body)), name) > 0))`,
    );
  }

  /** Sign-ins on their way, with the codes that were sent for them. */
  private async forgetCeremonies(em: EntityManager, user: User): Promise<void> {
    const projectId = user.project.id;
    const addresses = [user.email, user.userName].flatMap((address) => (address == null ? [] : [foldCase(address)]));
    await execute(
      em,
      sql`with gone as (
            delete from ceremonies
            where project_id = ${projectId}
              and (user_id = ${user.id} or account_id = ${user.id} or address = any(${addresses}::text[]))
            returning id
          )
          delete from one_time_codes
          where user_id = ${user.id} or ceremony_id in (select id from gone)
            or (project_id = ${projectId} and address = any(${[...addresses, user.phone ?? '']}::text[]))`,
    );
    await execute(
      em,
      sql`delete from authorization_requests where project_id = ${projectId} and hinted_user_id = ${user.id}`,
    );
  }

  /** Text messages go to the number that the directory now says, not to the one that somebody else may hold by now. */
  private async followPhone(em: EntityManager, before: UserRecord, phone: string): Promise<void> {
    await execute(
      em,
      sql`update enrolments set phone = ${phone}
          where user_id = ${before.id} and method = 'sms' and phone = ${before.phone}`,
    );
  }

  private atomically<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    return pastDeadlocks(() => this.db.transaction(work));
  }
}

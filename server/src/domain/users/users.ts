import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import { type Actor, system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { found, problemOf, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Executing, execute, query, sql } from '../kernel/sql.ts';
import type { AccessLost } from '../projects/lost-access.ts';
import { Project } from '../projects/project.entity.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { type CustomSchema, isCustomName } from './custom/values.ts';
import {
  type CustomWrite,
  checkCurrent,
  currentSchema,
  customWrite,
  indexedValues,
  takenValue,
  writeIndex,
} from './custom/writing.ts';
import { withContact } from './edits/login-edit.ts';
import { isBlind, unheld } from './identity/held-logins.ts';
import {
  atProject,
  type Home,
  type HomeSource,
  inPlace,
  isUserIn,
  type OpenHome,
  type Place,
  type ProjectHome,
  projectOf,
} from './identity/home.ts';
import { userNamed } from './identity/named.ts';
import { DeepPages, type Listed, listRows, type Selection, type Weight } from './listing.ts';
import { addressKey, isAddress, isE164, trimmed, userNameKey } from './login.ts';
import { managerIdOf, managerNameOf } from './manager.ts';
import { groupsOfLeading } from './members/shown-groups.ts';
import { newLogin } from './suspension/hands.ts';
import { refuseReserved, reservedValues } from './suspension/suspensions.ts';
import { User } from './user.entity.ts';
import { countedUsers } from './user-counts.ts';
import {
  findShown,
  insertOf,
  listedSelection,
  newRows,
  recordOf,
  type ShownUser,
  type UserRecord,
  type UserValues,
  valuesOf,
  withInstants,
} from './user-record.ts';
import {
  awaitedPhone,
  changedNames,
  changesLogin,
  emailKeys,
  isPhoneLocked,
  type Login,
  loginAfter,
  loginOf,
  unlessTaken,
  withheld,
  writeIfUnchanged,
} from './user-writing.ts';

/**
 * A page of users ends early at 2 MB of attributes. Small ones are not measured: those that PostgreSQL has compressed to this
 * size have at most 200 KB.
 */
const weightOfAttributes: Weight = {
  of: sql`case when pg_column_size(r.attributes) < 800 then 800 else octet_length(r.attributes::text) end`,
  most: 2 * 1024 * 1024,
};

/** The result of a change. `before` is a copy, `after` the row itself. */
export interface UserChange {
  before: UserRecord;
  after: User;
  changed: boolean;
}

interface CreateOptions {
  /** For a caller that needs it in advance. */
  id?: string | undefined;
  /** Definitions that custom values were checked against; refuses `conflict` if they have changed. */
  schema?: CustomSchema | undefined;
  /** Of the membership in the organization that is the home. */
  source?: HomeSource;
  /** Makes a record of a guest: this user becomes the member. */
  accountId?: string | undefined;
}

/** End users of one project at a time, or of one home. Every method joins the caller's transaction. */
export class Users {
  private readonly deepPages: DeepPages;

  constructor(
    private readonly deps: {
      clock: Clock;
      random: Random;
      audit: Audit;
      accessLost: AccessLost;
      /** Joins: gives a user's suspended SMS factor the login phone that became theirs. Absent: there are no factors. */
      followPhone?(em: EntityManager, user: TenantKey, before: null, after: string): Promise<void>;
      /** Absent: there are no organizations. */
      openHome?: OpenHome;
    },
  ) {
    this.deepPages = new DeepPages(deps.clock);
  }

  /** Null if the project has no such user. */
  async find(em: EntityManager, projectId: string, userId: string): Promise<User | null> {
    return isUuid(userId) ? em.findOne(User, { id: userId, project: projectId, accountId: null }) : null;
  }

  /** The user with their groups. Null if the place has no such user. */
  findShown(em: Executing, place: Place, userId: string): Promise<ShownUser | null> {
    return findShown(em, place, userId);
  }

  /** A page of the users of a place, without groups. */
  async list(em: Executing, place: Place, selection: Selection): Promise<Listed<ShownUser>[]> {
    const rows = await this.deepPages.read(place, selection, (page) =>
      listRows<ShownUser>(em, 'users', listedSelection, place, page, weightOfAttributes),
    );
    return rows.map((row) => ({ ...withInstants(row), groups: [] }));
  }

  /** The leading users of a page that have at most `budget` groups together, at least the first one, with their groups. */
  async withGroups<Row extends ShownUser>(
    em: Executing,
    projectId: string,
    users: readonly Row[],
    budget: number,
  ): Promise<Row[]> {
    const ids = users.map(({ id }) => id);
    const groups = await groupsOfLeading(em, projectId, ids, budget);
    return users.slice(0, groups.size).map((user) => ({ ...user, groups: groups.get(user.id) ?? [] }));
  }

  /**
   * The user with this login email, else the one with this userName ({@link userNamed}), outside of organizations. Inactive users are
   * found, too. Codes go to the stored login email, never to the address that was typed.
   */
  async findByAddress(em: EntityManager, projectId: string, address: string): Promise<User | null> {
    const key = addressKey(address);
    const named = await userNamed(em, projectId, isAddress(key) ? key : '', null);
    return named && em.findOne(User, { project: projectId, id: named.id });
  }

  /** Creates a user who signs up: the address is userName and login email. Refuses `taken`, `invalid`. */
  async signUp(em: EntityManager, projectId: string, address: string, actor: Actor): Promise<User> {
    const value = trimmed(address);
    if (!isAddress(value)) refuse({ code: 'invalid', field: 'address', reason: 'must be an email address' });
    const values: UserValues = {
      userName: value,
      externalId: null,
      displayName: null,
      givenName: null,
      familyName: null,
      active: true,
      attributes: { emails: [{ value, type: 'work', primary: true }] },
    };
    const { id } = await this.create(em, atProject(projectId), values, 'local', actor);
    return em.findOneOrFail(User, { project: projectId, id });
  }

  /**
   * Creates a user at home in the project, or in an organization, as its member. Refuses `taken` (userName of another user of this home;
   * login email or login phone of another user of the project), which leaves the caller's transaction usable, and `not-found` for the
   * organization. The directory of an organization gives login emails only in its verified domains, and does not find out about users at other
   * homes: see {@link unheld}. Only a directory may reuse an identifier that is reserved for an inactive user ({@link refuseReserved}); any
   * other caller rolls back.
   */
  create(
    em: Executing,
    home: ProjectHome,
    values: UserValues,
    provenance: User['provenance'],
    actor: Actor,
    options?: CreateOptions,
  ): Promise<UserRecord>;
  create(
    em: EntityManager,
    home: Home,
    values: UserValues,
    provenance: User['provenance'],
    actor: Actor,
    options?: CreateOptions,
  ): Promise<UserRecord>;
  async create(
    em: Executing | EntityManager,
    { projectId, organizationId }: Home,
    values: UserValues,
    provenance: User['provenance'],
    actor: Actor,
    {
      accountId,
      id = this.deps.random.id(),
      schema,
      source = actor.kind === 'scim' ? 'directory' : 'admin',
    }: CreateOptions = {},
  ): Promise<UserRecord> {
    const now = this.deps.clock.now();
    const home = { projectId, organizationId };
    const login =
      accountId !== undefined
        ? withheld(loginOf(values), { email: true, phone: true })
        : isBlind(actor, organizationId)
          ? await unheld(em as EntityManager, home, loginOf(values), null, now)
          : loginOf(values);
    const { email, phone, withheldEmailKey, withheldPhone } = login;
    const times = { createdAt: now, updatedAt: now, lastSignInAt: null, invitedAt: null };
    const held = { accountId: accountId ?? null, subject: null, withheldEmailKey, withheldPhone };
    const user = { id, organizationId, ...held, ...values, email, phone, provenance, version: 1, ...times };
    const custom = customWrite(schema, {}, values.attributes);
    const join =
      organizationId === null
        ? null
        : await this.deps.openHome?.(em as EntityManager, keyIn(projectId, organizationId));
    if (join === undefined) throw new Error('no organization can be a home here');
    const created = await this.insert(em, projectId, user, { login, actor, custom });
    await join?.(accountId ?? id, source, actor);
    if (actor.kind !== 'scim') await refuseReserved(em, home, id, login, now);
    return created;
  }

  private async insert(
    em: Executing,
    projectId: string,
    user: UserRecord,
    { login, actor, custom }: { login: Login; actor: Actor; custom: CustomWrite | undefined },
  ): Promise<UserRecord> {
    const { id, attributes, organizationId, phone, provenance, userName } = user;
    const { names, values: written } = insertOf(user, login);
    const event = {
      type: 'user.created' as const,
      actor,
      projectId,
      subject: { kind: 'user', id, name: userName },
      detail: { provenance, ...(organizationId !== null && { organizationId }) },
    };
    // Nothing is inserted if the definitions have changed.
    const source = custom
      ? sql`select defined.project_id, ${names} from ${newRows([{ user, login }]).rows}, (${currentSchema(projectId, custom)}) as defined`
      : sql`values (${projectId}, ${written})`;
    const creation = sql`with created as (
        insert into users (project_id, ${names}) ${source}
        on conflict do nothing returning id, project_id, organization_id, account_id
      ), ${custom ? sql`valued as (${indexedValues(custom, sql`created`)}),` : sql``} indexed as (
        insert into user_emails (user_id, value_key, project_id)
        select distinct created.id, key, created.project_id
        from created, unnest(${emailKeys(attributes)}::text[]) as key
      ), counted as (
        ${countedUsers(sql`created`, 1)}
      ), audited as (
        ${this.deps.audit.insertion(event, sql`exists (select 1 from created where account_id is null)`)}
      )
      select id from created`;
    const inserted = await unlessTaken(
      () => query(em, creation, { prepare: 'users.create' }),
      () => takenValue(em, asRow({ projectId, organizationId: organizationId ?? null }, id), custom),
    );
    if (inserted.length > 0) return user;
    if (custom) await checkCurrent(em, projectId, custom);
    const { field, isElsewhere } = await takenField(em, { projectId, organizationId: organizationId ?? null }, login);
    const isWithheld = isElsewhere && isBlind(actor, organizationId);
    const isShared = field === 'phoneNumbers' && login.isShared && phone !== null;
    if (isShared || isWithheld) {
      const without = withheld(login, { email: field === 'emails', phone: field === 'phoneNumbers' });
      const { email, phone: left, withheldEmailKey, withheldPhone } = without;
      const next = { ...user, email, phone: left, withheldEmailKey, withheldPhone };
      return this.insert(em, projectId, next, { login: without, actor, custom });
    }
    return refuse({ code: 'taken', what: 'user', field });
  }

  /**
   * Changes a locked user, so that concurrent changes see each other. A change without effect writes nothing. A change
   * by a directory sets the provenance to `scim`. Refuses `not-found`, `taken`.
   *
   * @param edit maps current values to new ones; its errors roll back the transaction
   * @param schema definitions that custom values were checked against; refuses `conflict` if they have changed
   * @param hidden custom attributes that count as changed in any case
   */
  async change(
    em: EntityManager,
    place: Place,
    userId: string,
    edit: (current: UserRecord) => UserValues | Promise<UserValues>,
    actor: Actor,
    schema?: CustomSchema,
    hidden: readonly string[] = [],
  ): Promise<UserChange> {
    const projectId = projectOf(place);
    const user = found(await this.locked(em, place, userId), 'user');
    const before = recordOf(user);
    const values = await edit(user);
    const names = changedNames(before, values, hidden);
    if (names.length === 0) return { before, after: user, changed: false };
    const custom = customWrite(schema, before.attributes, values.attributes);
    const next = loginAfter(before, values);
    const { email, phone, isShared, withheldEmailKey, withheldPhone, ...login } = isBlind(actor, user.organizationId)
      ? await unheld(em, homeOf(user), next, user, this.deps.clock.now())
      : next;
    // An earlier key stays with its address or name: another user may have the key that the current rules give.
    const isSameEmail = before.email != null && login.emailKey === addressKey(before.email);
    const emailKey = isSameEmail ? user.emailKey : login.emailKey;
    const isOthers = isShared && phone !== null && phone !== before.phone && (await this.isPhoneTaken(em, user, phone));
    const isSameName = login.userNameKey === userNameKey(before.userName);
    const nameKey = isSameName ? user.userNameKey : login.userNameKey;
    const logins = { userNameKey: nameKey, email, emailKey, phone: isOthers ? null : phone };
    Object.assign(user, values, logins, { withheldEmailKey, withheldPhone });
    if (actor.kind === 'scim') user.provenance = 'scim';
    user.version += 1;
    user.updatedAt = this.deps.clock.now();
    this.deps.audit.record(em, updated(projectId, before, values, names, actor));
    await unlessTaken(() => em.flush());
    if (actor.kind !== 'scim') await refuseReserved(em, homeOf(user), userId, newLogin(before, user), user.updatedAt);
    if (names.includes('emails')) await indexEmails(em, projectId, userId, emailKeys(values.attributes));
    if (custom) await unlessTaken(() => writeIndex(em, projectId, userId, custom));
    if (changesRoles(names)) await this.deps.accessLost(em, { projectId, userIds: [userId] });
    return { before, after: user, changed: true };
  }

  /**
   * Changes a user read without a lock, by one statement. Undefined if nothing was written: the user has changed since,
   * or waits for a number, or the change affects more than the row (`active`, login address, login phone, roles, `externalId` of
   * an inactive user), or the definitions of custom attributes differ from `schema`. Then use {@link change}. Refuses
   * `taken`.
   */
  async changeAtOnce(
    em: Executing,
    projectId: string,
    before: ShownUser,
    values: UserValues,
    actor: Actor,
    schema?: CustomSchema,
    hidden: readonly string[] = [],
  ): Promise<ShownUser | undefined> {
    if (before.active && awaitedPhone(before) !== null) return undefined;
    const changed = changedNames(before, values, hidden);
    if (changed.length === 0) return before;
    const { email, phone, withheldEmailKey, withheldPhone } = loginAfter(before, values);
    if (before.active !== values.active || changesRoles(changed)) return undefined;
    if (changesLogin(before, values)) return undefined;
    // It may pass to another person.
    if (!before.active && changed.includes('externalId')) return undefined;
    const next: ShownUser = {
      ...before,
      ...values,
      email,
      phone,
      withheldEmailKey,
      withheldPhone,
      provenance: actor.kind === 'scim' ? 'scim' : before.provenance,
      version: before.version + 1,
      updatedAt: this.deps.clock.now(),
    };
    const event = updated(projectId, before, values, changed, actor);
    const custom = customWrite(schema, before.attributes, values.attributes);
    if (!(await writeIfUnchanged(em, this.deps.audit, projectId, next, { changed, event, custom }))) return undefined;
    return this.shown(em, projectId, next, before);
  }

  /** The shown form of a written user. @param before its shown form before the change, if known */
  async shown(em: Executing, projectId: string, user: UserRecord, before?: ShownUser): Promise<ShownUser> {
    const isSame = before && managerIdOf(before.attributes) === managerIdOf(user.attributes);
    const home = { projectId, organizationId: user.organizationId ?? null };
    const managerName = isSame ? before.managerName : await managerNameOf(em, home, user.attributes);
    return { ...user, groups: before?.groups ?? [], managerName };
  }

  /**
   * Sets the login phone on behalf of the user; null removes it. Refuses `phone-invalid`, `phone-locked` if the directory
   * owns it (service.md 3.1), `taken`.
   */
  async changePhone(em: EntityManager, user: User, phone: string | null, actor: Actor): Promise<User> {
    if (phone !== null && !isE164(phone)) refuse({ code: 'phone-invalid' });
    await this.checkPhoneLock(em, user, phone);
    if (phone !== null && (await this.isPhoneTaken(em, user, phone))) {
      refuse({ code: 'taken', what: 'user', field: 'phone' });
    }
    const edit = (current: UserRecord) => withContact(valuesOf(current), 'phoneNumbers', current.phone ?? null, phone);
    return (await this.change(em, user.project.id, user.id, edit, actor)).after;
  }

  /** Whether `phone` is the login phone of another user of the project, or reserved for one. */
  async isPhoneTaken(em: EntityManager, user: User, phone: string): Promise<boolean> {
    const [other] = await query(
      em,
      sql`select 1 from users where project_id = ${user.project.id} and phone = ${phone} and id <> ${user.id}`,
    );
    if (other) return true;
    return (await reservedValues(em, homeOf(user), [{ phone }], this.deps.clock.now(), user.id)).length > 0;
  }

  /** Refuses `phone-locked` if the directory has a number for this user and `phone` differs. */
  async checkPhoneLock(em: EntityManager, user: User, phone: string | null): Promise<void> {
    if (!isPhoneLocked(user, phone, { isAuthoritative: true })) return;
    const project = await em.findOneOrFail(Project, user.project.id);
    if (project.scimAuthoritative) refuse({ code: 'phone-locked' });
  }

  /**
   * Locks and reads the row; null if the place has no such user. A number that the user waits for becomes the login phone
   * if it is free. Not `for update`: it would also block steps that only insert a row of this user, and the caller may wait
   * for one of them.
   */
  async locked(em: EntityManager, place: Place, userId: string): Promise<User | null> {
    if (!isUuid(userId)) return null;
    await query(em, sql`select 1 from users r where ${isUserIn(place)} and r.id = ${userId} for no key update`, {
      prepare: 'users.locked',
    });
    const where = { ...inPlace(place), id: userId, ...(typeof place === 'string' && { accountId: null }) };
    const user = await em.findOne(User, where, { refresh: true });
    if (!user?.active || awaitedPhone(user) === null) return user;
    await this.takeFreePhone(em, projectOf(place), user);
    return em.findOne(User, where, { refresh: true });
  }

  /** Leaves the version: SCIM shows the number already, and every change of a user who waits takes the lock. */
  private async takeFreePhone(em: EntityManager, projectId: string, user: User): Promise<void> {
    const phone = awaitedPhone(user);
    if (phone === null || (await this.isPhoneTaken(em, user, phone))) return;
    const event: AuditEntry = {
      type: 'user.updated',
      actor: system,
      projectId,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: { changed: ['phone'] },
    };
    const statement = sql`with taken as (
        update users u set phone = ${phone}, withheld_phone = null
        where u.project_id = ${projectId}::uuid and u.id = ${user.id}::uuid and u.phone is null
          and not exists (select 1 from users o where o.project_id = u.project_id and o.phone = ${phone})
        returning u.id
      ), audited as (${this.deps.audit.insertion(event, sql`exists (select 1 from taken)`)})
      select id from taken`;
    await execute(em, sql`savepoint phone`);
    const taken = unlessTaken(() => query(em, statement, { prepare: 'users.take-free-phone' }));
    // Another user may get it at the same moment: this one continues to wait.
    const isTaken = (await problemOf(taken)) !== null;
    if (isTaken) await execute(em, sql`rollback to savepoint phone`);
    await execute(em, sql`release savepoint phone`);
    if (!isTaken && (await taken).length > 0) await this.deps.followPhone?.(em, user, null, phone);
  }
}

/**
 * The event of a change: the names of the changed values and, for a change by an admin, the values, which an
 * erasure of the user removes. `active` always has its values.
 */
function updated(
  projectId: string,
  before: UserRecord,
  after: UserValues,
  changed: readonly string[],
  actor: Actor,
): AuditEntry {
  const { accountId, organizationId } = before;
  if (accountId != null) {
    const guest = { kind: 'user', id: accountId, name: after.userName };
    const type = 'organization-membership.updated' as const;
    return { type, actor, projectId, subject: guest, detail: { organizationId, changed } };
  }
  const subject = { kind: 'user', id: before.id, name: after.userName };
  const isAdmin = ['admin', 'admin-token', 'bootstrap-token'].includes(actor.kind);
  // Custom values may be confidential among admins: only their names are recorded.
  const custom = changed.filter(isCustomName);
  const shown = changed.filter((name) => (isAdmin ? !isCustomName(name) : name === 'active'));
  const of = ({ attributes, ...columns }: UserValues) => {
    const values: Record<string, unknown> = { ...attributes, ...columns };
    return Object.fromEntries(shown.map((name) => [name, values[name] ?? null]));
  };
  const names = isAdmin ? custom : changed;
  const detail = {
    ...(organizationId != null && { organizationId }),
    ...(isAdmin || shown.length > 0 ? { before: of(valuesOf(before)), after: of(after) } : {}),
    ...(names.length > 0 ? { changed: names } : {}),
  };
  return { type: 'user.updated', actor, projectId, subject, detail };
}

/** Whether the SCIM attributes change that name roles of applications. */
function changesRoles(changed: readonly string[]): boolean {
  return changed.includes('roles') || changed.includes('entitlements');
}

const homeOf = ({ project, organizationId }: User): Home => ({
  projectId: project.id,
  organizationId: organizationId ?? null,
});

/** SQL: a user as a row. */
const asRow = ({ projectId, organizationId }: Home, id: string) =>
  sql`(select ${projectId}::uuid as project_id, ${id}::uuid as id, ${organizationId}::uuid as organization_id)`;

/** The value that keeps a user from being created, and whether only users at other homes have such values. */
async function takenField(
  em: Executing,
  { projectId, organizationId }: Home,
  login: Login,
): Promise<{ field: string; isElsewhere: boolean }> {
  const isElsewhere = sql`organization_id is distinct from ${organizationId}::uuid`;
  const isHere = sql`organization_id is not distinct from ${organizationId}::uuid`;
  const isNamed = sql`user_name_key = ${login.userNameKey} and ${isHere}`;
  const isAddressed = sql`(email_key = ${login.emailKey} or withheld_email_key = ${login.withheldEmailKey} and ${isHere})`;
  const isCalled = sql`(phone = ${login.phone} or withheld_phone = ${login.withheldPhone} and ${isHere})`;
  const [row] = await query(
    em,
    sql<{ field: string; isElsewhere: boolean }>`
      select case when ${isNamed} then 'userName'
                    when ${isAddressed} then 'emails' else 'phoneNumbers' end as field,
        ${isElsewhere} as "isElsewhere"
        from users
        where project_id = ${projectId}
          and (${isNamed} or ${isAddressed} or ${isCalled})
        order by (${isNamed}) desc, ${isElsewhere} limit 1`,
    { prepare: 'users.taken-field' },
  );
  return row ?? { field: 'userName', isElsewhere: false };
}

async function indexEmails(em: EntityManager, projectId: string, userId: string, keys: string[]): Promise<void> {
  await execute(
    em,
    sql`delete from user_emails where project_id = ${projectId} and user_id = ${userId} and not (value_key = any(${keys}::text[]))`,
    {
      prepare: 'users.index-emails',
    },
  );
  await execute(
    em,
    sql`insert into user_emails (user_id, value_key, project_id)
      select ${userId}::uuid, key, ${projectId}::uuid from unnest(${keys}::text[]) as key on conflict do nothing`,
    { prepare: 'users.index-emails-2' },
  );
}

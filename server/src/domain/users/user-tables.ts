import type { EntityManager } from '@mikro-orm/postgresql';
import { type Fragment, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { addressKeys } from './login.ts';
import type { User } from './user.entity.ts';
import { countedUsers } from './user-counts.ts';
import type { UserRecord } from './user-record.ts';

/** A user's row and its key. */
export type KeyedUser = UserRecord & TenantKey;

/** Users of one project who are erased together. */
export interface ErasedUsers {
  projectId: string;
  ids: readonly string[];
  users: readonly KeyedUser[];
}

/**
 * The tables of one layer that hold rows of users; `domain/nouns.ts` lists all. The caller's transaction holds the
 * user's lock.
 */
export interface UserTables {
  tables: readonly string[];
  /** Joins the transaction. @param isByDirectory otherwise an admin or the API deactivates the user */
  deactivate?(em: EntityManager, user: User, now: Date, isByDirectory: boolean): Promise<unknown>;
  /**
   * Ends the credentials, consents and grants of the former person of an account that passes to another one (decisions/0300); joins the
   * transaction. `endOpenWork` has ended open work, tokens and grants. Null: nothing else here does.
   */
  handOver: ((em: EntityManager, user: User, now: Date) => Promise<unknown>) | null;
  /**
   * SQL: statements without `returning`, of constant text. They become parts of one statement (`accounts/erasure.ts`):
   * all see the rows as they were before it, and no two may change the same row. Not needed if the foreign key to the
   * user cascades.
   */
  erase?(users: ErasedUsers, now: Date): readonly Fragment[];
  /** By section of the person export: selects the user's rows, each with an `id`, without secrets and their hashes. */
  exportRows: Readonly<Record<string, (user: User) => Fragment>>;
}

/**
 * The login addresses of a user, as sign-ins of this release and of the previous one store them. Only those that are certainly the user's: of a
 * user at home in an organization the login email, since its directory chooses userNames, and users of other homes may sign in by them.
 */
export function loginAddresses({ email, organizationId, userName }: Owned): string[] {
  const own = organizationId == null ? [email, userName] : [email];
  return own.flatMap((address) => (address == null ? [] : addressKeys(address)));
}

type Owned = Pick<UserRecord, 'email' | 'organizationId' | 'userName'>;

/** SQL condition: rows of the user; `t` is the table's alias. */
export function ofUser({ id, project }: TenantKey, t?: string): Fragment {
  const column = (name: string) => sql.ref(t === undefined ? name : `${t}.${name}`);
  return sql`${column('project_id')} = ${project.id} and ${column('user_id')} = ${id}`;
}

/** SQL condition: rows of the users. */
export function ofUsers({ projectId, ids }: Pick<ErasedUsers, 'projectId' | 'ids'>): Fragment {
  return sql`project_id = ${projectId} and user_id = any(${ids}::uuid[])`;
}

export const groupTables: UserTables = {
  tables: ['group_members'],
  handOver: null,
  /** The membership itself is deleted with the user. */
  erase: (erased, now) => [
    sql`update groups set version = version + 1, updated_at = ${now}
      where project_id = ${erased.projectId} and id = any(array(select group_id from group_members where ${ofUsers(erased)}))`,
  ],
  exportRows: {
    groups: (user) => sql`
      select g.id, g.display_name as "displayName", g.external_id as "externalId", m.created_at as "since"
      from group_members m join groups g on g.project_id = m.project_id and g.id = m.group_id
      where ${ofUser(user, 'm')}`,
  },
};

/**
 * SQL: the parts `removed` and `counted` of a `with` clause: delete the users' rows if `condition` is true, and count them.
 */
export function removal(
  { projectId, ids }: Pick<ErasedUsers, 'projectId' | 'ids'>,
  condition: Fragment = sql`true`,
): Fragment {
  return sql`removed as (
      delete from users where project_id = ${projectId} and id = any(${ids}::uuid[]) and ${condition} returning project_id, id, organization_id, account_id
    ), counted as (
      ${countedUsers(sql`removed`, -1)}
    )`;
}

/** {@link removal} deletes them. The export shows the user's row as `profile`, email addresses and custom values included. */
export const ownTables: UserTables = {
  tables: ['users', 'user_emails', 'custom_values', 'suspensions'],
  /** `sub` belongs to the person (decisions/0375). */
  handOver: (_em, user) => {
    user.subject = null;
    return Promise.resolve();
  },
  exportRows: {
    // What directories of organizations say about a guest.
    guestRecords: (user) => sql`
      select r.id, r.organization_id as "organizationId", r.user_name as "userName", r.external_id as "externalId",
        r.display_name as "displayName", r.given_name as "givenName", r.family_name as "familyName", r.active, r.attributes,
        r.created_at as "createdAt", r.updated_at as "updatedAt"
      from users r where r.project_id = ${user.project.id} and r.account_id = ${user.id}`,
    suspensions: (user) => sql`
      select s.user_id as id, s.suspended_at as "suspendedAt", s.user_name_key as "userName", s.email_key as "email", s.phone,
        s.external_id as "externalId"
      from suspensions s where ${ofUser(user, 's')}`,
  },
};

import type { EntityManager } from '@mikro-orm/postgresql';
import { execute, type Fragment, sql } from '../kernel/sql.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { foldCase } from './login.ts';
import type { User } from './user.entity.ts';
import { countedUsers } from './user-counts.ts';

/**
 * The tables of one rung that hold rows of users; `accounts/user-tables.ts` lists all. Each function joins the caller's
 * transaction, which holds the user's lock.
 */
export interface UserTables {
  tables: readonly string[];
  deactivate?(em: EntityManager, user: User, now: Date): Promise<unknown>;
  /** Not needed where the foreign key to the user cascades. */
  erase?(em: EntityManager, user: User, now: Date): Promise<unknown>;
  /** By section of the person export: selects the user's rows, each with an `id`, without secrets and their hashes. */
  exportRows: Readonly<Record<string, (user: User) => Fragment>>;
}

/** The login addresses of a user as sign-ins store them. */
export function loginAddresses({ email, userName }: User): string[] {
  return [email, userName].flatMap((address) => (address == null ? [] : [foldCase(address)]));
}

/** SQL condition: rows of the user; `t` is the table's alias. */
export function ofUser({ id, project }: TenantKey, t?: string): Fragment {
  const column = (name: string) => sql.ref(t === undefined ? name : `${t}.${name}`);
  return sql`${column('project_id')} = ${project.id} and ${column('user_id')} = ${id}`;
}

export const groupTables: UserTables = {
  tables: ['group_members'],
  /** The membership itself goes with the user. */
  erase: (em, user, now) =>
    execute(
      em,
      sql`update groups set version = version + 1, updated_at = ${now}
          where project_id = ${user.project.id} and id in (select group_id from group_members where ${ofUser(user)})`,
    ),
  exportRows: {
    groups: (user) => sql`
      select g.id, g.display_name as "displayName", g.external_id as "externalId", m.created_at as "since"
      from group_members m join groups g on g.project_id = m.project_id and g.id = m.group_id
      where ${ofUser(user, 'm')}`,
  },
};

/** The export shows the user's row as `profile`, e-mail addresses included. */
export const ownTables: UserTables = {
  tables: ['users', 'user_emails'],
  erase: (em, { project, id }) =>
    execute(
      em,
      sql`with removed as (delete from users where project_id = ${project.id} and id = ${id} returning project_id)
        ${countedUsers(sql`removed`, -1)}`,
    ),
  exportRows: {},
};

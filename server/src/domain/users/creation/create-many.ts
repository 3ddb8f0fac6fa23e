import type { Audit } from '../../audit/audit.ts';
import type { Actor } from '../../kernel/actor.ts';
import { refuse } from '../../kernel/problem.ts';
import { isUuid } from '../../kernel/secret.ts';
import { type Executing, execute, query, sql } from '../../kernel/sql.ts';
import { customName } from '../custom/values.ts';
import { type CustomWrite, checkCurrent } from '../custom/writing.ts';
import type { Home } from '../identity/home.ts';
import { reservedValues } from '../suspension/suspensions.ts';
import { countedUsers } from '../user-counts.ts';
import { newRows, type UserRecord } from '../user-record.ts';
import { emailKeys, type Login, unlessTaken } from '../user-writing.ts';

/** A user to be created. */
export interface PlannedUser {
  user: UserRecord;
  login: Login;
  /** Undefined without custom values. */
  custom: CustomWrite | undefined;
}

/**
 * Joins: creates local users of one home in a constant number of statements, each with an event. Refuses `conflict` if one of
 * them exists already or has a reserved identifier, or if custom attributes have changed, and `taken` for a unique
 * custom value: the caller's transaction ends then.
 */
export async function createMany(
  em: Executing,
  audit: Audit,
  projectId: string,
  planned: readonly PlannedUser[],
  { actor, now }: { actor: Actor; now: Date },
): Promise<void> {
  const custom = planned.find((one) => one.custom !== undefined)?.custom;
  if (custom) await checkCurrent(em, projectId, custom);
  const { names, rows } = newRows(planned);
  const created = await query(
    em,
    sql<{ id: string }>`with created as (
        insert into users (project_id, ${names}) select ${projectId}::uuid, ${names} from ${rows}
        on conflict do nothing returning id, project_id, organization_id, account_id
      ), counted as (
        ${countedUsers(sql`created`, 1)}
      )
      select id from created`,
    { prepare: 'users.create-many' },
  );
  if (created.length < planned.length) refuse({ code: 'conflict', what: 'user' });
  // A deactivation may have freed an identifier since {@link takenValues}.
  const logins = planned.map(({ login }) => login);
  const home = { projectId, organizationId: planned[0]?.user.organizationId ?? null };
  if ((await reservedValues(em, home, logins, now)).length > 0) refuse({ code: 'conflict', what: 'user' });
  await indexAddresses(em, projectId, planned);
  await unlessTaken(() => indexCustomValues(em, projectId, planned));
  const events = planned.map(({ user: { id, organizationId, provenance, userName } }) => ({
    type: 'user.created' as const,
    actor,
    projectId,
    subject: { kind: 'user', id, name: userName },
    detail: { provenance, ...(organizationId != null && { organizationId }) },
  }));
  await execute(em, audit.insertions(events), { prepare: 'users.record-many' });
}

async function indexAddresses(em: Executing, projectId: string, planned: readonly PlannedUser[]): Promise<void> {
  const entries = planned.flatMap(({ user }) => emailKeys(user.attributes).map((key) => ({ id: user.id, key })));
  await execute(
    em,
    sql`insert into user_emails (user_id, value_key, project_id)
      select distinct u.id, u.key, ${projectId}::uuid
      from unnest(${entries.map(({ id }) => id)}::uuid[], ${entries.map(({ key }) => key)}::text[]) as u(id, key)`,
    { prepare: 'users.index-many' },
  );
}

async function indexCustomValues(em: Executing, projectId: string, planned: readonly PlannedUser[]): Promise<void> {
  const entries = planned.flatMap(
    ({ user: { id, organizationId = null }, custom }) =>
      custom?.keys.map((key) => ({ id, organizationId, ...key })) ?? [],
  );
  if (entries.length === 0) return;
  await execute(
    em,
    sql`insert into custom_values (project_id, user_id, organization_id, attribute, key, is_unique)
      select ${projectId}::uuid, v.id, v.organization_id, v.attribute, v.key, v.is_unique
      from unnest(${entries.map(({ id }) => id)}::uuid[], ${entries.map(({ attribute }) => attribute)}::text[],
        ${entries.map(({ key }) => key)}::text[], ${entries.map(({ isUnique }) => isUnique)}::boolean[], ${entries.map(({ organizationId }) => organizationId)}::uuid[])
        as v(id, attribute, key, is_unique, organization_id)`,
  );
}

/** A value that a user of the project has. */
export interface TakenValue {
  /** `userName`, `email`, `phone`, `subject`, or the name of a custom attribute in errors. */
  field: string;
  key: string;
  userId: string;
  /** Whether it is reserved for an inactive user who had it. */
  isReserved: boolean;
}

/** The unique values of planned users that users of the project (for userNames: of this home) have already, or that are reserved for them. */
export async function takenValues(
  em: Executing,
  { projectId, organizationId }: Home,
  planned: readonly PlannedUser[],
  now: Date,
): Promise<TakenValue[]> {
  const [userNames, emails, phones] = [
    planned.map(({ login }) => login.userNameKey),
    planned.flatMap(({ login }) => login.emailKey ?? []),
    planned.flatMap(({ login }) => login.phone ?? []),
  ];
  const subjects = planned.flatMap(({ user }) => user.subject ?? []);
  const unique = planned.flatMap(({ custom }) => custom?.keys.filter(({ isUnique }) => isUnique) ?? []);
  const taken = await query(
    em,
    sql<Omit<TakenValue, 'isReserved'> & { attribute: string | null }>`
      select 'userName' as field, null as attribute, user_name_key as key, id as "userId" from users
        where project_id = ${projectId}::uuid and user_name_key = any(${userNames}::text[])
          and organization_id is not distinct from ${organizationId}::uuid
      union all select 'email', null, email_key, id from users
        where project_id = ${projectId}::uuid and email_key = any(${emails}::text[])
      union all select 'phone', null, phone, id from users
        where project_id = ${projectId}::uuid and phone = any(${phones}::text[])
      union all select 'subject', null, subject, id from users
        where project_id = ${projectId}::uuid and subject = any(${subjects}::text[])
      -- A subject must not be \`sub\` of another user, also after a change of hands, nor of a client.
      union all select 'id', null, id::text, id from users
        where project_id = ${projectId}::uuid and id = any(${subjects.filter(isUuid)}::uuid[])
      union all select 'id', null, id::text, id from clients
        where project_id = ${projectId}::uuid and id = any(${subjects.filter(isUuid)}::uuid[])
      union all select 'custom', v.attribute, v.key, v.user_id from custom_values v
        where v.project_id = ${projectId}::uuid and v.is_unique
          and v.organization_id is not distinct from ${organizationId}::uuid and (v.attribute, v.key) in (
          select * from unnest(${unique.map(({ attribute }) => attribute)}::text[], ${unique.map(({ key }) => key)}::text[]))`,
    { prepare: 'users.taken-values' },
  );
  const own = taken.map(({ attribute, field, ...value }) => {
    return { ...value, field: attribute === null ? field : customName(attribute), isReserved: false };
  });
  const logins = planned.map(({ login }) => login);
  const reserved = await reservedValues(em, { projectId, organizationId }, logins, now);
  return [...own, ...reserved.map((value) => ({ ...value, isReserved: true }))];
}

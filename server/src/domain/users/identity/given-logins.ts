import { domainToUnicode } from 'node:url';
import type { Audit } from '../../audit/audit.ts';
import type { Actor } from '../../kernel/actor.ts';
import { problemOf, refuse } from '../../kernel/problem.ts';
import { type Executing, execute, type Fragment, query, sql } from '../../kernel/sql.ts';
import { domainOfAddress } from '../login.ts';
import { isAddressReservedOutside } from '../suspension/suspensions.ts';
import { recordSelection, type UserRecord, withInstants } from '../user-record.ts';
import { loginOf, unlessTaken } from '../user-writing.ts';
import { isUnclaimed, isUnused } from './guests.ts';
import { type Home, isAt } from './home.ts';

/** Users of one statement. */
const batch = 500;
/** A try is repeated if another transaction takes one of the addresses meanwhile. */
const maxTries = 5;

/** A mail domain of an organization. */
export interface HomeDomain {
  home: Home;
  /** In ASCII. */
  domain: string;
}

interface Writing {
  audit: Audit;
  actor: Actor;
  now: Date;
}

/**
 * Joins: gives users the login emails that are withheld from them, in verified domains of their home, unless another user has the address or
 * it is reserved for one. Their version and time stay: SCIM shows the address already. @returns the ids of those who got one
 */
export function giveLogins(
  on: Executing,
  projectId: string,
  users: readonly UserRecord[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const isOwn = sql`exists (select 1 from organization_domains d where d.project_id = ${projectId}::uuid
    and d.organization_id = t.organization_id and d.state = 'verified' and d.domain = w.domain)`;
  return give(on, projectId, users, isOwn, now);
}

/**
 * Joins: the same for users who move from an organization to the project: in all domains except those that another organization has verified.
 * Not for one whom a person has used: they have not proved the address, and would keep the account of its person.
 */
export function giveMovedLogins(
  on: Executing,
  { projectId, organizationId }: Home,
  users: readonly UserRecord[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const isFree = sql`${isUnused('t')} and not exists (select 1 from organization_domains d where d.project_id = ${projectId}::uuid
    and d.organization_id is distinct from ${organizationId}::uuid and d.state = 'verified' and d.domain = w.domain)`;
  return give(on, projectId, users, isFree, now);
}

async function give(
  on: Executing,
  projectId: string,
  users: readonly UserRecord[],
  mayHave: Fragment,
  now: Date,
): Promise<ReadonlySet<string>> {
  const wanted = users.flatMap((user) => {
    const { email, emailKey: key } = loginOf(user);
    return key === null ? [] : [{ id: user.id, email, key, domain: domainOfAddress(key) }];
  });
  if (wanted.length === 0) return new Set();
  const isReserved = isAddressReservedOutside(
    { projectId, organization: sql`t.organization_id`, now },
    sql`array[w.key]`,
  );
  // The suspension of an inactive user keeps the identity to compare: it is the same person.
  const statement = sql<{ id: string }>`with given as (
      update users t set email = w.email, email_key = w.key, withheld_email_key = null
      from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(id uuid, email text, key text, domain text)
      where t.project_id = ${projectId}::uuid and t.id = w.id and t.account_id is null and t.withheld_email_key = w.key
        and ${mayHave} and not ${isReserved}
        and not exists (select 1 from users o where o.project_id = ${projectId}::uuid and o.email_key = w.key)
      returning t.id, t.email_key
    ), kept as (
      update suspensions s set email_key = g.email_key from given g
      where s.project_id = ${projectId}::uuid and s.user_id = g.id and s.email_key is null
    )
    select id from given`;
  for (let tries = 1; ; tries += 1) {
    await execute(on, sql`savepoint logins`);
    const giving = unlessTaken(() => query(on, statement));
    const problem = await problemOf(giving);
    if (problem !== null) await execute(on, sql`rollback to savepoint logins`);
    await execute(on, sql`release savepoint logins`);
    if (problem === null) return new Set((await giving).map(({ id }) => id));
    if (tries === maxTries) refuse(problem);
  }
}

/** Joins: {@link giveLogins} to all users at home, after the organization has verified a domain; each with an event. */
export async function giveLoginsIn(on: Executing, of: HomeDomain, { actor, audit, now }: Writing): Promise<void> {
  const { home } = of;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const waiting = await query(
      on,
      sql<UserRecord>`select ${sql.raw(recordSelection)} from users r where ${isAt(home)} and r.account_id is null
        and ${isInDomain(of, 'r.withheld_email_key')} and r.id > ${after}::uuid order by r.id limit ${batch}::int for no key update`,
    );
    const last = waiting.at(-1);
    if (last === undefined) return;
    const users = waiting.map(withInstants);
    const given = await giveLogins(on, home.projectId, users, now);
    await record(
      on,
      home,
      users.filter(({ id }) => given.has(id)),
      { actor, audit, now },
    );
    after = last.id;
  }
}

/**
 * Joins: the organization has lost a domain. Users whom its directory created there, and whom no person has used, lose the login email until
 * the domain is verified again: the new owner of a mailbox must not get their account. People who have signed in keep theirs.
 */
export async function withholdLoginsIn(on: Executing, of: HomeDomain, writing: Writing): Promise<void> {
  const { home } = of;
  for (;;) {
    const users = await query(
      on,
      sql<UserRecord>`with r as (
          update users u set email = null, email_key = null, withheld_email_key = u.email_key
          where u.project_id = ${home.projectId}::uuid and u.id in (select u.id from users u
            where ${isAt(home, 'u')} and ${isInDomain(of, 'u.email_key')} and ${isUnclaimed()} order by u.id limit ${batch}::int)
            and ${isUnclaimed()}
          returning u.*
        ), kept as (
          update suspensions s set email_key = null from r where s.project_id = ${home.projectId}::uuid and s.user_id = r.id
        )
        select ${sql.raw(recordSelection)} from r`,
    );
    if (users.length === 0) return;
    await record(on, home, users, writing);
  }
}

/** SQL condition: the key of a login email is in the domain. Keys of former releases have international domains in ASCII. */
function isInDomain({ domain }: HomeDomain, key: string): Fragment {
  return sql`split_part(${sql.ref(key)}, '@', 2) = any(${[domain, domainToUnicode(domain)]}::text[])`;
}

async function record(
  on: Executing,
  { projectId, organizationId }: Home,
  users: readonly UserRecord[],
  { actor, audit }: Writing,
): Promise<void> {
  if (users.length === 0) return;
  const events = users.map(({ id, userName }) => {
    const subject = { kind: 'user', id, name: userName };
    return { type: 'user.updated' as const, actor, projectId, subject, detail: { organizationId, changed: ['email'] } };
  });
  await execute(on, audit.insertions(events));
}

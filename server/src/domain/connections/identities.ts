import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { found } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { EndIdentities, Memberships } from '../organizations/memberships.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { addressKeys } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';
import { recordOf, valuesOf } from '../users/user-record.ts';
import type { Users } from '../users/users.ts';
import type { Connection } from './connection.entity.ts';
import { Identity } from './identity.entity.ts';
import { withProfile } from './profile.ts';
import type { UpstreamPerson } from './upstream-request.entity.ts';
import { UpstreamRequest } from './upstream-request.entity.ts';
import { isUsable } from './usable.ts';

interface Subject {
  issuer: string;
  subject: string;
}

/** An identity that has signed in, and the version of the connection's settings. */
interface UsedIdentity {
  connection: string;
  subject: string;
  version: number;
}

/** Links between accounts at providers and users (decisions/0387). Every method joins the caller's transaction. */
export class Identities {
  constructor(
    private readonly deps: {
      clock: Clock;
      random: Random;
      audit: Audit;
      users: Users;
      memberships: Pick<Memberships, 'openHome' | 'replaceRoles'>;
    },
  ) {}

  /** The user of an account at the connection; null: none. */
  async userIdOf(em: EntityManager, connection: TenantKey, { issuer, subject }: Subject): Promise<string | null> {
    const [row] = await query(
      em,
      sql<{ user_id: string }>`select user_id from identities where project_id = ${connection.project.id}
        and connection_id = ${connection.id} and issuer = ${issuer} and subject = ${subject}`,
    );
    return row?.user_id ?? null;
  }

  /** Whether the user has an identity at the connection. */
  async isHeldBy(em: EntityManager, { project, id }: TenantKey, user: TenantKey): Promise<boolean> {
    const held = sql`select 1 as one from identities where project_id = ${project.id} and connection_id = ${id} and user_id = ${user.id}`;
    return (await query(em, held)).length > 0;
  }

  /** Whether the user has the identity, and people can sign in by its connection with these settings. They stay until the transaction ends. */
  async isUsable(em: EntityManager, user: TenantKey, { connection, subject, version }: UsedIdentity): Promise<boolean> {
    const usable = sql`select 1 as one from connections c
        join identities i on i.project_id = c.project_id and i.connection_id = c.id
      where c.project_id = ${user.project.id}::uuid and c.id = ${connection}::uuid and c.version = ${version}::int and ${isUsable}
        and i.user_id = ${user.id}::uuid and i.subject = ${subject}::text for key share of c, i`;
    return (await query(em, usable)).length > 0;
  }

  /** Records a sign-in. */
  async used(em: EntityManager, connection: TenantKey, person: UpstreamPerson): Promise<void> {
    await execute(
      em,
      sql`update identities set last_used_at = ${this.deps.clock.now()}, label = ${labelOf(person)}::text
        where project_id = ${connection.project.id} and connection_id = ${connection.id}
          and issuer = ${person.issuer} and subject = ${person.subject}`,
    );
  }

  /**
   * Links the account to a user whom this transaction has created or proved. A connection of an organization that creates accounts makes the
   * user its member. False if the account is linked already, to any user.
   */
  async link(
    em: EntityManager,
    connection: Connection,
    user: User,
    person: UpstreamPerson,
    actor: Actor,
  ): Promise<boolean> {
    const { audit, clock, random } = this.deps;
    const id = random.id();
    const now = clock.now();
    await em.flush();
    const linked = await execute(
      em,
      sql`insert into identities (project_id, id, connection_id, user_id, issuer, subject, label, created_at, last_used_at)
        values (${user.project.id}, ${id}, ${connection.id}, ${user.id}, ${person.issuer}, ${person.subject},
          ${labelOf(person)}::text, ${now}, ${now})
        on conflict (project_id, connection_id, issuer, subject) do nothing`,
    );
    if (linked !== 1) return false;
    if (connection.organizationId != null && connection.jit) {
      const join = await this.deps.memberships.openHome(em, keyIn(user.project.id, connection.organizationId));
      await join(user.id, 'connection', actor);
    }
    await this.replaceRoles(em, user, { connection, person }, actor);
    audit.record(em, {
      type: 'identity.linked',
      actor,
      projectId: user.project.id,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: { connectionId: connection.id, connection: connection.name, identityId: id },
    });
    return true;
  }

  /**
   * Links the identity of a pending provider response to the account that was proved in the same flow. If the provider sent an
   * address, the account must have it: the browser may be signed in at the provider with the account of another person. Null, with
   * nothing written: not linked.
   */
  async linkProved(em: EntityManager, requestId: string, user: User, actor: Actor): Promise<Connection | null> {
    const { clock } = this.deps;
    const where = { project: user.project.id, id: requestId, linkedAt: null, expiresAt: { $gt: clock.now() } };
    const waiting = await em.findOne(UpstreamRequest, where, { populate: ['connection'] });
    const person = waiting?.result;
    const connection = waiting?.connection.getEntity();
    if (!waiting || !person || !connection) return null;
    if (!(await isUsableNow(em, connection, person.version))) return null;
    if (!hasAddress(user, person.email)) return null;
    const statement = sql`update upstream_requests set linked_at = ${clock.now()}, result = null
      where project_id = ${user.project.id} and id = ${requestId} and linked_at is null`;
    if ((await execute(em, statement)) !== 1) return null;
    return (await this.link(em, connection, user, person, actor)) ? connection : null;
  }

  /** Gives a member of the connection's organization the roles of their groups at the provider, and takes the other mapped ones. */
  async replaceRoles(
    em: EntityManager,
    user: TenantKey,
    { connection, person }: { connection: Connection; person: UpstreamPerson },
    actor: Actor,
  ): Promise<void> {
    const { organizationId, roleMappings } = connection;
    const { groups } = person;
    // Not sent, for example because a provider leaves out long lists: it says nothing about roles.
    if (organizationId == null || roleMappings == null || groups === undefined) return;
    const { roles } = roleMappings;
    const wanted = new Set(groups.flatMap((group) => (Object.hasOwn(roles, group) ? [String(roles[group])] : [])));
    const keys = [...new Set(Object.values(roles))];
    const organization = keyIn(user.project.id, organizationId);
    await this.deps.memberships.replaceRoles(em, organization, user.id, { keys, wanted }, actor);
  }

  /** Updates the profile from the provider's values, unless a directory manages the user or their home is another one. */
  async refreshProfile(
    em: EntityManager,
    user: User,
    { connection, person }: { connection: Connection; person: UpstreamPerson },
    actor: Actor,
  ): Promise<void> {
    const isAtHome = (user.organizationId ?? null) === (connection.organizationId ?? null);
    if (user.provenance === 'scim' || !isAtHome) return;
    const edit = () => withProfile(valuesOf(recordOf(user)), person.profile);
    await this.deps.users.change(em, user.project.id, user.id, edit, actor);
  }

  /** The identities of a user, newest first, with their connections. */
  async ofUser(em: EntityManager, user: TenantKey): Promise<Identity[]> {
    if (!isUuid(user.id)) return [];
    const where = { project: user.project.id, user: [user.project.id, user.id] as [string, string] };
    return em.find(Identity, where, { populate: ['connection'], orderBy: { id: 'desc' }, limit: 100 }) as Promise<
      Identity[]
    >;
  }

  /** The identities of a user by which they can sign in now, without another proof: none of a guest at an organization. */
  usableOf(em: EntityManager, { project, id }: TenantKey): Promise<{ id: string }[]> {
    return query(
      em,
      sql<{ id: string }>`select i.id from identities i
          join connections c on c.project_id = i.project_id and c.id = i.connection_id
          join users u on u.project_id = i.project_id and u.id = i.user_id
        where i.project_id = ${project.id}::uuid and i.user_id = ${id}::uuid and ${isUsable}
          and (c.organization_id is null or c.organization_id = u.organization_id)`,
    );
  }

  /** Unlinks, under the user's lock. Refuses `not-found` unless the identity is the user's. @returns its connection */
  async unlink(em: EntityManager, user: User, identityId: string, actor: Actor): Promise<Connection> {
    const where = { project: user.project.id, id: identityId, user: [user.project.id, user.id] as [string, string] };
    const identity = isUuid(identityId) ? await em.findOne(Identity, where, { populate: ['connection'] }) : null;
    const connection = found(identity, 'identity').connection.getEntity() as Connection;
    await execute(
      em,
      sql`delete from identities where project_id = ${user.project.id} and id = ${identityId} and user_id = ${user.id}`,
    );
    this.deps.audit.record(em, {
      type: 'identity.unlinked',
      actor,
      projectId: user.project.id,
      subject: { kind: 'user', id: user.id, name: user.userName },
      detail: { connectionId: connection.id, connection: connection.name, identityId },
    });
    return connection;
  }
}

/** Ends the identities of a former member at the connections of the organization, each with an event. */
export function identitiesAtOrganizations(audit: Audit): EndIdentities {
  return async (em, { project, id: organizationId }, { id, userName }, actor) => {
    const ended = await query(
      em,
      sql<{ identityId: string; connectionId: string; connection: string }>`delete from identities i using connections c
        where i.project_id = ${project.id}::uuid and i.user_id = ${id}::uuid and c.project_id = i.project_id
          and c.id = i.connection_id and c.organization_id = ${organizationId}::uuid
        returning i.id as "identityId", c.id as "connectionId", c.name as connection`,
    );
    const subject = { kind: 'user', id, name: userName };
    for (const detail of ended) {
      audit.record(em, { type: 'identity.unlinked', actor, projectId: project.id, subject, detail });
    }
  };
}

/** The number of identities at a connection, up to 1,000. */
export async function countIdentities(em: EntityManager, { project, id }: TenantKey): Promise<number> {
  const [row] = await query(
    em,
    sql<{ count: number }>`select count(*)::int as count from (select 1 from identities
      where project_id = ${project.id} and connection_id = ${id} limit 1000) as counted`,
  );
  return row?.count ?? 0;
}

/** @param version of the settings that verified the answer */
async function isUsableNow(em: EntityManager, { project, id }: TenantKey, version: number): Promise<boolean> {
  const usable = sql`select 1 as one from connections c where c.project_id = ${project.id} and c.id = ${id}
    and c.version = ${version}::int and ${isUsable}`;
  return (await query(em, usable)).length > 0;
}

/** Whether the user signs in with this address; true where the provider named none. */
export function hasAddress({ emailKey, userNameKey }: User, email: string | null): boolean {
  if (email === null) return true;
  return addressKeys(email).some((key) => key === emailKey || (emailKey == null && key === userNameKey));
}

function labelOf({ email, profile }: UpstreamPerson): string | null {
  return email ?? profile.displayName ?? null;
}

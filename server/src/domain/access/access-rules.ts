import type { EntityManager } from '@mikro-orm/postgresql';
import { type Audit, aboutClient } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { query, sql } from '../kernel/sql.ts';
import { Organization } from '../organizations/organization.entity.ts';
import type { AccessLost } from '../projects/lost-access.ts';
import { existing, keyIn, type TenantKey } from '../projects/tenant.ts';
import { ClientRole } from '../roles/client-role.entity.ts';
import { Group } from '../users/group.entity.ts';
import { User } from '../users/user.entity.ts';
import { AccessRule } from './access-rule.entity.ts';

/** The holder of a rule: a user, the members of a group or an organization, or the holders of a role of the client. Exactly one. */
export interface AccessHolder {
  userId?: string | undefined;
  groupId?: string | undefined;
  /** `key` of a role of the client. */
  roleKey?: string | undefined;
  organizationId?: string | undefined;
}

/** The row that a rule names. */
interface NamedHolder {
  kind: 'user' | 'group' | 'role' | 'organization';
  id: string;
  name: string;
}

const maxRules = 1000;

/** Access rules of clients (decisions/0371). Each method is one transaction. */
export class AccessRules {
  constructor(
    private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit; accessLost: AccessLost },
  ) {}

  /**
   * Gives access to a user, a group, an organization or a role of the client's project; idempotent. Refuses `not-found` for the
   * client or the holder, and `invalid` unless exactly one is named.
   */
  grant(key: TenantKey, holder: AccessHolder, actor: Actor): Promise<AccessRule> {
    checkHolder(holder);
    return this.deps.db.transaction(async (em) => {
      const client = await existing(em, Client, key, 'client');
      const named = await holderOf(em, key, holder);
      // Serialized, so that the limit holds. Sign-ins only refer to the client and do not wait.
      await query(
        em,
        sql`select 1 from clients where project_id = ${key.project.id} and id = ${key.id} for no key update`,
      );
      const at = { client, [named.kind]: [key.project.id, named.id] as [string, string] };
      const known = await em.findOne(AccessRule, at);
      if (known) return known as AccessRule;
      if ((await em.count(AccessRule, { client })) >= maxRules) {
        refuse({ code: 'invalid', field: 'clientId', reason: `already has ${maxRules} access rules: use groups` });
      }
      const rule = em.create(AccessRule, {
        ...{ project: client.project, id: this.deps.random.id(), client, createdAt: this.deps.clock.now() },
        ...{ user: null, group: null, role: null, organization: null, [named.kind]: [key.project.id, named.id] },
      } as never) as AccessRule;
      em.persist(rule);
      this.record(em, 'access.granted', client, named, actor);
      return rule;
    });
  }

  /** Takes the access that a rule gives. Refuses `not-found`. */
  async revoke(key: TenantKey, actor: Actor): Promise<void> {
    await this.deps.db.transaction(async (em) => {
      const rule = await existing(em, AccessRule, key, 'access-rule', {
        populate: ['client', 'user', 'group', 'role', 'organization'],
      });
      const client = rule.client.getEntity() as Client;
      this.record(em, 'access.revoked', client, nameOf(rule as AccessRule), actor);
      em.remove(rule);
      if (client.access === 'everyone') return;
      const of = { projectId: key.project.id, clientId: client.id };
      await this.deps.accessLost(em, rule.user ? { ...of, userIds: [rule.user.id] } : of);
    });
  }

  private record(em: EntityManager, type: EventType, client: Client, subject: NamedHolder, actor: Actor): void {
    const { projectId, clientId } = aboutClient(client);
    this.deps.audit.record(em, { type, actor, projectId, clientId, subject, detail: { client: client.name } });
  }
}

/** Refuses `invalid` unless exactly one holder is named. */
function checkHolder({ userId, groupId, roleKey, organizationId }: AccessHolder): void {
  if ([userId, groupId, roleKey, organizationId].filter((one) => one !== undefined).length === 1) return;
  refuse({
    code: 'invalid',
    field: 'userId',
    reason: 'must be given if none of groupId, roleKey and organizationId is, and only then',
  });
}

async function holderOf(
  em: EntityManager,
  { id, project }: TenantKey,
  { userId, groupId, roleKey, organizationId }: AccessHolder,
): Promise<NamedHolder> {
  if (userId !== undefined) {
    const user = await existing(em, User, keyIn(project.id, userId), 'user');
    return { kind: 'user', id: user.id, name: user.userName };
  }
  if (groupId !== undefined) {
    const group = await existing(em, Group, keyIn(project.id, groupId), 'group');
    return { kind: 'group', id: group.id, name: group.displayName };
  }
  if (organizationId !== undefined) {
    const organization = await existing(em, Organization, keyIn(project.id, organizationId), 'organization');
    return { kind: 'organization', id: organization.id, name: organization.name };
  }
  const role = await em.findOne(ClientRole, { client: [project.id, id] as [string, string], key: roleKey as string });
  if (!role) refuse({ code: 'not-found', what: 'role' });
  return { kind: 'role', id: role.id, name: role.name };
}

function nameOf({ user, group, role, organization }: AccessRule): NamedHolder {
  if (user) return { kind: 'user', id: user.id, name: (user.getEntity() as User).userName };
  if (group) return { kind: 'group', id: group.id, name: (group.getEntity() as Group).displayName };
  if (organization) {
    return { kind: 'organization', id: organization.id, name: (organization.getEntity() as Organization).name };
  }
  const held = (role as NonNullable<typeof role>).getEntity() as ClientRole;
  return { kind: 'role', id: held.id, name: held.name };
}

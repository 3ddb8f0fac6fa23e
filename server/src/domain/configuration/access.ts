import type { EntityManager } from '@mikro-orm/postgresql';
import { AccessRule } from '../access/access-rule.entity.ts';
import type { AccessHolder, AccessRules } from '../access/access-rules.ts';
import type { Actor } from '../kernel/actor.ts';
import { refuse } from '../kernel/problem.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { Group } from '../users/group.entity.ts';

/** Whom a rule in a document names: `role:‹key›` of the application, or `group:‹name›`. Rules for users are not in documents. */
interface RuleHolder {
  kind: 'role' | 'group';
  name: string;
}

/** Refuses `invalid`. */
export function ruleHolder(value: unknown): RuleHolder {
  const [, kind, name] = /^(role|group):(.+)$/s.exec(typeof value === 'string' ? value : '') ?? [];
  if (kind === undefined || name === undefined) {
    refuse({ code: 'invalid', field: 'holder', reason: 'must be role: and a key, or group: and a name' });
  }
  return { kind: kind as RuleHolder['kind'], name };
}

/** The rules of an application for groups and roles, each once: names of groups are not unique. */
export async function ruleHoldersOf(em: EntityManager, { project, id }: TenantKey): Promise<string[]> {
  const where = { client: [project.id, id] as [string, string] };
  const rules = await em.find(AccessRule, where, { populate: ['group', 'role'] });
  // Groups of organizations are data of their directories, and not in documents.
  const shared = rules.filter(({ group, role }) => role || (group && group.getEntity().organizationId == null));
  const holders = shared.map(({ group, role }) =>
    role ? `role:${role.getEntity().key}` : `group:${group?.getEntity().displayName}`,
  );
  return [...new Set(holders)].sort();
}

/** Gives or removes access. Refuses `invalid` unless one group has the name. */
export async function writeAccessRule(
  em: EntityManager,
  { rules, client, actor }: { rules: AccessRules; client: TenantKey; actor: Actor },
  { holder, isGiven }: { holder: string | undefined; isGiven: boolean },
): Promise<void> {
  const { kind, name } = ruleHolder(holder);
  const { project, id } = client;
  if (isGiven) {
    const named: AccessHolder = kind === 'role' ? { roleKey: name } : { groupId: await groupOf(em, project.id, name) };
    await rules.grant(client, named, actor);
    return;
  }
  const of = kind === 'role' ? { role: { key: name } } : { group: { displayName: name, organizationId: null } };
  const found = await em.find(AccessRule, { client: [project.id, id] as [string, string], ...of });
  for (const rule of found) await rules.revoke(keyIn(project.id, rule.id), actor);
}

async function groupOf(em: EntityManager, projectId: string, displayName: string): Promise<string> {
  const [first, ...others] = await em.find(
    Group,
    { project: projectId, organizationId: null, displayName },
    { limit: 2 },
  );
  if (first && others.length === 0) return first.id;
  const reason = first ? 'names several groups: give access in the console' : 'names no group of the project';
  return refuse({ code: 'invalid', field: 'holder', reason });
}

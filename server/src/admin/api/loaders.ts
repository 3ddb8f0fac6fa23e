import type { EntityManager } from '@mikro-orm/postgresql';
import { projectUsage } from '../../domain/accounts/project-usage.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import type { ClientSecrets } from '../../domain/clients/client-secrets.ts';
import type { Clients } from '../../domain/clients/clients.ts';
import { introductionsOf } from '../../domain/clients/introductions/introduced-clients.ts';
import { connectionsOfOrganizations } from '../../domain/connections/connections.ts';
import type { DelegationKeys } from '../../domain/delegation/delegation-keys.ts';
import { domainsOf } from '../../domain/organizations/domains/organization-domains.ts';
import { countMembersIn, rolesOfMembers } from '../../domain/organizations/membership-lists.ts';
import { Organization } from '../../domain/organizations/organization.entity.ts';
import { OrganizationRole } from '../../domain/organizations/organization-role.entity.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import type { Projects } from '../../domain/projects/projects.ts';
import { atKey, keyIn, keyText, type TenantKey } from '../../domain/projects/tenant.ts';
import { ClientRole } from '../../domain/roles/client-role.entity.ts';
import { countHolders } from '../../domain/roles/role-lists.ts';
import type { CustomAttributes } from '../../domain/users/custom/custom-attributes.ts';
import { Group } from '../../domain/users/group.entity.ts';
import { countMembers } from '../../domain/users/group-list.ts';
import { User } from '../../domain/users/user.entity.ts';

/** Batched reads: one query for all nodes of an operation. */
export type Loaders = ReturnType<typeof loadersFor>;

interface EventKey {
  projectId: string;
  id: string;
}

/** The services that read them. */
interface Sources {
  projects: Pick<Projects, 'contents' | 'testMode'>;
  customAttributes: Pick<CustomAttributes, 'current'>;
  clients: Clients;
  clientSecrets: ClientSecrets;
  delegationKeys: DelegationKeys;
}

export function loadersFor(em: EntityManager, sources: Sources) {
  const { clients, clientSecrets, customAttributes, delegationKeys, projects } = sources;
  const ofProjects = <V>(load: (ids: string[]) => Promise<Map<string, V>>) => batched((id: string) => id, load);
  const ofTenants = <V>(load: (keys: TenantKey[]) => Promise<Map<string, V>>) => batched(keyText, load);
  const ofClient = (row: { client: { getEntity(): Client } }) => keyText(row.client.getEntity());
  return {
    project: ofProjects(
      async (ids) => new Map((await em.find(Project, { id: { $in: ids } })).map((project) => [project.id, project])),
    ),
    usageOf: ofProjects((ids) => projectUsage(em, ids)),
    /** Sessions: at most `maxTotal`. */
    contentsOf: ofProjects((ids) => projects.contents(em, ids, false)),
    /** As `contentsOf`, counting all. */
    allContentsOf: ofProjects((ids) => projects.contents(em, ids, true)),
    /** Whether codes may be in responses. */
    testModeOf: batched(
      ({ id }: Project) => id,
      (some) =>
        eachOf(
          some,
          ({ id }) => id,
          (project) => projects.testMode.holds(em, project),
        ),
    ),
    customSchemaOf: ofProjects((ids) =>
      eachOf(
        ids,
        (id) => id,
        (id) => customAttributes.current(id),
      ),
    ),
    event: batched(eventText, async (keys) => {
      const events = await em.find(AuditEvent, { $or: keys.map(({ projectId, id }) => ({ projectId, id })) });
      return new Map(events.map((event) => [eventText(event), event]));
    }),
    client: ofTenants(async (keys) => byKey(await em.find(Client, { $or: keys.map(atKey) }))),
    user: ofTenants(async (keys) => byKey(await em.find(User, { $or: keys.map(atKey) }))),
    group: ofTenants(async (keys) => byKey(await em.find(Group, { $or: keys.map(atKey) }))),
    role: ofTenants(async (keys) => byKey(await em.find(ClientRole, { $or: keys.map(atKey) }))),
    organization: ofTenants(async (keys) => byKey(await em.find(Organization, { $or: keys.map(atKey) }))),
    organizationRole: ofTenants(async (keys) => byKey(await em.find(OrganizationRole, { $or: keys.map(atKey) }))),
    /** By name; undefined if it has none. */
    domainsOfOrganization: ofTenants(async (keys) =>
      Map.groupBy(await domainsOf(em, keys), ({ project, organization }) =>
        keyText(keyIn(project.id, organization.id)),
      ),
    ),
    /** Oldest first; undefined if it has none. */
    connectionsOfOrganization: ofTenants(async (keys) =>
      Map.groupBy(await connectionsOfOrganizations(em, keys), ({ project, organizationId }) =>
        keyText(keyIn(project.id, organizationId ?? '')),
      ),
    ),
    /** At most `maxTotal`. */
    membersOfOrganization: ofTenants((keys) => countMembersIn(em, keys)),
    /** Undefined if the member has none. */
    rolesOfMember: ofTenants((keys) => rolesOfMembers(em, keys)),
    apiKeysOf: ofTenants(async (keys) => Map.groupBy(await clients.apiKeysOf(em, keys), ofClient)),
    /** Undefined if an admin created the client. */
    introductionOf: ofTenants((keys) => introductionsOf(em, keys)),
    clientSecretsOf: ofTenants(async (keys) => Map.groupBy(await clientSecrets.of(em, keys), ofClient)),
    /** At most `maxTotal`. */
    membersIn: ofTenants((keys) => countMembers(em, keys, false)),
    /** As `membersIn`, counting all. */
    allMembersIn: ofTenants((keys) => countMembers(em, keys, true)),
    /** Undefined if no user and no group holds the role. */
    holdersOf: ofTenants((keys) => countHolders(em, keys)),
    delegationKeysOf: ofTenants(async (keys) => Map.groupBy(await delegationKeys.list(em, keys), ofClient)),
  };
}

/** Batches the keys of one turn of the event loop into one call; each key is loaded once. */
function batched<K, V>(
  nameOf: (key: K) => string,
  load: (keys: K[]) => Promise<Map<string, V>>,
): (key: K) => Promise<V | undefined> {
  const known = new Map<string, Promise<V | undefined>>();
  let pending: { keys: K[]; loaded: Promise<Map<string, V>> } | null = null;
  return (key) => {
    const name = nameOf(key);
    let value = known.get(name);
    if (!value) {
      const batch = (pending ??= collect());
      batch.keys.push(key);
      value = batch.loaded.then((values) => values.get(name));
      known.set(name, value);
    }
    return value;
  };

  function collect() {
    const keys: K[] = [];
    const loaded = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      pending = null;
      return load(keys);
    });
    return { keys, loaded };
  }
}

const eventText = ({ projectId, id }: EventKey): string => `${projectId} ${id}`;

/** For a few keys whose values are read one by one. */
async function eachOf<K, V>(
  keys: readonly K[],
  nameOf: (key: K) => string,
  load: (key: K) => Promise<V>,
): Promise<Map<string, V>> {
  return new Map(await Promise.all(keys.map(async (key) => [nameOf(key), await load(key)] as const)));
}

function byKey<T extends TenantKey>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [keyText(item), item]));
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { type ProjectUsage, projectUsage } from '../../domain/accounts/project-usage.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import type { ApiKey } from '../../domain/clients/api-key.entity.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import type { ClientSecret } from '../../domain/clients/client-secret.entity.ts';
import type { ClientSecrets } from '../../domain/clients/client-secrets.ts';
import type { Clients } from '../../domain/clients/clients.ts';
import type { DelegationKey } from '../../domain/clients/delegation-key.entity.ts';
import type { DelegationKeys } from '../../domain/delegation/delegation-keys.ts';
import type { Total } from '../../domain/kernel/page.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import type { CountedContents, Projects } from '../../domain/projects/projects.ts';
import { atKey, keyText, type TenantKey } from '../../domain/projects/tenant.ts';
import { ClientRole } from '../../domain/roles/client-role.entity.ts';
import { countHolders, type RoleHolders } from '../../domain/roles/role-lists.ts';
import type { CustomAttributes } from '../../domain/users/custom/custom-attributes.ts';
import type { CustomSchema } from '../../domain/users/custom/values.ts';
import { Group } from '../../domain/users/group.entity.ts';
import { countMembers } from '../../domain/users/group-list.ts';
import { User } from '../../domain/users/user.entity.ts';

/** Batched reads: one query for all nodes of an operation. */
export interface Loaders {
  project(id: string): Promise<Project | undefined>;
  usageOf(projectId: string): Promise<ProjectUsage | undefined>;
  /** Sessions: at most `maxTotal`. */
  contentsOf(projectId: string): Promise<CountedContents | undefined>;
  /** As {@link contentsOf}, counting all. */
  allContentsOf(projectId: string): Promise<CountedContents | undefined>;
  /** Whether codes may be in responses. */
  testModeOf(project: Project): Promise<boolean | undefined>;
  customSchemaOf(projectId: string): Promise<CustomSchema | undefined>;
  event(key: EventKey): Promise<AuditEvent | undefined>;
  client(key: TenantKey): Promise<Client | undefined>;
  user(key: TenantKey): Promise<User | undefined>;
  group(key: TenantKey): Promise<Group | undefined>;
  role(key: TenantKey): Promise<ClientRole | undefined>;
  apiKeysOf(client: TenantKey): Promise<ApiKey[] | undefined>;
  clientSecretsOf(client: TenantKey): Promise<ClientSecret[] | undefined>;
  delegationKeysOf(client: TenantKey): Promise<DelegationKey[] | undefined>;
  /** At most `maxTotal`. */
  membersIn(group: TenantKey): Promise<Total | undefined>;
  /** As {@link membersIn}, counting all. */
  allMembersIn(group: TenantKey): Promise<Total | undefined>;
  /** Undefined if no user and no group holds the role. */
  holdersOf(role: TenantKey): Promise<RoleHolders | undefined>;
}

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

export function loadersFor(em: EntityManager, sources: Sources): Loaders {
  const { clients, clientSecrets, customAttributes, delegationKeys, projects } = sources;
  const ofProjects = <V>(load: (ids: string[]) => Promise<Map<string, V>>) => batched((id: string) => id, load);
  const ofTenants = <V>(load: (keys: TenantKey[]) => Promise<Map<string, V>>) => batched(keyText, load);
  const ofClient = (row: { client: { getEntity(): Client } }) => keyText(row.client.getEntity());
  return {
    project: ofProjects(
      async (ids) => new Map((await em.find(Project, { id: { $in: ids } })).map((project) => [project.id, project])),
    ),
    usageOf: ofProjects((ids) => projectUsage(em, ids)),
    contentsOf: ofProjects((ids) => projects.contents(em, ids, false)),
    allContentsOf: ofProjects((ids) => projects.contents(em, ids, true)),
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
    apiKeysOf: ofTenants(async (keys) => Map.groupBy(await clients.apiKeysOf(em, keys), ofClient)),
    clientSecretsOf: ofTenants(async (keys) => Map.groupBy(await clientSecrets.of(em, keys), ofClient)),
    membersIn: ofTenants((keys) => countMembers(em, keys, false)),
    allMembersIn: ofTenants((keys) => countMembers(em, keys, true)),
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

/** For values that are read one by one, of few keys. */
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

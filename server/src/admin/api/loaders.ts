import type { EntityManager } from '@mikro-orm/postgresql';
import type { ApiKey } from '../../domain/clients/api-key.entity.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import type { Clients } from '../../domain/clients/clients.ts';
import type { DelegationKey } from '../../domain/clients/delegation-key.entity.ts';
import type { DelegationKeys } from '../../domain/delegation/delegation-keys.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { countMembers } from '../../domain/users/group-list.ts';
import { User } from '../../domain/users/user.entity.ts';

/** Batched reads: one query for all nodes of a response. */
export interface Loaders {
  project(id: string): Promise<Project | undefined>;
  client(id: string): Promise<Client | undefined>;
  user(id: string): Promise<User | undefined>;
  apiKeysOf(clientId: string): Promise<ApiKey[] | undefined>;
  delegationKeysOf(clientId: string): Promise<DelegationKey[] | undefined>;
  /** Undefined if the group has no members. */
  membersIn(groupId: string): Promise<number | undefined>;
}

export function loadersFor(em: EntityManager, clients: Clients, delegationKeys: DelegationKeys): Loaders {
  return {
    project: batched(async (ids) => byId(await em.find(Project, { id: { $in: ids } }))),
    client: batched(async (ids) => byId(await em.find(Client, { id: { $in: ids } }))),
    user: batched(async (ids) => byId(await em.find(User, { id: { $in: ids } }))),
    apiKeysOf: batched(async (ids) => Map.groupBy(await clients.apiKeysOf(em, ids), (key) => key.client.id)),
    membersIn: batched((ids) => countMembers(em, ids)),
    delegationKeysOf: batched(async (ids) => Map.groupBy(await delegationKeys.list(em, ids), (key) => key.client.id)),
  };
}

/** Batches the keys of one turn of the event loop into one call; each key is loaded once. */
function batched<V>(load: (keys: string[]) => Promise<Map<string, V>>): (key: string) => Promise<V | undefined> {
  const known = new Map<string, Promise<V | undefined>>();
  let pending: { keys: string[]; loaded: Promise<Map<string, V>> } | null = null;
  return (key) => {
    let value = known.get(key);
    if (!value) {
      const batch = (pending ??= collect());
      batch.keys.push(key);
      value = batch.loaded.then((values) => values.get(key));
      known.set(key, value);
    }
    return value;
  };

  function collect() {
    const keys: string[] = [];
    const loaded = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      pending = null;
      return load(keys);
    });
    return { keys, loaded };
  }
}

function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

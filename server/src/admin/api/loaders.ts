import type { EntityManager } from '@mikro-orm/postgresql';
import type { ApiKey } from '../../domain/clients/api-key.entity.ts';
import { Client } from '../../domain/clients/client.entity.ts';
import type { Clients } from '../../domain/clients/clients.ts';
import type { DelegationKey } from '../../domain/clients/delegation-key.entity.ts';
import type { DelegationKeys } from '../../domain/delegation/delegation-keys.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { countMembers } from '../../domain/users/group-list.ts';
import { User } from '../../domain/users/user.entity.ts';

/** Reads that several nodes of one answer share: one query for all of them. */
export interface Loaders {
  project(id: string): Promise<Project | undefined>;
  client(id: string): Promise<Client | undefined>;
  user(id: string): Promise<User | undefined>;
  apiKeysOf(clientId: string): Promise<ApiKey[] | undefined>;
  delegationKeysOf(clientId: string): Promise<DelegationKey[] | undefined>;
  /** Undefined where a group has none. */
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

/** Collects the keys of one turn of the event loop into one call; each key is asked for once. */
function batched<V>(load: (keys: string[]) => Promise<Map<string, V>>): (key: string) => Promise<V | undefined> {
  const known = new Map<string, Promise<V | undefined>>();
  let waiting: { keys: string[]; answer: Promise<Map<string, V>> } | null = null;
  return (key) => {
    let value = known.get(key);
    if (!value) {
      const batch = (waiting ??= collect());
      batch.keys.push(key);
      value = batch.answer.then((values) => values.get(key));
      known.set(key, value);
    }
    return value;
  };

  function collect() {
    const keys: string[] = [];
    const answer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      waiting = null;
      return load(keys);
    });
    return { keys, answer };
  }
}

function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

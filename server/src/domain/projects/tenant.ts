import { type EntityCtor, type FilterQuery, type FindOneOptions, LockMode, p, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Noun } from '../kernel/nouns/names.ts';
import { found } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { Project } from './project.entity.ts';

/** The project of a tenant's row: the first column of its primary key and of all its unique keys. */
export const tenant = () => p.manyToOne(Project).ref().primary().deleteRule('cascade').updateRule('no action');

/** Like {@link tenant}, without a foreign key: one to another row of the project implies it, or the rows expire soon. */
export const impliedTenant = () => tenant().createForeignKeyConstraint(false);

/**
 * Another row of the same project, by its id in `column`. The foreign key contains the project, so that no row refers to
 * a row of another project. A filter for no such row needs {@link isNull}: the ORM compares both columns with null.
 */
export const sameProject = <E extends EntityCtor>(entity: E, column: string) =>
  p.manyToOne(entity).ref().joinColumns('project_id', column).deleteRule('cascade').updateRule('no action');

/** Key of a filter, with the value `[]`: the column of a {@link sameProject} is null. */
export const isNull = (column: string) => raw((table) => `${table}.${column} is null`);

/** The key of a tenant's row; entities are examples. */
export interface TenantKey<Id = string> {
  project: { id: string };
  id: Id;
}

export const keyIn = (projectId: string, id: string): TenantKey => ({ project: { id: projectId }, id });

/** The key as text, e.g. of a map. */
export const keyText = ({ project, id }: TenantKey) => `${project.id} ${id}`;

/** The filter for the row of a key. */
export const atKey = ({ project, id }: TenantKey) => ({ project: project.id, id });

/** Locks the row for changes. */
export const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;

/** The row of a key, or the project of an id. Refuses `not-found`, also for an id that is not a UUID. */
export async function existing<E extends object, Hint extends string = never>(
  em: EntityManager,
  entity: EntityCtor<E>,
  key: TenantKey | string,
  what: Noun,
  options?: Pick<FindOneOptions<E, Hint>, 'lockMode' | 'populate'>,
) {
  const [id, filter] = typeof key === 'string' ? [key, { id: key }] : [key.id, atKey(key)];
  return found(isUuid(id) ? await em.findOne<E, Hint>(entity, filter as FilterQuery<NoInfer<E>>, options) : null, what);
}

import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';
import { type Fragment, query, sql } from './sql.ts';

/** The columns of entities and their tables, by class. */
const selections = new Map<EntityClass<object>, Fragment>();

/**
 * Reads an entity by a prepared statement: the ORM's `findOne` composes its statement at each call, and PostgreSQL parses
 * and plans it. Null if there is no such row.
 *
 * @param condition of constant text
 * @param prepare the name of the statement
 */
export async function findPrepared<Entity extends object>(
  em: EntityManager,
  entity: EntityClass<Entity>,
  condition: Fragment,
  prepare: string,
): Promise<Entity | null> {
  const selection = selections.get(entity) ?? selectionOf(em, entity);
  selections.set(entity, selection);
  const [row] = await query<object>(em, sql`select ${selection} where ${condition}`, { prepare });
  return row ? em.map(entity, row) : null;
}

function selectionOf(em: EntityManager, entity: EntityClass<object>): Fragment {
  const { tableName, props } = em.getMetadata().get(entity);
  const columns = props.filter(({ persist }) => persist !== false).flatMap(({ fieldNames }) => fieldNames);
  const { sql: text } = sql`${sql.join(columns.map((column) => sql.id(column)))} from ${sql.table(tableName)}`.compile(
    em.getKysely(),
  );
  return sql.raw(text);
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import type { EventType } from '../../audit/event-types.ts';
import type { Actor } from '../../kernel/actor.ts';
import { Cache } from '../../kernel/cache.ts';
import { change } from '../../kernel/change.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { found, refuse } from '../../kernel/problem.ts';
import { type Executing, query, sql } from '../../kernel/sql.ts';
import { Project } from '../../projects/project.entity.ts';
import { existing } from '../../projects/tenant.ts';
import { type CustomAttribute, CustomSchemaRow } from './custom-schema.entity.ts';
import {
  type CustomAttributeInput,
  checkedDefinition,
  checkNames,
  customLimits,
  customUrn,
  shapeOf,
} from './definition.ts';
import { sweepRemoved } from './removal.ts';
import type { CustomSchema } from './values.ts';

const cacheSeconds = 60;
const cacheSize = 1000;
const noSchema: CustomSchema = { version: 0, attributes: [] };

interface CustomAttributesDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  /** Removes the texts of all records of the project's SCIM requests, in the same transaction. */
  clearTexts(em: EntityManager, projectId: string): Promise<void>;
}

/** Definitions of custom attributes, by project. Each method is one transaction. */
export class CustomAttributes {
  private readonly schemas: Cache<CustomSchema>;

  constructor(private readonly deps: CustomAttributesDeps) {
    this.schemas = new Cache(deps.clock, cacheSeconds, cacheSize);
  }

  /** The definitions of a project, from the database. */
  async current(projectId: string): Promise<CustomSchema> {
    return (await readSchema(this.deps.db.alone, projectId)) ?? noSchema;
  }

  /** The definitions of the version that a statement of this request has read; null: there are none. */
  async ofVersion(projectId: string, version: number | null): Promise<CustomSchema> {
    if (version === null) return noSchema;
    const key = `${projectId} ${version}`;
    const schema = await this.schemas.get(key, () => readSchema(this.deps.db.alone, projectId));
    if (schema?.version === version) return schema;
    // Changed between the two reads: the newer schema is right, under its own version.
    this.schemas.invalidate(key);
    return schema ?? noSchema;
  }

  /** Refuses `not-found` (project), `invalid`, and `taken` if another attribute has this name or alias. */
  create(projectId: string, input: CustomAttributeInput, actor: Actor): Promise<CustomAttribute> {
    const attribute = checkedDefinition(input);
    return this.edit(projectId, (row, record) => {
      if (row.attributes.length >= customLimits.attributes) {
        refuse({
          code: 'invalid',
          field: 'name',
          reason: `exceeds the limit of ${customLimits.attributes} for a project`,
        });
      }
      if (row.removed.some((name) => name.toLowerCase() === attribute.name.toLowerCase())) {
        refuse({
          code: 'invalid',
          field: 'name',
          reason: 'belonged to an attribute whose values are still being deleted',
        });
      }
      row.attributes = [...row.attributes, attribute];
      record('custom-attribute.created', actor, attribute.name, { after: attribute });
      return attribute;
    });
  }

  /**
   * Changes a definition. Refuses `not-found`, `invalid`, also for a change of parts that stored values depend on
   * ({@link shapeOf}), and `taken`.
   */
  update(
    projectId: string,
    name: string,
    values: Partial<Omit<CustomAttributeInput, 'name'>>,
    actor: Actor,
  ): Promise<CustomAttribute> {
    return this.edit(projectId, async (row, record, em) => {
      const at = indexOf(row, name);
      const before = found(row.attributes[at], 'custom-attribute');
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
      const after = checkedDefinition({ ...before, ...given, name: before.name });
      const changed = change({ ...before }, after);
      if (!changed) return before;
      const isShown = before.returned === 'never' && after.returned !== 'never';
      const [reshaped] = isShown
        ? ['returned']
        : Object.keys(change({ ...shapeOf(before) }, shapeOf(after))?.after ?? {});
      if (reshaped !== undefined && (await isUsed(em, projectId, before.name))) {
        const field = reshaped === 'parts' ? 'subAttributes' : reshaped;
        refuse({ code: 'invalid', field, reason: 'cannot change while users have values of the attribute' });
      }
      row.attributes = row.attributes.with(at, after);
      record('custom-attribute.updated', actor, before.name, { ...changed });
      return after;
    });
  }

  /** Deletes a definition; a job deletes its values. Returns the number of users with a value. Refuses `not-found`. */
  delete(projectId: string, name: string, actor: Actor): Promise<number> {
    return this.edit(projectId, async (row, record, em) => {
      const at = indexOf(row, name);
      const before = found(row.attributes[at], 'custom-attribute');
      const users = await countValues(em, projectId, before.name);
      row.attributes = row.attributes.toSpliced(at, 1);
      row.removed = [...row.removed, before.name];
      record('custom-attribute.deleted', actor, before.name, { before, users });
      return users;
    });
  }

  /** Deletes the values of deleted attributes. */
  sweep(): Promise<void> {
    return sweepRemoved(this.deps);
  }

  /** The number of users with a value. */
  countValues(projectId: string, name: string): Promise<number> {
    return countValues(this.deps.db.alone, projectId, name);
  }

  /** Runs `work` on the locked definitions, and writes them under a new version. */
  private edit<T>(
    projectId: string,
    work: (
      row: CustomSchemaRow,
      record: (type: EventType, actor: Actor, name: string, detail: Record<string, unknown>) => void,
      em: EntityManager,
    ) => T | Promise<T>,
  ): Promise<T> {
    return this.deps.db.transaction(async (em) => {
      await existing(em, Project, projectId, 'project');
      const now = this.deps.clock.now();
      await query(
        em,
        sql`insert into custom_schemas (project_id, version, attributes, removed, updated_at)
          values (${projectId}, 0, '[]', '{}', ${now}) on conflict do nothing`,
      );
      await query(em, sql`select 1 from custom_schemas where project_id = ${projectId} for update`);
      const row = await em.findOneOrFail(CustomSchemaRow, { project: projectId }, { refresh: true });
      const before = row.attributes;
      const result = await work(
        row,
        (type, actor, name, detail) => {
          const subject = { kind: 'custom-attribute', id: name, name };
          this.deps.audit.record(em, { type, actor, projectId, subject, detail });
        },
        em,
      );
      checkNames(row.attributes);
      if (row.attributes !== before) Object.assign(row, { version: row.version + 1, updatedAt: now });
      if (conceals(before, row.attributes)) await this.deps.clearTexts(em, projectId);
      return result;
    });
  }
}

function indexOf({ attributes }: CustomSchemaRow, name: string): number {
  const at = attributes.findIndex((attribute) => attribute.name === name);
  return at < 0 ? attributes.length : at;
}

type Definitions = readonly CustomAttribute[];

/** Whether earlier requests may contain a value that is confidential now, or is deleted. */
function conceals(before: Definitions, after: Definitions): boolean {
  const hidden = new Set(hiddenNames(before));
  const left = new Set(after.map(({ name }) => name));
  return before.some(({ name }) => !left.has(name)) || hiddenNames(after).some((name) => !hidden.has(name));
}

/** The names and aliases of attributes that are never returned. */
function hiddenNames(attributes: Definitions): string[] {
  return attributes.flatMap(({ name, alias, returned }) =>
    returned === 'never' ? [name, ...(alias === null ? [] : [alias])] : [],
  );
}

async function readSchema(on: Executing, projectId: string): Promise<CustomSchema | null> {
  const statement = sql<CustomSchema>`select version, attributes from custom_schemas where project_id = ${projectId}::uuid`;
  const [schema] = await query(on, statement, { prepare: 'custom-attributes.schema' });
  return schema ?? null;
}

const withValue = (projectId: string, name: string) => sql`from users
  where project_id = ${projectId}::uuid and jsonb_exists(attributes->${customUrn}::text, ${name}::text)`;

async function isUsed(on: Executing, projectId: string, name: string): Promise<boolean> {
  const [used] = await query(on, sql`select 1 ${withValue(projectId, name)} limit 1`);
  return used !== undefined;
}

async function countValues(on: Executing, projectId: string, name: string): Promise<number> {
  const [row] = await query(on, sql<{ count: string }>`select count(*) as count ${withValue(projectId, name)}`);
  return Number(row?.count ?? 0);
}

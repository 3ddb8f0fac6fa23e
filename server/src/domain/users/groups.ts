import { ForeignKeyConstraintViolationException, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import type { Fragment } from '../kernel/sql.ts';
import { type AccessLost, maxLost } from '../projects/lost-access.ts';
import { Group } from './group.entity.ts';
import { homeAt, inPlace, type Place, projectOf } from './identity/home.ts';
import {
  type CostlyPart,
  type Criteria,
  costlyPart,
  countRows,
  type Listed,
  listRows,
  type Selection,
} from './listing.ts';
import { Editing, type GroupEdit, type GroupRecord, type GroupValues } from './members/group-editing.ts';

interface GroupRow {
  id: string;
  display_name: string;
  external_id: string | null;
  provenance: Group['provenance'];
  version: number;
  created_at: string;
  updated_at: string;
}

const columns = 'r.id, r.display_name, r.external_id, r.provenance, r.version, r.created_at, r.updated_at';

/** Groups and their members. One method is one transaction. */
export class Groups {
  constructor(
    private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit; accessLost: AccessLost },
  ) {}

  async find(place: Place, groupId: string): Promise<GroupRecord | null> {
    return isUuid(groupId) ? this.deps.db.reader().findOne(Group, { id: groupId, ...inPlace(place) }) : null;
  }

  async list(place: Place, selection: Selection): Promise<Listed<GroupRecord>[]> {
    const rows = await listRows<GroupRow>(this.deps.db.alone, 'groups', columns, place, selection);
    return rows.map((row) => ({ ...groupOfRow(row), order_key: row.order_key, page_rows: row.page_rows }));
  }

  count(place: Place, where?: Fragment): Promise<number> {
    return countRows(this.deps.db.alone, 'groups', place, where);
  }

  costlyPart(place: Place, criteria: Criteria): Promise<CostlyPart | undefined> {
    return costlyPart(this.deps.db.alone, 'groups', place, criteria);
  }

  /**
   * Creates a group for a directory or an admin: at home in the project, unless the place names another home. Refuses `invalid` if a
   * member is not at the same home.
   */
  create(
    place: Place,
    values: GroupValues,
    memberIds: readonly string[],
    actor: Actor,
    id?: string,
  ): Promise<GroupRecord> {
    const projectId = projectOf(place);
    return this.atomically(async (em) => {
      const now = this.deps.clock.now();
      const group = em.create(Group, {
        id: id ?? this.deps.random.id(),
        project: projectId,
        organizationId: homeAt(place).organizationId,
        ...values,
        provenance: actor.kind === 'scim' ? 'scim' : 'local',
        createdAt: now,
        updatedAt: now,
      });
      em.persist(group);
      await em.flush();
      const editing = new Editing(em, projectId, group, now);
      await editing.add(memberIds);
      await editing.checkNesting();
      this.record(em, 'group.created', projectId, group, actor, { members: memberIds.length });
      return group;
    });
  }

  /**
   * Changes one locked group. A change without effect keeps its version and time. A directory that changes a local group
   * takes it over, as it does with users. Refuses `not-found`, `invalid`; rethrows errors of `edit`, which roll back.
   */
  change(place: Place, groupId: string, edit: (edit: GroupEdit) => Promise<void>, actor: Actor): Promise<GroupRecord> {
    const projectId = projectOf(place);
    return this.atomically(async (em) => {
      const now = this.deps.clock.now();
      const group = found(await this.locked(em, place, groupId), 'group');
      const editing = new Editing(em, projectId, group, now);
      await edit(editing);
      await editing.checkNesting();
      const { added, removed } = editing;
      if (!editing.changed) return group;
      if (actor.kind === 'scim') group.provenance = 'scim';
      group.version += 1;
      group.updatedAt = now;
      this.record(em, 'group.updated', projectId, group, actor, {
        added: added.size,
        removed: removed.size,
        ...editing.renaming,
      });
      if (removed.size > 0) await this.lost(em, projectId, await editing.removedUsers(maxLost));
      return group;
    });
  }

  /** Refuses `not-found`; rethrows errors of `check`. The members stay users. */
  async remove(place: Place, groupId: string, actor: Actor, check?: (group: GroupRecord) => void): Promise<void> {
    const projectId = projectOf(place);
    await this.atomically(async (em) => {
      const group = found(await this.locked(em, place, groupId), 'group');
      check?.(group);
      this.record(em, 'group.deleted', projectId, group, actor);
      await this.lost(em, projectId, await new Editing(em, projectId, group, this.deps.clock.now()).users(maxLost));
      em.remove(group);
    });
  }

  /** @param userIds undefined: too many, or groups */
  private lost(em: EntityManager, projectId: string, userIds: string[] | undefined): Promise<void> {
    return this.deps.accessLost(em, { projectId, ...(userIds && { userIds }) });
  }

  private async locked(em: EntityManager, place: Place, groupId: string): Promise<Group | null> {
    if (!isUuid(groupId)) return null;
    return em.findOne(Group, { id: groupId, ...inPlace(place) }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  private record(
    em: EntityManager,
    type: EventType,
    projectId: string,
    { displayName, id, organizationId }: Group,
    actor: Actor,
    values?: Record<string, unknown>,
  ): void {
    const subject = { kind: 'group', id, name: displayName };
    const detail = organizationId == null ? values : { ...values, organizationId };
    this.deps.audit.record(em, { type, actor, projectId, subject, ...(detail ? { detail } : {}) });
  }

  /** Repeated if a member is erased meanwhile: the second attempt finds and names the member. */
  private async atomically<T>(work: (em: EntityManager) => Promise<T>, isRetry = false): Promise<T> {
    try {
      return await pastDeadlocks(() => this.deps.db.transaction(work));
    } catch (error) {
      if (isRetry || !(error instanceof ForeignKeyConstraintViolationException)) throw error;
      return this.atomically(work, true);
    }
  }
}

function groupOfRow(row: GroupRow): GroupRecord {
  return {
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    provenance: row.provenance,
    version: row.version,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

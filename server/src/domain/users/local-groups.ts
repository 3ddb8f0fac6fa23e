import type { Actor } from '../kernel/actor.ts';
import { cleanName } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { Groups } from './groups.ts';
import type { GroupEdit, GroupRecord } from './members/group-editing.ts';

/** Maximum number of users that one call adds or removes. */
const maxMembers = 500;

/** Groups that no directory owns, for admins. Members are users of the project. */
export class LocalGroups {
  constructor(private readonly deps: { groups: Groups }) {}

  /** Refuses `invalid`. */
  create(projectId: string, displayName: string, actor: Actor): Promise<GroupRecord> {
    const values = { displayName: cleanName(displayName, 'displayName'), externalId: null };
    return this.deps.groups.create(projectId, values, [], actor);
  }

  /** Refuses `not-found`, `invalid`, and `forbidden` for a group of a directory, as the other methods do. */
  rename(group: TenantKey, name: string, actor: Actor): Promise<GroupRecord> {
    const displayName = cleanName(name, 'displayName');
    return this.edit(group, actor, async (edit) => edit.set({ displayName }));
  }

  /** Skips current members. Also refuses `invalid` if one is not a user of the project. */
  add(group: TenantKey, userIds: readonly string[], actor: Actor): Promise<GroupRecord> {
    checkCount(userIds);
    return this.edit(group, actor, (edit) => edit.addUsers(userIds));
  }

  /** Skips users who are not members. */
  remove(group: TenantKey, userIds: readonly string[], actor: Actor): Promise<GroupRecord> {
    checkCount(userIds);
    return this.edit(group, actor, (edit) => edit.remove(userIds));
  }

  /** The members remain users of the project. */
  delete({ project, id }: TenantKey, actor: Actor): Promise<void> {
    return this.deps.groups.remove(project.id, id, actor, refuseOfDirectory);
  }

  private edit({ project, id }: TenantKey, actor: Actor, change: (edit: GroupEdit) => Promise<void>) {
    const edit = (editing: GroupEdit) => {
      refuseOfDirectory(editing.group);
      return change(editing);
    };
    return this.deps.groups.change(project.id, id, edit, actor);
  }
}

function refuseOfDirectory({ provenance }: Pick<GroupRecord, 'provenance'>): void {
  if (provenance === 'local') return;
  refuse({ code: 'forbidden', reason: 'the directory manages this group: change it there' });
}

function checkCount(userIds: readonly string[]): void {
  if (userIds.length >= 1 && userIds.length <= maxMembers) return;
  refuse({ code: 'invalid', field: 'userIds', reason: `must have 1 to ${maxMembers} ids` });
}

import { found } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import type { Groups } from '../domain/users/groups.ts';
import type { GroupEdit, GroupRecord } from '../domain/users/members/group-editing.ts';
import type { GroupMembers, Member } from '../domain/users/members/group-members.ts';
import { homeOf, type ScimAnswer, type ScimCaller, type VersionCheck } from './answer.ts';
import type { AnswerLimits } from './answers/limits.ts';
import { OpenResource } from './answers/text.ts';
import type { ElementFilter } from './filter/ast.ts';
import { compileElementFilter } from './filter/compile.ts';
import { matcherOf } from './filter/evaluate.ts';
import { memberIds } from './members/member-ids.ts';
import type { Resource } from './patch.ts';
import { entries, type PatchStep, patchSteps } from './patch-operations.ts';
import { type Projection, project, shows, wantsNoBody, wholeResource } from './projection.ts';
import { groupType, type ResourceType } from './schema/resource-type.ts';
import { invalid, isBlank, readSingle } from './schema/values.ts';
import { badRequest, ScimError } from './scim-error.ts';
import type { Source } from './search/search.ts';

/** Maximum number of members that the filters of one PATCH compare: the group stays locked, and a connection in use. */
const maxComparedMembers = 2_000_000;
/** Each filter is a statement, which takes as long as comparing this number of members. */
const membersOfStatement = 1000;

/** A group and its members; without them, they are many, and read while the response is written. */
interface GroupToShow extends GroupRecord {
  members?: readonly Member[] | undefined;
}

/** Operations on Groups (RFC 7644 §3), for HTTP and Bulk. */
export class GroupEndpoint {
  readonly name = groupType.name;
  readonly path = groupType.endpoint;

  constructor(private readonly deps: { groups: Groups; members: GroupMembers; limits: AnswerLimits }) {}

  async create(
    caller: ScimCaller,
    body: Record<string, unknown>,
    projection = wholeResource,
    id?: string,
  ): Promise<ScimAnswer> {
    const { displayName, externalId, members } = readGroup(body);
    const values = { displayName, externalId };
    const group = await this.deps.groups.create(homeOf(caller), values, members, caller.actor, id);
    return this.changed(201, group, caller, projection);
  }

  async read(caller: ScimCaller, id: string, projection: Projection): Promise<ScimAnswer> {
    const group = found(await this.deps.groups.find(homeOf(caller), id), 'group');
    return this.answerOf(200, group, caller, projection, async () => {
      const [row = group] = await this.fitting([group], caller, projection);
      return row;
    });
  }

  async replace(
    caller: ScimCaller,
    id: string,
    body: Record<string, unknown>,
    checkVersion: VersionCheck,
    projection = wholeResource,
  ): Promise<ScimAnswer> {
    const { displayName, externalId, members } = readGroup(body);
    const edit = async (editing: GroupEdit) => {
      checkVersion(editing.group.version);
      editing.set({ displayName, externalId });
      await editing.replace(members);
    };
    const group = await this.deps.groups.change(homeOf(caller), id, edit, caller.actor);
    return this.changed(200, group, caller, projection);
  }

  async patch(
    caller: ScimCaller,
    id: string,
    body: Record<string, unknown>,
    checkVersion: VersionCheck,
    projection = wholeResource,
  ): Promise<ScimAnswer> {
    const steps = together([...patchSteps(groupType, body)].filter((step) => step.op !== 'drop'));
    const edit = async (editing: GroupEdit) => {
      checkVersion(editing.group.version);
      await checkFilters(editing, steps);
      for (const step of steps) await applyToGroup(editing, step, caller);
    };
    const group = await this.deps.groups.change(homeOf(caller), id, edit, caller.actor);
    return this.patched(group, caller, projection);
  }

  /**
   * A PATCH gets 204 (RFC 7644 §3.5.2) if the client prefers it or leaves out the members, or if there are many members:
   * the cost of a change is then independent of the size of the group.
   */
  private async patched(group: GroupRecord, caller: ScimCaller, projection: Projection): Promise<ScimAnswer> {
    if (projection.attributes.length > 0) return this.changed(200, group, caller, projection);
    const isBrief = wantsNoBody(projection) || !shows(groupType, projection, 'members');
    const few = isBrief ? undefined : await this.deps.members.few(caller.projectId, [group.id], this.deps.limits.few);
    if (!few) return this.answerOf(204, group, caller, projection);
    return this.answerOf(200, group, caller, projection, async () => ({ ...group, members: few.get(group.id) ?? [] }));
  }

  async remove(caller: ScimCaller, id: string, checkVersion: VersionCheck): Promise<ScimAnswer> {
    await this.deps.groups.remove(homeOf(caller), id, caller.actor, ({ version }) => checkVersion(version));
    return { status: 204, resourceId: id };
  }

  typeFor(_caller: ScimCaller): ResourceType {
    return groupType;
  }

  source(caller: ScimCaller, projection: Projection): Source<GroupToShow> {
    return {
      type: groupType,
      fitting: (rows) => this.fitting(rows, caller, projection),
      list: (selection) => this.deps.groups.list(homeOf(caller), selection),
      count: (where) => this.deps.groups.count(homeOf(caller), where),
      costlyPart: (criteria) => this.deps.groups.costlyPart(homeOf(caller), criteria),
    };
  }

  /** The resources of a page. */
  shown(groups: readonly GroupToShow[], caller: ScimCaller, projection: Projection): (object | OpenResource)[] {
    return groups.map((group) => this.resourceOf(group, caller, projection));
  }

  private resourceOf(group: GroupToShow, { baseUrl, projectId }: ScimCaller, projection: Projection) {
    const shownMembers = (members: readonly Member[]) =>
      project(groupType, groupResource(group, members, baseUrl), projection);
    if (group.members || !shows(groupType, projection, 'members')) return shownMembers(group.members ?? []);
    const { members, limits } = this.deps;
    return new OpenResource(shownMembers([]), 'members', async function* () {
      for await (const batch of members.each(projectId, group.id, limits.batch)) {
        yield shownMembers(batch)['members'] as unknown[];
      }
    });
  }

  /** Throws `tooMany` if the first group alone is too large for a response: it cannot be divided. */
  private async fitting<Row extends GroupRecord>(
    rows: readonly Row[],
    caller: ScimCaller,
    projection: Projection,
  ): Promise<(Row & GroupToShow)[]> {
    const { members, limits } = this.deps;
    if (!shows(groupType, projection, 'members')) return [...rows];
    const ids = rows.map(({ id }) => id);
    const few = await members.few(caller.projectId, ids, limits.few);
    if (few) return rows.map((row) => ({ ...row, members: few.get(row.id) ?? [] }));
    const leading = ids.length === 1 ? 1 : Math.max(1, await members.leading(caller.projectId, ids, limits.nested));
    const [first] = rows;
    if (first && leading === 1 && (await this.isTooLarge(first, caller))) {
      const most = Math.floor(limits.bytes / 2 ** 20);
      throw badRequest(
        'tooMany',
        `Group ${first.id} has too many members for a response of ${most} MB. Add excludedAttributes=members, and read the ` +
          `members with GET /Users?filter=groups.value eq "${first.id}".`,
      );
    }
    return rows.slice(0, leading).map((row) => ({ ...row }));
  }

  private async isTooLarge(group: GroupRecord, { projectId, baseUrl }: ScimCaller): Promise<boolean> {
    const one: Member = { id: group.id, kind: 'Group', displayName: '' };
    const ofMember = JSON.stringify(groupResource(group, [one], baseUrl)['members']).length;
    const ofRest = Buffer.byteLength(JSON.stringify(groupResource(group, [], baseUrl))) + 1000;
    const left = this.deps.limits.bytes - ofRest;
    const { members, nameBytes } = await this.deps.members.size(projectId, group.id, Math.ceil(left / ofMember));
    return members * ofMember + nameBytes > left;
  }

  /** @param rowOf reads the group's members, when the body is asked for */
  private answerOf(
    status: 200 | 201 | 204,
    group: GroupRecord,
    caller: ScimCaller,
    projection: Projection,
    rowOf?: () => Promise<GroupToShow>,
  ): ScimAnswer {
    const location = `${caller.baseUrl}/Groups/${group.id}`;
    const answer: ScimAnswer = { status, location, version: `W/"${group.version}"`, resourceId: group.id };
    if (!rowOf) return answer;
    const resourceOf = (row: GroupToShow) => this.resourceOf(row, caller, projection);
    answer.text = async function* () {
      const resource = resourceOf(await rowOf());
      answer.body = resource instanceof OpenResource ? resource.resource : resource;
      if (resource instanceof OpenResource) yield* resource.text();
      else yield JSON.stringify(resource);
    };
    return answer;
  }

  /** The response to a change, which has taken effect: without a body if that would be too large. */
  private async changed(status: 200 | 201, group: GroupRecord, caller: ScimCaller, projection: Projection) {
    if (wantsNoBody(projection)) return this.answerOf(204, group, caller, projection);
    try {
      const [row = group] = await this.fitting([group], caller, projection);
      return this.answerOf(status, group, caller, projection, async () => row);
    } catch (error) {
      if (!(error instanceof ScimError) || error.scimType !== 'tooMany') throw error;
      return this.answerOf(status === 201 ? 201 : 204, group, caller, projection);
    }
  }
}

interface GroupInput {
  displayName: string;
  externalId: string | null;
  members: string[];
}

/** Parses the group of a POST or PUT. Throws `invalidValue`, `invalidSyntax`. */
function readGroup(body: Record<string, unknown>): GroupInput {
  const input: { displayName?: string; externalId: string | null; members: string[] } = {
    externalId: null,
    members: [],
  };
  for (const step of entries(groupType, 'replace', body)) {
    if (step.op === 'drop') continue;
    const { attribute } = step.path.target;
    if (attribute.name === 'members') input.members = memberIds(step.value);
    else if (attribute.name === 'externalId') input.externalId = textOf(step) ?? null;
    else {
      const displayName = textOf(step);
      if (displayName !== undefined) input.displayName = displayName;
    }
  }
  const { displayName } = input;
  if (displayName === undefined) throw invalid('displayName', 'is required');
  return { ...input, displayName };
}

/** Merges additions that follow each other, and removals: directories may send one operation for each member. */
function together(steps: readonly PatchStep[]): PatchStep[] {
  const merged: (PatchStep & { members?: unknown[] })[] = [];
  for (const step of steps) {
    const members = namedMembers(step);
    const last = merged.at(-1);
    if (members && last?.members && last.op === step.op) for (const member of members) last.members.push(member);
    else merged.push(members ? { ...step, members: [...members] } : step);
  }
  return merged.map(({ members, ...step }) => {
    const { filter: _, ...path } = step.path;
    return members ? { ...step, path, value: members } : step;
  });
}

/** The members that a step adds or removes, if it names each by its id. */
function namedMembers({ op, path, value }: PatchStep): unknown[] | undefined {
  const { filter, target } = path;
  if (target.attribute.name !== 'members' || target.sub || op === 'replace') return undefined;
  if (!filter) return Array.isArray(value) ? value : undefined;
  if (op !== 'remove' || !isByValue(filter)) return undefined;
  return isUuid(filter.value) ? [filter.value] : [];
}

/** Whether a filter names one member by its id. */
function isByValue(filter: ElementFilter): filter is Extract<ElementFilter, { kind: 'compare' }> {
  return filter.kind === 'compare' && filter.comparison === 'eq' && filter.ref.name === 'value';
}

/** Throws `tooMany` if the filters would compare too many members, before anything runs. */
async function checkFilters(editing: GroupEdit, steps: readonly PatchStep[]): Promise<void> {
  const filters = steps.flatMap(({ path: { filter } }) => filter ?? []);
  if (filters.length === 0) return;
  const added = steps.reduce((sum, { value }) => sum + (Array.isArray(value) ? value.length : 1), 0);
  const members = (await editing.countMembers(maxComparedMembers)) + added;
  const costs = filters.map(
    (filter) => membersOfStatement + (isByValue(filter) ? 1 : members * matcherOf(filter).terms),
  );
  if (costs.reduce((sum, cost) => sum + cost, 0) <= maxComparedMembers) return;
  throw badRequest('tooMany', 'The filters of the operations compare too many members. Send them in several requests.');
}

/** Applies one PATCH step to a group. Members are added and removed by statements, without reading them. */
async function applyToGroup(editing: GroupEdit, step: PatchStep, caller: ScimCaller): Promise<void> {
  const { attribute, sub } = step.path.target;
  if (attribute.name === 'members') {
    if (sub && sub.name !== 'value') throw badRequest('mutability', `${sub.name} of a member cannot be set.`);
    return step.path.filter ? patchChosen(editing, step, step.path.filter, caller) : patchMembers(editing, step);
  }
  const text = step.op === 'remove' ? undefined : textOf(step);
  if (attribute.name === 'externalId') return editing.set({ externalId: text ?? null });
  if (text === undefined) {
    throw step.op === 'remove'
      ? badRequest('mutability', 'displayName is required and cannot be removed.')
      : invalid('displayName', 'is required');
  }
  editing.set({ displayName: text });
}

async function patchMembers(editing: GroupEdit, { op, value }: PatchStep): Promise<void> {
  if (op === 'add') return editing.add(memberIds(value));
  if (op === 'replace') return editing.replace(memberIds(value));
  // Entra ID lists the members to remove in the value; without a value, all are removed.
  return value === undefined || value === null ? editing.replace([]) : editing.remove(memberIds(value));
}

async function patchChosen(
  editing: GroupEdit,
  { op, path, value }: PatchStep,
  filter: ElementFilter,
  caller: ScimCaller,
) {
  const { attribute, sub } = path.target;
  const isNothing = op === 'remove' || (!sub && isBlank(value));
  const given = isNothing ? [] : memberIds(sub ? [value] : value);
  const chosen = await editing.membersWhere(compileElementFilter(attribute, filter, caller));
  // A replacement by an empty list removes the members.
  if (op === 'remove' || (op === 'replace' && given.length === 0)) return editing.remove(chosen);
  if (sub && chosen.length > 0) throw badRequest('mutability', 'value of a member is immutable: remove and add it.');
  const seed = isByValue(filter) && typeof filter.value === 'string' ? [filter.value] : undefined;
  if (chosen.length === 0 && !seed) throw badRequest('noTarget', 'No member matches the filter of the path.');
  const kept = new Set(op === 'add' ? chosen : given);
  await editing.remove(chosen.filter((id) => !kept.has(id)));
  await editing.add(given.length === 0 && chosen.length === 0 && seed ? seed : given);
}

function textOf({ path: { target }, value }: PatchStep): string | undefined {
  return readSingle(target.attribute, value, target.attribute.name) as string | undefined;
}

function groupResource(group: GroupRecord, members: readonly Member[], baseUrl: string): Resource {
  const location = `${baseUrl}/Groups/${group.id}`;
  return {
    schemas: [groupType.schema.id],
    id: group.id,
    ...(group.externalId == null ? {} : { externalId: group.externalId }),
    displayName: group.displayName,
    members: members.map(({ id, kind, displayName }) => ({
      value: id,
      $ref: `${baseUrl}/${kind}s/${id}`,
      type: kind,
      ...(displayName === null ? {} : { display: displayName }),
    })),
    meta: {
      resourceType: 'Group',
      created: group.createdAt.toISOString(),
      lastModified: group.updatedAt.toISOString(),
      location,
      version: `W/"${group.version}"`,
    },
  };
}

import { found } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import type { GroupEdit, GroupRecord, Groups, Member } from '../domain/users/groups.ts';
import { foldCase } from '../domain/users/login.ts';
import type { ScimAnswer, ScimCaller, VersionCheck } from './answer.ts';
import type { ElementFilter } from './filter/ast.ts';
import { compileElementFilter } from './filter/compile.ts';
import { matcherOf } from './filter/evaluate.ts';
import type { Resource } from './patch.ts';
import { entries, isObject, type PatchStep, patchSteps } from './patch-operations.ts';
import { type Projection, project, shows, wantsNoBody, wholeResource } from './projection.ts';
import { attributeNamed, isReadOnly } from './schema/attribute.ts';
import { groupType, type ResourceType } from './schema/resource-type.ts';
import { invalid, isBlank, readSingle } from './schema/values.ts';
import { badRequest } from './scim-error.ts';
import type { Source } from './search/search.ts';

/** A PATCH of a larger group gets no body. */
const maxAnsweredMembers = 1000;
/** Maximum number of members that a search in a large project shows, over all its groups (decisions/0155). */
const maxFoundMembers = 5000;

/** Maximum number of members that the filters of one PATCH compare: the group stays locked, and a connection in use. */
const maxComparedMembers = 2_000_000;
/** Each filter is a statement, which takes as long as comparing this number of members. */
const membersOfStatement = 1000;

/** Operations on Groups (RFC 7644 §3), for HTTP and Bulk. */
export class GroupEndpoint {
  readonly name = groupType.name;
  readonly path = groupType.endpoint;

  constructor(private readonly deps: { groups: Groups }) {}

  async create(
    caller: ScimCaller,
    body: Record<string, unknown>,
    projection = wholeResource,
    id?: string,
  ): Promise<ScimAnswer> {
    const { displayName, externalId, members } = readGroup(body);
    const values = { displayName, externalId };
    const group = await this.deps.groups.create(caller.projectId, values, members, caller.actor, id);
    return this.answerOf(201, group, caller, projection);
  }

  async read(caller: ScimCaller, id: string, projection: Projection): Promise<ScimAnswer> {
    const group = found(await this.deps.groups.find(caller.projectId, id), 'group');
    return this.answerOf(200, group, caller, projection);
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
    const group = await this.deps.groups.change(caller.projectId, id, edit, caller.actor);
    return this.answerOf(wantsNoBody(projection) ? 204 : 200, group, caller, projection);
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
    const group = await this.deps.groups.change(caller.projectId, id, edit, caller.actor);
    const isShort = await this.answersBriefly(group, caller, projection);
    return this.answerOf(isShort ? 204 : 200, group, caller, projection);
  }

  /**
   * Whether a PATCH gets 204 (RFC 7644 §3.5.2): if the client prefers it or leaves out the members, or if there
   * are many members. The cost of a change is then independent of the size of the group.
   */
  private async answersBriefly(
    { id }: GroupRecord,
    { projectId }: ScimCaller,
    projection: Projection,
  ): Promise<boolean> {
    if (projection.attributes.length > 0) return false;
    if (wantsNoBody(projection) || !shows(groupType, projection, 'members')) return true;
    return this.deps.groups.exceed(projectId, [id], maxAnsweredMembers);
  }

  async remove(caller: ScimCaller, id: string, checkVersion: VersionCheck): Promise<ScimAnswer> {
    await this.deps.groups.remove(caller.projectId, id, caller.actor, ({ version }) => checkVersion(version));
    return { status: 204, resourceId: id };
  }

  typeFor(_caller: ScimCaller): ResourceType {
    return groupType;
  }

  source(caller: ScimCaller): Source<GroupRecord> {
    return {
      type: groupType,
      list: (selection) => this.deps.groups.list(caller.projectId, selection),
      count: (where) => this.deps.groups.count(caller.projectId, where),
      costlyPart: (criteria) => this.deps.groups.costlyPart(caller.projectId, criteria),
    };
  }

  /** The resources of a page. Throws `tooMany` if a search in a large project found too many members. */
  async shown(
    groups: readonly GroupRecord[],
    { baseUrl, projectId }: ScimCaller,
    projection: Projection & { filter?: string | undefined },
  ): Promise<object[]> {
    const ids = shows(groupType, projection, 'members') ? groups.map(({ id }) => id) : [];
    if (projection.filter !== undefined && ids.length > 1) await this.refuseManyMembers(projectId, ids);
    const members = await this.deps.groups.membersOf(projectId, ids);
    return groups.map((group) =>
      project(groupType, groupResource(group, members.get(group.id) ?? [], baseUrl), projection),
    );
  }

  /** A search that finds one group always shows its members. */
  private async refuseManyMembers(projectId: string, ids: readonly string[]): Promise<void> {
    const { groups } = this.deps;
    if (!(await groups.exceed(projectId, ids, maxFoundMembers)) || !(await groups.isLarge(projectId))) return;
    const most = maxFoundMembers.toLocaleString('en');
    throw badRequest(
      'tooMany',
      `The groups found have more than ${most} members. Add excludedAttributes=members, a smaller count or a condition.`,
    );
  }

  private async answerOf(
    status: 200 | 201 | 204,
    group: GroupRecord,
    caller: ScimCaller,
    projection: Projection,
  ): Promise<ScimAnswer> {
    const [body] = status === 204 ? [] : await this.shown([group], caller, projection);
    return {
      status,
      ...(body ? { body } : {}),
      location: `${caller.baseUrl}/Groups/${group.id}`,
      version: `W/"${group.version}"`,
      resourceId: group.id,
    };
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

/** The ids in a list of members. Also accepts a single member and bare ids. */
function memberIds(value: unknown): string[] {
  const members = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
  return members.map((member) => {
    if (isObject(member)) checkTypes(member);
    const key = isObject(member) ? Object.keys(member).find((name) => foldCase(name) === 'value') : undefined;
    const id = key === undefined ? member : (member as Resource)[key];
    if (typeof id !== 'string' || id === '')
      throw invalid('members', 'must each have the id of a user or group as value');
    return id;
  });
}

/** Address and type of a member follow from its id; its other values must only have the type of the schema. */
function checkTypes(member: Resource): void {
  const parts = attributeNamed(groupType.schema.attributes, 'members')?.subAttributes;
  for (const [name, value] of Object.entries(member)) {
    const part = attributeNamed(parts, name);
    if (part && !isReadOnly(part)) readSingle(part, value, `members.${part.name}`);
  }
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

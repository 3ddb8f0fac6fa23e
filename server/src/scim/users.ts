import type { Accounts } from '../domain/accounts/accounts.ts';
import type { Admissions } from '../domain/accounts/admissions.ts';
import { found, Refusal } from '../domain/kernel/problem.ts';
import type { CustomAttributes } from '../domain/users/custom/custom-attributes.ts';
import { mostGroups } from '../domain/users/members/shown-groups.ts';
import type { ShownUser, UserRecord } from '../domain/users/user-record.ts';
import { homeOf, type ScimAnswer, type ScimCaller, type VersionCheck } from './answer.ts';
import type { AnswerLimits } from './answers/limits.ts';
import { assertedBy, checkCustom, checkImmutable, hiddenAmong, keptByReplace } from './custom-values.ts';
import { applyStep, PatchCost } from './patch.ts';
import { patchSteps } from './patch-operations.ts';
import { type Asserted, type Projection, project, shows, wantsNoBody, wholeResource } from './projection.ts';
import { userTypeOf } from './schema/custom.ts';
import { type ResourceType, userType } from './schema/resource-type.ts';
import { badRequest } from './scim-error.ts';
import type { Source } from './search/search.ts';
import { readUser, resourceOf, userResource, userVersion, valuesOfResource } from './user-mapping.ts';

/** Operations on Users (RFC 7644 §3), for HTTP and Bulk. */
export class UserEndpoint {
  readonly name = userType.name;
  readonly path = userType.endpoint;

  constructor(
    private readonly deps: {
      accounts: Accounts;
      admissions: Admissions;
      customAttributes: CustomAttributes;
      limits: AnswerLimits;
    },
  ) {}

  async create(
    caller: ScimCaller,
    body: Record<string, unknown>,
    projection = wholeResource,
    id?: string,
  ): Promise<ScimAnswer> {
    return this.withDefinitions(caller, async (type) => {
      const { resource, asserted } = readUser(type, body);
      const values = valuesOfResource(resource);
      checkCustom(caller.custom, values, asserted.size > 0);
      const { admissions } = this.deps;
      const options = { id, schema: caller.custom };
      const user = await admissions.provision(homeOf(caller), values, caller.actor, options);
      return answer(201, user, caller, projection, asserted);
    });
  }

  async read(caller: ScimCaller, id: string, projection: Projection): Promise<ScimAnswer> {
    const user = found(await this.deps.accounts.find(homeOf(caller), id), 'user');
    refuseManyGroups(this.typeFor(caller), user, projection);
    return answer(200, user, caller, projection);
  }

  async replace(
    caller: ScimCaller,
    id: string,
    body: Record<string, unknown>,
    checkVersion: VersionCheck,
    projection = wholeResource,
  ): Promise<ScimAnswer> {
    return this.withDefinitions(caller, async (type) => {
      const { resource, asserted } = readUser(type, body);
      const edit = (current: UserRecord) => {
        checkVersion(current.version);
        const before = resourceOf(current);
        // A PUT without `active` leaves it as it is.
        const next = { active: before['active'], ...resource };
        const values = valuesOfResource(keptByReplace(type, before, next), current);
        checkCustom(caller.custom, values, true);
        return values;
      };
      const { accounts } = this.deps;
      const hidden = hiddenAmong(type, asserted);
      const user = await accounts.change(homeOf(caller), id, edit, caller.actor, { schema: caller.custom, hidden });
      return answer(wantsNoBody(projection) ? 204 : 200, user, caller, projection, asserted);
    });
  }

  async patch(
    caller: ScimCaller,
    id: string,
    body: Record<string, unknown>,
    checkVersion: VersionCheck,
    projection = wholeResource,
  ): Promise<ScimAnswer> {
    return this.withDefinitions(caller, async (type) => {
      const steps = [...patchSteps(type, body)];
      const asserted = assertedBy(type, steps);
      const edit = (current: UserRecord) => {
        checkVersion(current.version);
        const resource = resourceOf(current);
        const cost = new PatchCost();
        for (const step of steps) applyStep(resource, step, cost);
        checkImmutable(type, resourceOf(current), resource, asserted);
        const values = valuesOfResource(resource, current);
        // A change of anything else, above all a deactivation, does not depend on attributes that became required later.
        if (asserted.size > 0) checkCustom(caller.custom, values, true);
        return values;
      };
      const { accounts } = this.deps;
      const hidden = hiddenAmong(type, asserted);
      const user = await accounts.change(homeOf(caller), id, edit, caller.actor, { schema: caller.custom, hidden });
      return answer(wantsNoBody(projection) ? 204 : 200, user, caller, projection, asserted);
    });
  }

  async remove(caller: ScimCaller, id: string, checkVersion: VersionCheck): Promise<ScimAnswer> {
    await this.deps.accounts.remove(homeOf(caller), id, caller.actor, ({ version }) => checkVersion(version));
    return { status: 204, resourceId: id };
  }

  /** Deletes several users together. Returns the errors by id, instead of throwing; an id must not occur twice. */
  async removeAll(caller: ScimCaller, checks: ReadonlyMap<string, VersionCheck>): Promise<Map<string, unknown>> {
    const refusals = new Map<string, unknown>();
    await this.deps.accounts.removeAll(homeOf(caller), [...checks.keys()], caller.actor, (id, user) => {
      refusals.delete(id);
      try {
        const { version } = found(user, 'user');
        checks.get(id)?.(version);
        return true;
      } catch (refusal) {
        refusals.set(id, refusal);
        return false;
      }
    });
    return refusals;
  }

  typeFor({ custom }: ScimCaller): ResourceType {
    return userTypeOf(custom);
  }

  source(caller: ScimCaller, projection: Projection): Source<ShownUser> {
    const home = homeOf(caller);
    const type = this.typeFor(caller);
    // The version in `meta` depends on the groups.
    const needsGroups = shows(type, projection, 'groups') || shows(type, projection, 'meta');
    return {
      type,
      ...(needsGroups && {
        fitting: async (rows) => {
          const users = await this.deps.accounts.withGroups(home.projectId, rows, this.deps.limits.nested);
          for (const user of users) refuseManyGroups(type, user, projection);
          return users;
        },
      }),
      list: (selection) => this.deps.accounts.list(home, selection),
      count: (where) => this.deps.accounts.count(home, where),
      costlyPart: (criteria) => this.deps.accounts.costlyPart(home, criteria),
    };
  }

  /** The resources of a page. */
  shown(users: readonly ShownUser[], caller: ScimCaller, projection: Projection): object[] {
    const type = this.typeFor(caller);
    return users.map((user) => project(type, userResource(type, user, caller.baseUrl), projection));
  }

  /** Runs `work`, and again with the current definitions if they have changed since the request was authenticated. */
  private async withDefinitions<T>(caller: ScimCaller, work: (type: ResourceType) => Promise<T>): Promise<T> {
    try {
      return await work(this.typeFor(caller));
    } catch (error) {
      const problem = error instanceof Refusal ? error.problem : undefined;
      if (problem?.code !== 'conflict' || problem.what !== 'custom-attribute') throw error;
      caller.custom = await this.deps.customAttributes.current(caller.projectId);
      return work(this.typeFor(caller));
    }
  }
}

/** Throws `tooMany`: groups of a user are not paged, and a response is not cut. */
function refuseManyGroups(type: ResourceType, { id, groups }: ShownUser, projection: Projection): void {
  if (!hasManyGroups(groups) || !shows(type, projection, 'groups')) return;
  const most = (mostGroups - 1).toLocaleString('en');
  throw badRequest('tooMany', `User ${id} has more than ${most} groups. Add excludedAttributes=groups.`);
}

const hasManyGroups = ({ length }: ShownUser['groups']) => length >= mostGroups;

/** A change of a user with too many groups has no body. */
function answer(
  change: 200 | 201 | 204,
  user: ShownUser,
  { baseUrl, custom }: ScimCaller,
  projection: Projection,
  asserted?: Asserted,
): ScimAnswer {
  const type = userTypeOf(custom);
  const status = hasManyGroups(user.groups) && shows(type, projection, 'groups') ? 204 : change;
  return {
    status,
    ...(status === 204 ? {} : { body: project(type, userResource(type, user, baseUrl), projection, asserted) }),
    location: `${baseUrl}/Users/${user.id}`,
    version: userVersion(user),
    resourceId: user.id,
  };
}

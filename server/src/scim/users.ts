import type { Accounts } from '../domain/accounts/accounts.ts';
import { found } from '../domain/kernel/problem.ts';
import type { ShownUser } from '../domain/users/user-record.ts';
import { checkVersion, type ScimAnswer, type ScimCaller } from './answer.ts';
import { applyStep, PatchCost } from './patch.ts';
import { patchSteps } from './patch-operations.ts';
import { type Projection, project, wantsNoBody, wholeResource } from './projection.ts';
import { userType } from './schema/resource-type.ts';
import type { Source } from './search.ts';
import { readUser, resourceOf, userResource, userVersion, valuesOfResource } from './user-mapping.ts';

/** Operations on Users (RFC 7644 §3), for HTTP and Bulk. */
export class UserEndpoint {
  readonly type = userType;

  constructor(private readonly deps: { accounts: Accounts }) {}

  async create(
    caller: ScimCaller,
    body: Record<string, unknown>,
    projection = wholeResource,
    id?: string,
  ): Promise<ScimAnswer> {
    const values = valuesOfResource(readUser(body));
    const user = await this.deps.accounts.provision(caller.projectId, values, caller.actor, id);
    return answer(201, user, caller, projection);
  }

  async read(caller: ScimCaller, id: string, projection: Projection): Promise<ScimAnswer> {
    const user = found(await this.deps.accounts.find(caller.projectId, id), 'user');
    return answer(200, user, caller, projection);
  }

  async replace(
    caller: ScimCaller,
    id: string,
    body: Record<string, unknown>,
    ifMatch: string | undefined,
    projection = wholeResource,
  ): Promise<ScimAnswer> {
    const resource = readUser(body);
    const user = await this.deps.accounts.change(
      caller.projectId,
      id,
      (current) => {
        checkVersion(ifMatch, current.version);
        // A PUT without `active` leaves it as it is.
        return valuesOfResource({ active: resourceOf(current)['active'], ...resource }, current);
      },
      caller.actor,
    );
    return answer(wantsNoBody(projection) ? 204 : 200, user, caller, projection);
  }

  async patch(
    caller: ScimCaller,
    id: string,
    body: Record<string, unknown>,
    ifMatch: string | undefined,
    projection = wholeResource,
  ): Promise<ScimAnswer> {
    const steps = [...patchSteps(userType, body)];
    const user = await this.deps.accounts.change(
      caller.projectId,
      id,
      (current) => {
        checkVersion(ifMatch, current.version);
        const resource = resourceOf(current);
        const cost = new PatchCost();
        for (const step of steps) applyStep(resource, step, cost);
        return valuesOfResource(resource, current);
      },
      caller.actor,
    );
    return answer(wantsNoBody(projection) ? 204 : 200, user, caller, projection);
  }

  async remove(caller: ScimCaller, id: string, ifMatch: string | undefined): Promise<ScimAnswer> {
    await this.deps.accounts.remove(caller.projectId, id, caller.actor, ({ version }) =>
      checkVersion(ifMatch, version),
    );
    return { status: 204, resourceId: id };
  }

  /** Deletes several users together. Returns what would have been thrown, by id; an id must not occur twice. */
  async removeAll(caller: ScimCaller, ifMatch: ReadonlyMap<string, string | undefined>): Promise<Map<string, unknown>> {
    const refusals = new Map<string, unknown>();
    await this.deps.accounts.removeAll(caller.projectId, [...ifMatch.keys()], caller.actor, (id, user) => {
      refusals.delete(id);
      try {
        checkVersion(ifMatch.get(id), found(user, 'user').version);
        return true;
      } catch (refusal) {
        refusals.set(id, refusal);
        return false;
      }
    });
    return refusals;
  }

  source({ projectId }: ScimCaller): Source<ShownUser> {
    return {
      type: userType,
      list: (selection) => this.deps.accounts.list(projectId, selection),
      count: (where) => this.deps.accounts.count(projectId, where),
    };
  }

  /** The resources of a page. */
  shown(users: readonly ShownUser[], caller: ScimCaller, projection: Projection): object[] {
    return users.map((user) => project(userType, userResource(user, caller.baseUrl), projection));
  }
}

function answer(status: 200 | 201 | 204, user: ShownUser, { baseUrl }: ScimCaller, projection: Projection): ScimAnswer {
  return {
    status,
    ...(status === 204 ? {} : { body: project(userType, userResource(user, baseUrl), projection) }),
    location: `${baseUrl}/Users/${user.id}`,
    version: userVersion(user),
    resourceId: user.id,
  };
}

import type { Accounts } from '../domain/accounts/accounts.ts';
import { found } from '../domain/kernel/problem.ts';
import type { Groups } from '../domain/users/groups.ts';
import type { UserRecord } from '../domain/users/user-record.ts';
import { type Answer, type Caller, checkVersion } from './answer.ts';
import { applyStep } from './patch.ts';
import { patchSteps } from './patch-operations.ts';
import { type Projection, project, wholeResource } from './projection.ts';
import { userType } from './schema/resource-type.ts';
import type { Source } from './search.ts';
import { type Membership, readUser, resourceOf, userResource, userVersion, valuesOfResource } from './user-mapping.ts';

export interface UserDeps {
  accounts: Accounts;
  groups: Groups;
}

/** The operations on Users (RFC 7644 §3), as HTTP and Bulk call them. */
export class UserEndpoint {
  readonly type = userType;
  private readonly accounts: Accounts;
  private readonly groups: Groups;

  constructor({ accounts, groups }: UserDeps) {
    this.accounts = accounts;
    this.groups = groups;
  }

  async create(
    caller: Caller,
    body: Record<string, unknown>,
    projection = wholeResource,
    id?: string,
  ): Promise<Answer> {
    const values = valuesOfResource(readUser(body));
    const user = await this.accounts.provision(caller.projectId, values, caller.actor, id);
    return answer(201, user, [], caller, projection);
  }

  async read(caller: Caller, id: string, projection: Projection): Promise<Answer> {
    const user = found(await this.accounts.find(caller.projectId, id), 'user');
    return this.answerOf(user, caller, projection);
  }

  async replace(
    caller: Caller,
    id: string,
    body: Record<string, unknown>,
    ifMatch: string | undefined,
    projection = wholeResource,
  ): Promise<Answer> {
    const resource = readUser(body);
    const { after } = await this.accounts.change(
      caller.projectId,
      id,
      (current) => {
        checkVersion(ifMatch, current.version);
        // Who says nothing of `active` does not let anybody in again.
        return valuesOfResource({ active: resourceOf(current)['active'], ...resource }, current);
      },
      caller.actor,
    );
    return this.answerOf(after, caller, projection);
  }

  async patch(
    caller: Caller,
    id: string,
    body: Record<string, unknown>,
    ifMatch: string | undefined,
    projection = wholeResource,
  ): Promise<Answer> {
    const steps = [...patchSteps(userType, body)];
    const { after } = await this.accounts.change(
      caller.projectId,
      id,
      (current) => {
        checkVersion(ifMatch, current.version);
        const resource = resourceOf(current);
        for (const step of steps) applyStep(resource, step);
        return valuesOfResource(resource, current);
      },
      caller.actor,
    );
    return this.answerOf(after, caller, projection);
  }

  async remove(caller: Caller, id: string, ifMatch: string | undefined): Promise<Answer> {
    await this.accounts.remove(caller.projectId, id, caller.actor, ({ version }) => checkVersion(ifMatch, version));
    return { status: 204, resourceId: id };
  }

  source(caller: Caller): Source<UserRecord> {
    return {
      type: userType,
      list: (selection) => this.accounts.list(caller.projectId, selection),
      count: (where) => this.accounts.count(caller.projectId, where),
    };
  }

  /** The resources of a page. */
  async shown(users: readonly UserRecord[], caller: Caller, projection: Projection): Promise<object[]> {
    const groups = await this.groups.groupsOf(users.map(({ id }) => id));
    return users.map((user) =>
      project(userType, userResource(user, groups.get(user.id) ?? [], caller.baseUrl), projection),
    );
  }

  private async answerOf(user: UserRecord, caller: Caller, projection: Projection): Promise<Answer> {
    const groups = await this.groups.groupsOf([user.id]);
    return answer(200, user, groups.get(user.id) ?? [], caller, projection);
  }
}

function answer(
  status: 200 | 201,
  user: UserRecord,
  groups: readonly Membership[],
  { baseUrl }: Caller,
  projection: Projection,
): Answer {
  return {
    status,
    body: project(userType, userResource(user, groups, baseUrl), projection),
    location: `${baseUrl}/Users/${user.id}`,
    version: userVersion(user, groups),
    resourceId: user.id,
  };
}

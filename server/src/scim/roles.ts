import { found } from '../domain/kernel/problem.ts';
import { isUuid } from '../domain/kernel/secret.ts';
import { type Fragment, sql } from '../domain/kernel/sql.ts';
import type { OfferedRole } from '../domain/roles/role-lists.ts';
import type { Roles } from '../domain/roles/roles.ts';
import type { ScimAnswer, ScimCaller } from './answer.ts';
import type { Resource } from './patch.ts';
import { type Projection, project } from './projection.ts';
import type { ResourceType } from './schema/resource-type.ts';
import type { Source } from './search/search.ts';

/**
 * The roles of applications, which the project's directory assigns by `roles` and `entitlements` of users
 * (draft-ietf-scim-roles-entitlements). Read-only: admins define them. Directories of organizations assign none, and see none.
 */
export class OfferedRoleEndpoint {
  readonly path: ResourceType['endpoint'];

  constructor(
    private readonly type: ResourceType,
    private readonly deps: { roles: Roles },
  ) {
    this.path = type.endpoint;
  }

  async read(caller: ScimCaller, id: string, projection: Projection): Promise<ScimAnswer> {
    const where = seenBy(caller, sql`r.id = ${isUuid(id) ? id : null}::uuid`);
    const page = { where, order: undefined, from: { offset: 0 }, limit: 1, common: 'id' };
    const role = found((await this.deps.roles.offered(caller.projectId, page))[0], 'role');
    const resource = this.resource(role, caller.baseUrl);
    return {
      status: 200,
      body: project(this.type, resource, projection),
      location: this.location(role, caller.baseUrl),
      resourceId: role.id,
    };
  }

  source(caller: ScimCaller, _projection: Projection): Source<OfferedRole> {
    const { projectId } = caller;
    return {
      type: this.type,
      list: ({ where, ...selection }) =>
        this.deps.roles.offered(projectId, { ...selection, where: seenBy(caller, where) }),
      count: (where) => this.deps.roles.countOffered(projectId, seenBy(caller, where)),
    };
  }

  /** The resources of a page. */
  shown(roles: readonly OfferedRole[], { baseUrl }: ScimCaller, projection: Projection): object[] {
    return roles.map((role) => project(this.type, this.resource(role, baseUrl), projection));
  }

  private resource(role: OfferedRole, baseUrl: string): Resource {
    const { schema, also } = this.type;
    const { id, value, name, description, application, createdAt, updatedAt } = role;
    return {
      schemas: [schema.id, ...(also ? [also.id] : [])],
      id,
      value,
      display: name,
      type: application,
      supported: true,
      ...(also ? { displayName: `${name} (${application})`, ...(description === null ? {} : { description }) } : {}),
      meta: {
        resourceType: this.type.name,
        created: createdAt.toISOString(),
        lastModified: updatedAt.toISOString(),
        location: this.location(role, baseUrl),
      },
    };
  }

  private location({ id }: OfferedRole, baseUrl: string): string {
    return `${baseUrl}${this.type.endpoint}/${id}`;
  }
}

function seenBy({ organizationId }: ScimCaller, where: Fragment): Fragment;
function seenBy({ organizationId }: ScimCaller, where: Fragment | undefined): Fragment | undefined;
function seenBy({ organizationId }: ScimCaller, where: Fragment | undefined): Fragment | undefined {
  return organizationId === null ? where : sql`false`;
}

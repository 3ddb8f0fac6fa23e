import { systemRandom } from '../src/adapters/system/random.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import type { TestApp } from './build-app.ts';
import { changed } from './rows.ts';

/** An organization as rows; its slug is its name. */
export interface Place {
  id: string;
  slug: string;
}

/** Organizations and memberships of a project, written as rows: what an admin does is tested with the admin API. */
export class Places {
  private readonly app: TestApp;
  private readonly projectId: string;

  constructor(app: TestApp, project: Project) {
    this.app = app;
    this.projectId = project.id;
  }

  async organization(slug: string, name = slug): Promise<Place> {
    const id = systemRandom.id();
    const now = this.app.clock.now();
    await changed(
      this.app.services.db,
      'insert into organizations (project_id, id, slug, name, created_at, updated_at) values (?, ?, ?, ?, ?, ?)',
      [this.projectId, id, slug, name, now, now],
    );
    return { id, slug };
  }

  /** Makes the user a member, with these roles of the project, which are created. */
  async join({ id }: Place, user: User, roleKeys: readonly string[] = []): Promise<string> {
    const [membership, now] = [systemRandom.id(), this.app.clock.now()];
    const { db } = this.app.services;
    await changed(
      db,
      `insert into organization_memberships (project_id, id, organization_id, user_id, source, created_at)
        values (?, ?, ?, ?, 'admin', ?)`,
      [this.projectId, membership, id, user.id, now],
    );
    for (const key of roleKeys) {
      await changed(
        db,
        `insert into organization_roles (project_id, id, key, name, created_at) values (?, ?, ?, ?, ?)
          on conflict (project_id, key) do nothing`,
        [this.projectId, systemRandom.id(), key, key, now],
      );
      await changed(
        db,
        `insert into organization_membership_roles (project_id, membership_id, role_id)
          select project_id, ?, id from organization_roles where project_id = ? and key = ?`,
        [membership, this.projectId, key],
      );
    }
    return membership;
  }

  /** Changes a column of an organization. */
  set({ id }: Place, column: string, value: unknown): Promise<unknown> {
    return changed(this.app.services.db, `update organizations set ${column} = ? where project_id = ? and id = ?`, [
      value,
      this.projectId,
      id,
    ]);
  }
}

export const answerOf = async (response: Response) => (await response.json()) as Record<string, string>;

/** The claims of the organization of a context. */
export const orgOf = ({ org_id, org_slug, org_name, org_roles }: Record<string, unknown>) => ({
  ...{ org_id, org_slug, org_name, org_roles },
});
export const noOrg = orgOf({});

import type { EntityManager } from '@mikro-orm/postgresql';
import { type Executing, query, sql } from '../kernel/sql.ts';
import type { User } from '../users/user.entity.ts';
import { Membership } from './membership.entity.ts';

/** The active admins of a project; the owners of the instance if it has none. */
export async function adminsOf(em: EntityManager, projectId: string): Promise<User[]> {
  const ofProject = await activeUsers(em, { project: projectId, role: 'project_admin' });
  return ofProject.length > 0 ? ofProject : activeUsers(em, { role: 'owner' });
}

async function activeUsers(em: EntityManager, where: { project?: string; role: Membership['role'] }): Promise<User[]> {
  const memberships = await em.find(Membership, where, { populate: ['user'], limit: 50 });
  return memberships.map(({ user }) => user.getEntity() as User).filter(({ active }) => active);
}

/** Whether the users of the project are the admins, who may have roles in other projects. */
export async function isOfAdmins(on: Executing, projectId: string): Promise<boolean> {
  const project = sql`select 1 from projects where id = ${projectId} and built_in = 'console'`;
  return (await query(on, project, { prepare: 'admins.is-of-admins' })).length === 1;
}

import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';
import { User } from '../users/user.entity.ts';

export const roles = ['owner', 'project_admin', 'project_viewer', 'organization_admin'] as const;
export type Role = (typeof roles)[number];

const schema = defineEntity({
  name: 'Membership',
  tableName: 'memberships',
  properties: {
    id: key(),
    /** A user of the built-in console project. */
    user: () => p.manyToOne(User).ref().deleteRule('cascade').updateRule('no action'),
    role: p.enum(roles),
    /** Absent for `owner`. */
    project: () => p.manyToOne(Project).ref().nullable().deleteRule('cascade').index(),
    /** Of an `organization_admin`; null for other roles. */
    organizationIds: p.array().columnType('uuid[]').nullable(),
    /** Whether the admin may use applications as users of the project, or of all projects (decisions/0422). */
    impersonates: p.boolean().default(false),
    createdAt: instant(),
  },
  uniques: [{ name: 'memberships_user_project_id_user_id_project_id_unique', properties: ['user', 'project'] }],
});

/** The role of an admin in a project, in some of its organizations, or in the instance. */
export class Membership extends schema.class {}
schema.setClass(Membership);

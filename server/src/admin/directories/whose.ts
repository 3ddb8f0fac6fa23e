import { invalid } from '../../domain/kernel/problem.ts';
import type { Home } from '../../domain/users/identity/home.ts';
import type { ProjectContext } from '../api/context.ts';

/** The node of operations on a directory: of a project, or of an organization. */
export const eitherId = { project: 'projectId', organization: 'organizationId' } as const;

interface Either {
  projectId?: string | null | undefined;
  organizationId?: string | null | undefined;
}

/** The directory that the inputs name, in the project of the operation. Refuses `invalid` unless they name one. */
export function directoryIn(ctx: Pick<ProjectContext, 'projectId'>, { projectId, organizationId }: Either): Home {
  if ((projectId == null) === (organizationId == null)) {
    invalid('projectId', 'must be given, or organizationId');
  }
  return { projectId: ctx.projectId, organizationId: organizationId ?? null };
}

import { createContext, use, useEffect } from 'react';
import { Outlet, useParams } from 'react-router';
import { useQuery } from '../api.ts';
import { ProjectById, type ProjectOutlineFragment, type ProjectSettingsFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { forget, remember } from './recent.ts';

export type Project = ProjectSettingsFragment;

/** What the pages of an organization need of its project. */
export type ProjectOutline = ProjectOutlineFragment;

const ProjectContext = createContext<Project | undefined>(undefined);
/** In place of a project, for admins of one of its organizations, who cannot read the rest (decisions/0412). */
export const OutlineContext = createContext<ProjectOutline | undefined>(undefined);

/** The project of the current page. */
export function useProject(): Project {
  const project = use(ProjectContext);
  if (!project) throw new Error('useProject outside of a project page');
  return project;
}

/** The project of the current page, also for admins of one of its organizations. */
export function useOutline(): ProjectOutline {
  const outline = use(OutlineContext);
  const project = use(ProjectContext) ?? outline;
  if (!project) throw new Error('useOutline outside of a project page');
  return project;
}

/** Loads the project for all of its pages. */
export function ProjectPages() {
  const { projectId = '' } = useParams();
  const { data, failure, reload } = useQuery(ProjectById, { id: projectId });
  const project = data?.project;
  const isGone = failure?.code === 'not-found';
  useEffect(() => {
    if (project) remember(project);
    // Otherwise the home page would redirect here each time.
    else if (isGone) forget(projectId);
  }, [project, isGone, projectId]);
  if (!project || project.id !== projectId) {
    return failure ? <LoadError failure={failure} subject={t('project')} retry={reload} /> : <PageSkeleton />;
  }
  return (
    <ProjectContext value={project}>
      <Outlet />
    </ProjectContext>
  );
}

/** Builds a path below the current project. Admins of an organization have its pages at the top. */
export function useProjectPath(): (rest?: string) => string {
  const { id } = useOutline();
  const base = use(ProjectContext) ? `/projects/${id}` : '';
  return (rest = '') => base + (rest && `/${rest}`);
}

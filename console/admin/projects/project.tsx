import { createContext, use, useEffect } from 'react';
import { Outlet, useParams } from 'react-router';
import { useRead } from '../api.ts';
import { ProjectById, type ProjectSettingsFragment } from '../generated/operations.ts';
import { Failed } from '../ui/failed.tsx';
import { PageSketch } from '../ui/sketch.tsx';
import { remember } from './recent.ts';

export type Project = ProjectSettingsFragment;

const ProjectContext = createContext<Project | undefined>(undefined);

/** The project whose pages these are. */
export function useProject(): Project {
  const project = use(ProjectContext);
  if (!project) throw new Error('this page stands outside of a project');
  return project;
}

/** All pages of one project; each of them finds it here. */
export function ProjectPages() {
  const { projectId = '' } = useParams();
  const { data, failure, reload } = useRead(ProjectById, { id: projectId });
  const project = data?.project;
  useEffect(() => {
    if (project) remember(project);
  }, [project]);
  if (!project || project.id !== projectId) {
    return failure ? <Failed failure={failure} what="project" retry={reload} /> : <PageSketch />;
  }
  return (
    <ProjectContext value={project}>
      <Outlet key={project.id} />
    </ProjectContext>
  );
}

/** The address of a page of this project. */
export function useProjectPath(): (rest?: string) => string {
  const { id } = useProject();
  return (rest = '') => `/projects/${id}${rest && `/${rest}`}`;
}

import { Navigate } from 'react-router';
import { useRead } from '../api.ts';
import { SwitcherProjects } from '../generated/operations.ts';
import { recentProjects } from '../projects/recent.ts';
import { Failed } from '../ui/failed.tsx';
import { PageSketch } from '../ui/sketch.tsx';

/** To the project where one was last; else to the only one, or to all of them. */
export function Home() {
  const [last] = recentProjects();
  const { data, failure, reload } = useRead(SwitcherProjects, { search: null }, { pause: last !== undefined });
  if (last) return <Navigate to={`/projects/${last.id}/overview`} replace />;
  if (!data) return failure ? <Failed failure={failure} what="your projects" retry={reload} /> : <PageSketch />;
  const own = data.projects.edges.map(({ node }) => node).filter(({ builtIn }) => builtIn !== 'CONSOLE');
  const [only] = own;
  return <Navigate to={own.length === 1 && only ? `/projects/${only.id}/overview` : '/projects'} replace />;
}

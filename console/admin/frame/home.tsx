import { Navigate } from 'react-router';
import { useQuery } from '../api.ts';
import { SwitcherProjects } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { recentProjects } from '../projects/recent.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';

/** Redirects to the last project, else to the only one, else to the list. */
export function Home() {
  const [last] = recentProjects();
  const { data, failure, reload } = useQuery(SwitcherProjects, { search: null }, { pause: last !== undefined });
  if (last) return <Navigate to={`/projects/${last.id}/overview`} replace />;
  if (!data)
    return failure ? <LoadError failure={failure} subject={t('your projects')} retry={reload} /> : <PageSkeleton />;
  const own = data.projects.edges.map(({ node }) => node).filter(({ builtIn }) => builtIn !== 'CONSOLE');
  const [only] = own;
  return <Navigate to={own.length === 1 && only ? `/projects/${only.id}/overview` : '/projects'} replace />;
}

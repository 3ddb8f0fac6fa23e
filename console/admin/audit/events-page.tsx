import { useProject, useProjectPath } from '../projects/project.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  const project = useProject();
  const path = useProjectPath();
  return (
    <Page title="Events" lead={`Every sign-in and every change in ${project.name}: actor, source and result.`}>
      <Events projectId={project.id} path={path('events')} />
    </Page>
  );
}

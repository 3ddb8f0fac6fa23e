import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  const project = useProject();
  const path = useProjectPath();
  return (
    <Page
      title="Events"
      lead={`Every sign-in and every change in ${project.name}: actor, source and result.`}
      actions={
        <Button component={Link} to={path('troubleshooting')} variant="default">
          Troubleshoot a sign-in
        </Button>
      }
    >
      <Events projectId={project.id} path={path('events')} />
    </Page>
  );
}

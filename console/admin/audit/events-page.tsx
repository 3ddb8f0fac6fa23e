import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  const project = useProject();
  const path = useProjectPath();
  return (
    <Page
      title={t('Events')}
      lead={t('Every sign-in and every change in {name}: actor, source and result.', { name: project.name })}
      actions={
        <Button component={Link} to={path('troubleshooting')} variant="default">
          {t('Troubleshoot a sign-in')}
        </Button>
      }
    >
      <Events projectId={project.id} path={path('events')} />
    </Page>
  );
}

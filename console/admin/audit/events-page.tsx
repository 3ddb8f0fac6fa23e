import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  const project = useProject();
  const path = useProjectPath();
  return (
    <Page
      title={t('Events')}
      lead={t('Every sign-in and every change in {name}: actor, source and result.', { name: project.name })}
      actions={<LinkButton to={path('troubleshooting')}>{t('Troubleshoot a sign-in')}</LinkButton>}
    >
      <Events projectId={project.id} path={path('events')} />
    </Page>
  );
}

import { Alert } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { AdminTokens as AdminTokensQuery, Memberships } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { AdminTokens } from './admin-tokens.tsx';
import { Members } from './members.tsx';

const Impersonations = lazy(async () => ({ default: (await import('../support/impersonations.tsx')).Impersonations }));

/** Members of the project and its admin API tokens. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const isConsole = project.builtIn === 'CONSOLE';
  const { data, failure, reload } = useQuery(Memberships, { projectId: project.id }, { pause: isConsole });
  const tokens = useQuery(AdminTokensQuery, { projectId: project.id }, { pause: !mayChange || isConsole });
  if (isConsole) {
    return (
      <Page title={t('Project team')} narrow>
        <Alert color="neutral" title={t('Owners only')}>
          {t('Admins of this instance sign in through this project. It has no separate roles.')}
        </Alert>
      </Page>
    );
  }
  return (
    <Page title={t('Project team')} lead={t('Admins and API tokens of {name}', { name: project.name })}>
      {!mayChange && <ViewerNotice project={project} />}
      {failure && !data ? (
        <LoadError failure={failure} subject={t('the team')} retry={reload} />
      ) : (
        <>
          <Members projectId={project.id} members={data?.memberships} mayChange={mayChange} />
          {project.impersonation && (
            <Suspense>
              <Impersonations />
            </Suspense>
          )}
          {mayChange && <AdminTokens projectId={project.id} tokens={tokens.data?.adminTokens} />}
        </>
      )}
    </Page>
  );
}

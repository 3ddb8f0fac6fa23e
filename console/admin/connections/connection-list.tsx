import { lazy } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Connections } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { connectionColumns } from './connection-columns.tsx';

const ConnectionForm = lazy(async () => ({ default: (await import('./connection-form.tsx')).ConnectionForm }));

const maxConnections = 50;

/** The connections of the project. */
export function ConnectionList() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const [dialog, { open }] = useDialog();
  const { data, failure, reload } = useQuery(Connections, { projectId: project.id }, { everySeconds: 15 });
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of connections')} retry={reload} />;
  const all = data?.connections;
  const create = () =>
    open(t('Create connection'), (close) => <ConnectionForm owner={{ projectId: project.id }} onClose={close} />, 'lg');
  const add = mayChange && (
    <AddButton disabled={(all?.length ?? 0) >= maxConnections} onClick={create}>
      {t('Create connection')}
    </AddButton>
  );
  return (
    <Page
      title={t('Connections')}
      lead={t('Sign-in with accounts of other identity providers')}
      actions={all?.length ? add : undefined}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <TableSection
        label={t('Connections')}
        columns={connectionColumns}
        rows={all}
        linkOf={({ id }) => path(`connections/${id}`)}
        skeletonRows={3}
        empty={
          <Empty icon="link" title={t('No connections yet')} action={add}>
            {t('Let people sign in with an account that they have: at Okta, Entra ID, Google or another provider.')}
          </Empty>
        }
      />
      {dialog}
    </Page>
  );
}

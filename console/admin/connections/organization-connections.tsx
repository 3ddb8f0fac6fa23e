import { lazy } from 'react';
import { useQuery } from '../api.ts';
import { OrganizationConnections as Connections } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { connectionColumns } from './connection-columns.tsx';

const ConnectionForm = lazy(async () => ({ default: (await import('./connection-form.tsx')).ConnectionForm }));

const maxConnections = 10;

interface OrganizationConnectionsProps {
  organization: { id: string };
  mayChange: boolean;
}

/** The identity providers of an organization. */
export function OrganizationConnections({ organization: { id }, mayChange }: OrganizationConnectionsProps) {
  const path = useProjectPath();
  const [dialog, { open }] = useDialog();
  const { data, failure, reload } = useQuery(Connections, { id }, { everySeconds: 15 });
  const all = data?.organization?.connections;
  if (failure && !all) return <LoadError failure={failure} subject={t('the list of connections')} retry={reload} />;
  const create = () =>
    open(t('Create connection'), (close) => <ConnectionForm owner={{ organizationId: id }} onClose={close} />, 'lg');
  const add = mayChange && (
    <AddButton disabled={(all?.length ?? 0) >= maxConnections} onClick={create}>
      {t('Create connection')}
    </AddButton>
  );
  return (
    <TableSection
      title={t('Connections')}
      lead={t('Identity providers of this organization, for its members alone')}
      actions={all?.length ? add : undefined}
      columns={connectionColumns}
      rows={all}
      linkOf={(connection) => path(`connections/${connection.id}`)}
      skeletonRows={2}
      empty={
        <Empty icon="link" title={t('No connections yet')} action={add}>
          {t('Let members sign in with the accounts that their company gives them.')}
        </Empty>
      }
    >
      {dialog}
    </TableSection>
  );
}

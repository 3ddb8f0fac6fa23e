import { Alert, Anchor, Button } from '@mantine/core';
import { Link } from 'react-router';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { ApiGrants, type ApiGrantsQuery, type ApiRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddressCode } from '../ui/breakable.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { AdminAccess } from './admin-access.tsx';
import { ApiGrantForm } from './api-grant-form.tsx';
import { WorkloadIdentity } from './workload-identity.tsx';

/** The APIs and scopes that an application may use. */
export function ClientApis({ client, mayChange }: ClientPartProps) {
  const project = useProject();
  const { data, failure, reload } = useQuery(ApiGrants, { projectId: project.id, clientId: client.id });
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of APIs')} retry={reload} />;
  return (
    <>
      {!client.grantTypes.includes('CLIENT_CREDENTIALS') && <MissingGrantType clientId={client.id} />}
      <AllowedScopes clientId={client.id} data={data} mayChange={mayChange} />
      <AdminAccess client={client} mayChange={mayChange} />
      <WorkloadIdentity client={client} mayChange={mayChange} />
    </>
  );
}

function MissingGrantType({ clientId }: { clientId: string }) {
  const settings = useProjectPath()(`applications/${clientId}/settings`);
  return (
    <Alert color="neutral">
      {rich(
        'To get tokens for itself, without a user, this application needs the client credentials grant: <anchor>Settings</anchor>.',
        {
          anchor: (text) => (
            <Anchor component={Link} to={settings}>
              {text}
            </Anchor>
          ),
        },
      )}
    </Alert>
  );
}

interface AllowedScopesProps {
  clientId: string;
  /** Undefined while loading. */
  data: ApiGrantsQuery | undefined;
  mayChange: boolean;
}

function AllowedScopes({ clientId, data, mayChange }: AllowedScopesProps) {
  const path = useProjectPath();
  const [dialog, { open }] = useDialog();
  const grantOf = ({ id }: ApiRowFragment) => data?.apiGrants.find(({ api }) => api.id === id);
  const edit = (api: ApiRowFragment) =>
    open(t('Access to {name}', { name: api.name }), (close) => (
      <ApiGrantForm clientId={clientId} api={api} grant={grantOf(api)} onClose={close} />
    ));
  return (
    <TableSection
      title={t('APIs')}
      lead={t('Scopes that tokens of this application may have. A change applies immediately.')}
      columns={columnsOf(grantOf, mayChange && edit)}
      rows={data?.apis}
      skeletonRows={2}
      empty={
        <Empty icon="server" title={t('No APIs yet')} action={<LinkButton to={path('apis')}>{t('APIs')}</LinkButton>}>
          {t('Register the services of this project first.')}
        </Empty>
      }
    >
      {dialog}
    </TableSection>
  );
}

type Grant = ApiGrantsQuery['apiGrants'][number];

function columnsOf(
  grantOf: (api: ApiRowFragment) => Grant | undefined,
  onEdit: false | ((api: ApiRowFragment) => void),
): Column<ApiRowFragment>[] {
  const columns: Column<ApiRowFragment>[] = [
    { header: t('API'), isName: true, width: '24%', cell: ({ name }) => name },
    { header: t('Identifier'), cell: ({ identifier }) => <AddressCode text={identifier} /> },
    { header: t('Scopes'), cell: (api) => grantOf(api)?.scopes.join(', ') || t('None') },
    { header: t('Introspection'), cell: (api) => (grantOf(api)?.introspects ? t('Allowed') : '–') },
  ];
  if (!onEdit) return columns;
  const change = (api: ApiRowFragment) => (
    <Button
      variant="subtle"
      size="compact-sm"
      aria-label={t('Change access to {name}', { name: api.name })}
      onClick={() => onEdit(api)}
    >
      {t('Change')}
    </Button>
  );
  return [...columns, { header: '', align: 'end', isPlain: true, cell: change }];
}

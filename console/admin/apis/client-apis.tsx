import { Alert, Anchor, Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { ApiGrants, type ApiRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { AdminAccess } from './admin-access.tsx';
import { ApiGrantForm } from './api-grant-form.tsx';

/** Which APIs and scopes an application may use. */
export function ClientApis({ client, mayChange }: ClientPartProps) {
  const project = useProject();
  const path = useProjectPath();
  const variables = { projectId: project.id, clientId: client.id };
  const { data, failure, reload } = useQuery(ApiGrants, variables);
  const [editedId, setEditedId] = useState<string>();
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of APIs')} retry={reload} />;
  const grantOf = ({ id }: ApiRowFragment) => data?.apiGrants.find(({ api }) => api.id === id);
  const edited = data?.apis.find(({ id }) => id === editedId);
  const columns: Column<ApiRowFragment>[] = [
    { header: t('API'), isName: true, width: '24%', cell: ({ name }) => name },
    { header: t('Identifier'), cell: ({ identifier }) => <code>{identifier}</code> },
    { header: t('Scopes'), cell: (api) => grantOf(api)?.scopes.join(', ') || t('None') },
    { header: t('Introspection'), cell: (api) => (grantOf(api)?.introspects ? t('Allowed') : '–') },
  ];
  if (mayChange) {
    columns.push({
      header: '',
      align: 'end',
      isPlain: true,
      cell: (api) => (
        <Button
          variant="subtle"
          size="compact-sm"
          aria-label={t('Change access to {name}', { name: api.name })}
          onClick={() => setEditedId(api.id)}
        >
          {t('Change')}
        </Button>
      ),
    });
  }
  return (
    <>
      {!client.grantTypes.includes('CLIENT_CREDENTIALS') && (
        <Alert color="neutral">
          {rich(
            'To get tokens for itself, without a user, this application needs the client credentials grant: <anchor>Settings</anchor>.',
            {
              anchor: (text) => (
                <Anchor component={Link} to={path(`applications/${client.id}/settings`)}>
                  {text}
                </Anchor>
              ),
            },
          )}
        </Alert>
      )}
      <Section
        flush
        title={t('APIs')}
        lead={t('Scopes that tokens of this application may have. A change applies at once.')}
      >
        <DataTable
          label={t('APIs')}
          columns={columns}
          rows={data?.apis}
          skeletonRows={2}
          empty={
            <Empty
              icon="server"
              title={t('No API yet')}
              action={
                <Button component={Link} to={path('apis')} variant="default">
                  {t('APIs')}
                </Button>
              }
            >
              {t('Register the services of this project first.')}
            </Empty>
          }
        />
      </Section>
      <AdminAccess client={client} mayChange={mayChange} />
      <Modal
        opened={edited !== undefined}
        onClose={() => setEditedId(undefined)}
        title={t('Access to {name}', { name: edited?.name })}
      >
        {edited && (
          <ApiGrantForm
            clientId={client.id}
            api={edited}
            grant={grantOf(edited)}
            onClose={() => setEditedId(undefined)}
          />
        )}
      </Modal>
    </>
  );
}

import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { ApiGrants, type ApiRowFragment, Apis, AuditEvents, DeleteApi } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { formatDuration } from '../ui/forms/duration.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Columns, DataTable, editColumn } from '../ui/lists/data-table.tsx';
import { ApiForm } from './api-form.tsx';

/** The APIs of a project. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(Apis, { projectId: project.id });
  const [edited, setEdited] = useState<ApiRowFragment | 'new'>();
  const [deleting, setDeleting] = useState<ApiRowFragment>();
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of APIs')} retry={reload} />;
  const create = mayChange && <AddButton onClick={() => setEdited('new')}>{t('Create API')}</AddButton>;
  const columns: Columns<ApiRowFragment> = [
    { header: t('Name'), isName: true, width: '22%', cell: ({ name }) => name },
    { header: t('Identifier'), cell: ({ identifier }) => <code>{identifier}</code> },
    { header: t('Scopes'), cell: ({ scopes }) => scopes.map(({ key }) => key).join(', ') },
    { header: t('Token lifetime'), cell: (api) => formatDuration(api.accessTokenTtlSeconds) },
    mayChange && editColumn<ApiRowFragment>({ mayChange, edit: setEdited, remove: setDeleting }),
  ];
  return (
    <Page
      title={t('APIs')}
      lead={t('Services that accept access tokens of this project. Applications use only those that you allow.')}
      actions={data?.apis.length ? create : undefined}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <Section flush>
        <DataTable
          label={t('APIs')}
          columns={columns}
          rows={data?.apis}
          skeletonRows={3}
          empty={
            <Empty icon="server" title={t('No API yet')} action={create}>
              {t('Register a service and its scopes. Then allow applications to use it.')}
            </Empty>
          }
        />
      </Section>
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === 'new' ? t('Create an API') : t('Edit the API')}
        size="lg"
      >
        {edited && <ApiForm {...(edited === 'new' ? {} : { api: edited })} onClose={() => setEdited(undefined)} />}
      </Modal>
      <DeleteDialog api={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

/** @param api absent: the dialog is closed */
function DeleteDialog({ api, onClose }: { api: ApiRowFragment | undefined; onClose(): void }) {
  return (
    <ConfirmMutation
      title={t('Delete the API {name}?', { name: api?.name })}
      verb={t('Delete API')}
      operation={DeleteApi}
      variables={api && { id: api.id }}
      invalidates={[Apis, ApiGrants, AuditEvents]}
      done={t('API deleted')}
      onClose={onClose}
    >
      <p>
        {rich(
          'Applications get no more tokens for <code>{identifier}</code>. Introspection reports existing tokens as inactive; a service that only checks signatures accepts them until they expire.',
          { identifier: api?.identifier },
        )}
      </p>
    </ConfirmMutation>
  );
}

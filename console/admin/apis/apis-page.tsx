import { Button } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { ApiGrants, type ApiRowFragment, Apis, AuditEvents, DeleteApi } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject } from '../projects/project.tsx';
import { AddressCode } from '../ui/breakable.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { formatDuration } from '../ui/forms/duration.tsx';
import { Page } from '../ui/layout/page.tsx';
import { type Column, editColumn } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { ApiForm } from './api-form.tsx';

const ProtectApi = lazy(async () => ({
  default: (await import('./protect-api.tsx')).ProtectApi,
}));

const columns: Column<ApiRowFragment>[] = [
  { header: t('Name'), isName: true, width: '22%', cell: ({ name }) => name },
  { header: t('Identifier'), cell: ({ identifier }) => <AddressCode text={identifier} /> },
  { header: t('Scopes'), cell: ({ scopes }) => scopes.map(({ key }) => key).join(', ') },
  { header: t('Token lifetime'), cell: (api) => formatDuration(api.accessTokenTtlSeconds) },
];

const Protection = (props: ComponentProps<typeof ProtectApi>) => (
  <Suspense>
    <ProtectApi {...props} />
  </Suspense>
);

/** The APIs of a project. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(Apis, { projectId: project.id });
  const [dialog, { open, confirm }] = useDialog();
  if (failure && !data) return <LoadError failure={failure} subject={t('the list of APIs')} retry={reload} />;
  const add = () => open(t('Create API'), (close) => <ApiForm onClose={close} />, 'lg');
  const edit = (api: ApiRowFragment) => open(t('Edit API'), (close) => <ApiForm api={api} onClose={close} />, 'lg');
  const protect = (api: ApiRowFragment) =>
    open(t('Protect {name}', { name: api.name }), () => <Protection api={api} />, 'lg');
  const others = (api: ApiRowFragment) => (
    <Button
      variant="subtle"
      size="compact-sm"
      aria-label={t('Protect {name}', { name: api.name })}
      onClick={() => protect(api)}
    >
      {t('Protect')}
    </Button>
  );
  const create = mayChange && <AddButton onClick={add}>{t('Create API')}</AddButton>;
  return (
    <Page
      title={t('APIs')}
      lead={t('Services that accept access tokens of this project. Applications use only those that you allow.')}
      actions={data?.apis.length ? create : undefined}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <TableSection
        label={t('APIs')}
        columns={[...columns, editColumn({ others, mayChange, edit, remove: (api) => confirm(deletion(api)) })]}
        rows={data?.apis}
        skeletonRows={3}
        empty={
          <Empty icon="server" title={t('No APIs yet')} action={create}>
            {t('Register a service and its scopes. Then allow applications to use it.')}
          </Empty>
        }
      />
      {dialog}
    </Page>
  );
}

const deletion = ({ id, name, identifier }: ApiRowFragment): Confirmation => ({
  title: t('Delete the API {name}?', { name }),
  effect: (
    <p>
      {rich(
        'Applications get no more tokens for <code>{identifier}</code>. Introspection reports existing tokens as inactive; a service that only checks signatures accepts them until they expire.',
        { identifier },
      )}
    </p>
  ),
  verb: t('Delete API'),
  request: request(DeleteApi, { id }),
  invalidates: [Apis, ApiGrants, AuditEvents],
  done: t('API deleted'),
});

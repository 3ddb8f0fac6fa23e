import { Badge, Button } from '@mantine/core';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { Clients, type ClientsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';
import { authMethodNames } from './kind.ts';

type Row = ClientsQuery['clients']['edges'][number]['node'];

const columns: readonly Column<Row>[] = [
  { header: t('Name'), isName: true, width: '28%', cell: ({ name }) => name },
  {
    header: t('Status'),
    cell: ({ disabled, builtIn, redirectUris }) =>
      disabled ? (
        <Badge color="bad">{t('Disabled')}</Badge>
      ) : redirectUris.length === 0 ? (
        <Badge color="note">{t('No redirect URI')}</Badge>
      ) : builtIn ? (
        <Badge>{builtIn === 'DEMO' ? t('Sample') : t('This console')}</Badge>
      ) : (
        <Badge color="good">{t('Ready')}</Badge>
      ),
  },
  { header: t('Client ID'), cell: ({ id }) => <IdChip id={id} label={t('client ID')} /> },
  {
    header: t('Authentication'),
    cell: ({ samlEntityId, tokenEndpointAuthMethod }) =>
      samlEntityId === null ? authMethodNames[tokenEndpointAuthMethod] : 'SAML 2.0',
  },
  { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function Component() {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(projectId);
  const list = useList(
    Clients,
    (search, after) => ({ projectId, search, after }),
    ({ clients }) => clients,
  );
  const create = mayChange && (
    <Button component={Link} to={path('applications/new')} leftSection={<Icon name="plus" size={16} />}>
      {t('Create application')}
    </Button>
  );
  return (
    <Page
      title={t('Applications')}
      lead={t('Apps that users sign in to, by OpenID Connect or SAML.')}
      actions={
        <>
          <LinkButton to={path('applications/introduced')}>{t('Introduced')}</LinkButton>
          {!list.isEmpty && create}
        </>
      }
    >
      <ResourceList
        list={list}
        label={t('Applications')}
        counted={(count) => t('{count, plural, one {# application} other {# applications}}', { count })}
        placeholder={t('Search by name')}
        columns={columns}
        linkOf={({ id }) => path(`applications/${id}`)}
        empty={
          <Empty icon="applications" title={t('No applications yet')} action={create}>
            {t('Create one to get a client ID and quickstart code.')}
          </Empty>
        }
      />
    </Page>
  );
}

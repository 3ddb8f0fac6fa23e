import { Badge, Button } from '@mantine/core';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { Clients, type ClientsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
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
  { header: 'Name', isName: true, width: '28%', cell: ({ name }) => name },
  {
    header: 'Status',
    cell: ({ disabled, builtIn, redirectUris }) =>
      disabled ? (
        <Badge color="bad">Disabled</Badge>
      ) : redirectUris.length === 0 ? (
        <Badge color="note">No redirect URI</Badge>
      ) : builtIn ? (
        <Badge>{builtIn === 'DEMO' ? 'Sample' : 'This console'}</Badge>
      ) : (
        <Badge color="good">Ready</Badge>
      ),
  },
  { header: 'Client ID', cell: ({ id }) => <IdChip id={id} label="client ID" /> },
  { header: 'Authentication', cell: ({ tokenEndpointAuthMethod }) => authMethodNames[tokenEndpointAuthMethod] },
  { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
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
      Create application
    </Button>
  );
  return (
    <Page
      title="Applications"
      lead="Apps that users sign in to. Each is an OIDC client."
      actions={!list.isEmpty && create}
    >
      <ResourceList
        list={list}
        label="Applications"
        counted={(count) => t('{count, plural, one {# application} other {# applications}}', { count })}
        placeholder="Search by name"
        columns={columns}
        linkOf={({ id }) => path(`applications/${id}`)}
        empty={
          <Empty icon="applications" title="No application yet" action={create}>
            Create one to get a client ID and quickstart code.
          </Empty>
        }
      />
    </Page>
  );
}

import { Badge, Button } from '@mantine/core';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Clients, type ClientsQuery } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { ListBar, Pager, SearchField, useListParams } from '../ui/lists/list-bar.tsx';
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
  const project = useProject();
  const path = useProjectPath();
  const { get } = useListParams();
  const { mayChange } = useAccess(project.id);
  const search = get('search');
  const variables = { projectId: project.id, search: search ?? null, after: get('after') ?? null };
  const { data, failure, stale, previous, reload } = useQuery(Clients, variables, { keep: true });
  const page = data?.clients;
  const create = mayChange && (
    <Button component={Link} to={path('applications/new')} leftSection={<Icon name="plus" size={16} />}>
      Create application
    </Button>
  );
  const isEmpty = page?.totalCount === 0 && !search && !previous;
  return (
    <Page title="Applications" lead="Apps that users sign in to. Each is an OIDC client." actions={!isEmpty && create}>
      {failure && !page ? (
        <LoadError failure={failure} subject="the list of applications" retry={reload} />
      ) : (
        <Section flush>
          {!isEmpty && (
            <ListBar count={page && `${page.totalCount} application${page.totalCount === 1 ? '' : 's'}`}>
              <SearchField label="Search applications" placeholder="Search by name" />
            </ListBar>
          )}
          <DataTable
            label="Applications"
            columns={columns}
            rows={previous && page?.totalCount === 0 ? undefined : page?.edges.map(({ node }) => node)}
            keyOf={({ id }) => id}
            linkOf={({ id }) => path(`applications/${id}`)}
            stale={stale}
            empty={
              isEmpty ? (
                <Empty icon="applications" title="No application yet" action={create}>
                  Create one to get a client ID and quickstart code.
                </Empty>
              ) : (
                <Empty icon="search" title={`No application matches “${search}”`} />
              )
            }
          />
          <Pager pageInfo={page?.pageInfo} />
        </Section>
      )}
    </Page>
  );
}

import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { useQuery } from '../api.ts';
import { Groups, type GroupsQuery } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { ListBar, Pager, SearchField, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';

type Row = GroupsQuery['groups']['edges'][number]['node'];

const count = new Intl.NumberFormat('en-GB');
const columns: readonly Column<Row>[] = [
  { header: 'Name', isName: true, width: '40%', cell: ({ displayName }) => displayName },
  { header: 'Members', cell: ({ memberCount }) => count.format(memberCount) },
  { header: 'External ID', cell: ({ externalId }) => externalId ?? '–' },
  { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** Groups provisioned by a directory. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { get } = useListParams();
  const search = get('search');
  const variables = { projectId: project.id, search: search ?? null, after: get('after') ?? null };
  const { data, failure, stale, previous, reload } = useQuery(Groups, variables, { keep: true });
  const page = data?.groups;
  const isEmpty = page?.totalCount === 0 && !search && !previous;
  return (
    <Page title="Groups" lead="Groups of users, managed by your directory">
      {failure && !page ? (
        <LoadError failure={failure} subject="the list of groups" retry={reload} />
      ) : (
        <Section flush>
          {!isEmpty && (
            <ListBar count={page && `${count.format(page.totalCount)} group${page.totalCount === 1 ? '' : 's'}`}>
              <SearchField label="Search groups" placeholder="Search by name" />
            </ListBar>
          )}
          <DataTable
            label="Groups"
            columns={columns}
            rows={previous && page?.totalCount === 0 ? undefined : page?.edges.map(({ node }) => node)}
            keyOf={({ id }) => id}
            linkOf={({ id }) => path(`groups/${id}`)}
            stale={stale}
            empty={
              isEmpty ? (
                <Empty
                  icon="groups"
                  title="No group yet"
                  action={
                    <Button component={Link} to={path('directory')}>
                      Connect a directory
                    </Button>
                  }
                >
                  A directory pushes its groups here with their members: in Okta under “Push groups”, in Entra ID under
                  “Users and groups” of the application.
                </Empty>
              ) : (
                <Empty icon="search" title={`No group matches “${search}”`} />
              )
            }
          />
          <Pager pageInfo={page?.pageInfo} />
        </Section>
      )}
    </Page>
  );
}

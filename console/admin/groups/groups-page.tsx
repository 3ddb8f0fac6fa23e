import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { Groups, type GroupsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';

type Row = GroupsQuery['groups']['edges'][number]['node'];

const columns: readonly Column<Row>[] = [
  { header: t('Name'), isName: true, width: '40%', cell: ({ displayName }) => displayName },
  { header: t('Members'), cell: ({ memberCount }) => count.format(memberCount) },
  { header: t('External ID'), cell: ({ externalId }) => externalId ?? '–' },
  { header: t('Changed'), cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** Groups provisioned by a directory. */
export function Component() {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const list = useList(
    Groups,
    (search, after) => ({ projectId, search, after }),
    ({ groups }) => groups,
  );
  return (
    <Page title={t('Groups')} lead={t('Groups of users, managed by your directory')}>
      <ResourceList
        list={list}
        label={t('Groups')}
        counted={(count) => t('{count, plural, one {# group} other {# groups}}', { count })}
        placeholder={t('Search by name')}
        columns={columns}
        linkOf={({ id }) => path(`groups/${id}`)}
        empty={
          <Empty
            icon="groups"
            title={t('No group yet')}
            action={
              <Button component={Link} to={path('directory')}>
                {t('Connect a directory')}
              </Button>
            }
          >
            {t(
              'A directory pushes its groups here with their members: in Okta under “Push groups”, in Entra ID under “Users and groups” of the application.',
            )}
          </Empty>
        }
      />
    </Page>
  );
}

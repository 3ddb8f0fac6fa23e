import { lazy } from 'react';
import { useAccess } from '../access.tsx';
import { Groups, type GroupsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton, LinkButton } from '../ui/buttons.tsx';
import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';

const GroupForm = lazy(async () => ({ default: (await import('./group-form.tsx')).GroupForm }));

type Row = GroupsQuery['groups']['edges'][number]['node'];

const sourceNames = { SCIM: t('Directory'), LOCAL: t('Local') } as const;

const columns: readonly Column<Row>[] = [
  { header: t('Name'), isName: true, width: '40%', cell: ({ displayName }) => displayName },
  { header: t('Members'), cell: ({ memberCount, isMemberCountLimited }) => atLeast(memberCount, isMemberCountLimited) },
  { header: t('Source'), cell: ({ provenance }) => sourceNames[provenance] },
  { header: t('Changed'), cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** Groups of a directory, and groups that admins manage. */
export function Component() {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(projectId);
  const [dialog, { open }] = useDialog();
  const create = () => open(t('Create group'), (close) => <GroupForm onClose={close} />);
  const list = useList(
    Groups,
    (search, after) => ({ projectId, search, after }),
    ({ groups }) => groups,
  );
  return (
    <Page
      title={t('Groups')}
      lead={t('Groups of users, from your directory or managed here')}
      actions={mayChange && <AddButton onClick={create}>{t('Create group')}</AddButton>}
    >
      {dialog}
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
            title={t('No groups yet')}
            action={
              <>
                {mayChange && <AddButton onClick={create}>{t('Create group')}</AddButton>}
                <LinkButton to={path('directory')}>{t('Connect a directory')}</LinkButton>
              </>
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

import { Badge } from '@mantine/core';
import { lazy } from 'react';
import { useAccess } from '../access.tsx';
import { Organizations, type OrganizationsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';
import { OrganizationsFrame } from './organizations-frame.tsx';

const OrganizationForm = lazy(async () => ({ default: (await import('./organization-form.tsx')).OrganizationForm }));

type Row = OrganizationsQuery['organizations']['edges'][number]['node'];

export const columns: readonly Column<Row>[] = [
  { header: t('Name'), isName: true, width: '34%', cell: ({ name }) => name },
  { header: t('Slug'), cell: ({ slug }) => <code>{slug}</code> },
  { header: t('Members'), cell: ({ memberCount, isMemberCountLimited }) => atLeast(memberCount, isMemberCountLimited) },
  { header: t('State'), cell: ({ state }) => <StateBadge state={state} /> },
  { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The organizations of the project; search and paging run on the server. */
export function OrganizationList() {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(projectId);
  const [dialog, { open }] = useDialog();
  const create = () => open(t('Create organization'), (close) => <OrganizationForm onClose={close} />);
  const add = <AddButton onClick={create}>{t('Create organization')}</AddButton>;
  const list = useList(
    Organizations,
    (search, after) => ({ projectId, search, after }),
    ({ organizations }) => organizations,
  );
  return (
    <OrganizationsFrame actions={add}>
      <ResourceList
        list={list}
        label={t('Organizations')}
        counted={(count) => t('{count, plural, one {# organization} other {# organizations}}', { count })}
        placeholder={t('Name or slug')}
        columns={columns}
        linkOf={({ id }) => path(`organizations/${id}`)}
        noMatch={t('Search matches parts of names and slugs.')}
        empty={
          <Empty icon="building" title={t('No organizations yet')} action={mayChange && add}>
            {t('Create one for each customer, then add its people.')}
          </Empty>
        }
      />
      {dialog}
    </OrganizationsFrame>
  );
}

export function StateBadge({ state }: { state: Row['state'] }) {
  return state === 'ACTIVE' ? <Badge color="good">{t('Active')}</Badge> : <Badge color="bad">{t('Suspended')}</Badge>;
}

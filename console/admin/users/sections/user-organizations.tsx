import { Badge } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../../api.ts';
import { OrganizationsOfUser, type OrganizationsOfUserQuery } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProjectPath } from '../../projects/project.tsx';
import { LinkButton } from '../../ui/buttons.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import type { Columns } from '../../ui/lists/data-table.tsx';
import { PageButtons } from '../../ui/lists/page-buttons.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';
import { Time } from '../../ui/time.tsx';

type Membership = NonNullable<OrganizationsOfUserQuery['user']>['organizationMemberships']['edges'][number]['node'];

/** The organizations of a user. */
export function UserOrganizations({ userId }: { userId: string }) {
  const path = useProjectPath();
  const [after, setAfter] = useState<string | null>(null);
  const { data, failure, reload } = useQuery(OrganizationsOfUser, { userId, after }, { keep: true });
  const page = data?.user?.organizationMemberships;
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of organizations')} retry={reload} />;
  const columns: Columns<Membership> = [
    { header: t('Name'), isName: true, width: '40%', cell: ({ organization }) => organization.name },
    { header: t('Roles'), cell: ({ roles }) => roles.map(({ name }) => name).join(', ') || '–' },
    { header: t('Status'), cell: (membership) => <Standing {...membership} /> },
    { header: t('Since'), cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  return (
    <TableSection
      title={t('Organizations')}
      lead={t('Add members on the page of an organization.')}
      actions={
        <LinkButton to={path('organizations')} size="xs">
          {t('Organizations')}
        </LinkButton>
      }
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      linkOf={({ organization }) => path(`organizations/${organization.id}`)}
      skeletonRows={1}
      empty={<Empty icon="building" title={t('In no organization')} />}
    >
      <PageButtons after={after} pageInfo={page?.pageInfo} onChange={setAfter} />
    </TableSection>
  );
}

function Standing({ state, organization }: Membership) {
  if (organization.state === 'SUSPENDED') return <Badge color="bad">{t('Organization suspended')}</Badge>;
  return state === 'ACTIVE' ? <Badge color="good">{t('Active')}</Badge> : <Badge color="bad">{t('Suspended')}</Badge>;
}

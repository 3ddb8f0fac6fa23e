import { useState } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../../api.ts';
import { UserApplications as ApplicationsOf, type UserApplicationsQuery } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProjectPath } from '../../projects/project.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import type { Columns } from '../../ui/lists/data-table.tsx';
import { PageButtons } from '../../ui/lists/page-buttons.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';

type Usable = UserApplicationsQuery['userApplications']['edges'][number]['node'];

/** The applications that a user may use, and the rules that give access. */
export function UserApplications({ userId }: { userId: string }) {
  const path = useProjectPath();
  const [after, setAfter] = useState<string | null>(null);
  const { data, failure, reload } = useQuery(ApplicationsOf, { userId, after }, { keep: true });
  const page = data?.userApplications;
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of applications')} retry={reload} />;
  const columns: Columns<Usable> = [
    {
      header: t('Application'),
      isName: true,
      width: '40%',
      cell: ({ client }) => <Link to={path(`applications/${client.id}/access`)}>{client.name}</Link>,
    },
    { header: t('Access'), cell: throughOf },
  ];
  return (
    <TableSection
      title={t('Applications')}
      lead={t('This user may use them. Give access on the page of an application.')}
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      keyOf={({ client }) => client.id}
      skeletonRows={1}
      empty={<Empty icon="shield" title={t('No applications')} />}
    >
      <PageButtons after={after} pageInfo={page?.pageInfo} onChange={setAfter} />
    </TableSection>
  );
}

function throughOf({ through }: Usable): string {
  if (through.length === 0) return t('Everyone in the project');
  const names = through.map(({ group, organization, role }) => {
    if (group) return t('By the group {displayName}', group);
    if (organization) return t('By the organization {name}', organization);
    return role ? t('By the role {name}', role) : t('Directly');
  });
  return names.join(', ');
}

import { useAccess, useMe } from '../access.tsx';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  EndImpersonation,
  Impersonations as ImpersonationsQuery,
  type ImpersonationsQuery as Running,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Impersonation = Running['impersonations'][number];

const nameOf = ({ user: { displayName, userName } }: Impersonation) => displayName ?? userName;

/** The running impersonations of the project. */
export function Impersonations() {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const me = useMe();
  const { mayChange } = useAccess(projectId);
  const [dialog, { confirm }] = useDialog();
  const { data, failure, reload } = useQuery(ImpersonationsQuery, { projectId }, { everySeconds: 15 });
  if (failure && !data) return <LoadError failure={failure} subject={t('the impersonations')} retry={reload} />;
  const mayEnd = mayChange || data?.impersonations.some(({ admin }) => admin === me.name) === true;
  const end = (one: Impersonation) =>
    confirm({
      title: t('End this impersonation?'),
      effect: <p>{t('Its tokens end, and the application receives a logout.')}</p>,
      verb: t('End'),
      request: request(EndImpersonation, { id: one.id }),
      invalidates: [ImpersonationsQuery, AuditEvents],
      done: t('Impersonation ended'),
    });
  const columns: Columns<Impersonation> = [
    { header: t('User'), isName: true, width: '24%', cell: nameOf },
    { header: t('Admin'), cell: ({ admin }) => admin ?? '–' },
    { header: t('Application'), cell: ({ client }) => client?.name ?? '–' },
    { header: t('Reason'), cell: ({ reason }) => reason },
    { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    mayEnd && actionColumn(t('End'), (one) => t('End the impersonation of {name}', { name: nameOf(one) }), end),
  ];
  return (
    <TableSection
      title={t('Running impersonations')}
      lead={t('Admins who use an application as a user now.')}
      columns={columns}
      rows={data?.impersonations}
      linkOf={({ user }) => path(`users/${user.id}`)}
      skeletonRows={1}
      empty={<Empty icon="team" title={t('No running impersonations')} />}
    >
      {dialog}
    </TableSection>
  );
}

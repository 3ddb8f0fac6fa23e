import { useState } from 'react';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  RefreshGrants,
  type RefreshGrantsQuery,
  RevokeRefreshGrant,
  RevokeRefreshGrants,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { PageButtons } from '../ui/lists/page-buttons.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Grant = RefreshGrantsQuery['refreshGrants']['edges'][number]['node'];

/** Refresh grants of one user, or of one application. */
export function GrantList({ of, mayChange }: { of: { userId: string } | { clientId: string }; mayChange: boolean }) {
  const project = useProject();
  const path = useProjectPath();
  const [after, setAfter] = useState<string | null>(null);
  const [dialog, { confirm }] = useDialog();
  const owner = { userId: null, clientId: null, ...of };
  const { data, failure, reload } = useQuery(RefreshGrants, { projectId: project.id, ...owner, after }, { keep: true });
  const page = data?.refreshGrants;
  if (failure && !page) return <LoadError failure={failure} subject={t('the refresh grants')} retry={reload} />;
  const isOfUser = 'userId' in of;
  const nameOf = ({ client, user }: Grant) => (isOfUser ? client.name : user.userName);
  const labelOf = (grant: Grant) => t('Revoke the grant of {name}', { name: nameOf(grant) });
  const count = page?.totalCount ?? 0;
  const columns: Columns<Grant> = [
    { header: isOfUser ? t('Application') : t('User'), isName: true, width: isOfUser ? '26%' : '32%', cell: nameOf },
    { header: t('Scopes'), cell: ({ scope }) => scope },
    { header: t('Lasts'), cell: ({ offline }) => (offline ? t('After sign-out') : t('Until sign-out')) },
    { header: t('Granted'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    mayChange && actionColumn(t('Revoke'), labelOf, (grant) => confirm(revocation(grant))),
  ];
  return (
    <TableSection
      title={
        isOfUser || count === 0
          ? t('Refresh grants')
          : t('Refresh grants ({count})', { count: atLeast(count, page?.isTotalLimited ?? false) })
      }
      lead={
        isOfUser ? t('Applications that can renew their access.') : t('Users whose access this application can renew.')
      }
      actions={
        mayChange &&
        'clientId' in of &&
        count > 0 && (
          <SecondaryButton onClick={() => confirm(revocationOfAll(of.clientId))}>{t('Revoke all')}</SecondaryButton>
        )
      }
      label={t('Refresh grants')}
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      linkOf={({ client, user }) => path(isOfUser ? `applications/${client.id}` : `users/${user.id}`)}
      skeletonRows={1}
      empty={<Empty icon="key" title={t('No refresh grants')} />}
    >
      <PageButtons after={after} pageInfo={page?.pageInfo} onChange={setAfter} />
      {dialog}
    </TableSection>
  );
}

const stale = [RefreshGrants, AuditEvents];

const revocation = ({ id, client, user }: Grant): Confirmation => ({
  title: t('Revoke this refresh grant?'),
  effect: (
    <p>
      {t('{name} can no longer read the data of {userName} or renew its access. They can sign in again.', {
        name: client.name,
        userName: user.userName,
      })}
    </p>
  ),
  verb: t('Revoke'),
  request: request(RevokeRefreshGrant, { id }),
  invalidates: stale,
  done: t('Refresh grant revoked'),
});

const revocationOfAll = (clientId: string): Confirmation => ({
  title: t('Revoke all refresh grants?'),
  effect: (
    <p>
      {t('This application can no longer renew its access. Its users stay signed in, and can sign in to it again.')}
    </p>
  ),
  verb: t('Revoke all'),
  request: request(RevokeRefreshGrants, { clientId }),
  invalidates: stale,
  done: t('All refresh grants revoked'),
});

import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  RefreshGrants,
  type RefreshGrantsQuery,
  RevokeRefreshGrant,
  RevokeRefreshGrants,
} from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Grant = RefreshGrantsQuery['refreshGrants']['edges'][number]['node'];

/** Refresh grants of one user, or of one application. */
export function GrantList({ of, mayChange }: { of: { userId: string } | { clientId: string }; mayChange: boolean }) {
  const project = useProject();
  const path = useProjectPath();
  const [after, setAfter] = useState<string | null>(null);
  const [ending, setEnding] = useState<Grant>();
  const [isEndingAll, setEndingAll] = useState(false);
  const owner = { userId: null, clientId: null, ...of };
  const { data, failure, reload } = useQuery(RefreshGrants, { projectId: project.id, ...owner, after }, { keep: true });
  const page = data?.refreshGrants;
  if (failure && !page) return <LoadError failure={failure} subject="the refresh grants" retry={reload} />;
  const isOfUser = 'userId' in of;
  const nameOf = ({ client, user }: Grant) => (isOfUser ? client.name : user.userName);
  const count = page?.totalCount ?? 0;
  const columns: Column<Grant>[] = [
    { header: isOfUser ? 'Application' : 'User', isName: true, width: isOfUser ? '26%' : '32%', cell: nameOf },
    { header: 'Scopes', cell: ({ scope }) => scope },
    { header: 'Lasts', cell: ({ offline }) => (offline ? 'After sign-out' : 'Until sign-out') },
    { header: 'Granted', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    ...(mayChange ? [actionColumn<Grant>('Revoke', (one) => `Revoke the grant of ${nameOf(one)}`, setEnding)] : []),
  ];
  return (
    <Section
      flush
      title={isOfUser || count === 0 ? 'Refresh grants' : `Refresh grants (${count})`}
      lead={isOfUser ? 'Applications that can renew their access.' : 'Users whose access this application can renew.'}
      actions={
        mayChange &&
        'clientId' in of &&
        count > 0 && (
          <Button variant="default" onClick={() => setEndingAll(true)}>
            Revoke all
          </Button>
        )
      }
    >
      <DataTable
        label="Refresh grants"
        columns={columns}
        rows={page?.edges.map(({ node }) => node)}
        linkOf={({ client, user }) => path(isOfUser ? `applications/${client.id}` : `users/${user.id}`)}
        skeletonRows={1}
        empty={<Empty icon="key" title="No refresh grants" />}
      />
      {(after || page?.pageInfo.hasNextPage) && (
        <Button.Group p="sm">
          <Button variant="default" size="xs" disabled={!after} onClick={() => setAfter(null)}>
            First page
          </Button>
          <Button
            variant="default"
            size="xs"
            disabled={!page?.pageInfo.hasNextPage}
            onClick={() => setAfter(page?.pageInfo.endCursor ?? null)}
          >
            Next page
          </Button>
        </Button.Group>
      )}
      <ConfirmMutation
        title="Revoke this refresh grant?"
        verb="Revoke"
        operation={RevokeRefreshGrant}
        variables={ending && { id: ending.id }}
        invalidates={[RefreshGrants, AuditEvents]}
        done="Refresh grant revoked"
        onClose={() => setEnding(undefined)}
      >
        <p>
          {ending?.client.name} can no longer read the data of {ending?.user.userName} or renew its access. They can
          sign in again.
        </p>
      </ConfirmMutation>
      <ConfirmMutation
        title="Revoke all refresh grants?"
        verb="Revoke all"
        operation={RevokeRefreshGrants}
        variables={isEndingAll && 'clientId' in of ? { clientId: of.clientId } : undefined}
        invalidates={[RefreshGrants, AuditEvents]}
        done="All refresh grants revoked"
        onClose={() => setEndingAll(false)}
      >
        <p>This application can no longer renew its access. Its users stay signed in, and can sign in to it again.</p>
      </ConfirmMutation>
    </Section>
  );
}

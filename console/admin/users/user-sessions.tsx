import { useState } from 'react';
import { AuditEvents, EndUserSession, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { browserName, methodsIn } from './labels.ts';

type Session = UserAccessQuery['userAccess']['sessions'][number];

/** Active sessions. */
export function UserSessions({
  sessions,
  mayChange,
}: {
  sessions: readonly Session[] | undefined;
  mayChange: boolean;
}) {
  const [ending, setEnding] = useState<Session>();
  const columns: Column<Session>[] = [
    { header: 'Browser', isName: true, width: '26%', cell: ({ userAgent }) => browserName(userAgent) },
    { header: 'Address', cell: ({ ip }) => ip ?? '–' },
    { header: 'Signed in with', cell: ({ amr }) => methodsIn(amr) },
    { header: 'Signed in', cell: ({ authTime }) => <Time at={authTime} /> },
    { header: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    {
      header: 'Expires',
      cell: ({ idleExpiresAt, expiresAt }) => <Time at={idleExpiresAt < expiresAt ? idleExpiresAt : expiresAt} />,
    },
    ...(mayChange
      ? [actionColumn<Session>('End', (one) => `End the session in ${browserName(one.userAgent)}`, setEnding)]
      : []),
  ];
  return (
    <Section flush title="Sessions" lead="Active sessions. A session serves all applications in its browser.">
      <DataTable
        label="Sessions"
        columns={columns}
        rows={sessions}
        skeletonRows={1}
        empty={<Empty icon="browser" title="No active sessions" />}
      />
      <ConfirmMutation
        title="End this session?"
        verb="End session"
        operation={EndUserSession}
        variables={ending && { id: ending.id }}
        invalidates={[UserById, UserAccess, AuditEvents]}
        done="Session ended"
        onClose={() => setEnding(undefined)}
      >
        <p>
          The user is signed out in {browserName(ending?.userAgent)}, and its applications receive a logout. They can
          sign in again.
        </p>
      </ConfirmMutation>
    </Section>
  );
}

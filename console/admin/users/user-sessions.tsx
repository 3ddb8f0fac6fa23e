import { Button } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { AuditEvents, EndUserSession, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { browserName, methodNames } from './labels.ts';

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
  const [end, busy, failure, reset] = useMutation(EndUserSession, [UserById, UserAccess, AuditEvents]);
  const columns: Column<Session>[] = [
    { header: 'Browser', isName: true, width: '26%', cell: ({ userAgent }) => browserName(userAgent) },
    { header: 'Address', cell: ({ ip }) => ip ?? '–' },
    { header: 'Signed in with', cell: ({ amr }) => amr.map((one) => methodNames[one] ?? one).join(', ') },
    { header: 'Signed in', cell: ({ authTime }) => <Time at={authTime} /> },
    { header: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    {
      header: 'Expires',
      cell: ({ idleExpiresAt, expiresAt }) => <Time at={idleExpiresAt < expiresAt ? idleExpiresAt : expiresAt} />,
    },
  ];
  if (mayChange) {
    columns.push({
      header: '',
      align: 'end',
      cell: (session) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => setEnding(session)}
          aria-label={`End the session in ${browserName(session.userAgent)}`}
        >
          End
        </Button>
      ),
    });
  }
  const close = () => {
    setEnding(undefined);
    reset();
  };
  return (
    <Section flush title="Sessions" lead="Active sessions. A session serves all applications in its browser.">
      <DataTable
        label="Sessions"
        columns={columns}
        rows={sessions}
        keyOf={({ id }) => id}
        skeletonRows={1}
        empty={<Empty icon="browser" title="No active sessions" />}
      />
      <Confirm
        opened={ending !== undefined}
        title="End this session?"
        verb="End session"
        busy={busy}
        failure={failure}
        graphql={ending && request(EndUserSession, { id: ending.id })}
        onClose={close}
        onConfirm={async () => {
          if (!ending) return;
          const outcome = await end({ id: ending.id });
          if (!outcome.data) return;
          toast('Session ended');
          close();
        }}
      >
        <p>
          The user is signed out in {browserName(ending?.userAgent)}, and its applications receive a logout. They can
          sign in again.
        </p>
      </Confirm>
    </Section>
  );
}

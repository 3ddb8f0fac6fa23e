import { useState } from 'react';
import { AuditEvents, EndUserSession, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Columns, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { browserName, methodsIn } from './labels.ts';

type Session = UserAccessQuery['userAccess']['sessions'][number];

interface UserSessionsProps {
  sessions: readonly Session[] | undefined;
  mayChange: boolean;
}

/** Active sessions. */
export function UserSessions({ sessions, mayChange }: UserSessionsProps) {
  const [ending, setEnding] = useState<Session>();
  const columns: Columns<Session> = [
    { header: t('Browser'), isName: true, width: '26%', cell: ({ userAgent }) => browserName(userAgent) },
    { header: t('Address'), cell: ({ ip }) => ip ?? '–' },
    { header: t('Signed in with'), cell: ({ amr }) => methodsIn(amr) },
    { header: t('Signed in'), cell: ({ authTime }) => <Time at={authTime} /> },
    { header: t('Last seen'), cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    {
      header: t('Expires'),
      cell: ({ idleExpiresAt, expiresAt }) => <Time at={idleExpiresAt < expiresAt ? idleExpiresAt : expiresAt} />,
    },
    mayChange &&
      actionColumn(
        t('End'),
        (one) => t('End the session in {userAgent}', { userAgent: browserName(one.userAgent) }),
        setEnding,
      ),
  ];
  return (
    <Section flush title={t('Sessions')} lead={t('Active sessions. A session serves all applications in its browser.')}>
      <DataTable
        label={t('Sessions')}
        columns={columns}
        rows={sessions}
        skeletonRows={1}
        empty={<Empty icon="browser" title={t('No active sessions')} />}
      />
      <ConfirmMutation
        title={t('End this session?')}
        verb={t('End session')}
        operation={EndUserSession}
        variables={ending && { id: ending.id }}
        invalidates={[UserById, UserAccess, AuditEvents]}
        done={t('Session ended')}
        onClose={() => setEnding(undefined)}
      >
        <p>
          {t('The user is signed out in {userAgent}, and its applications receive a logout. They can sign in again.', {
            userAgent: browserName(ending?.userAgent),
          })}
        </p>
      </ConfirmMutation>
    </Section>
  );
}

import { Badge } from '@mantine/core';
import { AuditEvents, EndUserSession, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Browser, browserName } from '../ui/browser.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';
import { methodsIn } from './labels.ts';

type Session = UserAccessQuery['userAccess']['sessions'][number];

/** Active sessions. */
export function UserSessions({
  sessions,
  count,
  mayChange,
}: {
  sessions: readonly Session[] | undefined;
  count: number | undefined;
  mayChange: boolean;
}) {
  const [dialog, { confirm }] = useDialog();
  const end = ({ id, userAgent }: Session) =>
    confirm({
      title: t('End this session?'),
      effect: (
        <p>
          {t(
            'The user is signed out in {userAgent}, and its applications receive a logout. The user can sign in again.',
            {
              userAgent: browserName(userAgent),
            },
          )}
        </p>
      ),
      verb: t('End session'),
      request: request(EndUserSession, { id }),
      invalidates: [UserById, UserAccess, AuditEvents],
      done: t('Session ended'),
    });
  const columns: Columns<Session> = [
    {
      header: t('Browser'),
      isName: true,
      width: '26%',
      cell: ({ impersonationReason, userAgent }) => (
        <>
          <Browser userAgent={userAgent} />
          {impersonationReason !== null && (
            <Badge color="note" title={impersonationReason}>
              {t('Impersonation')}
            </Badge>
          )}
        </>
      ),
    },
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
        end,
      ),
  ];
  return (
    <TableSection
      title={t('Sessions')}
      lead={
        sessions && count !== undefined && count > sessions.length
          ? t('The {shown} most recent of {count}.', { shown: sessions.length, count })
          : t('Active sessions. A session serves all applications in its browser.')
      }
      columns={columns}
      rows={sessions}
      skeletonRows={1}
      empty={<Empty icon="browser" title={t('No active sessions')} />}
    >
      {dialog}
    </TableSection>
  );
}

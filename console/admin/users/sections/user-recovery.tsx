import { Button } from '@mantine/core';
import { AuditEvents, CancelUserRecovery, UserAccess, type UserAccessQuery } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { request } from '../../ui/code/show-graphql.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Facts } from '../../ui/lists/facts.tsx';
import { exactly } from '../../ui/time.tsx';

interface UserRecoveryProps {
  user: { id: string; name: string };
  recovery: UserAccessQuery['userAccess']['recovery'] | undefined;
  mayChange: boolean;
}

/** The open recovery grant of a user. */
export function UserRecovery({ user, recovery, mayChange }: UserRecoveryProps) {
  const [dialog, { confirm }] = useDialog();
  if (!recovery) return null;
  const cancel = () =>
    confirm({
      title: t('Cancel the recovery of {name}?', { name: user.name }),
      effect: <p>{t('Its code no longer works.')}</p>,
      verb: t('Cancel recovery'),
      request: request(CancelUserRecovery, { userId: user.id }),
      invalidates: [UserAccess, AuditEvents],
      done: t('Recovery cancelled'),
    });
  return (
    <Section
      title={t('Account recovery')}
      lead={t('One sign-in by mail code without passkey or second factor.')}
      actions={
        mayChange && (
          <Button variant="default" onClick={cancel}>
            {t('Cancel recovery')}
          </Button>
        )
      }
    >
      <Facts
        facts={[
          [t('Reason'), recovery.reason],
          [t('Granted'), exactly(recovery.createdAt)],
          [t('Usable from'), exactly(recovery.usableAt)],
          [t('Expires'), exactly(recovery.expiresAt)],
        ]}
      />
      {dialog}
    </Section>
  );
}

import { Button } from '@mantine/core';
import { useState } from 'react';
import { AuditEvents, CancelUserRecovery, UserAccess, type UserAccessQuery } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { ConfirmMutation } from '../../ui/feedback/confirm.tsx';
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
  const [isCancelling, setCancelling] = useState(false);
  if (!recovery) return null;
  return (
    <Section
      title={t('Account recovery')}
      lead={t('One sign-in by mail code without passkey or second factor.')}
      actions={
        mayChange && (
          <Button variant="default" onClick={() => setCancelling(true)}>
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
      <ConfirmMutation
        title={t('Cancel the recovery of {name}?', { name: user.name })}
        verb={t('Cancel recovery')}
        operation={CancelUserRecovery}
        variables={isCancelling ? { userId: user.id } : undefined}
        invalidates={[UserAccess, AuditEvents]}
        done={t('Recovery cancelled')}
        onClose={() => setCancelling(false)}
      >
        <p>{t('Its code no longer works.')}</p>
      </ConfirmMutation>
    </Section>
  );
}

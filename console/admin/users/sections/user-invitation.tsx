import { Button } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../../api.ts';
import {
  AuditEvents,
  InviteUser,
  RevokeInvitation,
  UserById,
  type UserRowFragment,
  Users,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { ConfirmMutation } from '../../ui/feedback/confirm.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Time } from '../../ui/time.tsx';

type Invitee = Pick<
  UserRowFragment,
  'id' | 'active' | 'email' | 'invitedAt' | 'lastSignInAt' | 'provenance' | 'userName'
>;

/** The invitation of a user who has not signed in; nothing for others. */
export function UserInvitation({ user, mayChange }: { user: Invitee; mayChange: boolean }) {
  const [isRevoking, setRevoking] = useState(false);
  const [invite, busy, failure] = useMutation(InviteUser, [UserById, AuditEvents]);
  const { active, email, id, invitedAt, lastSignInAt, provenance, userName } = user;
  const isOpen = invitedAt != null;
  if (lastSignInAt || provenance === 'SCIM' || !active || !email || (!mayChange && !isOpen)) return null;
  const send = async () => {
    if ((await invite({ userId: id })).data) toast(t('Invitation sent to {email}', { email }));
  };
  return (
    <Section
      title={t('Invitation')}
      lead={
        isOpen ? (
          <>{rich('Sent <time></time>. Not signed in yet.', { time: () => <Time at={invitedAt} /> })}</>
        ) : (
          t('Not invited. Not signed in yet.')
        )
      }
      actions={
        mayChange && (
          <>
            <Button variant="default" loading={busy} onClick={() => void send()}>
              {isOpen ? t('Send again') : t('Send invitation')}
            </Button>
            {isOpen && (
              <Button variant="default" color="red" onClick={() => setRevoking(true)}>
                {t('Revoke')}
              </Button>
            )}
          </>
        )
      }
    >
      <FormError failure={failure} />
      <ConfirmMutation
        title={t('Revoke the invitation of {userName}?', { userName })}
        verb={t('Revoke invitation')}
        operation={RevokeInvitation}
        variables={isRevoking ? { userId: id } : undefined}
        invalidates={[UserById, Users, AuditEvents]}
        done={t('Invitation revoked')}
        onClose={() => setRevoking(false)}
      >
        <p>{t('The user is deactivated and cannot sign in. Activate the user to invite them again.')}</p>
      </ConfirmMutation>
    </Section>
  );
}

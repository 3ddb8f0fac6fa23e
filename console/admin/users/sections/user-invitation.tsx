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
    if ((await invite({ userId: id })).data) toast(`Invitation sent to ${email}`);
  };
  return (
    <Section
      title="Invitation"
      lead={
        isOpen ? (
          <>
            Sent <Time at={invitedAt} />. Not signed in yet.
          </>
        ) : (
          'Not invited. Not signed in yet.'
        )
      }
      actions={
        mayChange && (
          <>
            <Button variant="default" loading={busy} onClick={() => void send()}>
              {isOpen ? 'Send again' : 'Send invitation'}
            </Button>
            {isOpen && (
              <Button variant="default" color="red" onClick={() => setRevoking(true)}>
                Revoke
              </Button>
            )}
          </>
        )
      }
    >
      <FormError failure={failure} />
      <ConfirmMutation
        title={`Revoke the invitation of ${userName}?`}
        verb="Revoke invitation"
        operation={RevokeInvitation}
        variables={isRevoking ? { userId: id } : undefined}
        invalidates={[UserById, Users, AuditEvents]}
        done="Invitation revoked"
        onClose={() => setRevoking(false)}
      >
        <p>The user is deactivated and cannot sign in. Activate the user to invite them again.</p>
      </ConfirmMutation>
    </Section>
  );
}

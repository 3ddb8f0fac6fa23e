import { Button, Text } from '@mantine/core';
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
import { request } from '../../ui/code/show-graphql.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useUninvitable } from '../add/invitable.tsx';

type Invitee = Pick<
  UserRowFragment,
  'id' | 'active' | 'email' | 'invitedAt' | 'lastSignInAt' | 'provenance' | 'userName'
>;

/** The invitation of a user who has not signed in; nothing for others. */
export function UserInvitation({ user, mayChange }: { user: Invitee; mayChange: boolean }) {
  const [dialog, { confirm }] = useDialog();
  const [invite, busy, failure] = useMutation(InviteUser, [UserById, AuditEvents]);
  const { active, email, id, invitedAt, lastSignInAt, provenance, userName } = user;
  const isOpen = invitedAt != null;
  const isOver = lastSignInAt || provenance === 'SCIM' || !active || !email;
  const uninvitable = useUninvitable(mayChange && !isOver);
  if (isOver || (!mayChange && !isOpen)) return null;
  const send = async () => {
    if ((await invite({ userId: id })).data) toast(t('Invitation sent to {email}', { email }));
  };
  const revoke = () =>
    confirm({
      title: t('Revoke the invitation of {userName}?', { userName }),
      effect: <p>{t('The user is deactivated and cannot sign in. Activate the user to invite them again.')}</p>,
      verb: t('Revoke invitation'),
      request: request(RevokeInvitation, { userId: id }),
      invalidates: [UserById, Users, AuditEvents],
      done: t('Invitation revoked'),
    });
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
            <Button variant="default" loading={busy} disabled={uninvitable !== undefined} onClick={() => void send()}>
              {isOpen ? t('Send again') : t('Send invitation')}
            </Button>
            {isOpen && (
              <Button variant="default" color="red" onClick={revoke}>
                {t('Revoke')}
              </Button>
            )}
          </>
        )
      }
    >
      {uninvitable && <Text c="dimmed">{uninvitable}</Text>}
      <FormError failure={failure} />
      {dialog}
    </Section>
  );
}

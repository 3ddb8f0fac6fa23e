import { Badge, Group, Pill } from '@mantine/core';
import { lazy } from 'react';
import { useQuery } from '../../api.ts';
import {
  AuditEvents,
  OrganizationInvitations as Invitations,
  type OrganizationInvitationsQuery,
  ResendOrganizationInvitation,
  RevokeOrganizationInvitation,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { AddButton } from '../../ui/buttons.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../../ui/feedback/errors.tsx';
import { useAction } from '../../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../../ui/feedback/use-dialog.tsx';
import type { Columns } from '../../ui/lists/data-table.tsx';
import { Pager, useListParams } from '../../ui/lists/list-bar.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';
import { Time } from '../../ui/time.tsx';
import type { OrganizationPartProps } from '../organization-part.ts';
import { RowButton } from '../row-button.tsx';
import { type InvitationState, invitationState } from './invitation-state.ts';

const InviteMember = lazy(async () => ({ default: (await import('./invite-member.tsx')).InviteMember }));

type Invitation = OrganizationInvitationsQuery['organizationInvitations']['edges'][number]['node'];

const badges: Record<InvitationState, readonly [label: string, color: string]> = {
  pending: [t('Pending'), 'note'],
  expired: [t('Expired'), 'bad'],
  accepted: [t('Accepted'), 'good'],
  revoked: [t('Revoked'), 'neutral'],
};

const stateOf = (invitation: Invitation) => invitationState(invitation, Date.now());

/** Whether it can be accepted or sent again. */
const isOpen = ({ acceptedAt, revokedAt }: Invitation) => acceptedAt === null && revokedAt === null;

/** The invitations of an organization, newest first. */
export function OrganizationInvitations({ organization, mayChange }: OrganizationPartProps) {
  const { get } = useListParams();
  const [dialog, { open, confirm }] = useDialog();
  const resending = useAction(ResendOrganizationInvitation, [Invitations, AuditEvents], t('Invitation sent'));
  const variables = { organizationId: organization.id, after: get('after') ?? null };
  const { data, failure, reload } = useQuery(Invitations, variables, { keep: true, everySeconds: 15 });
  const page = data?.organizationInvitations;
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of invitations')} retry={reload} />;
  const isUsable = organization.state === 'ACTIVE';
  const invite = (
    <AddButton
      disabled={!isUsable}
      onClick={() => open(t('Invite member'), (close) => <InviteMember organization={organization} onClose={close} />)}
    >
      {t('Invite member')}
    </AddButton>
  );
  const actions = (invitation: Invitation) => {
    const { id, email } = invitation;
    if (!isOpen(invitation)) return null;
    return (
      <Group gap={4} wrap="nowrap" display="inline-flex">
        {isUsable && (
          <RowButton
            label={t('Send the invitation of {email} again', { email })}
            onClick={() => void resending.run({ id })}
          >
            {t('Send again')}
          </RowButton>
        )}
        <RowButton
          color="red"
          label={t('Revoke the invitation of {email}', { email })}
          onClick={() => confirm(revocation(invitation))}
        >
          {t('Revoke')}
        </RowButton>
      </Group>
    );
  };
  const columns: Columns<Invitation> = [
    { header: t('Email'), isName: true, width: '28%', cell: ({ email }) => email },
    { header: t('Roles'), cell: ({ roles }) => <Roles roles={roles} /> },
    {
      header: t('Status'),
      cell: (invitation) => {
        const [label, color] = badges[stateOf(invitation)];
        return <Badge color={color}>{label}</Badge>;
      },
    },
    { header: t('Sent'), cell: ({ sentAt }) => <Time at={sentAt} /> },
    { header: t('Expires'), cell: (invitation) => (isOpen(invitation) ? <Time at={invitation.expiresAt} /> : '–') },
    mayChange && { header: '', align: 'end', isPlain: true, cell: actions },
  ];
  return (
    <TableSection
      title={t('Invitations')}
      lead={t('By mail, for 14 days. Only the invited address can accept.')}
      actions={mayChange && page?.edges.length !== 0 && invite}
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      skeletonRows={3}
      empty={
        <Empty icon="mail" title={t('No invitations yet')} action={mayChange && invite}>
          {t('Invite people by mail: they sign in, or sign up, and become members.')}
        </Empty>
      }
    >
      <FormError failure={resending.failure} />
      <Pager pageInfo={page?.pageInfo} />
      {dialog}
    </TableSection>
  );
}

function Roles({ roles }: { roles: Invitation['roles'] }) {
  if (roles.length === 0) return '–';
  return (
    <Group component="ul" gap={4} display="inline-flex">
      {roles.map(({ id, name }) => (
        <Pill key={id} component="li">
          {name}
        </Pill>
      ))}
    </Group>
  );
}

const revocation = ({ id, email }: Invitation): Confirmation => ({
  title: t('Revoke the invitation of {email}?', { email }),
  effect: <p>{t('Its link stops working now. You can invite the address again.')}</p>,
  verb: t('Revoke'),
  request: request(RevokeOrganizationInvitation, { id }),
  invalidates: [Invitations, AuditEvents],
  done: t('Invitation revoked'),
});

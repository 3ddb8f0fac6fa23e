import { Badge, Group, Pill } from '@mantine/core';
import { lazy } from 'react';
import { useQuery } from '../api.ts';
import {
  OrganizationMembers,
  type OrganizationMembersQuery,
  RemoveOrganizationMember,
  UnassignOrganizationRole,
  UpdateOrganizationMember,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { AddButton, LinkButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import type { Columns } from '../ui/lists/data-table.tsx';
import { Pager, useListParams } from '../ui/lists/list-bar.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';
import type { Organization, OrganizationPartProps } from './organization-part.ts';
import { RowButton } from './row-button.tsx';
import { stale } from './stale.ts';

const AddOrganizationMember = lazy(async () => ({ default: (await import('./add-member.tsx')).AddMember }));
const AssignMemberRole = lazy(async () => ({ default: (await import('./assign-role.tsx')).AssignMemberRole }));

type Member = OrganizationMembersQuery['organizationMembers']['edges'][number]['node'];

const sources: Record<Member['source'], string> = {
  ADMIN: t('Admin'),
  INVITATION: t('Invitation'),
  DOMAIN: t('Mail domain'),
  CONNECTION: t('Connection'),
  DIRECTORY: t('Directory'),
};

/** The members of an organization, newest first. */
export function OrganizationPeople({ organization, mayChange, inProject }: OrganizationPartProps) {
  const path = useProjectPath();
  const { get } = useListParams();
  const after = get('after') ?? null;
  const [dialog, { open, confirm }] = useDialog();
  const activating = useAction(UpdateOrganizationMember, stale, t('Member activated'));
  const accepting = useAction(UpdateOrganizationMember, stale, t('Member accepted'));
  const variables = { organizationId: organization.id, after };
  const { data, failure, reload } = useQuery(OrganizationMembers, variables, { keep: true });
  const page = data?.organizationMembers;
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of members')} retry={reload} />;
  const variant = page?.edges.length === 0 ? 'filled' : 'default';
  const add = inProject ? (
    <AddButton
      variant={variant}
      onClick={() =>
        open(t('Add member'), (close) => <AddOrganizationMember organization={organization} onClose={close} />)
      }
    >
      {t('Add member')}
    </AddButton>
  ) : (
    <LinkButton variant={variant} to={path(`organizations/${organization.id}/invitations`)}>
      {t('Invite member')}
    </LinkButton>
  );
  const assign = (member: Member) =>
    open(t('Assign role to {name}', { name: nameOf(member) }), (close) => (
      <AssignMemberRole member={member} onClose={close} />
    ));
  const actions = (member: Member) => (
    <Group gap={4} wrap="nowrap" display="inline-flex">
      {member.state !== 'REQUESTED' && (
        <RowButton label={t('Assign role to {name}', { name: nameOf(member) })} onClick={() => assign(member)}>
          {t('Assign role')}
        </RowButton>
      )}
      {member.state === 'REQUESTED' && (
        <RowButton
          label={t('Accept {name}', { name: nameOf(member) })}
          onClick={() => void accepting.run({ input: { id: member.id, state: 'ACTIVE' } })}
        >
          {t('Accept')}
        </RowButton>
      )}
      {member.state === 'SUSPENDED' ? (
        <RowButton
          label={t('Activate {name}', { name: nameOf(member) })}
          onClick={() => void activating.run({ input: { id: member.id, state: 'ACTIVE' } })}
        >
          {t('Activate')}
        </RowButton>
      ) : (
        <RowButton
          label={
            member.state === 'ACTIVE'
              ? t('Suspend {name}', { name: nameOf(member) })
              : t('Decline {name}', { name: nameOf(member) })
          }
          onClick={() => confirm(suspension(member, organization))}
        >
          {member.state === 'ACTIVE' ? t('Suspend') : t('Decline')}
        </RowButton>
      )}
      {!member.isHome && member.state !== 'REQUESTED' && (
        <RowButton
          color="red"
          label={t('Remove {name}', { name: nameOf(member) })}
          onClick={() => confirm(removal(member, organization))}
        >
          {t('Remove')}
        </RowButton>
      )}
    </Group>
  );
  const columns: Columns<Member> = [
    {
      header: t('Name'),
      isName: true,
      width: '26%',
      cell: (member) => (
        <>
          {nameOf(member)} {member.isHome && <Badge>{t('At home')}</Badge>}
        </>
      ),
    },
    {
      header: t('Roles'),
      cell: (member) => (
        <Roles member={member} {...(mayChange && { onRemove: (role) => confirm(loss(member, role)) })} />
      ),
    },
    { header: t('Status'), cell: (member) => <MemberState member={member} /> },
    { header: t('Source'), cell: ({ source }) => sources[source] },
    { header: t('Last sign-in'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    mayChange && { header: '', align: 'end', isPlain: true, cell: actions },
  ];
  return (
    <TableSection
      title={t('People')}
      lead={t('Members: {count}', { count: atLeast(organization.memberCount, organization.isMemberCountLimited) })}
      actions={mayChange && page?.edges.length !== 0 && add}
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      {...(inProject && { linkOf: ({ user }: Member) => path(`users/${user.id}`) })}
      skeletonRows={4}
      empty={
        <Empty icon="users" title={t('No members yet')} action={mayChange && add}>
          {t('Members sign in to applications on behalf of the organization.')}
        </Empty>
      }
    >
      <Pager pageInfo={page?.pageInfo} />
      {dialog}
    </TableSection>
  );
}

type Role = Member['roles'][number];

function Roles({ member, onRemove }: { member: Member; onRemove?(role: Role): void }) {
  if (member.roles.length === 0) return '–';
  return (
    <Group component="ul" gap={4} display="inline-flex">
      {member.roles.map((role) => (
        <Pill
          key={role.id}
          component="li"
          withRemoveButton={onRemove !== undefined}
          removeButtonProps={{
            'aria-label': t('Remove the role {role} from {name}', { role: role.name, name: nameOf(member) }),
            'aria-hidden': false,
            tabIndex: 0,
          }}
          onRemove={() => onRemove?.(role)}
        >
          {role.name}
        </Pill>
      ))}
    </Group>
  );
}

function MemberState({ member: { user, state } }: { member: Member }) {
  if (!user.active) return <Badge color="bad">{t('Deactivated')}</Badge>;
  if (state === 'REQUESTED') return <Badge color="note">{t('Requested')}</Badge>;
  return state === 'ACTIVE' ? <Badge color="good">{t('Active')}</Badge> : <Badge color="bad">{t('Suspended')}</Badge>;
}

const nameOf = ({ user }: Member) => user.displayName ?? user.userName;

function suspension(member: Member, { name: organization }: Organization): Confirmation {
  const name = nameOf(member);
  const isActive = member.state === 'ACTIVE';
  return {
    title: isActive ? t('Suspend {name}?', { name }) : t('Decline {name}?', { name }),
    effect: (
      <p>
        {isActive
          ? t('{name} can no longer sign in to {organization}, and is signed out of it now. The account stays.', {
              ...{ name, organization },
            })
          : t(
              '{name} does not become a member of {organization}, and cannot ask again. You can activate the member later.',
              {
                ...{ name, organization },
              },
            )}
      </p>
    ),
    verb: isActive ? t('Suspend') : t('Decline'),
    request: request(UpdateOrganizationMember, { input: { id: member.id, state: 'SUSPENDED' } }),
    invalidates: stale,
    done: isActive ? t('Member suspended') : t('Request declined'),
  };
}

function removal(member: Member, { name: organization }: Organization): Confirmation {
  const name = nameOf(member);
  return {
    title: t('Remove {name} from {organization}?', { name, organization }),
    effect: <p>{t('Roles in the organization are lost, and sign-ins in it end. The account stays.')}</p>,
    verb: t('Remove member'),
    request: request(RemoveOrganizationMember, { id: member.id }),
    invalidates: stale,
    done: t('Member removed'),
  };
}

function loss(member: Member, role: Role): Confirmation {
  return {
    title: t('Remove the role {name} from {holder}?', { name: role.name, holder: nameOf(member) }),
    effect: <p>{t('Tokens issued from now on do not have the role. Earlier tokens keep it until they expire.')}</p>,
    verb: t('Remove'),
    request: request(UnassignOrganizationRole, { input: { membershipId: member.id, roleKey: role.key } }),
    invalidates: stale,
    done: t('Role removed'),
  };
}

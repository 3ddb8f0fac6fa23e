import { NativeSelect } from '@mantine/core';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { AssignOrganizationRole, OrganizationRoles } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useOutline, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { stale } from './stale.ts';

interface AssignMemberRoleProps {
  member: { id: string; roles: readonly { key: string }[] };
  onClose(): void;
}

/** Assigns one more role to a member. */
export function AssignMemberRole({ member, onClose }: AssignMemberRoleProps) {
  const path = useProjectPath();
  const { id: projectId } = useOutline();
  const { inProject } = useAccess(projectId);
  const { data } = useQuery(OrganizationRoles, { projectId });
  const roles = data?.organizationRoles;
  const others = roles?.filter(({ key }) => !member.roles.some((held) => held.key === key));
  const form = useDialogForm({
    initial: { roleKey: '' },
    request: ({ roleKey }) =>
      request(AssignOrganizationRole, { input: { membershipId: member.id, roleKey: roleKey || firstOf(others) } }),
    invalidates: stale,
    done: t('Role assigned'),
    onClose,
  });
  if (roles?.length === 0) {
    return (
      <Empty
        icon="shield"
        title={t('No organization roles yet')}
        action={inProject && <LinkButton to={path('organizations/roles')}>{t('Organization roles')}</LinkButton>}
      >
        {inProject && t('Create a role first; all organizations of the project have the same.')}
      </Empty>
    );
  }
  const { value, ...field } = form.field('roleKey');
  return (
    <DialogForm {...form.props} verb={t('Assign role')} disabled={!others?.length}>
      <NativeSelect
        label={t('Role')}
        description={
          others?.length === 0 ? t('Has all roles of the project.') : t('Takes effect with the next tokens.')
        }
        disabled={!others?.length}
        data={others?.map(({ key, name }) => ({ value: key, label: name })) ?? []}
        value={value || firstOf(others)}
        {...field}
      />
    </DialogForm>
  );
}

const firstOf = (roles: readonly { key: string }[] | undefined) => roles?.[0]?.key ?? '';

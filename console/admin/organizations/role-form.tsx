import { TextInput } from '@mantine/core';
import {
  AuditEvents,
  CreateOrganizationRole,
  OrganizationRoles,
  UpdateOrganizationRole,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { suggestedSlug } from './slug.ts';
import { stale } from './stale.ts';

interface RoleFormProps {
  /** Absent: a new role. */
  role?: { id: string; key: string; name: string };
  onClose(): void;
}

/** Creates an organization role, or renames it. */
export function RoleForm({ role, onClose }: RoleFormProps) {
  const { id: projectId } = useProject();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { name: role?.name ?? '', key: role?.key },
    request: ({ name, key = suggestedSlug(name) }) =>
      role
        ? request(UpdateOrganizationRole, { input: { id: role.id, name } })
        : request(CreateOrganizationRole, { input: { projectId, name, key } }),
    invalidates: [OrganizationRoles, AuditEvents, ...stale],
    done: role ? t('Saved') : t('Role created'),
    onClose,
  });
  const { name, key = suggestedSlug(name) } = form.values;
  return (
    <DialogForm {...form.props} verb={role ? t('Save') : t('Create role')} disabled={name.trim() === '' || key === ''}>
      <TextInput label={t('Name')} maxLength={100} {...form.field('name')} {...firstFocus} />
      <TextInput
        label={t('Key')}
        description={
          role ? t('Applications rely on it: it cannot be changed.') : t('The value that the application receives.')
        }
        maxLength={100}
        {...verbatim}
        disabled={role !== undefined}
        {...form.field('key')}
        value={key}
      />
    </DialogForm>
  );
}

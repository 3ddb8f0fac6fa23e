import { Textarea, TextInput } from '@mantine/core';
import { AuditEvents, CreateRole, type RoleRowFragment, Roles, UpdateRole } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { verbatim } from '../ui/forms/verbatim.ts';

interface RoleFormProps {
  clientId: string;
  /** Absent: a new role. */
  role?: RoleRowFragment;
  onClose(): void;
}

/** Creates a role, or changes its name and description. */
export function RoleForm({ clientId, role, onClose }: RoleFormProps) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { name: role?.name ?? '', key: role?.key, description: role?.description ?? '' },
    request({ name, key = suggestedKey(name), description }) {
      const values = { name, description: description.trim() || null };
      return role
        ? request(UpdateRole, { input: { id: role.id, ...values } })
        : request(CreateRole, { input: { clientId, key, ...values } });
    },
    invalidates: [Roles, AuditEvents],
    done: role ? t('Saved') : t('Role created'),
    onClose,
  });
  const { name, key = suggestedKey(name) } = form.values;
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
      <Textarea label={t('Description')} maxLength={500} autosize minRows={2} {...form.field('description')} />
    </DialogForm>
  );
}

/** "Page editor" → "page-editor". */
function suggestedKey(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return plain.replace(/^-|-$/g, '');
}

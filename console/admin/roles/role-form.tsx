import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import { AuditEvents, CreateRole, type RoleRowFragment, Roles, UpdateRole } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';

interface RoleFormProps {
  clientId: string;
  /** Absent: a new role. */
  role?: RoleRowFragment;
  onClose(): void;
}

/** Creates a role, or changes its name and description. */
export function RoleForm({ clientId, role, onClose }: RoleFormProps) {
  const [name, setName] = useState(role?.name ?? '');
  const [typedKey, setKey] = useState<string>();
  const [description, setDescription] = useState(role?.description ?? '');
  const [create, creating, createFailure] = useMutation(CreateRole, [Roles, AuditEvents]);
  const [update, updating, updateFailure] = useMutation(UpdateRole, [Roles, AuditEvents]);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const failure = createFailure ?? updateFailure;
  const key = role?.key ?? typedKey ?? suggestedKey(name);
  const values = { name, description: description.trim() || null };
  const submit = async () => {
    const outcome = role
      ? await update({ input: { id: role.id, ...values } })
      : await create({ input: { clientId, key, ...values } });
    if (!outcome.data) return;
    toast(role ? t('Saved') : t('Role created'));
    onClose();
  };
  return (
    <DialogForm
      verb={role ? t('Save') : t('Create role')}
      busy={creating || updating}
      {...{ failure, onClose }}
      fields={['name', 'key', 'description']}
      disabled={name.trim() === '' || key === ''}
      graphql={
        role
          ? request(UpdateRole, { input: { id: role.id, ...values } })
          : request(CreateRole, { input: { clientId, key, ...values } })
      }
      onSubmit={() => void submit()}
    >
      <TextInput
        label={t('Name')}
        maxLength={100}
        value={name}
        error={faultAt(failure, 'name')}
        onChange={(event) => setName(event.currentTarget.value)}
        {...firstFocus}
      />
      <TextInput
        label={t('Key')}
        description={
          role ? t('Applications rely on it: it cannot be changed.') : t('The value that the application receives.')
        }
        maxLength={100}
        spellCheck={false}
        autoCapitalize="none"
        disabled={role !== undefined}
        value={key}
        error={faultAt(failure, 'key')}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <Textarea
        label={t('Description')}
        maxLength={500}
        autosize
        minRows={2}
        value={description}
        error={faultAt(failure, 'description')}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
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

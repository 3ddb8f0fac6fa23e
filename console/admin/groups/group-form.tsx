import { TextInput } from '@mantine/core';
import { useNavigate } from 'react-router';
import { AuditEvents, CreateGroup, GroupById, Groups, UpdateGroup } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';

interface GroupFormProps {
  /** Absent: a new group, whose page opens. */
  group?: { id: string; displayName: string };
  onClose(): void;
}

/** Creates a group that no directory owns, or renames it. */
export function GroupForm({ group, onClose }: GroupFormProps) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const navigate = useNavigate();
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const form = useDialogForm({
    initial: { displayName: group?.displayName ?? '' },
    request: (values) =>
      group
        ? request(UpdateGroup, { input: { id: group.id, ...values } })
        : request(CreateGroup, { input: { projectId, ...values } }),
    invalidates: [Groups, GroupById, AuditEvents],
    done: group ? t('Saved') : t('Group created'),
    onDone: (data) => 'createGroup' in data && void navigate(path(`groups/${data.createGroup.id}`)),
    onClose,
  });
  const { displayName } = form.values;
  return (
    <DialogForm
      {...form.props}
      verb={group ? t('Save') : t('Create group')}
      disabled={displayName.trim() === '' || displayName === group?.displayName}
    >
      <TextInput
        label={t('Name')}
        description={t('Applications may receive it in the groups claim.')}
        maxLength={100}
        {...form.field('displayName')}
        {...firstFocus}
      />
    </DialogForm>
  );
}

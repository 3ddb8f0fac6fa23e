import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useMutation } from '../api.ts';
import { faultAt } from '../failure.ts';
import { AuditEvents, CreateGroup, GroupById, Groups, UpdateGroup } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';

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
  const [displayName, setName] = useState(group?.displayName ?? '');
  const [create, creating, createFailure] = useMutation(CreateGroup, [Groups, AuditEvents]);
  const [update, updating, updateFailure] = useMutation(UpdateGroup, [Groups, GroupById, AuditEvents]);
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const failure = createFailure ?? updateFailure;
  const submit = async () => {
    if (group) {
      if (!(await update({ input: { id: group.id, displayName } })).data) return;
      toast(t('Saved'));
      onClose();
      return;
    }
    const { data } = await create({ input: { projectId, displayName } });
    if (!data) return;
    toast(t('Group created'));
    onClose();
    void navigate(path(`groups/${data.createGroup.id}`));
  };
  return (
    <DialogForm
      verb={group ? t('Save') : t('Create group')}
      busy={creating || updating}
      {...{ failure, onClose }}
      fields={['displayName']}
      disabled={displayName.trim() === '' || displayName === group?.displayName}
      graphql={
        group
          ? request(UpdateGroup, { input: { id: group.id, displayName } })
          : request(CreateGroup, { input: { projectId, displayName } })
      }
      onSubmit={() => void submit()}
    >
      <TextInput
        label={t('Name')}
        description={t('Applications may receive it in the groups claim.')}
        maxLength={100}
        value={displayName}
        error={faultAt(failure, 'displayName')}
        onChange={(event) => setName(event.currentTarget.value)}
        {...firstFocus}
      />
    </DialogForm>
  );
}

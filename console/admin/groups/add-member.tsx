import { useState } from 'react';
import { useSearch } from '../frame/search/use-search.ts';
import { AddGroupMembers, LocalGroups, Users } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { stale } from './stale.ts';

/** Adds a user to a group; the admin selects the one that is not given. */
export function AddMember({ groupId, userId, onClose }: { groupId?: string; userId?: string; onClose(): void }) {
  const form = useDialogForm({
    initial: { chosen: null as string | null },
    request: ({ chosen }) =>
      request(AddGroupMembers, { input: { groupId: groupId ?? chosen ?? '', userIds: [userId ?? chosen ?? ''] } }),
    invalidates: stale,
    done: t('Member added'),
    onClose,
  });
  const choice = { value: form.values.chosen, onChange: (chosen: string | null) => form.set({ chosen }) };
  return (
    <DialogForm
      {...form.props}
      verb={groupId ? t('Add member') : t('Add to group')}
      disabled={form.values.chosen === null}
    >
      {groupId ? <UserSelect {...choice} /> : <GroupSelect {...choice} />}
    </DialogForm>
  );
}

interface SelectProps {
  value: string | null;
  onChange(id: string | null): void;
}

function UserSelect(props: SelectProps) {
  const { id: projectId } = useProject();
  const [search, setSearch] = useState('');
  const { answer } = useSearch(Users, { projectId, search, filter: null, after: null }, true);
  const options = answer?.users.edges.map(({ node }) => ({
    value: node.id,
    label: node.displayName ? `${node.displayName} · ${node.userName}` : node.userName,
  }));
  return (
    <SearchSelect
      kind="user"
      label={t('User')}
      description={t('The user gets the roles of the group with the next tokens.')}
      options={options}
      onSearch={setSearch}
      {...props}
    />
  );
}

function GroupSelect(props: SelectProps) {
  const { id: projectId } = useProject();
  const [search, setSearch] = useState('');
  const { answer } = useSearch(LocalGroups, { projectId, search }, true);
  return (
    <SearchSelect
      kind="group"
      label={t('Group')}
      description={t('The user gets the roles of the group with the next tokens.')}
      options={answer?.groups.edges.map(({ node }) => ({ value: node.id, label: node.displayName }))}
      onSearch={setSearch}
      {...props}
    />
  );
}

import { useState } from 'react';
import { useMutation } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import { AddGroupMembers, LocalGroups, Users } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { stale } from './stale.ts';

/** Adds a user to a group: the one that is not given is chosen. */
export function AddMember({ groupId, userId, onClose }: { groupId?: string; userId?: string; onClose(): void }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [add, busy, failure] = useMutation(AddGroupMembers, stale);
  const input = { groupId: groupId ?? chosen ?? '', userIds: [userId ?? chosen ?? ''] };
  const submit = async () => {
    if (!(await add({ input })).data) return;
    toast(t('Member added'));
    onClose();
  };
  return (
    <DialogForm
      verb={groupId ? t('Add member') : t('Add to group')}
      {...{ busy, failure, onClose }}
      disabled={chosen === null}
      graphql={request(AddGroupMembers, { input })}
      onSubmit={() => void submit()}
    >
      {groupId ? (
        <UserSelect value={chosen} onChange={setChosen} />
      ) : (
        <GroupSelect value={chosen} onChange={setChosen} />
      )}
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
      label={t('User')}
      description={t('The user gets the roles of the group with the next tokens.')}
      options={options ?? []}
      onSearch={setSearch}
      nothing={t('No matching user')}
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
      label={t('Group')}
      description={t('The user gets the roles of the group with the next tokens.')}
      options={answer?.groups.edges.map(({ node }) => ({ value: node.id, label: node.displayName })) ?? []}
      onSearch={setSearch}
      nothing={t('No matching group')}
      {...props}
    />
  );
}

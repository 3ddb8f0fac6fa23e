import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useMutation, useQuery } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import { AssignRole, AuditEvents, Clients, Roles, UserRoles } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';

/** Assigns a role of an application to the user. */
export function AssignRoleForm({ userId, onClose }: { userId: string; onClose(): void }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const [clientId, setClientId] = useState<string | null>(null);
  const [roleId, setRoleId] = useState<string>();
  const [assign, busy, failure] = useMutation(AssignRole, [UserRoles, AuditEvents]);
  const { answer } = useSearch(Clients, { projectId: project.id, search, after: null }, true);
  const { data } = useQuery(Roles, { clientId: clientId ?? '' }, { pause: clientId === null });
  const roles = clientId === null ? undefined : data?.roles;
  const wanted = roleId ?? roles?.[0]?.id;
  const input = { roleId: wanted ?? '', userId };
  const submit = async () => {
    if (!(await assign({ input })).data) return;
    toast(t('Role assigned'));
    onClose();
  };
  return (
    <DialogForm
      verb={t('Assign role')}
      {...{ busy, failure, onClose }}
      disabled={wanted === undefined}
      graphql={request(AssignRole, { input })}
      onSubmit={() => void submit()}
    >
      <SearchSelect
        label={t('Application')}
        options={answer?.clients.edges.map(({ node }) => ({ value: node.id, label: node.name })) ?? []}
        value={clientId}
        onChange={(id) => {
          setClientId(id);
          setRoleId(undefined);
        }}
        onSearch={setSearch}
        nothing={t('No matching application')}
      />
      <NativeSelect
        label={t('Role')}
        disabled={!roles?.length}
        description={roles?.length === 0 ? t('This application has no roles yet.') : undefined}
        value={wanted ?? ''}
        data={roles?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        onChange={(event) => setRoleId(event.currentTarget.value)}
      />
    </DialogForm>
  );
}

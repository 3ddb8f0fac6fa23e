import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import {
  AssignRole,
  AuditEvents,
  Clients,
  GroupRoles,
  Roles,
  UserApplications,
  UserRoles,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';

interface AssignRoleProps {
  to: { userId: string } | { groupId: string };
  onClose(): void;
}

/** Assigns a role of an application to the user or group. */
export function AssignRoleForm({ to, onClose }: AssignRoleProps) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const [clientId, setClientId] = useState<string | null>(null);
  const { answer } = useSearch(Clients, { projectId: project.id, search, after: null }, true);
  const { data } = useQuery(Roles, { clientId: clientId ?? '' }, { pause: clientId === null });
  const roles = clientId === null ? undefined : data?.roles;
  const form = useDialogForm({
    initial: { roleId: undefined as string | undefined },
    request: ({ roleId = roles?.[0]?.id ?? '' }) => request(AssignRole, { input: { roleId, ...to } }),
    invalidates: [UserRoles, GroupRoles, UserApplications, AuditEvents],
    done: t('Role assigned'),
    onClose,
  });
  const { roleId = roles?.[0]?.id } = form.values;
  return (
    <DialogForm {...form.props} verb={t('Assign role')} disabled={roleId === undefined}>
      <SearchSelect
        label={t('Application')}
        kind="application"
        options={answer?.clients.edges.map(({ node }) => ({ value: node.id, label: node.name }))}
        value={clientId}
        onChange={(id) => {
          setClientId(id);
          form.set({ roleId: undefined });
        }}
        onSearch={setSearch}
      />
      <NativeSelect
        label={t('Role')}
        disabled={!roles?.length}
        description={roles?.length === 0 ? t('This application has no roles yet.') : undefined}
        data={roles?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        {...form.field('roleId')}
        value={roleId ?? ''}
      />
    </DialogForm>
  );
}

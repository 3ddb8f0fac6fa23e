import { Button, Modal, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { useMutation, useQuery } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import {
  AssignRole,
  AuditEvents,
  Clients,
  Roles,
  UnassignRole,
  UserRoles as UserRolesOf,
  type UserRolesQuery,
} from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';

type Held = UserRolesQuery['userRoles'][number];

/** The user's roles in applications, direct and by groups. */
export function UserRoles({ userId, mayChange }: { userId: string; mayChange: boolean }) {
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(UserRolesOf, { userId });
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<Held>();
  const held = data?.userRoles;
  if (failure && !held) return <LoadError failure={failure} subject="the list of roles" retry={reload} />;
  const columns: Column<Held>[] = [
    {
      header: 'Application',
      isName: true,
      width: '30%',
      cell: ({ role }) => <Link to={path(`applications/${role.client.id}/roles`)}>{role.client.name}</Link>,
    },
    { header: 'Role', cell: ({ role }) => role.name },
    {
      header: 'Assigned',
      cell: ({ direct, groups }) =>
        [...(direct ? ['Directly'] : []), ...groups.map(({ displayName }) => `By the group ${displayName}`)].join(', '),
    },
    ...(mayChange
      ? [
          actionColumn<Held>(
            'Remove',
            ({ role }) => `Remove ${role.name}`,
            setLeaving,
            ({ direct }) => direct,
          ),
        ]
      : []),
  ];
  return (
    <Section
      flush
      title="Roles"
      lead="What this user may do in applications."
      actions={
        mayChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            Assign role
          </Button>
        )
      }
    >
      <DataTable
        label="Roles"
        columns={columns}
        rows={held}
        keyOf={({ role }) => role.id}
        skeletonRows={1}
        empty={<Empty icon="shield" title="No roles" />}
      />
      <Modal opened={isNew} onClose={() => setNew(false)} title="Assign a role">
        {isNew && <AssignForm userId={userId} onClose={() => setNew(false)} />}
      </Modal>
      <ConfirmMutation
        title={`Take the role ${leaving?.role.name} from this user?`}
        verb="Take away"
        operation={UnassignRole}
        variables={leaving && { input: { roleId: leaving.role.id, userId } }}
        invalidates={[UserRolesOf, AuditEvents]}
        done="Role taken away"
        onClose={() => setLeaving(undefined)}
      >
        <p>Tokens issued to {leaving?.role.client.name} from now on do not have it.</p>
        {leaving && leaving.groups.length > 0 && <p>The user still holds it by a group.</p>}
      </ConfirmMutation>
    </Section>
  );
}

function AssignForm({ userId, onClose }: { userId: string; onClose(): void }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const [clientId, setClientId] = useState<string | null>(null);
  const [roleId, setRoleId] = useState<string>();
  const [assign, busy, failure] = useMutation(AssignRole, [UserRolesOf, AuditEvents]);
  const { answer } = useSearch(Clients, { projectId: project.id, search, after: null }, true);
  const { data } = useQuery(Roles, { clientId: clientId ?? '' }, { pause: clientId === null });
  const roles = clientId === null ? undefined : data?.roles;
  const wanted = roleId ?? roles?.[0]?.id;
  const input = { roleId: wanted ?? '', userId };
  const submit = async () => {
    if (!(await assign({ input })).data) return;
    toast('Role assigned');
    onClose();
  };
  return (
    <DialogForm
      verb="Assign role"
      {...{ busy, failure, onClose }}
      disabled={wanted === undefined}
      graphql={request(AssignRole, { input })}
      onSubmit={() => void submit()}
    >
      <SearchSelect
        label="Application"
        options={answer?.clients.edges.map(({ node }) => ({ value: node.id, label: node.name })) ?? []}
        value={clientId}
        onChange={(id) => {
          setClientId(id);
          setRoleId(undefined);
        }}
        onSearch={setSearch}
        nothing="No matching application"
      />
      <NativeSelect
        label="Role"
        disabled={!roles?.length}
        description={roles?.length === 0 ? 'This application has no roles yet.' : undefined}
        value={wanted ?? ''}
        data={roles?.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        onChange={(event) => setRoleId(event.currentTarget.value)}
      />
    </DialogForm>
  );
}

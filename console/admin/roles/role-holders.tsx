import { Badge, Button, Modal, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useMutation, useQuery } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import {
  AssignRole,
  AuditEvents,
  RoleAssignments,
  type RoleAssignmentsQuery,
  type RoleRowFragment,
  Roles,
  SearchHolders,
  UnassignRole,
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
import { Time } from '../ui/time.tsx';

type Assignment = RoleAssignmentsQuery['roleAssignments']['edges'][number]['node'];

interface RoleHoldersProps {
  role: RoleRowFragment;
  mayChange: boolean;
}

/** The users and groups with a role. */
export function RoleHolders({ role, mayChange }: RoleHoldersProps) {
  const path = useProjectPath();
  const [after, setAfter] = useState<string | null>(null);
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<Assignment>();
  const { data, failure, reload } = useQuery(RoleAssignments, { roleId: role.id, after }, { keep: true });
  const page = data?.roleAssignments;
  if (failure && !page) return <LoadError failure={failure} subject="the holders" retry={reload} />;
  const columns: Column<Assignment>[] = [
    { header: 'Name', isName: true, width: '40%', cell: nameOf },
    { header: 'Kind', cell: ({ group }) => (group ? <Badge color="accent">Group</Badge> : <Badge>User</Badge>) },
    { header: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(mayChange ? [actionColumn<Assignment>('Remove', (one) => `Remove ${nameOf(one)}`, setLeaving)] : []),
  ];
  return (
    <Section
      flush
      title={`Holders of ${role.name}`}
      lead="Members of a group hold the roles of the group."
      actions={
        mayChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            Assign
          </Button>
        )
      }
    >
      <DataTable
        label={`Holders of ${role.name}`}
        columns={columns}
        rows={page?.edges.map(({ node }) => node)}
        linkOf={({ user, group }) => path(user ? `users/${user.id}` : `groups/${group?.id}`)}
        skeletonRows={2}
        empty={<Empty icon="users" title="Not assigned yet" />}
      />
      {(after || page?.pageInfo.hasNextPage) && (
        <Button.Group p="sm">
          <Button variant="default" size="xs" disabled={!after} onClick={() => setAfter(null)}>
            First page
          </Button>
          <Button
            variant="default"
            size="xs"
            disabled={!page?.pageInfo.hasNextPage}
            onClick={() => setAfter(page?.pageInfo.endCursor ?? null)}
          >
            Next page
          </Button>
        </Button.Group>
      )}
      <Modal opened={isNew} onClose={() => setNew(false)} title={`Assign ${role.name}`}>
        {isNew && <AssignForm role={role} onClose={() => setNew(false)} />}
      </Modal>
      <ConfirmMutation
        title={`Take ${role.name} from ${leaving && nameOf(leaving)}?`}
        verb="Take away"
        operation={UnassignRole}
        variables={leaving && { input: { roleId: role.id, ...holderOf(leaving) } }}
        invalidates={[Roles, RoleAssignments, AuditEvents]}
        done="Role taken away"
        onClose={() => setLeaving(undefined)}
      >
        <p>Tokens issued from now on do not have the role. Earlier tokens keep it until they expire.</p>
      </ConfirmMutation>
    </Section>
  );
}

/** Assigns the role to a user or a group. */
function AssignForm({ role: { id: roleId }, onClose }: { role: RoleRowFragment; onClose(): void }) {
  const project = useProject();
  const [kind, setKind] = useState<'user' | 'group'>('user');
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [assign, busy, refused] = useMutation(AssignRole, [Roles, RoleAssignments, AuditEvents]);
  const { answer } = useSearch(SearchHolders, { projectId: project.id, search }, true);
  const found = kind === 'user' ? answer?.users.edges.map(userOption) : answer?.groups.edges.map(groupOption);
  const input = { roleId, ...(kind === 'user' ? { userId: chosen } : { groupId: chosen }) };
  const submit = async () => {
    if (!(await assign({ input })).data) return;
    toast('Role assigned');
    onClose();
  };
  return (
    <DialogForm
      verb="Assign role"
      {...{ busy, failure: refused, onClose }}
      disabled={chosen === null}
      graphql={request(AssignRole, { input })}
      onSubmit={() => void submit()}
    >
      <SegmentedControl
        aria-label="Kind of holder"
        value={kind}
        data={[
          { value: 'user', label: 'User' },
          { value: 'group', label: 'Group' },
        ]}
        onChange={(next) => {
          setKind(next as 'user' | 'group');
          setChosen(null);
          setSearch('');
        }}
      />
      <SearchSelect
        key={kind}
        label={kind === 'user' ? 'User' : 'Group'}
        placeholder={kind === 'user' ? 'Name, e-mail or user name' : 'Name'}
        options={found ?? []}
        value={chosen}
        onChange={setChosen}
        onSearch={setSearch}
        nothing={kind === 'user' ? 'No matching user' : 'No matching group'}
      />
    </DialogForm>
  );
}

const nameOf = ({ user, group }: Assignment) => user?.displayName ?? user?.userName ?? group?.displayName ?? '';
const holderOf = ({ user, group }: Assignment) => (user ? { userId: user.id } : { groupId: group?.id });
const userOption = ({ node }: { node: { id: string; userName: string; displayName?: string | null } }) => ({
  value: node.id,
  label: node.displayName ? `${node.displayName} (${node.userName})` : node.userName,
});
const groupOption = ({ node }: { node: { id: string; displayName: string } }) => ({
  value: node.id,
  label: node.displayName,
});

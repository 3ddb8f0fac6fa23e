import { Badge, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
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
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { PageButtons } from '../ui/lists/page-buttons.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Assignment = RoleAssignmentsQuery['roleAssignments']['edges'][number]['node'];

const stale = [Roles, RoleAssignments, AuditEvents];

interface RoleHoldersProps {
  role: RoleRowFragment;
  mayChange: boolean;
}

/** The users and groups with a role. */
export function RoleHolders({ role, mayChange }: RoleHoldersProps) {
  const path = useProjectPath();
  const [after, setAfter] = useState<string | null>(null);
  const [dialog, { open, confirm }] = useDialog();
  const { data, failure, reload } = useQuery(RoleAssignments, { roleId: role.id, after }, { keep: true });
  const page = data?.roleAssignments;
  if (failure && !page) return <LoadError failure={failure} subject={t('the holders')} retry={reload} />;
  const assign = () =>
    open(t('Assign {name}', { name: role.name }), (close) => <AssignForm role={role} onClose={close} />);
  const remove = (one: Assignment) =>
    confirm({
      title: t('Remove the role {name} from {holder}?', { name: role.name, holder: nameOf(one) }),
      effect: <p>{t('Tokens issued from now on do not have the role. Earlier tokens keep it until they expire.')}</p>,
      verb: t('Remove'),
      request: request(UnassignRole, { input: { roleId: role.id, ...holderOf(one) } }),
      invalidates: stale,
      done: t('Role removed'),
    });
  const columns: Columns<Assignment> = [
    { header: t('Name'), isName: true, width: '40%', cell: nameOf },
    {
      header: t('Kind'),
      cell: ({ group }) => (group ? <Badge color="accent">{t('Group')}</Badge> : <Badge>{t('User')}</Badge>),
    },
    { header: t('Since'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    mayChange && actionColumn(t('Remove'), (one) => t('Remove {name}', { name: nameOf(one) }), remove),
  ];
  return (
    <TableSection
      title={t('Holders of {name}', { name: role.name })}
      lead={t('Members of a group hold the roles of the group.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={assign}>
            {t('Assign')}
          </AddButton>
        )
      }
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      linkOf={({ user, group }) => path(user ? `users/${user.id}` : `groups/${group?.id}`)}
      skeletonRows={2}
      empty={<Empty icon="users" title={t('Not assigned yet')} />}
    >
      <PageButtons after={after} pageInfo={page?.pageInfo} onChange={setAfter} />
      {dialog}
    </TableSection>
  );
}

/** Assigns the role to a user or a group. */
export function AssignForm({ role: { id: roleId }, onClose }: { role: RoleRowFragment; onClose(): void }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const form = useDialogForm({
    initial: { kind: 'user' as 'user' | 'group', chosen: null as string | null },
    request: ({ kind, chosen }) =>
      request(AssignRole, { input: { roleId, ...(kind === 'user' ? { userId: chosen } : { groupId: chosen }) } }),
    invalidates: stale,
    done: t('Role assigned'),
    onClose,
  });
  const { kind, chosen } = form.values;
  const { answer } = useSearch(SearchHolders, { projectId: project.id, search }, true);
  const found = kind === 'user' ? answer?.users.edges.map(userOption) : answer?.groups.edges.map(groupOption);
  return (
    <DialogForm {...form.props} verb={t('Assign role')} disabled={chosen === null}>
      <SegmentedControl
        aria-label={t('Kind of holder')}
        value={kind}
        data={[
          { value: 'user', label: t('User') },
          { value: 'group', label: t('Group') },
        ]}
        onChange={(next) => {
          form.set({ kind: next as 'user' | 'group', chosen: null });
          setSearch('');
        }}
      />
      <SearchSelect
        key={kind}
        kind={kind}
        label={kind === 'user' ? t('User') : t('Group')}
        placeholder={kind === 'user' ? t('Name, email or user name') : t('Name')}
        options={found}
        value={chosen}
        onChange={(id) => form.set({ chosen: id })}
        onSearch={setSearch}
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

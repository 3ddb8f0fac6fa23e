import { Badge, Modal, SegmentedControl } from '@mantine/core';
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
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Columns, DataTable } from '../ui/lists/data-table.tsx';
import { PageButtons } from '../ui/lists/page-buttons.tsx';
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
  if (failure && !page) return <LoadError failure={failure} subject={t('the holders')} retry={reload} />;
  const columns: Columns<Assignment> = [
    { header: t('Name'), isName: true, width: '40%', cell: nameOf },
    {
      header: t('Kind'),
      cell: ({ group }) => (group ? <Badge color="accent">{t('Group')}</Badge> : <Badge>{t('User')}</Badge>),
    },
    { header: t('Since'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    mayChange && actionColumn(t('Remove'), (one) => t('Remove {name}', { name: nameOf(one) }), setLeaving),
  ];
  return (
    <Section
      flush
      title={t('Holders of {name}', { name: role.name })}
      lead={t('Members of a group hold the roles of the group.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={() => setNew(true)}>
            {t('Assign')}
          </AddButton>
        )
      }
    >
      <DataTable
        label={t('Holders of {name}', { name: role.name })}
        columns={columns}
        rows={page?.edges.map(({ node }) => node)}
        linkOf={({ user, group }) => path(user ? `users/${user.id}` : `groups/${group?.id}`)}
        skeletonRows={2}
        empty={<Empty icon="users" title={t('Not assigned yet')} />}
      />
      <PageButtons after={after} pageInfo={page?.pageInfo} onChange={setAfter} />
      <Modal opened={isNew} onClose={() => setNew(false)} title={t('Assign {name}', { name: role.name })}>
        {isNew && <AssignForm role={role} onClose={() => setNew(false)} />}
      </Modal>
      <ConfirmMutation
        title={t('Remove the role {name} from {holder}?', { name: role.name, holder: leaving && nameOf(leaving) })}
        verb={t('Remove')}
        operation={UnassignRole}
        variables={leaving && { input: { roleId: role.id, ...holderOf(leaving) } }}
        invalidates={[Roles, RoleAssignments, AuditEvents]}
        done={t('Role removed')}
        onClose={() => setLeaving(undefined)}
      >
        <p>{t('Tokens issued from now on do not have the role. Earlier tokens keep it until they expire.')}</p>
      </ConfirmMutation>
    </Section>
  );
}

/** Assigns the role to a user or a group. */
function AssignForm({ role: { id: roleId }, onClose }: { role: RoleRowFragment; onClose(): void }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const form = useDialogForm({
    initial: { kind: 'user' as 'user' | 'group', chosen: null as string | null },
    request: ({ kind, chosen }) =>
      request(AssignRole, { input: { roleId, ...(kind === 'user' ? { userId: chosen } : { groupId: chosen }) } }),
    invalidates: [Roles, RoleAssignments, AuditEvents],
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
        label={kind === 'user' ? t('User') : t('Group')}
        placeholder={kind === 'user' ? t('Name, email or user name') : t('Name')}
        options={found ?? []}
        value={chosen}
        onChange={(id) => form.set({ chosen: id })}
        onSearch={setSearch}
        nothing={kind === 'user' ? t('No matching user') : t('No matching group')}
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

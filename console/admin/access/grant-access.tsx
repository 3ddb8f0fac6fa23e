import { NativeSelect, SegmentedControl } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useQuery } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import {
  AccessToClient,
  AuditEvents,
  GrantAccess,
  Roles,
  SearchHolders,
  SearchOrganizations,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';

const kinds = {
  group: t('Group'),
  organization: t('Organization'),
  role: t('Role'),
  user: t('User'),
} as const;
type Kind = keyof typeof kinds;
const noOrganizations = [t('No matching organizations'), t('No organizations yet')] as const;

/** Gives access to a group, an organization, a role of the application, or a user. */
export function GrantAccessForm({ clientId, onClose }: { clientId: string; onClose(): void }) {
  const { id: projectId, organizationsEnabled } = useProject();
  const [search, setSearch] = useState('');
  const form = useDialogForm({
    initial: { kind: 'group' as Kind, chosen: null as string | null },
    request: ({ kind, chosen }) => request(GrantAccess, { input: { clientId, ...holderOf(kind, chosen) } }),
    invalidates: [AccessToClient, AuditEvents],
    done: t('Access given'),
    onClose,
  });
  const { kind, chosen } = form.values;
  const { answer } = useSearch(SearchHolders, { projectId, search }, true);
  const organizations = useSearch(SearchOrganizations, { projectId, search }, kind === 'organization').answer;
  const { data } = useQuery(Roles, { clientId });
  const firstRole = data?.roles[0]?.key;
  useEffect(() => {
    // The roles may arrive after the choice of the kind.
    if (kind === 'role' && chosen === null && firstRole !== undefined) form.set({ chosen: firstRole });
  }, [kind, chosen, firstRole]);
  const found = {
    group: answer?.groups.edges.map(({ node: { id, displayName } }) => ({ value: id, label: displayName })),
    organization: organizations?.organizations.edges.map(({ node: { id, name, slug } }) => ({
      value: id,
      label: `${name} (${slug})`,
    })),
    user: answer?.users.edges.map(({ node: { id, displayName, userName } }) => ({
      value: id,
      label: displayName ? `${displayName} (${userName})` : userName,
    })),
  };
  return (
    <DialogForm {...form.props} verb={t('Give access')} disabled={chosen === null}>
      <SegmentedControl
        aria-label={t('Kind of holder')}
        value={kind}
        data={Object.entries(kinds)
          .filter(([value]) => organizationsEnabled || value !== 'organization')
          .map(([value, label]) => ({ value, label }))}
        onChange={(next) => {
          form.set({ kind: next as Kind, chosen: null });
          setSearch('');
        }}
      />
      {kind === 'role' ? (
        <NativeSelect
          label={t('Role')}
          disabled={!data?.roles.length}
          description={data?.roles.length === 0 ? t('This application has no roles yet.') : undefined}
          data={data?.roles.map(({ key, name }) => ({ value: key, label: name })) ?? []}
          value={chosen ?? ''}
          onChange={({ currentTarget }) => form.set({ chosen: currentTarget.value })}
        />
      ) : (
        <SearchSelect
          key={kind}
          kind={kind === 'organization' ? noOrganizations : kind}
          label={kinds[kind]}
          placeholder={kind === 'user' ? t('Name, email or user name') : t('Name')}
          options={found[kind]}
          value={chosen}
          onChange={(id) => form.set({ chosen: id })}
          onSearch={setSearch}
        />
      )}
    </DialogForm>
  );
}

const holderOf = (kind: Kind, chosen: string | null) =>
  ({
    group: { groupId: chosen },
    organization: { organizationId: chosen },
    role: { roleKey: chosen },
    user: { userId: chosen },
  })[kind];

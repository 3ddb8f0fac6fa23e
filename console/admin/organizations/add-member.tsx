import { useState } from 'react';
import { useSearch } from '../frame/search/use-search.ts';
import { AddOrganizationMember, SearchMembers } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import type { Organization } from './organization-part.ts';
import { RoleChoice } from './role-choice.tsx';
import { stale } from './stale.ts';

/** Adds a user of the project to an organization. */
export function AddMember({ organization, onClose }: { organization: Organization; onClose(): void }) {
  const { id: projectId } = useProject();
  const [search, setSearch] = useState('');
  const form = useDialogForm({
    initial: { chosen: null as string | null, roleKeys: organization.defaultRoles.map(({ key }) => key) },
    request: ({ chosen, roleKeys }) =>
      request(AddOrganizationMember, { input: { organizationId: organization.id, userId: chosen ?? '', roleKeys } }),
    invalidates: stale,
    done: t('Member added'),
    onClose,
  });
  const { chosen, roleKeys } = form.values;
  const { answer } = useSearch(SearchMembers, { projectId, search }, true);
  return (
    <DialogForm {...form.props} verb={t('Add member')} disabled={chosen === null}>
      <SearchSelect
        kind="user"
        label={t('User')}
        description={t('A user of this project; stays in other organizations.')}
        placeholder={t('Name, email or user name')}
        options={answer?.users.edges.map(({ node: { id, displayName, userName } }) => ({
          value: id,
          label: displayName ? `${displayName} (${userName})` : userName,
        }))}
        value={chosen}
        onChange={(id) => form.set({ chosen: id })}
        onSearch={setSearch}
        error={form.faultAt('userId')}
      />
      <RoleChoice
        label={t('Roles')}
        description={t('Preset: the default roles of the organization.')}
        value={roleKeys}
        onChange={(keys) => form.set({ roleKeys: keys })}
        error={form.faultAt('roleKeys')}
      />
    </DialogForm>
  );
}

import { Text } from '@mantine/core';
import { useState } from 'react';
import { useSearch } from '../frame/search/use-search.ts';
import { type ClaimSettingsInput, SearchHolders } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { Section } from '../ui/layout/page.tsx';
import { PreviewedClaims } from './previewed-claims.tsx';

/** The claims that the application receives about a user, unsaved changes included. */
export function ClaimPreview({ clientId, draft }: { clientId: string; draft: ClaimSettingsInput }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const [userId, setUserId] = useState<string | null>(null);
  const { answer } = useSearch(SearchHolders, { projectId: project.id, search }, true);
  const options = answer?.users.edges.map(({ node }) => ({
    value: node.id,
    label: node.displayName ? `${node.displayName} (${node.userName})` : node.userName,
  }));
  // A field that was shown stays, so that it keeps the focus.
  const [hasUsers, setHasUsers] = useState(false);
  if (!hasUsers && options && options.length > 0) setHasUsers(true);
  return (
    <Section title={t('Preview')} lead={t('The claims that this application receives, with unsaved changes.')}>
      {options && !hasUsers && search === '' ? (
        <Text c="dimmed">{t('No users yet')}</Text>
      ) : (
        <>
          <SearchSelect
            kind="user"
            label={t('User')}
            placeholder={t('Name, email or user name')}
            options={options}
            value={userId}
            onChange={setUserId}
            onSearch={setSearch}
          />
          <PreviewedClaims clientId={clientId} userId={userId} draft={draft} />
        </>
      )}
    </Section>
  );
}

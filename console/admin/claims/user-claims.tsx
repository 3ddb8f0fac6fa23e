import { Text } from '@mantine/core';
import { useState } from 'react';
import { useSearch } from '../frame/search/use-search.ts';
import { Clients } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { ViewAsUser } from '../support/view-as.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { PreviewedClaims } from './previewed-claims.tsx';

/** A user's sign-in to an application, and the claims that it receives about them, by saved settings. */
export function UserClaims({ userId }: { userId: string }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  /** Null: the first one. */
  const [chosen, setChosen] = useState<string | null>(null);
  const [first, setFirst] = useState<{ value: string; label: string }>();
  const { answer } = useSearch(Clients, { projectId: project.id, search, after: null }, true);
  const clients = answer?.clients.edges.map(({ node }) => node);
  const found = clients?.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  if (clients && !first && search === '') {
    const enabled = clients.findIndex(({ disabled }) => !disabled);
    const option = found[Math.max(0, enabled)];
    if (!option) return <Text c="dimmed">{t('No applications yet')}</Text>;
    setFirst(option);
  }
  const clientId = chosen ?? first?.value ?? null;
  // It stays when the search changes.
  const isMissing = first && chosen === null && !found.some(({ value }) => value === first.value);
  return (
    <>
      <SearchSelect
        label={t('Application')}
        kind="application"
        options={isMissing ? [first, ...found] : found}
        value={clientId}
        onChange={setChosen}
        onSearch={(text) => setSearch(text === first?.label ? '' : text)}
      />
      {clientId !== null && <ViewAsUser clientId={clientId} userId={userId} />}
      <PreviewedClaims clientId={clientId} userId={userId} />
    </>
  );
}

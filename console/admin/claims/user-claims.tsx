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
  const [clientId, setClientId] = useState<string | null>(null);
  const { answer } = useSearch(Clients, { projectId: project.id, search, after: null }, true);
  return (
    <>
      <SearchSelect
        label={t('Application')}
        options={answer?.clients.edges.map(({ node }) => ({ value: node.id, label: node.name })) ?? []}
        value={clientId}
        onChange={setClientId}
        onSearch={setSearch}
        nothing={t('No matching applications')}
      />
      {clientId !== null && <ViewAsUser clientId={clientId} userId={userId} />}
      <PreviewedClaims clientId={clientId} userId={userId} />
    </>
  );
}

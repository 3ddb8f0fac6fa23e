import { Alert, Badge, Chip, Group, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import { formatClaim } from '../clients/trial/claim-descriptions.ts';
import { useSearch } from '../frame/search/use-search.ts';
import {
  type ClaimSettingsInput,
  PreviewClaims,
  type PreviewClaimsQuery,
  SearchHolders,
} from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { Code } from '../ui/code/code.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { scopes } from './mapping-row.ts';

type Preview = PreviewClaimsQuery['previewClaims'];
type Claim = Preview['claims'][number];

const columns: readonly Column<Claim>[] = [
  { header: 'Claim', isName: true, width: '30%', cell: ({ name }) => <code>{name}</code> },
  { header: 'Value', cell: ({ value }) => formatClaim(value) },
  { header: 'From', width: '26%', cell: originOf },
];

const reasons = { NO_VALUE: 'no value', TOO_LONG: 'too long' } as const;

/** What the application receives about a user, unsaved changes included. */
export function ClaimPreview({ clientId, draft }: { clientId: string; draft: ClaimSettingsInput }) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const [userId, setUserId] = useState<string | null>(null);
  const [asked, setAsked] = useState<string[]>([...scopes]);
  const { answer } = useSearch(SearchHolders, { projectId: project.id, search }, true);
  const [settled] = useDebouncedValue(JSON.stringify(draft), 250);
  const variables = { clientId, userId: userId ?? '', scopes: asked, draft: JSON.parse(settled) as ClaimSettingsInput };
  const { data, failure } = useQuery(PreviewClaims, variables, { pause: userId === null, keep: true });
  const preview = userId === null ? undefined : data?.previewClaims;
  const options = answer?.users.edges.map(({ node }) => ({
    value: node.id,
    label: node.displayName ? `${node.displayName} (${node.userName})` : node.userName,
  }));
  return (
    <Section title="Preview" lead="A user as this application sees them, with unsaved changes.">
      <SearchSelect
        label="User"
        placeholder="Name, e-mail or user name"
        options={options ?? []}
        value={userId}
        onChange={setUserId}
        onSearch={setSearch}
        nothing="No matching user"
      />
      <Chip.Group multiple value={asked} onChange={setAsked}>
        <Group gap="xs" role="group" aria-label="Granted scopes">
          {scopes.map((scope) => (
            <Chip key={scope} value={scope} size="xs" variant="outline" radius="md">
              {scope}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {userId !== null && failure && (
        <Alert color="bad" role="alert" py="xs">
          {failure.path ? `${failure.path}: ` : ''}
          {failure.message}
        </Alert>
      )}
      {preview && (
        <>
          <DataTable
            dense
            label="Claims"
            columns={columns}
            rows={preview.claims}
            keyOf={({ name }) => name}
            empty={<Text c="dimmed">Only the user ID (sub).</Text>}
          />
          {preview.omitted.length > 0 && (
            <Group gap="xs">
              <Text c="dimmed">Not sent:</Text>
              {preview.omitted.map(({ name, reason }) => (
                <Badge key={name} color="note" tt="none">
                  {name}: {reasons[reason]}
                </Badge>
              ))}
            </Group>
          )}
          <Code label="ID token claims" code={JSON.stringify(preview.idToken, null, 2)} />
        </>
      )}
    </Section>
  );
}

function originOf({ scope, mapping }: Claim): string {
  if (!mapping) return `Scope ${scope}`;
  const source = mapping.attribute ?? mapping.template ?? (mapping.list ? 'list' : 'constant');
  return `Mapping: ${source}`;
}

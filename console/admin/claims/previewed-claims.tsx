import { Alert, Badge, Chip, Group, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import { type ClaimSettingsInput, PreviewClaims, type PreviewClaimsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Code } from '../ui/code/code.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { formatClaim } from './claim-descriptions.ts';
import { scopes } from './mapping-row.ts';

type Claim = PreviewClaimsQuery['previewClaims']['claims'][number];

const columns: readonly Column<Claim>[] = [
  { header: t('Claim'), isName: true, width: '30%', cell: ({ name }) => <code>{name}</code> },
  { header: t('Value'), cell: ({ value }) => formatClaim(value) },
  { header: t('From'), width: '26%', cell: originOf },
];

const reasons = { NO_VALUE: t('no value'), TOO_LONG: t('too long') } as const;

interface PreviewedClaimsProps {
  /** Null: not chosen yet. */
  clientId: string | null;
  userId: string | null;
  /** Settings that are not saved. */
  draft?: ClaimSettingsInput;
}

/** The claims of a user for an application, by granted scopes, each with its origin. */
export function PreviewedClaims({ clientId, userId, draft }: PreviewedClaimsProps) {
  const [asked, setAsked] = useState<string[]>([...scopes]);
  const [settled] = useDebouncedValue(JSON.stringify(draft ?? null), 250);
  const isChosen = clientId !== null && userId !== null;
  const variables = {
    clientId: clientId ?? '',
    userId: userId ?? '',
    scopes: asked,
    draft: JSON.parse(settled) as ClaimSettingsInput | null,
  };
  const { data, failure } = useQuery(PreviewClaims, variables, { pause: !isChosen, keep: true });
  const preview = isChosen ? data?.previewClaims : undefined;
  return (
    <>
      <Chip.Group multiple value={asked} onChange={setAsked}>
        <Group gap="xs" role="group" aria-label={t('Granted scopes')}>
          {scopes.map((scope) => (
            <Chip key={scope} value={scope} size="xs" variant="outline" radius="md">
              {scope}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {isChosen && failure && (
        <Alert color="bad" role="alert" py="xs">
          {failure.path ? `${failure.path}: ` : ''}
          {failure.message}
        </Alert>
      )}
      {preview && (
        <>
          <DataTable
            dense
            label={t('Claims')}
            columns={columns}
            rows={preview.claims}
            keyOf={({ name }) => name}
            empty={<Text c="dimmed">{t('Only the user ID (sub).')}</Text>}
          />
          {preview.omitted.length > 0 && (
            <Group gap="xs">
              <Text c="dimmed">{t('Not sent:')}</Text>
              {preview.omitted.map(({ name, reason }) => (
                <Badge key={name} color="note" tt="none">
                  {name}: {reasons[reason]}
                </Badge>
              ))}
            </Group>
          )}
          <Code label={t('ID token claims')} code={JSON.stringify(preview.idToken, null, 2)} />
        </>
      )}
    </>
  );
}

function originOf({ scope, mapping }: Claim): string {
  if (!mapping) return t('Scope {scope}', { scope });
  const source = mapping.attribute ?? mapping.template ?? (mapping.list ? 'list' : 'constant');
  return t('Mapping: {source}', { source });
}

import {
  ActionIcon,
  Button,
  Checkbox,
  Divider,
  Fieldset,
  Group,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import type { ReactNode } from 'react';
import type { ClaimList } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Icon } from '../ui/icon.tsx';
import { listNames, type MappingRow, newRow, type Source, scopes, sourceNames } from './mapping-row.ts';

interface MappingsProps {
  value: readonly MappingRow[];
  onChange(rows: MappingRow[]): void;
  /** Attributes that can be named. */
  attributes: readonly string[];
  disabled: boolean;
}

/** Editor of mapped claims. */
export function Mappings({ value: rows, onChange, attributes, disabled }: MappingsProps) {
  const put = (index: number, values: Partial<MappingRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...values } : row)));
  return (
    <Stack gap="md">
      {rows.length === 0 && <Text c="dimmed">{t('No mapped claims.')}</Text>}
      {rows.map((row, index) => (
        // Mappings have no ID.
        <Fieldset key={index} aria-label={t('Mapping {index}', { index: index + 1 })} disabled={disabled}>
          {index > 0 && <Divider hiddenFrom="sm" mb="md" />}
          <Group align="flex-end" gap="sm">
            <TextInput
              flex="1 1 9rem"
              label={t('Claim')}
              value={row.claim}
              maxLength={128}
              spellCheck={false}
              autoCapitalize="none"
              onChange={(event) => put(index, { claim: event.currentTarget.value })}
            />
            <NativeSelect
              label={t('From')}
              value={row.source}
              data={Object.entries(sourceNames).map(([value, label]) => ({ value, label }))}
              onChange={(event) => put(index, { source: event.currentTarget.value as Source })}
            />
            <SourceField row={row} attributes={attributes} onChange={(values) => put(index, values)} />
            <Group align="flex-end" gap="sm" wrap="nowrap">
              <NativeSelect
                label={t('Sent')}
                value={row.scope}
                data={[
                  { value: '', label: t('Always') },
                  ...scopes.map((scope) => ({ value: scope, label: t('With {scope}', { scope }) })),
                ]}
                onChange={(event) => put(index, { scope: event.currentTarget.value })}
              />
              {!disabled && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="lg"
                  aria-label={t('Remove {claim}', { claim: row.claim || t('mapping') })}
                  onClick={() => onChange(rows.filter((_, at) => at !== index))}
                >
                  <Icon name="close" size={16} />
                </ActionIcon>
              )}
            </Group>
          </Group>
          {editable(row).length > 0 && (
            <Text size="sm" c="dimmed" mt="xs">
              {t(
                'Users can otherwise edit {names} on their account page. Saving this mapping locks it for them, in the whole project.',
                { names: editable(row).join(', ') },
              )}
            </Text>
          )}
        </Fieldset>
      ))}
      {!disabled && (
        <div>
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => onChange([...rows, newRow])}
          >
            {t('Add mapping')}
          </Button>
        </div>
      )}
    </Stack>
  );
}

/** Attributes that users can edit themselves, unless a mapping reads them. */
const ownAttributes = /^(displayName|name\.(given|family)Name|locale|timezone|birthdate|address\..+)$/;

function editable({ source, attribute, template }: MappingRow): string[] {
  const named = source === 'template' ? [...template.matchAll(/\$\{([^{}]*)\}/g)].map(([, name = '']) => name) : [];
  const all = source === 'attribute' ? [attribute] : named;
  return [...new Set(all)].filter((name) => ownAttributes.test(name));
}

interface SourceFieldProps {
  row: MappingRow;
  attributes: readonly string[];
  onChange(values: Partial<MappingRow>): void;
}

/** The input of the chosen source. */
function SourceField({ row, attributes, onChange }: SourceFieldProps): ReactNode {
  const text = { flex: '2 1 14rem', spellCheck: false, autoCapitalize: 'none' } as const;
  switch (row.source) {
    case 'attribute':
      return (
        <NativeSelect
          flex="2 1 14rem"
          label={t('Attribute')}
          value={row.attribute}
          data={[...attributes]}
          onChange={(event) => onChange({ attribute: event.currentTarget.value })}
        />
      );
    case 'template':
      return (
        <TextInput
          {...text}
          label={t('Template')}
          placeholder="${userName}@example.com"
          maxLength={256}
          value={row.template}
          onChange={(event) => onChange({ template: event.currentTarget.value })}
        />
      );
    case 'constant':
      return (
        <TextInput
          {...text}
          label={t('Value')}
          placeholder={t('Text, 42, true or ["a", "b"]')}
          value={row.constant}
          onChange={(event) => onChange({ constant: event.currentTarget.value })}
        />
      );
    case 'list':
      return (
        <>
          <NativeSelect
            flex="1 1 9rem"
            label={t('List')}
            value={row.of}
            data={Object.entries(listNames).map(([value, label]) => ({ value, label }))}
            onChange={(event) => onChange({ of: event.currentTarget.value as ClaimList })}
          />
          <TextInput
            {...text}
            flex="1 1 7rem"
            label={t('Prefix')}
            placeholder={t('All entries')}
            maxLength={100}
            value={row.prefix}
            onChange={(event) => onChange({ prefix: event.currentTarget.value })}
          />
          <Checkbox
            label={t('Remove prefix')}
            mb="0.5rem"
            disabled={row.prefix === ''}
            checked={row.removePrefix}
            onChange={(event) => onChange({ removePrefix: event.currentTarget.checked })}
          />
        </>
      );
  }
}

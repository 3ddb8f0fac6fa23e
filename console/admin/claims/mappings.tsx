import { Checkbox, Divider, Fieldset, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import type { ChangeEvent, ReactNode } from 'react';
import type { ClaimList } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { AddLine, RemoveLine } from '../ui/forms/lines.tsx';
import { optionsOf } from '../ui/forms/options.ts';
import { verbatim } from '../ui/forms/verbatim.ts';
import { listNames, type MappingRow, newRow, type Source, scopes, sourceNames } from './mapping-row.ts';

interface MappingsProps {
  value: readonly MappingRow[];
  onChange(rows: MappingRow[]): void;
  /** Attributes that mappings can name. */
  attributes: readonly string[];
  disabled: boolean;
}

/** Editor of mapped claims. */
export function Mappings({ value: rows, onChange, attributes, disabled }: MappingsProps) {
  return (
    <Stack gap="md">
      {rows.length === 0 && <Text c="dimmed">{t('No mapped claims.')}</Text>}
      {rows.map((row, index) => (
        // Mappings have no ID.
        <Fieldset key={index} aria-label={t('Mapping {index}', { index: index + 1 })} disabled={disabled}>
          {index > 0 && <Divider hiddenFrom="sm" mb="md" />}
          <Mapping
            row={row}
            attributes={attributes}
            onChange={(values) => onChange(rows.with(index, { ...row, ...values }))}
            onRemove={disabled ? undefined : () => onChange(rows.toSpliced(index, 1))}
          />
        </Fieldset>
      ))}
      {!disabled && (
        <div>
          <AddLine onClick={() => onChange([...rows, newRow])}>{t('Add mapping')}</AddLine>
        </div>
      )}
    </Stack>
  );
}

interface SourceFieldProps {
  row: MappingRow;
  attributes: readonly string[];
  onChange(values: Partial<MappingRow>): void;
}

type MappingProps = SourceFieldProps & { onRemove: (() => void) | undefined };

/** The inputs of a mapping, and a note if it locks attributes. */
function Mapping({ row, attributes, onChange, onRemove }: MappingProps) {
  const locked = editable(row);
  return (
    <>
      <Group align="flex-end" gap="sm">
        <TextInput
          {...verbatim}
          flex="1 1 9rem"
          label={t('Claim')}
          value={row.claim}
          maxLength={128}
          onChange={(event) => onChange({ claim: event.currentTarget.value })}
        />
        <NativeSelect
          label={t('From')}
          value={row.source}
          data={optionsOf(sourceNames)}
          onChange={(event) => onChange({ source: event.currentTarget.value as Source })}
        />
        <SourceField row={row} attributes={attributes} onChange={onChange} />
        <Group align="flex-end" gap="sm" wrap="nowrap">
          <NativeSelect
            label={t('Sent')}
            value={row.scope}
            data={[
              { value: '', label: t('Always') },
              ...scopes.map((scope) => ({ value: scope, label: t('With {scope}', { scope }) })),
            ]}
            onChange={(event) => onChange({ scope: event.currentTarget.value })}
          />
          {onRemove && <RemoveLine name={row.claim || t('mapping')} onClick={onRemove} />}
        </Group>
      </Group>
      {locked.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {t(
            'Users can otherwise edit {names} on their account page. Saving this mapping locks it for them, in the whole project.',
            { names: locked.join(', ') },
          )}
        </Text>
      )}
    </>
  );
}

/** Attributes that users can edit themselves, unless a mapping reads them. */
const ownAttributes = /^(displayName|name\.(given|family)Name|locale|timezone|birthdate|address\..+)$/;

function editable({ source, attribute, template }: MappingRow): string[] {
  const named = source === 'template' ? [...template.matchAll(/\$\{([^{}]*)\}/g)].map(([, name = '']) => name) : [];
  const all = source === 'attribute' ? [attribute] : named;
  return [...new Set(all)].filter((name) => ownAttributes.test(name));
}

/** The inputs of the chosen source. */
function SourceField({ row, attributes, onChange }: SourceFieldProps): ReactNode {
  const text = (name: 'template' | 'constant' | 'prefix') => ({
    ...verbatim,
    flex: '2 1 14rem',
    value: row[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => onChange({ [name]: event.currentTarget.value }),
  });
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
        <TextInput {...text('template')} label={t('Template')} placeholder="${userName}@example.com" maxLength={256} />
      );
    case 'constant':
      return <TextInput {...text('constant')} label={t('Value')} placeholder={t('Text, 42, true or ["a", "b"]')} />;
    case 'list':
      return (
        <>
          <NativeSelect
            flex="1 1 9rem"
            label={t('List')}
            value={row.of}
            data={optionsOf(listNames)}
            onChange={(event) => onChange({ of: event.currentTarget.value as ClaimList })}
          />
          <TextInput
            {...text('prefix')}
            flex="1 1 7rem"
            label={t('Prefix')}
            placeholder={t('All entries')}
            maxLength={100}
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

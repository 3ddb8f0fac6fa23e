import { NativeSelect, Text } from '@mantine/core';
import { t } from '../../language/language.ts';
import { DataTable } from '../../ui/lists/data-table.tsx';
import type { Source } from './csv.ts';
import type { Target } from './import-columns.ts';

interface ColumnTableProps {
  source: Source;
  /** The attribute of each column; '' for none. */
  columns: readonly string[];
  targets: readonly Target[];
  disabled: boolean;
  onChange(columns: readonly string[]): void;
}

const samples = 3;

/** The columns of a file with their first values, and the attribute of each. */
export function ColumnTable({ source, columns, targets, disabled, onChange }: ColumnTableProps) {
  const readable = source.body.filter(({ fault }) => fault === undefined).slice(0, samples);
  const rows = source.header.map((heading, at) => ({
    id: String(at),
    at,
    heading: heading.trim() || t('Column {at}', { at: at + 1 }),
    values: readable.map(({ cells }) => cells[at]?.trim() || '–'),
  }));
  return (
    <DataTable
      dense
      label={t('Columns of the file')}
      rows={rows}
      columns={[
        { header: t('Column'), isName: true, width: '26%', cell: ({ heading }) => heading },
        {
          header: t('First values'),
          cell: ({ values }) => (
            <Text span c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {values.join(', ')}
            </Text>
          ),
        },
        {
          header: t('Attribute'),
          width: '34%',
          cell: ({ at, heading }) => (
            <NativeSelect
              aria-label={t('Attribute of {heading}', { heading })}
              value={columns[at] ?? ''}
              disabled={disabled}
              data={[
                { value: '', label: t('Do not import') },
                ...targets.map(({ value, label }) => ({
                  value,
                  label,
                  disabled: columns[at] !== value && columns.includes(value),
                })),
              ]}
              onChange={(event) => onChange(columns.with(at, event.currentTarget.value))}
            />
          ),
        },
      ]}
    />
  );
}

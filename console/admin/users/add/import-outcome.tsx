import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../../ui/buttons.tsx';
import { count } from '../../ui/counted.ts';
import { saveFile } from '../../ui/files/save-file.ts';
import { Icon } from '../../ui/icon.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, DataTable } from '../../ui/lists/data-table.tsx';
import { Facts } from '../../ui/lists/facts.tsx';
import { type Source, toCsv } from './csv.ts';
import type { RefusedLine } from './import-columns.ts';
import type { Progress } from './import-run.ts';

interface OutcomeProps {
  kind: 'check' | 'import';
  progress: Progress;
  source: Source;
  /** Further buttons. */
  children?: ReactNode;
}

/** Refused lines in the table; the report has all. */
const shown = 50;

const columns: Column<RefusedLine>[] = [
  { header: t('Line'), isName: true, width: '6rem', cell: ({ line }) => count.format(line) },
  { header: t('Attribute'), width: '30%', cell: ({ field }) => field ?? '–' },
  { header: t('Reason'), cell: ({ reason }) => reason },
];

/** The result of an import or of its check, with the refused lines. */
export function Outcome({ kind, progress, source, children }: OutcomeProps) {
  const { created, known, refused } = progress;
  const lines = refused.toSorted((a, b) => a.line - b.line);
  return (
    <Section
      title={kind === 'check' ? t('Result of the check') : t('Result')}
      lead={kind === 'check' ? t('Nothing was changed.') : undefined}
      actions={
        <>
          {lines.length > 0 && (
            <SecondaryButton
              leftSection={<Icon name="download" size={16} />}
              onClick={() => saveFile('refused-lines.csv', reportOf(source, lines), 'text/csv')}
            >
              {t('Download report')}
            </SecondaryButton>
          )}
          {children}
        </>
      }
    >
      <Facts
        facts={[
          [kind === 'check' ? t('Would be added') : t('Added'), count.format(created)],
          [t('Already exist'), count.format(known.length)],
          [t('Refused'), count.format(lines.length)],
        ]}
      />
      {lines.length === 0 ? (
        <Alert color="good" mt="md">
          {kind === 'check' ? t('No line would be refused.') : t('No line was refused.')}
        </Alert>
      ) : (
        <>
          <Text mt="lg" mb="xs" fw={550}>
            {t('Refused lines')}
          </Text>
          <DataTable
            dense
            label={t('Refused lines')}
            rows={lines.slice(0, shown)}
            keyOf={({ line }) => String(line)}
            columns={columns}
          />
          {lines.length > shown && (
            <Text c="dimmed" mt="xs">
              {t('And {count, plural, one {# line} other {# lines}} more in the report.', {
                count: lines.length - shown,
              })}
            </Text>
          )}
        </>
      )}
    </Section>
  );
}

/** The refused lines, unchanged, each with its number, attribute and reason. */
function reportOf({ header, body }: Source, refused: Progress['refused']): string {
  const byLine = new Map(body.map((row) => [row.line, row]));
  const rows = refused.map(({ line, field, reason }) => [
    String(line),
    field ?? '',
    reason,
    ...(byLine.get(line)?.cells ?? []),
  ]);
  return toCsv([['line', 'attribute', 'reason', ...header], ...rows]);
}

import { Alert, Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { count, counted } from '../../ui/counted.ts';
import { saveFile } from '../../ui/files/save-file.ts';
import { Icon } from '../../ui/icon.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { DataTable } from '../../ui/lists/data-table.tsx';
import { Facts } from '../../ui/lists/facts.tsx';
import { type Source, toCsv } from './csv.ts';
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

/** What an import did, or would do, and the lines that it refused. */
export function Outcome({ kind, progress, source, children }: OutcomeProps) {
  const { created, known, refused } = progress;
  const lines = refused.toSorted((a, b) => a.line - b.line);
  return (
    <Section
      title={kind === 'check' ? 'Result of the check' : 'Result'}
      lead={kind === 'check' ? 'Nothing was changed.' : undefined}
      actions={
        <>
          {lines.length > 0 && (
            <Button
              variant="default"
              leftSection={<Icon name="download" size={16} />}
              onClick={() => saveFile('refused-lines.csv', reportOf(source, lines), 'text/csv')}
            >
              Download report
            </Button>
          )}
          {children}
        </>
      }
    >
      <Facts
        facts={[
          [kind === 'check' ? 'Would be added' : 'Added', count.format(created)],
          ['Already exist', count.format(known.length)],
          ['Refused', count.format(lines.length)],
        ]}
      />
      {lines.length === 0 ? (
        <Alert color="good" mt="md">
          {kind === 'check' ? 'No line would be refused.' : 'No line was refused.'}
        </Alert>
      ) : (
        <>
          <Text mt="lg" mb="xs" fw={550}>
            Refused lines
          </Text>
          <DataTable
            dense
            label="Refused lines"
            rows={lines.slice(0, shown)}
            keyOf={({ line }) => String(line)}
            columns={[
              { header: 'Line', isName: true, width: '6rem', cell: ({ line }) => count.format(line) },
              { header: 'Attribute', width: '30%', cell: ({ field }) => field ?? '–' },
              { header: 'Reason', cell: ({ reason }) => reason },
            ]}
          />
          {lines.length > shown && (
            <Text c="dimmed" mt="xs">
              And {counted(lines.length - shown, 'line')} more in the report.
            </Text>
          )}
        </>
      )}
    </Section>
  );
}

/** The refused lines as they were, each with its number, attribute and reason. */
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

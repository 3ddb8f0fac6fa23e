import { Box, Skeleton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { t } from '../../language/language.ts';
import styles from './disclosures.module.css';

interface DisclosuresProps<Row> {
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  /** CSS grid columns of the summaries. */
  columns: string;
  /** Like `columns`, on phones. */
  narrowColumns: string;
  /** Cells of the summary. */
  summary(row: Row): ReactNode;
  details(row: Row): ReactNode;
  /** Marks a row that has just arrived. */
  isFresh?(row: Row): boolean;
  skeletonRows?: number;
}

/** Rows that expand to their details. */
export function Disclosures<Row extends { id: string }>(props: DisclosuresProps<Row>) {
  const { rows, columns, narrowColumns, summary, details, isFresh, skeletonRows = 4 } = props;
  if (!rows) {
    return (
      <ol className={styles.list} aria-busy="true" aria-label={t('Loading')}>
        {Array.from({ length: skeletonRows }, (_, index) => (
          <li key={index}>
            <Skeleton h="0.75rem" w="55%" my="md" mx="lg" />
          </li>
        ))}
      </ol>
    );
  }
  return (
    <Box component="ol" className={styles.list} __vars={{ '--columns': columns, '--narrow-columns': narrowColumns }}>
      {rows.map((row) => (
        <li key={row.id} data-fresh={isFresh?.(row) || undefined}>
          <Disclosure summary={summary(row)} details={() => details(row)} />
        </li>
      ))}
    </Box>
  );
}

/** A row. Its details are rendered once it is opened: those of all rows would take longer than the rest of the list. */
function Disclosure({ summary, details }: { summary: ReactNode; details(): ReactNode }) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpened(wasOpened || currentTarget.open)}>
      <summary>{summary}</summary>
      {wasOpened && <div className={styles.details}>{details()}</div>}
    </details>
  );
}

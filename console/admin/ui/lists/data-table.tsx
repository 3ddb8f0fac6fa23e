import { Button, Group, Skeleton, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { t } from '../../language/language.ts';
import styles from './data-table.module.css';

export interface Column<Row> {
  header: string;
  /** Replaces the header text, for example with a checkbox. */
  head?: ReactNode;
  cell(row: Row): ReactNode;
  /** CSS width; other columns share the rest. */
  width?: string;
  /** Links to the row's page; shown first on cards. */
  isName?: boolean;
  align?: 'end';
  /** Makes the header sortable. */
  sort?: { direction: 'ascending' | 'descending' | undefined; onSort(): void } | undefined;
  /** Shown in the corner of a card, without a label. */
  isCorner?: boolean;
  /** Shown on a card without a label. */
  isPlain?: boolean;
}

/** The columns of a table; those that are false are left out. */
export type Columns<Row> = readonly (Column<Row> | false)[];

/** Column with a destructive action per row. @param label name of the button, for screen readers */
export function actionColumn<Row>(
  verb: string,
  label: (row: Row) => string,
  act: (row: NoInfer<Row>) => void,
  applies: (row: Row) => boolean = () => true,
): Column<Row> {
  return {
    header: '',
    align: 'end',
    cell: (row) =>
      applies(row) && (
        <Button variant="subtle" color="red" size="compact-sm" onClick={() => act(row)} aria-label={label(row)}>
          {verb}
        </Button>
      ),
  };
}

interface EditColumnOptions<Row> {
  /** Buttons before these. */
  others?(row: Row): ReactNode;
  mayChange: boolean;
  edit(row: Row): void;
  remove(row: Row): void;
}

/** Column with "Edit" and "Delete" per row. */
export function editColumn<Row extends { name: string }>(options: EditColumnOptions<Row>): Column<Row> {
  const { others, mayChange, edit, remove } = options;
  return {
    header: '',
    align: 'end',
    isPlain: true,
    cell(row) {
      const { name } = row;
      const button = { variant: 'subtle', size: 'compact-sm' };
      return (
        <Group gap={4} wrap="nowrap" display="inline-flex">
          {others?.(row)}
          {mayChange && (
            <>
              <Button {...button} aria-label={t('Edit {name}', { name })} onClick={() => edit(row)}>
                {t('Edit')}
              </Button>
              <Button {...button} color="red" aria-label={t('Delete {name}', { name })} onClick={() => remove(row)}>
                {t('Delete')}
              </Button>
            </>
          )}
        </Group>
      );
    },
  };
}

export interface DataTableProps<Row> {
  /** For screen readers. */
  label: string;
  columns: Columns<Row>;
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  /** Default: the row's `id`. */
  keyOf?(row: Row): string;
  linkOf?(row: Row): string;
  /** Being refetched. */
  stale?: boolean;
  /** Shown if there are no rows. */
  empty?: ReactNode;
  /** Number of skeleton rows while loading. */
  skeletonRows?: number;
  /** Less padding, for a table among other content. */
  dense?: boolean;
}

/** A table; cards on narrow screens. Keeps its height while loading. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf = (row) => (row as { id: string }).id,
  linkOf,
  stale = false,
  empty,
  skeletonRows = 6,
  dense = false,
}: DataTableProps<Row>) {
  if (rows?.length === 0) return empty;
  const shown = columns.filter((column) => column !== false);
  return (
    <table
      className={styles.table}
      aria-label={label}
      aria-busy={!rows || stale}
      data-stale={(rows && stale) || undefined}
      data-dense={dense || undefined}
    >
      <thead>
        <tr>
          {shown.map(({ header, head, width, align, sort }) => (
            <th key={header} scope="col" style={{ width }} data-align={align} aria-sort={sort?.direction}>
              {sort ? (
                <button type="button" className={styles.sort} data-direction={sort.direction} onClick={sort.onSort}>
                  {header}
                </button>
              ) : (
                (head ?? (header || <VisuallyHidden>{t('Actions')}</VisuallyHidden>))
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows
          ? rows.map((row) => (
              <tr key={keyOf(row)} data-linked={linkOf ? true : undefined}>
                {shown.map((column) => (
                  <Cell key={column.header} column={column} row={row} link={linkOf?.(row)} />
                ))}
              </tr>
            ))
          : Array.from({ length: skeletonRows }, (_, row) => (
              <tr key={row}>
                {shown.map(({ header }, index) => (
                  <td key={header}>
                    <Skeleton h="0.75rem" w={index === 0 ? '80%' : '60%'} my={4} />
                  </td>
                ))}
              </tr>
            ))}
      </tbody>
    </table>
  );
}

function Cell<Row>({ column, row, link }: { column: Column<Row>; row: Row; link: string | undefined }) {
  const { header, isName, align, isCorner, isPlain, cell } = column;
  const content = cell(row);
  if (!isName) {
    return (
      <td data-label={isCorner || isPlain ? '' : header} data-align={align} data-corner={isCorner}>
        {content}
      </td>
    );
  }
  return (
    <th scope="row" className={styles.name}>
      {link ? <Link to={link}>{content}</Link> : content}
    </th>
  );
}

import type { ReactNode } from 'react';
import { Link } from 'react-router';
import styles from './data-table.module.css';

export interface Column<Row> {
  header: string;
  /** In the place of the header's words, e.g. a box that chooses all. */
  head?: ReactNode;
  cell(row: Row): ReactNode;
  /** CSS width; the rest share what is left. */
  width?: string;
  /** The row's name: it leads to the row's page, and stands on top where rows become cards. */
  isName?: boolean;
  align?: 'end';
  /** Its header puts the list in order by it. */
  sort?: { direction: 'ascending' | 'descending' | undefined; onSort(): void } | undefined;
  /** On cards it stands in the corner, without a label. */
  isCorner?: boolean;
}

interface DataTableProps<Row> {
  /** For those who do not see it. */
  label: string;
  columns: readonly Column<Row>[];
  /** Absent while there is nothing to show yet. */
  rows: readonly Row[] | undefined;
  keyOf(row: Row): string;
  linkOf?(row: Row): string;
  /** Being read again. */
  stale?: boolean;
  /** In the place of no rows. */
  empty: ReactNode;
  /** How many rows to sketch while they are read. */
  sketch?: number;
}

/** Rows of one kind; on narrow screens, cards. Keeps its height while it is read. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  linkOf,
  stale = false,
  empty,
  sketch = 6,
}: DataTableProps<Row>) {
  if (rows?.length === 0) return empty;
  return (
    <table
      className={styles.table}
      aria-label={label}
      aria-busy={!rows || stale}
      data-stale={(rows && stale) || undefined}
    >
      <thead>
        <tr>
          {columns.map(({ header, head, width, align, sort }) => (
            <th key={header} scope="col" style={{ width }} data-align={align} aria-sort={sort?.direction}>
              {sort ? (
                <button type="button" className={styles.sort} data-direction={sort.direction} onClick={sort.onSort}>
                  {header}
                </button>
              ) : (
                (head ?? header)
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows
          ? rows.map((row) => (
              <tr key={keyOf(row)} data-linked={linkOf ? true : undefined}>
                {columns.map((column) => (
                  <Cell key={column.header} column={column} row={row} link={linkOf?.(row)} />
                ))}
              </tr>
            ))
          : Array.from({ length: sketch }, (_, index) => (
              <tr key={index} className={styles.sketch}>
                {columns.map(({ header }) => (
                  <td key={header}>
                    <i />
                  </td>
                ))}
              </tr>
            ))}
      </tbody>
    </table>
  );
}

function Cell<Row>({ column, row, link }: { column: Column<Row>; row: Row; link: string | undefined }) {
  const { header, isName, align, isCorner, cell } = column;
  const content = cell(row);
  if (!isName) {
    return (
      <td data-label={isCorner ? '' : header} data-align={align} data-corner={isCorner}>
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

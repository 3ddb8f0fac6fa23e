import { t } from '../../language/language.ts';

/** Number of the first row of a page, from the URL; 1 if it is invalid. */
export function firstRow(from: string | undefined): number {
  return from !== undefined && /^[1-9]\d{0,9}$/.test(from) ? Number(from) : 1;
}

interface Page {
  /** Number of the first row. */
  from: number;
  rows: number;
  total: number;
  /** There are more than `total`. */
  isLimited?: boolean | undefined;
}

/** "12 users", "51–100 of 1,999 users". @param counted a number of rows, such as "12 users" */
export function rangeOf({ from, rows, total, isLimited = false }: Page, counted: (total: number) => string): string {
  const last = from + rows - 1;
  // The list has become shorter since the first page: positions are unknown.
  const isKnown = rows > 0 && (isLimited || (rows < total && last <= total));
  const all = isLimited ? t('more than {all}', { all: counted(total) }) : counted(total);
  if (isKnown) return t('{from, number}–{last, number} of {all}', { from, last, all });
  return all.charAt(0).toUpperCase() + all.slice(1);
}

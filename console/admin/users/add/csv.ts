import { t } from '../../language/language.ts';
/** A parsed file. */
export interface Source {
  name: string;
  header: readonly string[];
  body: readonly CsvRow[];
}

/** A row of a file (RFC 4180), or an invalid line. */
export interface CsvRow {
  /** The first line of the row in the file, from 1. */
  line: number;
  cells: readonly string[];
  /** The reason why the line cannot be read; its text is the only cell. */
  fault?: string;
}

/**
 * Reads text as CSV, without blank lines. A broken line affects no other: reading continues on the next line.
 * Separators are commas, semicolons or tabs, by the first line.
 */
export function parseCsv(text: string): CsvRow[] {
  const delimiter = delimiterOf(text);
  const rows: CsvRow[] = [];
  let line = 1;
  for (let start = 0; start < text.length; ) {
    const { cells, end, fault } = readRow(text, start, delimiter);
    if (cells.some((cell) => cell.trim() !== '')) rows.push({ line, cells, ...(fault ? { fault } : {}) });
    line += newlinesIn(text, start, end);
    start = end;
  }
  return rows;
}

interface Read {
  cells: string[];
  /** Index of the next row. */
  end: number;
  fault?: string;
}

function readRow(text: string, start: number, delimiter: string): Read {
  const cells: string[] = [];
  for (let at = start; ; at += 1) {
    if (text[at] === '"') {
      const quoted = readQuoted(text, at);
      if (quoted === undefined) return broken(text, start, t('A quotation mark is not closed'));
      cells.push(quoted.value);
      at = quoted.end;
      if (at < text.length && text[at] !== delimiter && !isNewline(text, at)) {
        return broken(text, start, t('Text follows a closing quotation mark'));
      }
    } else {
      const from = at;
      while (at < text.length && text[at] !== delimiter && !isNewline(text, at)) at += 1;
      cells.push(text.slice(from, at));
    }
    if (text[at] !== delimiter) return { cells, end: afterNewline(text, at) };
  }
}

function readQuoted(text: string, at: number): { value: string; end: number } | undefined {
  let value = '';
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return undefined;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
}

function broken(text: string, start: number, fault: string): Read {
  let at = start;
  while (at < text.length && !isNewline(text, at)) at += 1;
  return { cells: [text.slice(start, at)], end: afterNewline(text, at), fault };
}

const isNewline = (text: string, at: number) => text[at] === '\n' || text[at] === '\r';

function afterNewline(text: string, at: number): number {
  return text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1;
}

function newlinesIn(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < Math.min(end, text.length); at += 1) {
    if (text[at] === '\n' || (text[at] === '\r' && text[at + 1] !== '\n')) count += 1;
  }
  return count;
}

function delimiterOf(text: string): string {
  const [head = ''] = text.split(/[\r\n]/, 1);
  const outside = head.replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t'].map((one) => [one, outside.split(one).length] as const);
  return counts.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** The text of a file: UTF-8, UTF-16 with a byte order mark, else Windows-1252, as spreadsheets save it. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Leading characters that make a spreadsheet evaluate a cell, as in the export of users; some normalize full-width forms. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** Rows as CSV. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  const cellOf = (cell: string) => `"${(formula.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

/** A cell without the apostrophe that {@link toCsv} and the export of users add. */
export function fromCell(cell: string): string {
  return (cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell).trim();
}

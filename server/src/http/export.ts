import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

export const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const mediaTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** What a spreadsheet takes for a formula at the beginning of a cell; full-width forms too, which some fold. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * One record of RFC 4180, with its line end. Everything is quoted, and a text that a spreadsheet would run gets an
 * apostrophe before it.
 */
export function csvRecord(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return csvCell(value.toISOString());
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

export interface Export<Row extends object> {
  /** Without its ending. */
  name: string;
  format: ExportFormat;
  /** The header of each CSV column, and what stands below it. JSON Lines carries rows as they are. */
  columns: { readonly [header: string]: (row: Row) => unknown };
  /** Read no sooner than there is room for them. */
  pages: AsyncIterable<readonly Row[]>;
}

/**
 * Sends rows as a file while they are read. Holds one page at a time, waits for a slow reader, and stops reading when
 * they go away. A failure half-way breaks the connection off, so that nobody takes half a file for the whole.
 */
export async function sendExport<Row extends object>(res: Response, { name, format, columns, pages }: Export<Row>) {
  res.status(200);
  res.setHeader('Content-Type', mediaTypes[format]);
  res.setHeader('Content-Disposition', `attachment; filename="${name}.${format}"`);
  res.setHeader('Cache-Control', 'no-store');
  const heads = Object.keys(columns);
  const cells = Object.values(columns);
  async function* chunks() {
    if (format === 'csv') yield `${heads.map((head) => `"${head}"`).join(',')}\r\n`;
    for await (const page of pages) {
      yield page
        .map((row) => (format === 'csv' ? csvRecord(cells.map((cell) => cell(row))) : `${JSON.stringify(row)}\n`))
        .join('');
    }
  }
  try {
    await pipeline(Readable.from(chunks(), { objectMode: true, highWaterMark: 1 }), res);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

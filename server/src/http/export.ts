import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

export const exportFormats = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const mediaTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** Leading characters that make a spreadsheet evaluate a cell; includes full-width forms, which some normalize. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * One RFC 4180 record with CRLF. Every value is quoted; one that a spreadsheet would evaluate gets a leading apostrophe.
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
  /** File name without extension. */
  name: string;
  format: ExportFormat;
  /** CSV columns by header. JSON Lines writes whole rows. */
  columns: { readonly [header: string]: (row: Row) => unknown };
  /** Read lazily, with backpressure. */
  pages: AsyncIterable<readonly Row[]>;
}

/**
 * Streams rows as a file, one page at a time, with backpressure; stops when the client disconnects. A failure while reading
 * aborts the connection, so that a partial file is not mistaken for a complete one.
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

/** Streams JSON as a file, with backpressure; see {@link sendExport}. */
export async function sendJson(res: Response, name: string, chunks: AsyncGenerator<string>): Promise<void> {
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Disposition', `attachment; filename="${name}"`);
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  await pipeline(Readable.from(chunks), res).catch((error: { code?: unknown }) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}

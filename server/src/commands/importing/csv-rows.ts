import { createReadStream } from 'node:fs';
import { OperatorError } from '../../domain/kernel/problem.ts';

/** A row of a CSV file with a header: cells by the name of their column. */
export interface CsvRow {
  cells: Record<string, string>;
  /** Line at which it begins, from 1. */
  line: number;
}

/** Longest row, in characters. */
const maxLength = 1024 * 1024;

/** The rows of a large CSV file (RFC 4180), one by one. Separators are commas, semicolons or tabs, by the header. */
export async function* csvRows(path: string): AsyncGenerator<CsvRow> {
  let header: string[] | undefined;
  let separator = ',';
  for await (const { line, text } of textsOf(path)) {
    if (text.trim() === '') continue;
    if (header) {
      const cells = cellsOf(text, separator);
      yield { line, cells: Object.fromEntries(header.map((name, at) => [name, cells[at]?.trim() ?? ''])) };
    } else {
      separator = [',', ';', '\t'].find((one) => text.includes(one)) ?? ',';
      header = cellsOf(text, separator).map((name) => name.trim());
    }
  }
}

/** Rows as text: a line break in quotation marks does not end one. */
async function* textsOf(path: string): AsyncGenerator<{ line: number; text: string }> {
  let [text, line, begun, isQuoted] = ['', 1, 1, false];
  const chunks = createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 });
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < (chunk as string).length; at += 1) {
      const char = (chunk as string)[at];
      if (char === '"') isQuoted = !isQuoted;
      if (char !== '\n') continue;
      line += 1;
      if (isQuoted) continue;
      yield { line: begun, text: (text + (chunk as string).slice(from, at)).replace(/^\uFEFF|\r$/g, '') };
      [text, from, begun] = ['', at + 1, line];
    }
    text += (chunk as string).slice(from);
    if (text.length > maxLength) {
      throw new OperatorError(`${path}:${begun} has a row of more than 1 MB: a quotation mark may be missing.`);
    }
  }
  if (isQuoted) throw new OperatorError(`${path}:${begun} has an open quotation mark.`);
  yield { line: begun, text: text.replace(/^\uFEFF|\r$/g, '') };
}

/** A quoted cell has each quotation mark twice. */
function cellsOf(text: string, separator: string): string[] {
  const cells: string[] = [];
  let [cell, isQuoted] = ['', false];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char === '"' && isQuoted && text[at + 1] === '"') {
      cell += char;
      at += 1;
    } else if (char === '"') isQuoted = !isQuoted;
    else if (char === separator && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else cell += char;
  }
  return [...cells, cell];
}

import { describe, expect, it } from 'vitest';
import { decodeText, fromCell, parseCsv, toCsv } from './csv.ts';

const cellsOf = (text: string) => parseCsv(text).map(({ cells }) => cells);

describe('a CSV file', () => {
  it('has quoted cells with separators, quotation marks and line breaks (RFC 4180)', () => {
    expect(parseCsv('a,b\r\n"x, ""y""\r\nz",\r\n\r\nlast,1')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x, "y"\r\nz', ''] },
      { line: 5, cells: ['last', '1'] },
    ]);
  });

  it('is separated by semicolons or tabs as spreadsheets write it', () => {
    expect(cellsOf('a;b\n1,5;2\n')).toEqual([
      ['a', 'b'],
      ['1,5', '2'],
    ]);
    expect(cellsOf('a\tb\r1\t2')).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
    expect(cellsOf('"a;b",c\n"d;e",f')).toEqual([
      ['a;b', 'c'],
      ['d;e', 'f'],
    ]);
  });

  it('loses nothing after a broken line', () => {
    expect(parseCsv('mail\n"a@example.com\nb@example.com\nc"d@example.com\n"e"f\ng@example.com\n"h')).toEqual([
      { line: 1, cells: ['mail'] },
      { line: 2, cells: ['"a@example.com'], fault: 'Text follows a closing quotation mark' },
      { line: 3, cells: ['b@example.com'] },
      { line: 4, cells: ['c"d@example.com'] },
      { line: 5, cells: ['"e"f'], fault: 'Text follows a closing quotation mark' },
      { line: 6, cells: ['g@example.com'] },
      { line: 7, cells: ['"h'], fault: 'A quotation mark is not closed' },
    ]);
  });

  it('is read in time proportional to its length, for any content', () => {
    const lines = 10_000;
    expect(parseCsv('"x\n'.repeat(lines))).toHaveLength(lines);
    expect(parseCsv(`${'"a""b",c\n'.repeat(lines)}"`)).toHaveLength(lines + 1);
  });

  it('is UTF-8, UTF-16 or Windows-1252', () => {
    const utf8 = new TextEncoder();
    expect(decodeText(utf8.encode('\uFEFFJosé'))).toBe('José');
    expect(decodeText(new Uint8Array([0x4a, 0x6f, 0x73, 0xe9]))).toBe('José');
    expect(decodeText(new Uint8Array([0xff, 0xfe, 0x4a, 0x00, 0xe9, 0x00]))).toBe('Jé');
  });

  it('is written without formulas, and read again', () => {
    const rows = [
      ['=cmd|calc', 'a "b", c'],
      ['+41791234567', '-'],
    ];
    const text = toCsv(rows);
    expect(text).toBe('"\'=cmd|calc","a ""b"", c"\r\n"\'+41791234567","\'-"\r\n');
    expect(parseCsv(text).map(({ cells }) => cells.map(fromCell))).toEqual(rows);
  });

  it('has the same characters escaped as the export of users, and is read again', () => {
    for (const first of ['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
      const text = `${first}HYPERLINK(1)`;
      expect(toCsv([[text]])).toBe(`"'${text}"\r\n`);
      expect(fromCell(`'${text}`)).toBe(text);
    }
    expect(toCsv([['\n=1']])).toBe('"\'\n=1"\r\n');
  });
});

import { describe, expect, it } from 'vitest';
import { counted } from '../counted.ts';
import { firstRow, rangeOf } from './range.ts';

describe('the range of a list', () => {
  it.each([
    [{ from: 1, rows: 50, total: 1999 }, '1–50 of 1,999 users'],
    [{ from: 1951, rows: 49, total: 1999 }, '1,951–1,999 of 1,999 users'],
    [{ from: 1, rows: 12, total: 12 }, '12 users'],
    [{ from: 1, rows: 0, total: 0 }, '0 users'],
    [{ from: 1, rows: 50, total: 1000, isLimited: true }, '1–50 of more than 1,000 users'],
    [{ from: 10_001, rows: 50, total: 10_000, isLimited: true }, '10,001–10,050 of more than 10,000 users'],
    // Users were erased in the meantime.
    [{ from: 51, rows: 50, total: 80 }, '80 users'],
  ])('of %o is %s', (page, text) => {
    expect(rangeOf(page, (total) => counted(total, 'user'))).toBe(text);
  });

  it.each([undefined, '', '0', '-5', 'x', '1.5', '99999999999'])('begins at 1 with the parameter %s', (from) => {
    expect(firstRow(from)).toBe(1);
  });

  it('begins at the position in the URL', () => {
    expect(firstRow('51')).toBe(51);
  });
});

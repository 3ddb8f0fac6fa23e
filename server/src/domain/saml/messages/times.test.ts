import { describe, expect, test } from 'vitest';
import { instantOf } from './times.ts';

describe('times', () => {
  test.each([
    ['2026-11-29T12:00:00Z', '2026-11-29T12:00:00.000Z'],
    ['2026-11-29T12:00:00.5Z', '2026-11-29T12:00:00.500Z'],
    ['2026-11-29T12:00:00.123Z', '2026-11-29T12:00:00.123Z'],
    ['2026-11-29T12:00:00.123456789Z', '2026-11-29T12:00:00.123Z'],
  ])('%s is read', (value, at) => {
    expect(instantOf(value, 'x').toISOString()).toBe(at);
  });

  test.each([
    undefined,
    '',
    '2026-11-29',
    '2026-13-29T12:00:00Z',
    '2026-11-29T12:00:00+01:00',
    '2026-11-29T12:00:00.Z',
    '2026-11-29T12:00:00.1234567890Z',
    'x2026-11-29T12:00:00Z',
    '2026-11-29T12:00:00Zx',
  ])('%s is refused', (value) => {
    expect(() => instantOf(value, 'x')).toThrow('malformed: x');
  });
});

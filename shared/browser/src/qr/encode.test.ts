import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeQr } from './encode.ts';

const picture = (text: string) => encodeQr(text).map((row) => row.map((dark) => (dark ? '#' : '.')).join(''));

describe('the QR encoder (ISO/IEC 18004)', () => {
  it('matches a code that an independent reader decoded as HELLO', () => {
    expect(picture('HELLO')).toEqual([
      '#######.##.#..#######',
      '#.....#..##.#.#.....#',
      '#.###.#..####.#.###.#',
      '#.###.#.#..#..#.###.#',
      '#.###.#.#...#.#.###.#',
      '#.....#.#.##..#.....#',
      '#######.#.#.#.#######',
      '........#####........',
      '#...#.######.#####..#',
      '...###..#.###..#.####',
      '#.##..#.#.##..###..#.',
      '###..#...#...##.#....',
      '..#.###..#..###...##.',
      '........###.###..#.##',
      '#######.##..##...#.#.',
      '#.....#....##..#...#.',
      '#.###.#.#..#..###.#.#',
      '#.###.#....##....#.##',
      '#.###.#..###..####...',
      '#.....#..#...##......',
      '#######.#...#####.#.#',
    ]);
  });

  it('matches an otpauth URI that the reader decoded', () => {
    const address = 'otpauth://totp/Acme%3Aada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme';
    const modules = encodeQr(address).map((row) => row.map(Number).join(''));
    expect(createHash('sha256').update(modules.join('\n')).digest('hex')).toBe(
      '0ade28f425b6a40952a0ea3a3309e610f37883127fdd5355f57d980ef402e584',
    );
  });

  it('grows with the text, up to version 20', () => {
    expect(encodeQr('a'.repeat(14))).toHaveLength(21);
    expect(encodeQr('a'.repeat(15))).toHaveLength(25);
    expect(encodeQr('a'.repeat(666))).toHaveLength(97);
    expect(() => encodeQr('a'.repeat(667))).toThrow(RangeError);
  });
});

import { describe, expect, it } from 'vitest';
import { contrast, readable } from './accent.ts';

describe('a project’s colour as text', () => {
  const white: [number, number, number] = [255, 255, 255];
  const black: [number, number, number] = [0, 0, 0];

  it('measures contrast as WCAG 2.2 does', () => {
    expect(contrast(white, black)).toBeCloseTo(21, 5);
    expect(contrast([118, 118, 118], white)).toBeCloseTo(4.54, 2);
  });

  it('stays as it is where it reads, and is moved until it does where not', () => {
    expect(readable([0, 0, 139], white, black, 4.5)).toEqual([0, 0, 139]);
    for (const color of [
      [255, 212, 0],
      [250, 250, 250],
      [0, 255, 128],
    ] as [number, number, number][])
      expect(contrast(readable(color, white, black, 4.5), white)).toBeGreaterThanOrEqual(4.5);
  });
});

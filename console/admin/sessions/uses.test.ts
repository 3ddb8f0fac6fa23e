import { expect, it } from 'vitest';
import { usesOf } from './uses.ts';

it.each([1 / 16, 1 / 40, 0.5, 1, 2])('draws no pause longer than the idle timeout: %d of the maximum age', (idle) => {
  const uses = [...usesOf(idle), 100];
  const longest = Math.max(...uses.slice(1).map((at, index) => at - (uses[index] as number)));
  expect(longest).toBeLessThanOrEqual(idle * 100);
  expect(uses.length).toBeGreaterThan(5);
});

it('returns 120 evenly spaced uses if the pauses are too short to draw', () => {
  expect(usesOf(1 / 8760)).toHaveLength(120);
});

import { describe, expect, it } from 'vitest';
import { change, chartsOf, type Day, lastDays } from './days.ts';

const [quiet] = lastDays([], 1) as [Day];

describe('the charts of the overview', () => {
  it('are absent without data', () => {
    expect(Object.values(chartsOf([quiet, quiet]))).not.toContain(true);
  });

  it.each([
    ['signIns', { refused: 1 }],
    ['activeUsers', { activeUsers: 1 }],
    ['codes', { codesSent: 1 }],
    ['directory', { scimRefused: 1 }],
    ['logouts', { logoutsFailed: 1 }],
  ])('show %s with data', (name, day) => {
    const shown = Object.entries(chartsOf([quiet, { ...quiet, ...day }])).filter(([, isShown]) => isShown);
    expect(shown.map(([chart]) => chart)).toEqual([name]);
  });

  it('omit the directory if none of its requests was refused', () => {
    expect(chartsOf([{ ...quiet, scimRequests: 40 }]).directory).toBe(false);
  });

  it('include each day up to today', () => {
    const days = lastDays([{ ...quiet, signIns: 3 }], 14);
    expect(days).toHaveLength(14);
    expect(change(3, 0)).toBeUndefined();
    expect(change(3, 2)).toBe('+50 %');
  });
});

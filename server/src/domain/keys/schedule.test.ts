import { describe, expect, it } from 'vitest';
import { secondsLater } from '../kernel/clock.ts';
import { currentKey, defaultSchedule, nextKey, succession } from './schedule.ts';

const day = 24 * 3600;
const start = new Date('2026-01-01T00:00:00Z');
const at = (days: number) => secondsLater(start, days * day);
const key = (signsFrom: Date, withdrawnAt: Date | null = null) => ({ alg: 'ES512' as const, signsFrom, withdrawnAt });

describe('the keys’ schedule', () => {
  it('signs with the latest key that may sign', () => {
    const keys = [key(at(0)), key(at(90)), key(at(180))];
    expect(currentKey(keys, 'ES512', at(89))).toBe(keys[0]);
    expect(currentKey(keys, 'ES512', at(90))).toBe(keys[1]);
    expect(nextKey(keys, 'ES512', at(91))).toBe(keys[2]);
  });

  it('never signs with a withdrawn key, nor with one of another algorithm', () => {
    expect(currentKey([key(at(0)), key(at(1), at(2))], 'ES512', at(3))?.signsFrom).toEqual(at(0));
    expect(currentKey([key(at(0))], 'EdDSA', at(3))).toBeUndefined();
  });

  it('never signs with a key that is no longer published', () => {
    expect(currentKey([{ ...key(at(0)), publishedUntil: at(3) }], 'ES512', at(2))).toBeDefined();
    expect(currentKey([{ ...key(at(0)), publishedUntil: at(3) }], 'ES512', at(3))).toBeUndefined();
  });

  it('publishes no successor before the notice period', () => {
    expect(succession([key(at(0))], 'ES512', at(88), defaultSchedule)).toBeUndefined();
    expect(succession([key(at(0))], 'ES512', at(89), defaultSchedule)).toEqual(at(90));
  });

  it('gives the full notice even after a long downtime', () => {
    expect(succession([key(at(0))], 'ES512', at(400), defaultSchedule)).toEqual(at(401));
  });

  it('publishes one successor only', () => {
    expect(succession([key(at(0)), key(at(90))], 'ES512', at(89.5), defaultSchedule)).toBeUndefined();
  });
});

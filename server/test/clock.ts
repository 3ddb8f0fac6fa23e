import type { Clock } from '../src/domain/kernel/clock.ts';

/** A clock that only advances when a test turns it. */
export interface AdjustableClock extends Clock {
  turn(seconds: number): void;
}

export function adjustableClock(start = new Date('2026-03-01T12:00:00.000Z')): AdjustableClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    turn: (seconds) => {
      now += seconds * 1000;
    },
  };
}

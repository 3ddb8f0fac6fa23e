import type { Clock } from '../src/domain/kernel/clock.ts';

/** A clock that only advances when a test turns it. */
export interface TurnableClock extends Clock {
  turn(seconds: number): void;
}

export function turnableClock(start = new Date('2026-03-01T12:00:00.000Z')): TurnableClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    turn: (seconds) => {
      now += seconds * 1000;
    },
  };
}

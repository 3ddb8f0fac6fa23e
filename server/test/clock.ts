import type { Clock } from '../src/domain/kernel/clock.ts';
import type { Services } from '../src/services.ts';

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

/** Runs the sweeps while the clock is ahead, and sets it back. */
export async function sweepAhead(
  { clock, services }: { clock: AdjustableClock; services: Pick<Services, 'auditRetention' | 'retention'> },
  seconds: number,
): Promise<void> {
  clock.turn(seconds);
  await services.auditRetention.advance();
  await services.retention.sweep();
  clock.turn(-seconds);
}

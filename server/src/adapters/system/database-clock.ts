import type { Clock } from '../../domain/kernel/clock.ts';

/** Differences that a machine with NTP has, and that a running clock follows. */
const driftMs = 1_000;
/** Beyond this, the machine's clock is a fault: codes and tokens live for minutes. */
const boundMs = 30_000;
const toleranceMs = 50;

/**
 * The machine's clock, corrected to the database's, so that all processes on a database agree. The first measurement is
 * followed however far the machine is off; later ones if they are small, or if the machine's clock was corrected. A jump
 * of a running machine's clock is reported and not followed.
 */
export class DatabaseClock implements Clock {
  private offsetMs = 0;
  private isMeasured = false;
  /** Milliseconds by which the database's clock is ahead of the machine's. */
  skewMs = 0;
  /** The reason why this process must get no requests; null if the machine's clock is right. */
  fault: string | null = null;
  private readonly machineMs: () => number;
  private readonly onChange: (fault: string | null) => void;

  /** @param onChange called with the fault, or null when the clock is in sync again */
  constructor(onChange: (fault: string | null) => void, machineMs: () => number = () => Date.now()) {
    this.onChange = onChange;
    this.machineMs = machineMs;
  }

  now(): Date {
    return new Date(this.machineMs() + this.offsetMs);
  }

  /**
   * Takes a measurement of the database's clock against {@link now}.
   * @param errorMs how far it may be wrong: half of the round trip
   * @returns {@link skewMs}
   */
  follow(aheadMs: number, errorMs: number): number {
    this.skewMs = Math.round(this.offsetMs + aheadMs);
    const isFollowed = !this.isMeasured || Math.abs(aheadMs) <= driftMs || Math.abs(this.skewMs) <= driftMs;
    if (isFollowed && Math.abs(aheadMs) > errorMs + toleranceMs) this.offsetMs = this.skewMs;
    this.isMeasured = true;
    const fault = Math.abs(this.skewMs) - errorMs > boundMs ? this.describe() : null;
    const isChange = (fault === null) !== (this.fault === null);
    this.fault = fault;
    if (isChange) this.onChange(fault);
    return this.skewMs;
  }

  private describe(): string {
    const seconds = (Math.abs(this.skewMs) / 1000).toFixed(1);
    const side = this.skewMs > 0 ? 'behind' : 'ahead of';
    return `this machine's clock is ${seconds} s ${side} the database's: synchronize both by NTP`;
  }
}

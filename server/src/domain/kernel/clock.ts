/** The only source of time in the domain; tests set it. */
export interface Clock {
  now(): Date;
}

/** Whole seconds since the Unix epoch, as JWT's NumericDate (RFC 7519 §2). */
export function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}

export function secondsLater(at: Date, plusSeconds: number): Date {
  return new Date(at.getTime() + plusSeconds * 1000);
}

export function earliest(...instants: readonly Date[]): Date {
  return new Date(Math.min(...instants.map((at) => at.getTime())));
}

/** True from the instant of expiry on. */
export function isPast(at: Date, now: Date): boolean {
  return at.getTime() <= now.getTime();
}

/** Seconds by which the clocks of processes may differ. */
export const processSkewSeconds = 60;

/** True for a stored instant of the past that lies ahead: a clock that was ahead recorded it, and its age is unknown. */
export function isAhead(at: Date, now: Date): boolean {
  return at.getTime() > now.getTime() + processSkewSeconds * 1000;
}

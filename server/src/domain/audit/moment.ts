/** Maximum difference between the time in an event's id and its `at`. */
const slackMs = 60_000;

/**
 * A lower bound for the ids (UUIDv7, RFC 9562 §5.7) of events at or after `at`. The indexes of events end in the id, so
 * each can be read by time.
 */
export function firstIdFrom(at: Date): string {
  return firstIdAt(new Date(at.getTime() - slackMs));
}

/** An upper bound for the ids of events before `at`. */
export function firstIdAfter(at: Date): string {
  return firstIdAt(new Date(at.getTime() + slackMs));
}

/** The lowest id created at `at`. */
export function firstIdAt(at: Date): string {
  const hex = Math.min(Math.max(0, at.getTime()), 0xffff_ffff_ffff).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** The time in an id; null if it is not a UUIDv7. */
export function momentOf(id: string): Date | null {
  if (id[14] !== '7') return null;
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

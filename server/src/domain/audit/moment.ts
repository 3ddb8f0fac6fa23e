/** Ids are made a moment before or after the time that stands beside them, and never further from it than this. */
const slackMs = 60_000;

/**
 * The smallest UUIDv7 of a moment (RFC 9562 §5.7), less a little: the events from there on hold all from `at` on. The
 * indexes of events end in the id, so that a time is a place in each of them.
 */
export function firstIdFrom(at: Date): string {
  return idAt(at.getTime() - slackMs);
}

/** An id that is greater than that of every event before `at`. */
export function firstIdAfter(at: Date): string {
  return idAt(at.getTime() + slackMs);
}

function idAt(milliseconds: number): string {
  const hex = Math.min(Math.max(0, milliseconds), 0xffff_ffff_ffff).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** When an id was made; null for one that holds no time. */
export function momentOf(id: string): Date | null {
  if (id[14] !== '7') return null;
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

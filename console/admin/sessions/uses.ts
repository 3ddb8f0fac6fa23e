const [fewest, most] = [6, 60];
/** Pauses between uses, as fractions of the longest one allowed; repeated in this order. */
const pauses = [0.55, 0.9, 0.4, 0.75];

/**
 * Times at which a session is used, in percent of its maximum age: never further apart than the idle timeout. If the
 * pauses are too short to draw, the uses are evenly spaced and touch.
 *
 * @param idle the idle timeout as a fraction of the maximum age
 */
export function usesOf(idle: number): number[] {
  const pause = Math.min(idle, 1 / fewest) * 100;
  if (100 / pause > most) return Array.from({ length: most * 2 }, (_, index) => (index * 100) / (most * 2));
  const uses: number[] = [];
  for (let at = 0; at < 100; at += pause * (pauses[uses.length % pauses.length] as number)) uses.push(at);
  return uses;
}

import type { LaneLag } from './channel.ts';

/** A due delivery that has waited longer is late. */
const lateSeconds = 120;

/** The late lanes, in words. Those of slow or failing receivers, whose deliveries wait for their turn, are never late. */
export function lateLanes(lanes: readonly LaneLag[]): string[] {
  return lanes
    .filter(({ lane, seconds }) => seconds > lateSeconds && !lane.endsWith('-slow'))
    .map(({ lane, seconds, pending }) => `${lane}: due for ${Math.round(seconds)} s, ${pending} pending`);
}

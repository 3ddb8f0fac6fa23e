import type { Figures } from './measure.ts';
import { cpuOf, type Row } from './table.ts';

/** CPU per operation of the first subject, as a ratio to the named peer. */
export function lessCpu(figures: readonly Figures[], peer: string, most: number): Row['places'] {
  const [own, other] = pair(figures, peer);
  if (!own || !other) return [];
  const ratio = cpuOf(own) / cpuOf(other);
  return [{ text: `CPU is ${ratio.toFixed(2)} × that of ${peer} (at most ${most.toFixed(2)})`, holds: ratio <= most }];
}

/** Operations per second of the first subject, as a ratio to the named peer. */
export function moreOften(figures: readonly Figures[], peer: string, least: number): Row['places'] {
  const [own, other] = pair(figures, peer);
  if (!own || !other) return [];
  const ratio = own.rate / other.rate;
  return [{ text: `rate is ${ratio.toFixed(2)} × that of ${peer} (at least ${least})`, holds: ratio >= least }];
}

function pair(figures: readonly Figures[], peer: string): [Figures | undefined, Figures | undefined] {
  return [figures[0], figures.find(({ subject }) => subject.startsWith(`${peer} `))];
}

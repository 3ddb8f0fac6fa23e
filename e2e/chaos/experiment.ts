/** A failure experiment: the fault, the pass criteria, and the result. */
export interface Experiment {
  name: string;
  /** The fault, in a few words. */
  done: string;
  /** Pass criteria. */
  passes: string;
  run(options: RunOptions): Promise<Outcome>;
}

interface RunOptions {
  /** 1: as in the table. Less: shorter and smaller. */
  scale: number;
  /** The long version: fuzzing for 10 minutes each, mixed load for an hour. */
  full: boolean;
  log(line: string): void;
}

export interface Outcome {
  /** `skipped`: a requirement is missing on this machine. */
  verdict: 'pass' | 'fail' | 'skipped';
  /** Figures, in a few words. */
  measured: string;
  /** Errors, one per line; the first few are printed. */
  faults?: string[];
}

/** Passes if there are no faults. */
export function evaluate(measured: string, faults: (string | false | undefined)[]): Outcome {
  const found = faults.filter((fault) => typeof fault === 'string');
  return { verdict: found.length === 0 ? 'pass' : 'fail', measured, faults: found };
}

export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Polls until true; false on timeout. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs: number, everyMs = 50): Promise<boolean> {
  for (const deadline = performance.now() + withinMs; performance.now() < deadline; await pause(everyMs)) {
    if (await holds()) return true;
  }
  return holds();
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** One bad day, made on purpose: what is done, what must hold, and what was seen. */
export interface Experiment {
  name: string;
  /** What is done to it, in a few words. */
  done: string;
  /** What must hold for it to pass. */
  passes: string;
  run(options: RunOptions): Promise<Outcome>;
}

export interface RunOptions {
  /** 1: as the table says. Less: shorter and smaller, for a look. */
  scale: number;
  /** The long version: fuzz 10 minutes each, an hour of mixed load. */
  full: boolean;
  say(line: string): void;
}

export interface Outcome {
  /** `skipped`: what it needs is not on this machine. */
  verdict: 'pass' | 'fail' | 'skipped';
  /** Figures, in a few words. */
  measured: string;
  /** What went wrong, a line each; the first few are shown. */
  faults?: string[];
}

/** Passes where nothing is at fault. */
export function judge(measured: string, faults: (string | false | undefined)[]): Outcome {
  const found = faults.filter((fault) => typeof fault === 'string');
  return { verdict: found.length === 0 ? 'pass' : 'fail', measured, faults: found };
}

export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Waits until it holds; false where it does not in time. */
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

import type { Plan } from './harness/measure.ts';

export interface Options {
  /** How long and how often is measured. */
  plan: Plan;
  /** Whether the peers take part; without them nothing has to be installed. */
  peers: boolean;
  /** A run of seconds that shows only that the benchmark works. */
  quick: boolean;
}

export function optionsOf(flags: readonly string[]): Options {
  const quick = flags.includes('--quick');
  const rounds = Number(flags.find((flag) => flag.startsWith('--rounds='))?.slice('--rounds='.length) ?? 5);
  return {
    quick,
    peers: !quick && !flags.includes('--no-peers'),
    plan: quick
      ? { concurrency: 2, rounds: 1, secondsPerRound: 0.3, warmUpSeconds: 0.1 }
      : { concurrency: 8, rounds, secondsPerRound: 3, warmUpSeconds: 2 },
  };
}

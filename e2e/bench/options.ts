import type { Plan } from './harness/measure.ts';

export interface Options {
  /** Duration and rounds. */
  plan: Plan;
  /** Whether to run peers; without them, nothing is installed. */
  peers: boolean;
  /** Whether to run this peer: all, or those of `--peers=a,b`. */
  peersNamed(name: string): boolean;
  /** A run of a few seconds that only tests the benchmark. */
  quick: boolean;
  /** Runs only workloads whose name contains this. */
  only: string | undefined;
  /** File for the tables. */
  out: string | undefined;
  /** User counts for SCIM; each workload runs once per count. */
  populations: number[];
}

export function optionsOf(flags: readonly string[]): Options {
  const valueOf = (name: string) => flags.find((flag) => flag.startsWith(`--${name}=`))?.slice(name.length + 3);
  const quick = flags.includes('--quick');
  const peers = !quick && !flags.includes('--no-peers');
  const named = valueOf('peers')?.split(',');
  const rounds = Number(valueOf('rounds') ?? 3);
  return {
    quick,
    only: valueOf('only'),
    out: valueOf('out'),
    populations: quick ? [100] : (valueOf('population') ?? '10000,100000').split(',').map(Number),
    peers,
    peersNamed: (name) => peers && (named === undefined || named.includes(name)),
    plan: quick
      ? { concurrency: 2, rounds: 1, secondsPerRound: 0.3, warmUpSeconds: 0.1 }
      : // Each connection plans a statement six times, and again when new tables get statistics.
        { concurrency: 8, rounds, secondsPerRound: 3, warmUpSeconds: 10 },
  };
}

import type { Plan } from './harness/measure.ts';

export interface Options {
  /** How long and how often is measured. */
  plan: Plan;
  /** Whether the peers take part; without them nothing has to be installed. */
  peers: boolean;
  /** Whether this one does: all, or those of `--peers=a,b`. */
  peersNamed(name: string): boolean;
  /** A run of seconds that shows only that the benchmark works. */
  quick: boolean;
  /** Only works whose name holds this. */
  only: string | undefined;
  /** Where the tables are written to as well. */
  out: string | undefined;
  /** Users that are there before, in SCIM's works: once for each. */
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
      : { concurrency: 8, rounds, secondsPerRound: 3, warmUpSeconds: 2 },
  };
}

/** Recurring work of each process. A job of `jobs.ts` is run by one of them. */
import { beatSeconds, type Processes } from '../domain/instance/processes.ts';
import type { ProcessTask } from '../domain/kernel/queue.ts';
import type { Keys } from '../domain/keys/keys.ts';
import { lateLanes } from '../domain/relay/late.ts';
import type { Relay } from '../domain/relay/relay.ts';

interface TaskDeps {
  processes: Pick<Processes, 'beat'>;
  keys: Pick<Keys, 'have'>;
  relays: readonly Pick<Relay, 'lag'>[];
  /** Called with the late lanes, in words, at each check. */
  onLate(lanes: readonly string[]): void;
  renewStatistics(): Promise<void>;
}

export function processTasks({ processes, keys, relays, onLate, renewStatistics }: TaskDeps): readonly ProcessTask[] {
  return [
    {
      name: 'process.beat',
      everySeconds: beatSeconds,
      run: () => processes.beat(),
      failure: { level: 'warn', text: 'heartbeat failed' },
    },
    {
      name: 'keys.have',
      everySeconds: beatSeconds,
      run: () => keys.have(),
      failure: { level: 'error', text: 'no signing key' },
    },
    {
      name: 'relays.lag',
      everySeconds: 60,
      run: checkLag,
      failure: { level: 'warn', text: 'check for late deliveries failed' },
    },
    {
      name: 'statistics.renew',
      // Tables grow from nothing within seconds (decisions/0087).
      everySeconds: 2,
      run: renewStatistics,
      failure: { level: 'warn', text: 'renewal of statistics failed' },
    },
  ];

  async function checkLag(): Promise<void> {
    onLate(lateLanes((await Promise.all(relays.map((relay) => relay.lag()))).flat()));
  }
}

/** Runs the tasks until the returned function is called. A failure in a row is logged once. @param log of the process */
export function startTasks(
  tasks: readonly ProcessTask[],
  log: Record<'warn' | 'error', (fields: object, message: string) => void>,
): () => void {
  const timers = tasks.map(({ everySeconds, run, failure }) => {
    let isFailing = false;
    const attempt = () =>
      run().then(
        () => {
          isFailing = false;
        },
        (err: unknown) => {
          if (!isFailing) log[failure.level]({ err }, failure.text);
          isFailing = true;
        },
      );
    return setInterval(() => void attempt(), everySeconds * 1000);
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

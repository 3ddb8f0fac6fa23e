import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActorSet } from '../../test/walk/commands.ts';
import { Processes } from '../../test/walk/processes.ts';
import { attempt, Progress, plans, shrink } from '../../test/walk/replay.ts';

/**
 * Total number of steps of all actors, with concurrent requests; `LATCHKEY_WALK_STEPS=200000` for the long walk
 * (decisions/0067).
 */
const long = process.env['LATCHKEY_WALK_STEPS'];
/** Walks are deterministic by seed, except for concurrent requests. */
const seed = Number(process.env['LATCHKEY_WALK_SEED'] ?? 1);

let processes: Processes;
beforeAll(async () => {
  processes = await Processes.start();
});
afterAll(() => processes.close());

/** Walks with at least this number of steps. @param onProgress gets the number so far, after each plan */
async function walk(
  actors: ActorSet,
  steps: number,
  from = seed,
  onProgress?: (steps: number, isEnd?: boolean) => void,
): Promise<Progress> {
  const progress = new Progress();
  // About 170 steps per plan; some commands take several steps.
  for (const plan of plans(from, Math.ceil(steps / 100), actors)) {
    const { broke, walker } = await attempt(processes, plan);
    progress.add(walker);
    if (broke) onProgress?.(progress.of('steps'), true);
    if (broke) throw await shrink(processes, plan, broke, 60_000);
    onProgress?.(progress.of('steps'));
    if (progress.of('steps') >= steps) break;
  }
  return progress;
}

function expectAtLeast(progress: Progress, least: Record<string, number>): void {
  for (const [name, count] of Object.entries(least))
    expect(progress.of(name), `${name}\n${progress}`).toBeGreaterThanOrEqual(count);
}

const signIns = {
  ...{ codes: 40, tokens: 20, sessions: 10, factors: 5, 'revoked keys': 1 },
  ...{ 'refresh grants': 8, refreshes: 2, 'used recoveries': 1, 'apps of the account page': 1 },
  ...{ 'addresses of the account page': 1, 'requests to sign up': 2 },
};
const mixed = {
  ...{ 'mixed resume 303': 2, 'mixed consent 303': 2, 'mixed exchange 200': 2 },
  ...{ 'mixed delegate-verify 200': 2, 'mixed setup-begin 303': 3, 'mixed account-email-code 303': 1 },
};

describe.runIf(long === undefined)(
  'a random walk through all ways to sign in',
  { timeout: 1_800_000, retry: 0 },
  () => {
    it(`never signs in one user as another (seed ${seed + 20})`, async () => {
      expectAtLeast(await walk('in-turn', 1_700, seed + 20), signIns);
    });

    it(`lets users who mix all values that they have seen act only for themselves (seed ${seed + 3})`, async () => {
      expectAtLeast(await walk('mixed', 400, seed + 3), mixed);
    });
  },
);

describe.runIf(long !== undefined)('a long random walk', () => {
  const steps = Number(long);
  const actors = (process.env['LATCHKEY_WALK_ACTORS'] ?? 'all') as ActorSet;
  it(`breaks no rule (seed ${seed})`, { timeout: 600_000 + steps * 200, retry: 0 }, async () => {
    const startedAt = performance.now();
    let next = 1_000;
    const progress = await walk(actors, steps, seed, (so, isEnd) => {
      if (so < next && !isEnd) return;
      process.stdout.write(`${so} steps ${isEnd ? 'until the' : 'without a'} finding\n`);
      next = so + 1_000;
    });
    const rate = Math.round((progress.of('steps') * 1000) / (performance.now() - startedAt));
    const cpu = Math.round((progress.of('steps') * 1_000_000) / process.cpuUsage().user);
    process.stdout.write(`${rate} steps/s, ${cpu} per CPU second\n${progress}\n`);
    expectAtLeast(progress, { steps });
  });
});

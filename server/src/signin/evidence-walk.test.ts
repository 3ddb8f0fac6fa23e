import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Processes } from '../../test/walk/processes.ts';
import { attempt, plans, shrink, Tally } from '../../test/walk/replay.ts';

/** Total number of steps; `LATCHKEY_WALK_STEPS=200000` for the long walk (decisions/0067). */
const steps = Number(process.env['LATCHKEY_WALK_STEPS'] ?? 1_500);
/** Walks are deterministic by seed. */
const seed = Number(process.env['LATCHKEY_WALK_SEED'] ?? 1);
const isLong = process.env['LATCHKEY_WALK_STEPS'] !== undefined;

let processes: Processes;
beforeAll(async () => {
  processes = await Processes.start();
});
afterAll(() => processes.close());

describe('a random walk through all ways to sign in', () => {
  it(`never signs in one user as another (seed ${seed})`, { timeout: 600_000 + steps * 100, retry: 0 }, async () => {
    const tally = new Tally();
    const begun = performance.now();
    // About 170 steps per plan; some commands take several steps.
    for (const plan of plans(seed, Math.ceil(steps / 100), isLong)) {
      const { broke, walker } = await attempt(processes, plan);
      tally.add(walker);
      if (broke) throw await shrink(processes, plan, broke, 60_000);
      if (tally.of('steps') >= steps) break;
    }
    if (isLong) {
      const rate = Math.round((tally.of('steps') * 1000) / (performance.now() - begun));
      const cpu = Math.round((tally.of('steps') * 1_000_000) / process.cpuUsage().user);
      process.stdout.write(`${rate} steps/s, ${cpu} for each second of the processor\n${tally}\n`);
    }
    const least = { codes: 40, tokens: 20, sessions: 10, factors: 5, 'revoked keys': 1 };
    const others = { 'refresh grants': 8, refreshes: 2, 'used recoveries': 1, 'apps of the account page': 1 };
    for (const [name, count] of Object.entries({ ...least, ...others }))
      expect(tally.of(name), `${name}\n${tally}`).toBeGreaterThanOrEqual(count);
  });
});

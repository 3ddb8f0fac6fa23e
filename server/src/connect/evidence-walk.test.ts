import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../test/walk/organizations/customers.ts';
import { OrganizationWalk, plan, type Step } from '../../test/walk/organizations/walk.ts';

/** Number of steps; `LATCHKEY_WALK_STEPS=200000` for the long walk (decisions/0414). */
const long = process.env['LATCHKEY_WALK_STEPS'];
const seed = Number(process.env['LATCHKEY_WALK_SEED'] ?? 1);
const length = 200;

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

/** Runs steps in a new world; the violation, or null. */
async function attempt(steps: readonly Step[]) {
  const walk = await OrganizationWalk.in(stage);
  try {
    await walk.run(steps);
    return { broke: null, walk };
  } catch (thrown) {
    return { broke: thrown instanceof Error ? thrown : new Error(String(thrown)), walk };
  }
}

/** Removes ever smaller parts of the steps while the same rule breaks. */
async function shrink(steps: readonly Step[], broke: Error): Promise<Error> {
  const until = performance.now() + 60_000;
  let [best, error] = [steps, broke];
  for (let size = Math.ceil(steps.length / 2); size >= 1 && performance.now() < until; size = Math.floor(size / 2)) {
    for (let end = best.length; end > 0 && performance.now() < until; end -= size) {
      const fewer = best.toSpliced(Math.max(0, end - size), Math.min(size, end));
      const again = await attempt(fewer);
      if (again.broke?.message.slice(0, 40) !== broke.message.slice(0, 40)) continue;
      best = fewer;
      error = again.broke;
      error.message += `\n${again.walk.world.script.join('\n')}`;
    }
  }
  error.message += `\nThe steps: ${JSON.stringify(best)}`;
  return error;
}

/** Walks through new worlds; the outcomes that it reached. */
async function walkThrough(steps: number): Promise<Map<string, number>> {
  const reached = new Map<string, number>();
  for (let world = 0; world * length < steps; world += 1) {
    const chosen = plan(seed * 100_003 + world, Math.min(length, steps - world * length));
    const { broke, walk } = await attempt(chosen);
    if (broke) throw await shrink(chosen, broke);
    for (const [name, count] of walk.world.reached) reached.set(name, (reached.get(name) ?? 0) + count);
    if (long !== undefined && world % 10 === 9)
      process.stdout.write(`${(world + 1) * length} steps without a finding\n`);
  }
  return reached;
}

/** Outcomes that a short walk reaches, by a part of their names: one in which every step is refused tests nothing. */
const least = {
  ...{
    'signed in code': 5,
    ': proof': 5,
    'forged: failed': 1,
    'another browser: 400': 1,
    'redeem tokens of an organization': 2,
  },
  ...{
    'refresh tokens of an organization': 1,
    'live in one': 1,
    'use ended': 1,
    'provision 201': 3,
    'off 200': 1,
    foreign: 1,
  },
};

describe('a random walk over organizations', { retry: 0, timeout: 600_000 + Number(long ?? 0) * 200 }, () => {
  it(`breaks no invariant (seed ${seed})`, async () => {
    const reached = await walkThrough(Number(long ?? 400));
    const table = [...reached]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, count]) => `${name}: ${count}`);
    if (long !== undefined) process.stdout.write(`${table.join('\n')}\n`);
    if (long !== undefined && Number(long) < 400) return;
    for (const [part, count] of Object.entries(least)) {
      const sum = [...reached].reduce((total, [name, one]) => total + (name.includes(part) ? one : 0), 0);
      expect(sum, `${part}\n${table.join('\n')}`).toBeGreaterThanOrEqual(count);
    }
  });
});

import fc from 'fast-check';
import type { ActorSet, Command } from './commands.ts';
import { walk } from './commands.ts';
import type { Processes } from './processes.ts';
import { Walker } from './walker.ts';
import type { Policies } from './world.ts';

export interface Plan {
  policies: Policies;
  commands: Command[];
}

/** Plans of walks, deterministic by seed. */
export function plans(seed: number, count: number, actors: ActorSet): Plan[] {
  return fc.sample(walk(60, 240, actors), { seed, numRuns: count });
}

/** Runs a plan in a new world. Returns the violation or null, and its progress. */
export async function attempt(processes: Processes, plan: Plan): Promise<{ broke: Error | null; walker: Walker }> {
  const walker = await Walker.in(processes, plan.policies);
  try {
    await walker.run(plan.commands);
    return { broke: null, walker };
  } catch (thrown) {
    return { broke: thrown instanceof Error ? thrown : new Error(String(thrown)), walker };
  }
}

/** Progress of walks: a walk in which every step is rejected tests nothing. */
export class Progress {
  readonly counts = new Map<string, number>();

  add({ world, script }: Walker): void {
    const { model } = world;
    this.count('steps', model.step);
    this.count('codes', model.codes.length);
    this.count('tokens', model.tokens.length);
    this.count('sessions', model.sessions.size);
    this.count('devices', model.devices.size);
    this.count('passkeys', model.passkeys.size);
    this.count('revoked passkeys', [...model.passkeys.values()].filter(({ isRevoked }) => isRevoked).length);
    this.count('factors', [...model.enrolments.values()].filter(({ verified }) => verified).length);
    const ofAccount = [...model.enrolments.values()].filter(({ begunFor }) => model.sessions.has(begunFor ?? ''));
    this.count('apps of the account page', ofAccount.filter(({ verified }) => verified).length);
    const ofEmail = model.deliveries.filter(({ purpose }) => purpose === 'email');
    this.count('codes for a new address', ofEmail.length);
    this.count('addresses of the account page', ofEmail.filter(({ isUsed }) => isUsed).length);
    this.count('refresh grants', model.grants.length);
    this.count(
      'refreshes',
      model.grants.reduce((sum, { tokens }) => sum + tokens.length - 1, 0),
    );
    this.count('recoveries', model.recoveries.length);
    this.count('used recoveries', model.recoveries.filter(({ ended }) => ended === 'used before').length);
    this.count('revoked keys', model.revokedKeys.size);
    this.count('hand-overs', model.handOvers.size);
    this.count('restored soft deletes', model.restores);
    this.count('requests to sign up', model.waited);
    this.count('meetings', script.filter((line) => line.endsWith('at once:')).length);
    for (const line of script) {
      const [, action, result] = /^ *\d+ +(?:mallory|mona) ([a-z-]+) .*: (\d+(?: [A-Z_a-z]+)?)/.exec(line) ?? [];
      if (action !== undefined) this.count(`mixed ${action} ${result}`);
      const [, step, answer] = /^ *\d+ +T\d+ ([a-z-]+) .*: \d+ ([A-Z_]+)$/.exec(line) ?? [];
      if (step !== undefined && answer !== undefined) this.count(`${step} ${answer}`);
      const [, other, status] =
        /(exchange|userinfo|a refresh \w[\w-]*|link of a recovery|\/account|\/resume|console|the directory|an admin|logs out).*: (\w+)/.exec(
          line,
        ) ?? [];
      if (other !== undefined && step === undefined) this.count(`${other} ${status}`);
    }
  }

  private count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  toString(): string {
    return [...this.counts].map(([name, count]) => `${name}: ${count}`).join('\n');
  }
}

/**
 * Shrinks a plan to a minimal one that violates the same rule, by removing ever smaller parts. fast-check's own shrinking
 * respects the minimum length of a walk and needs a new world for each of a thousand attempts.
 */
export async function shrink(processes: Processes, plan: Plan, broke: Error, milliseconds: number): Promise<Error> {
  let best = plan;
  let error = broke;
  const until = performance.now() + milliseconds;
  const rule = ruleOf(broke);
  for (let size = Math.ceil(plan.commands.length / 2); size >= 1 && performance.now() < until; ) {
    let isShorter = false;
    for (let end = best.commands.length; end > 0 && performance.now() < until; end -= size) {
      const commands = best.commands.toSpliced(Math.max(0, end - size), Math.min(size, end));
      const again = await attempt(processes, { ...best, commands });
      if (!again.broke || ruleOf(again.broke) !== rule) continue;
      best = { ...best, commands };
      error = again.broke;
      isShorter = true;
    }
    if (size === 1 && !isShorter) break;
    if (size > 1) size = Math.ceil(size / 2);
  }
  error.message += `\nThe plan: ${JSON.stringify(best)}\n`;
  return error;
}

/** The violated rule without the names of this walk. */
function ruleOf(error: Error): string {
  const [first = ''] = error.message.split('\n');
  return first.replace(/\bT\d+\b|\w+\d+@\S+|[\w-]*\d[\w-]*/g, '');
}

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

describe.each(['bench', 'chaos', 'interop', 'mutants', 'release'])('npm run %s', (name) => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, `${name}.mjs`), ...words], { encoding: 'utf8' });

  it('prints its usage with --help, and starts nothing', () => {
    const { status, stdout, stderr } = run('--help');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^\`npm run ${name}\`: `));
  });

  it('refuses an unknown option in one line, and starts nothing', () => {
    const { status, stdout, stderr } = run('--unknown=1');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toBe('Unknown option: --unknown=1. --help lists the options.\n');
  });
});

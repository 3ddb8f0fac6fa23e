import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

let folder: string;
const tarballs = new Map<string, Buffer<ArrayBuffer>>();
const tarball = (name: string) => tarballs.get(name) as Buffer<ArrayBuffer>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-packages-'));
  for (const name of ['browser', 'node']) {
    const args = [join(root, '.config/pack.mjs'), name, folder];
    const path = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
    tarballs.set(name, readFileSync(path));
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(['browser', 'node'])('@latchkey/%s, packed', (name) => {
  it('has a valid package.json for bundlers and Node (publint)', async () => {
    const file = tarball(name);
    const data = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it('contains its licence and README, and no tests', () => {
    const listed = execFileSync('tar', ['tzf', '-'], { input: tarball(name), encoding: 'utf8' })
      .trim()
      .split('\n');
    const others = listed.filter((path) => !path.startsWith('package/dist/'));
    expect(others.sort()).toEqual(['package/LICENSE', 'package/README.md', 'package/package.json']);
    expect(listed.filter((path) => /test|tsbuildinfo/.test(path))).toEqual([]);
    const licence = execFileSync('tar', ['xzOf', '-', 'package/LICENSE'], { input: tarball(name), encoding: 'utf8' });
    expect(licence).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
  });
});

describe('types of the packed tarball (Are the types wrong?)', () => {
  const problems = async (name: string) => {
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball(name))));
    return result.types ? result.problems : ['there are none'];
  };

  it('of @latchkey/node resolve in every module kind', async () => {
    expect(await problems('node')).toEqual([]);
  });

  it('of @latchkey/browser resolve in ES modules', async () => {
    const withoutModules = ['node10', 'node16-cjs'];
    const found = (await problems('browser')).filter(
      (problem) =>
        typeof problem === 'string' ||
        !('resolutionKind' in problem) ||
        !withoutModules.includes(problem.resolutionKind),
    );
    expect(found).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, it } from 'vitest';
import { contentOf, packageNames } from './lib/packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const folder = join(root, 'shared/dist');
const tarballs = new Map(
  packageNames.map((name) => {
    const [file = ''] = readdirSync(folder).filter((each) => each.startsWith(`latchkey-${name}-`));
    return [name, readFileSync(join(folder, file))] as const;
  }),
);
const tarball = (name: string) => tarballs.get(name) as Buffer<ArrayBuffer>;

describe.each(packageNames)('@latchkey/%s, packed', (name) => {
  it('has a valid package.json for bundlers and Node (publint)', async () => {
    const file = tarball(name);
    const data = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it('contains its license and README, and no tests', () => {
    const listed = execFileSync('tar', ['tzf', '-'], { input: tarball(name), encoding: 'utf8' })
      .trim()
      .split('\n');
    const others = listed.filter((path) => !path.startsWith('package/dist/'));
    expect(others.sort()).toEqual(['package/LICENSE', 'package/README.md', 'package/package.json']);
    expect(listed.filter((path) => /test|tsbuildinfo/.test(path))).toEqual([]);
    const license = execFileSync('tar', ['xzOf', '-', 'package/LICENSE'], { input: tarball(name), encoding: 'utf8' });
    expect(license).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
  });
});

describe('types of the packed tarball (Are the types wrong?)', () => {
  const problems = async (name: string) => {
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball(name))));
    return result.types ? result.problems : ['no types'];
  };

  it.each(packageNames)('of @latchkey/%s resolve in every module kind', async (name) => {
    expect(await problems(name)).toEqual([]);
  });
});

describe('the served version', () => {
  const recorded = JSON.parse(readFileSync(join(root, 'shared/versions.json'), 'utf8')) as {
    version: string;
    content: Record<string, string>;
  };

  it.each(packageNames)('of @latchkey/%s has the recorded content', (name) => {
    const { version } = JSON.parse(readFileSync(join(root, `shared/${name}/package.json`), 'utf8'));
    expect(version).toBe(recorded.version);
    // Different: run `npm run packages:version -- <next version>`.
    expect(contentOf(name)).toBe(recorded.content[name]);
  });
});

it('the index names the packages, with the integrity that npm computes', () => {
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  const expected = packageNames.map((name) => {
    const { version } = JSON.parse(readFileSync(join(root, `shared/${name}/package.json`), 'utf8'));
    const integrity = `sha512-${createHash('sha512').update(tarball(name)).digest('base64')}`;
    return { name: `@latchkey/${name}`, version, file: `latchkey-${name}-${version}.tgz`, integrity };
  });
  expect(index).toEqual(expected);
});

describe('the documents', () => {
  const text = (path: string) => readFileSync(join(root, path), 'utf8');

  it.each(packageNames)('install the current version of @latchkey/%s from the instance', (name) => {
    const { version } = JSON.parse(text(`shared/${name}/package.json`)) as { version: string };
    const readme = text(`shared/${name}/README.md`);
    expect(readme).toContain(`npm install https://id.example.com/sdk/latchkey-${name}-${version}.tgz`);
    const named = [...readme.matchAll(/(?:latchkey-\w+|browser)-(\d+\.\d+\.\d+)\./g)].map(([, one]) => one);
    expect(new Set(named)).toEqual(new Set([version]));
    expect(readme).not.toMatch(/npm install @latchkey/);
  });

  it('show the tested sign-in steps', () => {
    const example = text('shared/browser/example/next-step.js').replace('export ', '').trim();
    const indented = example.replace(/^(?=.)/gm, '  ');
    expect(text('shared/browser/README.md')).toContain(indented);
  });

  it('show the examples of applications', () => {
    expect(text('shared/react/README.md')).toContain(`jsx\n${text('shared/react/example/page.jsx')}\``);
    for (const page of ['page', 'redirect'])
      expect(text('shared/browser/README.md')).toContain(`html\n${text(`shared/browser/example/${page}.html`)}\``);
    expect(text('shared/browser/README.md')).toContain(`tsx\n${text('shared/browser/example/expo.tsx')}\``);
    // The base issuer has no acr_values for a page that asks for a passkey.
    const ofNode = text('shared/node/README.md').replace(/^app\.get\('\/admin'.*\n/m, '');
    for (const name of ['sessions-express', 'sessions-fastify', 'sessions-hono']) {
      expect(ofNode).toContain(`js\n${text(`shared/node/example/${name}.js`)}\``);
    }
    for (const file of ['auth.js', 'proxy.js', 'app/account/page.jsx']) {
      expect(ofNode).toContain(`// ${file}\n${text(`shared/node/example/next/${file}`)}\``);
    }
  });
});

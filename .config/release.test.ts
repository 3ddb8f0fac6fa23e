import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { release } from './lib/release.mjs';
import { documentedVersions, versionOf, workspaces } from './lib/versions.mjs';

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const server = { name: '@latchkey/server', version: '1.4.2', private: true };
const browser = { name: '@latchkey/browser', version: '1.4.2' };
const react = {
  name: '@latchkey/react',
  version: '1.4.2',
  peerDependencies: { '@latchkey/browser': '^1.4.2' },
  devDependencies: { '@latchkey/browser': '1.4.2' },
};
const changes = '## [Unreleased]\n\n### Added\n\n- Keys.\n\n### Security\n\n- Locks.\n\n## [1.4.2] - 2026-11-02\n';
const files = {
  'package.json': json({ name: 'latchkey', version: '1.4.2' }),
  'server/package.json': json(server),
  'shared/browser/package.json': json(browser),
  'shared/react/package.json': json(react),
  'package-lock.json': json({
    version: '1.4.2',
    packages: {
      '': { name: 'latchkey', version: '1.4.2' },
      server,
      'shared/browser': browser,
      'shared/react': react,
      'node_modules/other': { version: '1.4.2' },
    },
  }),
  'shared/browser/README.md': 'Use latchkey-browser-1.4.2.tgz or browser-1.4.2.js. Since 1.4.2.\n',
  Dockerfile: 'FROM debian\nARG VERSION=1.4.2\n',
  'server/deploy/kubernetes/kustomization.yaml': 'images:\n  - name: latchkey\n    newTag: 1.4.2\n',
  'CHANGELOG.md': `# Changelog\n\n${changes}`,
};

let repository: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), text);
};
const commit = (path: string, text: string) => {
  write(path, text);
  git('add', '--all');
  git('commit', '--quiet', '--message', `Change ${path}`);
};
const releaseOf = (version: string, options: object = {}) =>
  release({
    root: repository,
    version,
    date: '2026-12-24',
    isFresh: async () => true,
    build: async () => write('shared/versions.json', json({ version })),
    ...options,
  });

beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  git('init', '--quiet');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.com');
  for (const [path, text] of Object.entries(files)) write(path, text);
  commit('shared/versions.json', json({ version: '1.4.2' }));
});

afterEach(() => rmSync(repository, { recursive: true }));

it('commits and tags the version of each workspace, image and package, with the changelog', async () => {
  const lines = await releaseOf('1.5.0');
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '-1', '--format=%s')).toBe('Release 1.5.0');
  expect(git('cat-file', '-t', 'v1.5.0')).toBe('tag');
  expect(git('rev-parse', 'v1.5.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
  const manifests = ['', 'server', 'shared/browser', 'shared/react'].map((folder) => versionOf(repository, folder));
  expect(new Set(manifests)).toEqual(new Set(['1.5.0']));
  expect(JSON.parse(read('shared/react/package.json'))).toEqual({
    ...react,
    version: '1.5.0',
    peerDependencies: { '@latchkey/browser': '^1.5.0' },
    devDependencies: { '@latchkey/browser': '1.5.0' },
  });
  const lock = JSON.parse(read('package-lock.json'));
  expect(lock.version).toBe('1.5.0');
  expect(lock.packages['shared/react'].devDependencies).toEqual({ '@latchkey/browser': '1.5.0' });
  expect(lock.packages['node_modules/other'].version).toBe('1.4.2');
  expect(Object.values(documentedVersions(repository))).toEqual(['1.5.0', '1.5.0']);
  expect(read('shared/browser/README.md')).toBe('Use latchkey-browser-1.5.0.tgz or browser-1.5.0.js. Since 1.4.2.\n');
  expect(read('shared/versions.json')).toBe(json({ version: '1.5.0' }));
  const released = changes.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [1.5.0] - 2026-12-24\n');
  expect(read('CHANGELOG.md')).toBe(`# Changelog\n\n${released}`);
  const text = lines.join('\n');
  for (const tag of ['1.5.0', '1.5', '1', 'latest'])
    expect(text).toMatch(new RegExp(`--tag latchkey:${tag}(?: |$)`, 'm'));
  for (const name of ['browser', 'node', 'react']) expect(text).toContain(`shared/dist/latchkey-${name}-1.5.0.tgz`);
});

describe('a release is refused, and nothing changes', () => {
  const unchanged = async (version: string, reason: string | RegExp, options: object = {}) => {
    const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')];
    await expect(releaseOf(version, options)).rejects.toThrow(reason);
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual(before);
  };

  it.each(['', '1.5', 'v1.5.0', '01.5.0', '1.5.0-rc.1'])('for the version %j', (version) =>
    unchanged(version, 'npm run release -- 1.2.3'),
  );

  it.each(['1.4.2', '1.4.1', '1.4.4', '1.6.0', '2.0.1', '3.0.0'])('for %s after 1.4.2', (version) =>
    unchanged(version, `After 1.4.2 comes 1.4.3, 1.5.0, 2.0.0, not ${version}.`),
  );

  it('for a patch with additions', () => unchanged('1.4.3', 'need 1.5.0 or later'));

  it('for a minor version with removals', async () => {
    commit('CHANGELOG.md', files['CHANGELOG.md'].replace('### Added', '### Removed'));
    await unchanged('1.5.0', 'need 2.0.0 or later');
    await releaseOf('2.0.0');
  });

  it.each([
    ['changes', '## [Unreleased]\n\n## [1.4.2] - 2026-11-02\n\n### Added\n\n- Keys.\n'],
    ['a heading', '## [1.4.2] - 2026-11-02\n\n### Added\n\n- Keys.\n'],
  ])('for a changelog without %s', async (_, text) => {
    commit('CHANGELOG.md', text);
    await unchanged('1.5.0', 'CHANGELOG.md has no changes');
  });

  it('for packages with a later version', async () => {
    commit('shared/browser/package.json', json({ ...browser, version: '1.6.0' }));
    await unchanged('1.5.0', 'The packages have version 1.6.0 already.');
  });

  it('for a working tree with changes', async () => {
    write('server/new.ts', '');
    await unchanged('1.5.0', 'The working tree has changes');
  });

  it('for a tag that exists', async () => {
    git('tag', 'v1.5.0');
    await unchanged('1.5.0', 'The tag v1.5.0 exists.');
  });

  it('for generated files that are out of date', () =>
    unchanged('1.5.0', 'Generated files are out of date', { isFresh: async () => false }));

  it('for packages that fail to build', () =>
    unchanged('1.5.0', 'broken', {
      build: () => {
        write('shared/versions.json', '');
        throw new Error('broken');
      },
    }));
});

it('the repository names one version', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const version = versionOf(root);
  const others = workspaces(root).filter((folder: string) => !/^shared\/(?:browser|node|react)$/.test(folder));
  expect(others.filter((folder: string) => versionOf(root, folder) !== version)).toEqual([]);
  expect(Object.values(documentedVersions(root))).toEqual([version, version]);
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import { isSmaller, stepOf, withRelease } from './changelog.mjs';
import { packageNames } from './packages.mjs';
import { change, setDocumentedVersions, setVersion, versionOf, workspaces } from './versions.mjs';

/**
 * Commits and tags a release in the repository, without a push. If a check or a build fails, nothing is changed.
 * @param {object} options
 * @param {string} options.root folder of the repository
 * @param {string} options.version of the release
 * @param {string} options.date of the release, such as 2026-11-29
 * @param {() => Promise<boolean>} options.isFresh whether the generated files are up to date
 * @param {() => Promise<void>} options.build writes the packages and the generated files of the new version
 * @returns {Promise<string[]>} lines with instructions to publish it
 * @throws {Error} with the reason why there is no release
 */
export async function release({ root, version, date, isFresh, build }) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const tag = `v${version}`;
  checkVersion(root, version);
  if (git('status', '--porcelain') !== '') throw new Error('The working tree has changes: commit them first.');
  if (git('tag', '--list', tag) !== '') throw new Error(`The tag ${tag} exists.`);
  if (!(await isFresh())) throw new Error('Generated files are out of date: run npm run gen, and commit them.');
  try {
    setVersion(root, version, workspaces(root));
    setDocumentedVersions(root, version);
    change(root, 'CHANGELOG.md', (text) => withRelease(text, version, date));
    await build();
    git('commit', '--all', '--message', `Release ${version}`);
  } catch (error) {
    git('restore', '--staged', '--worktree', '.');
    throw error;
  }
  git('tag', '--annotate', tag, '--message', `Latchkey ${version}`);
  return instructions(version, git('rev-parse', 'HEAD'));
}

function checkVersion(root, version) {
  if (!/^\d+\.\d+\.\d+$/.test(version) || !semver.valid(version))
    throw new Error('Pass the version of the release: npm run release -- 1.2.3');
  const current = versionOf(root);
  const next = ['patch', 'minor', 'major'].map((step) => semver.inc(current, step));
  if (!next.includes(version)) throw new Error(`After ${current} comes ${next.join(', ')}, not ${version}.`);
  // Between releases, packages with changes have a later version.
  const packages = versionOf(root, 'shared/browser');
  if (semver.lt(version, packages)) throw new Error(`The packages have version ${packages} already.`);
  const needed = stepOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  if (needed === undefined) throw new Error('CHANGELOG.md has no changes below "## [Unreleased]".');
  if (isSmaller(semver.diff(current, version), needed))
    throw new Error(`The changes in CHANGELOG.md need ${semver.inc(current, needed)} or later.`);
}

function instructions(version, commit) {
  const tags = [version, version.replace(/\.\d+$/, ''), version.replace(/\..*$/, ''), 'latest'];
  const named = tags.map((tag) => `--tag latchkey:${tag}`).join(' ');
  return [
    `Committed and tagged as v${version}. To publish it:`,
    '  git push --follow-tags',
    `  docker buildx build --platform linux/amd64,linux/arm64 --build-arg REVISION=${commit} ${named} .`,
    ...packageNames.map((name) => `  npm publish --access public shared/dist/latchkey-${name}-${version}.tgz`),
  ];
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files other than manifests that name the version of the release. */
const documents = [
  ['Dockerfile', /(?<=^ARG VERSION=).*$/m],
  ['server/deploy/kubernetes/kustomization.yaml', /(?<=^ {4}newTag: ).*$/m],
];

/** Folders with a manifest, the root's as ''. The lock file lists them. */
export function workspaces(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.keys(packages).filter(
    (folder) => !folder.startsWith('node_modules/') && !folder.includes('/node_modules/'),
  );
}

export function versionOf(root, folder = '') {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).version;
}

/**
 * Gives the workspaces of the folders a version, in their manifests, those of their dependents, the lock file and their
 * READMEs. The files keep their layout.
 */
export function setVersion(root, version, folders) {
  const manifest = (folder) => join(folder, 'package.json');
  const names = folders.map((folder) => JSON.parse(readFileSync(join(root, manifest(folder)), 'utf8')).name);
  const exact = new RegExp(`("(?:${names.join('|')})": )"\\d[^"]*"`, 'g');
  const range = new RegExp(`("(?:${names.join('|')})": )"[<>~^][^"]*"`, 'g');
  const withDependencies = (text) => text.replace(exact, `$1"${version}"`).replace(range, `$1"^${version}"`);
  for (const folder of workspaces(root)) {
    change(root, manifest(folder), (text) => {
      const own = folders.includes(folder) ? text.replace(/("version": )"[^"]*"/, `$1"${version}"`) : text;
      return withDependencies(own);
    });
  }
  change(root, 'package-lock.json', (text) => {
    const lock = JSON.parse(withDependencies(text));
    for (const folder of folders) lock.packages[folder].version = version;
    lock.version = lock.packages[''].version;
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  for (const readme of folders
    .map((folder) => join(folder, 'README.md'))
    .filter((path) => existsSync(join(root, path))))
    change(root, readme, (text) => text.replace(/(?<=\b(?:latchkey-\w+|browser)-)\d+\.\d+\.\d+(?=\.)/g, version));
}

/** The versions that files other than manifests name, by path. */
export function documentedVersions(root) {
  return Object.fromEntries(
    documents.map(([path, place]) => [path, place.exec(readFileSync(join(root, path), 'utf8'))?.[0]]),
  );
}

export function setDocumentedVersions(root, version) {
  for (const [path, place] of documents) change(root, path, (text) => text.replace(place, version));
}

export function change(root, path, edit) {
  const file = join(root, path);
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
}

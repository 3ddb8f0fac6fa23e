/** The changelog, in the format of https://keepachangelog.com/en/1.1.0. */
const section = /^## \[Unreleased\]\n([\s\S]*?)(?=^## |$(?![\s\S]))/m;

/** The smallest step of a version that may have changes of a kind (https://semver.org). */
const steps = {
  Removed: 'major',
  Added: 'minor',
  Changed: 'minor',
  Deprecated: 'minor',
  Fixed: 'patch',
  Security: 'patch',
};
const sizes = ['patch', 'minor', 'major'];

/** The smallest step of the version for the changes since the last release; undefined without changes. */
export function stepOf(changelog) {
  const [, changes = ''] = section.exec(changelog) ?? [];
  const kinds = [...changes.matchAll(/^### (\w+)$/gm)].map(([, kind]) => steps[kind]).filter(Boolean);
  return sizes.findLast((size) => kinds.includes(size));
}

export function isSmaller(step, other) {
  return sizes.indexOf(step) < sizes.indexOf(other);
}

/** Moves the changes since the last release to a new one. */
export function withRelease(changelog, version, date) {
  return changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}

/**
 * `npm run packages:version -- 0.3.0`: gives the packages of `shared/` a new version, and records their content under it
 * in `shared/versions.json`. `.config/packages.test.ts` fails if a package differs from its record: the instance serves
 * each version under an address that browsers and npm keep forever (decisions/0137).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentOf, packageNames } from './lib/packages.mjs';
import { run } from './lib/run.mjs';
import { fail, print, projectNode, root } from './lib/workspace.mjs';

const version = process.argv[2];
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) fail('Pass the new version: npm run packages:version -- 0.3.0');
const at = (path) => join(root, path);
const change = (path, edit) => writeFileSync(at(path), edit(readFileSync(at(path), 'utf8')));
const manifestOf = (name) => `shared/${name}/package.json`;
const earlier = JSON.parse(readFileSync(at(manifestOf('browser')), 'utf8')).version;

for (const name of packageNames) {
  change(manifestOf(name), (text) => text.replace(`"version": "${earlier}"`, `"version": "${version}"`));
  change(`shared/${name}/README.md`, (text) => text.replaceAll(`-${earlier}.`, `-${version}.`));
}
const dependsOn = new RegExp(`("@latchkey/(?:${packageNames.join('|')})": )"${earlier}"`, 'g');
for (const path of ['console/package.json', 'e2e/package.json', 'shared/react/package.json', 'package-lock.json'])
  change(path, (text) => text.replace(dependsOn, `$1"${version}"`));
change('package-lock.json', (text) => {
  const lock = JSON.parse(text);
  for (const name of packageNames) lock.packages[`shared/${name}`].version = version;
  return `${JSON.stringify(lock, null, 2)}\n`;
});
const { code } = await run(projectNode(), [at('.config/pack.mjs')]);
if (code !== 0) process.exit(code);
const content = Object.fromEntries(packageNames.map((name) => [name, contentOf(name)]));
writeFileSync(at('shared/versions.json'), `${JSON.stringify({ version, content }, null, 2)}\n`);
print(`The packages have version ${version}.`);

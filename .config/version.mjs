/**
 * `npm run packages:version -- 0.3.0`: gives the packages of `shared/` a new version, and records their content under it
 * in `shared/versions.json`. `.config/packages.test.ts` fails if a package differs from its record: the instance serves
 * each version under an address that browsers and npm keep forever (decisions/0137).
 */
import semver from 'semver';
import { packageNames, recordPackages } from './lib/packages.mjs';
import { setVersion, versionOf } from './lib/versions.mjs';
import { fail, print, root } from './lib/workspace.mjs';

const version = process.argv[2];
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) fail('Pass the new version: npm run packages:version -- 0.3.0');
const earlier = versionOf(root, 'shared/browser');
if (semver.lt(version, earlier)) fail(`The packages have version ${earlier} already.`);
setVersion(
  root,
  version,
  packageNames.map((name) => `shared/${name}`),
);
await recordPackages(version).catch((error) => fail(error.message));
print(`The packages have version ${version}.`);

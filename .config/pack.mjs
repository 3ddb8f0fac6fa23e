/**
 * Packs the packages as an application installs them, and builds the browser SDK for pages without a bundler, into
 * `shared/dist`. The server serves this folder at `/sdk` (decisions/0137).
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { compress } from './lib/compress.mjs';
import { packageNames } from './lib/packages.mjs';
import { elementKeys, elementLanguages, pageLanguages, pageTexts } from './lib/page-languages.mjs';
import { run } from './lib/run.mjs';
import { root } from './lib/workspace.mjs';

const folder = join(root, 'shared/dist');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of packageNames) await pack(name);
const { version } = JSON.parse(readFileSync(join(root, 'shared/browser/package.json'), 'utf8'));
writeJson('index.json', packageNames.map(listed));
const scripts = {
  'browser.js': { input: 'src/index.ts', format: 'es' },
  'browser.global.js': { input: 'src/index.ts', format: 'iife' },
  'elements.js': { input: 'src/elements/index.ts', format: 'es' },
  'redirect.js': { input: 'src/redirect/index.ts', format: 'es' },
};
for (const [file, { input, format }] of Object.entries(scripts)) await bundle(file, input, format);
// Languages that the script of the web component loads (shared/browser/src/elements/texts.ts).
mkdirSync(join(folder, 'texts'));
for (const language of pageLanguages.filter((one) => !elementLanguages.includes(one))) {
  const texts = pageTexts(language);
  const file = `texts/${language}.json`;
  writeFileSync(join(folder, file), JSON.stringify(Object.fromEntries(elementKeys().map((key) => [key, texts[key]]))));
  await compress(join(folder, file));
}
writeJson('integrity.json', scriptIntegrity(Object.keys(scripts)));

async function pack(name) {
  const args = ['pack', '--silent', '--pack-destination', folder];
  const { code, output } = await run('npm', args, { cwd: join(root, 'shared', name), capture: true });
  if (code === 0) return;
  process.stderr.write(output);
  process.exit(code);
}

/** The entry of a package in the index; `integrity` as in a lock file of npm. */
function listed(name) {
  const file = `latchkey-${name}-${version}.tgz`;
  return { name: `@latchkey/${name}`, version, file, integrity: integrity('sha512', file) };
}

/** One minified file without imports, under a name with the version and one without. */
async function bundle(file, input, format) {
  await build({
    configFile: false,
    root: join(root, 'shared/browser'),
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      modulePreload: false,
      // Not as a library: Vite keeps the whitespace of libraries that are ES modules.
      rolldownOptions: {
        input,
        preserveEntrySignatures: 'strict',
        output: { format, name: 'latchkey', entryFileNames: file },
      },
    },
  });
  const path = join(folder, file);
  for (const name of [file, versioned(file)]) {
    if (name !== file) copyFileSync(path, join(folder, name));
    await compress(join(folder, name));
  }
}

/** `browser-<version>.js`: never changes. */
function versioned(file) {
  return file.replace(/^\w+/, (name) => `${name}-${version}`);
}

/** For the attribute `integrity` of a script element (Subresource Integrity). */
function scriptIntegrity(files) {
  return Object.fromEntries(files.map((file) => [versioned(file), integrity('sha384', file)]));
}

function integrity(algorithm, file) {
  const hash = createHash(algorithm).update(readFileSync(join(folder, file)));
  return `${algorithm}-${hash.digest('base64')}`;
}

function writeJson(file, value) {
  writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`);
}

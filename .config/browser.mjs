/** Finds or installs a Chromium for the browser tests, and starts it once to verify. Prints its path. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run, withHeartbeat } from './lib/run.mjs';
import { memory, print, projectNode, root } from './lib/workspace.mjs';

const names = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'chrome', 'microsoft-edge'];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
];

/** @returns {Promise<string>} path of a working browser; throws a one-line error if there is none */
export async function findBrowser() {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (await starts(named)) return named;
    throw new Error(`CHROME_PATH (${named}) does not start as Chromium: correct or unset it.`);
  }
  for (const path of [...installed(), ...places]) if (existsSync(path) && (await starts(path))) return path;
  const packaged = await unpackPackaged();
  if (packaged && (await starts(packaged))) return packaged;
  if (await installWithApt()) for (const path of installed()) if (await starts(path)) return path;
  throw new Error('No Chromium for the browser tests: install Chrome or Chromium, or set CHROME_PATH.');
}

function installed() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).filter((path) => existsSync(path));
}

async function starts(path) {
  const { code } = await run(projectNode(), [join(root, '.config/lib/try-browser.mjs'), path], { capture: true });
  return code === 0;
}

/**
 * Chromium from a registry package. It unpacks into the temporary folder, where another user could have planted files,
 * so it gets a private folder. It also gets the libraries that a bare system lacks.
 */
async function unpackPackaged() {
  const manifest = join(root, 'node_modules/@sparticuz/chromium/package.json');
  if (!existsSync(manifest) || process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = join(memory, `chromium-${JSON.parse(readFileSync(manifest, 'utf8')).version}`);
  const starter = join(folder, 'start');
  if (existsSync(starter)) return starter;
  print('Unpacking a Chromium for the browser tests …');
  mkdirSync(memory, { recursive: true });
  const fresh = mkdtempSync(`${folder}-`);
  const script = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;
  const { code, output } = await run(projectNode(), ['--input-type=module', '-e', script], {
    env: { ...process.env, TMPDIR: fresh, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    capture: true,
  });
  if (code !== 0) {
    rmSync(fresh, { recursive: true });
    print(`Unpacking failed: ${output.trim().split('\n').at(-1)}`);
    return undefined;
  }
  // The packaged configuration points to its original folder, and a bare system has no fonts.
  writeFileSync(
    join(fresh, 'fonts', 'fonts.conf'),
    `<?xml version="1.0"?>
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`,
  );
  writeFileSync(
    join(fresh, 'start'),
    `#!/bin/sh
here=\${0%/*}
export FONTCONFIG_PATH="$here/fonts"
export LD_LIBRARY_PATH="$here/al2023/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/chromium" "$@"
`,
    { mode: 0o755 },
  );
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return starter;
}

/**
 * Settings for browser tests: on Linux, every Chromium has only the fonts of the packaged one, so that no test depends on
 * those of the machine. A system that cannot run that Chromium keeps its own.
 */
export async function fontSettings() {
  const packaged = await unpackPackaged();
  if (!packaged) return {};
  const folder = join(dirname(packaged), 'fonts');
  const file = join(folder, 'only.conf');
  writeFileSync(
    file,
    `<?xml version="1.0"?>
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'cache')}</cachedir>
</fontconfig>
`,
  );
  return { FONTCONFIG_FILE: file };
}

async function installWithApt() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get') || !existsSync('/etc/debian_version')) return false;
  print('Installing Chromium with apt-get for the browser tests …');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const steps = [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium'],
  ];
  for (const step of steps) {
    const { code } = await withHeartbeat('still installing', run('apt-get', step, { env, capture: true }), print);
    if (code !== 0) return false;
  }
  return true;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    process.stdout.write(`${await findBrowser()}\n`);
  } catch (error) {
    print(error.message);
    process.exitCode = 1;
  }
}

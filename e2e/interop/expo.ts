import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installed, NotInstalled } from './runtimes/install.ts';
import type { Row } from './runtimes/tried.ts';

const run = promisify(execFile);
const shared = fileURLToPath(new URL('../../shared', import.meta.url));
const versions = {
  'react-native': '0.88.1',
  'expo-secure-store': '57.0.4',
  'react-native-quick-crypto': '1.1.7',
  react: '19.3.1',
  '@types/react': '19.3.0',
};

/** The README's example for Expo, compiled with the types of its modules. It does not run: that needs a device. */
export async function tryExpo(): Promise<Row> {
  const name = `React Native ${versions['react-native']} and Expo, types`;
  try {
    // npm would install peers for building apps, which types do not need.
    const folder = await installed('expo', versions, ['--legacy-peer-deps']);
    const library = join(folder, 'node_modules/@latchkey/browser');
    rmSync(library, { recursive: true, force: true });
    mkdirSync(library, { recursive: true });
    const [tarball = ''] = readdirSync(join(shared, 'dist')).filter((file) => file.startsWith('latchkey-browser-'));
    await run('tar', ['xzf', join(shared, 'dist', tarball), '-C', library, '--strip-components=1']);
    cpSync(join(shared, 'browser/example/expo.tsx'), join(folder, 'expo.tsx'));
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const settings =
      '--ignoreConfig --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --jsx react-jsx';
    await run(process.execPath, [compiler, ...settings.split(' '), '--lib', 'es2022,dom', 'expo.tsx'], { cwd: folder });
    return [name, 'pass', 'the example compiles'];
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    return [name, error instanceof NotInstalled ? 'skipped' : 'fail', `${message} ${stdout}`.replace(/\s+/g, ' ')];
  }
}

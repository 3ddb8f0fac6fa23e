import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The packed tarball, as an application installs it. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const readme = readFileSync(join(root, 'shared/browser/README.md'), 'utf8');
const { resolve } = createRequire(import.meta.url);
const compilerIn = (manifest: string) => join(dirname(manifest), 'bin/tsc');
/** TypeScript 7 has no `moduleResolution: node`; that of an older release is a dependency of our checks. */
const current = compilerIn(resolve('typescript/package.json'));
const older = compilerIn(createRequire(resolve('@arethetypeswrong/core')).resolve('typescript/package.json'));

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-browser-'));
  const packed = join(root, 'shared/dist');
  const [tarball = ''] = readdirSync(packed).filter((file) => file.startsWith('latchkey-browser-'));
  await run('tar', ['xzf', join(packed, tarball), '-C', folder]);
  mkdirSync(join(folder, 'node_modules/@latchkey'), { recursive: true });
  cpSync(join(folder, 'package'), join(folder, 'node_modules/@latchkey/browser'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The output of a program in the folder. */
async function output(file: string, args: string[]): Promise<string> {
  const result = run(process.execPath, [file, ...args], { cwd: folder });
  return result.then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

const esm = /```ts\n(import \{ init[\s\S]*?)```/.exec(readme)?.[1] ?? '';
const commonjs = /`(const latchkey = require\('@latchkey\/browser'\))`/.exec(readme)?.[1] ?? '';
const checked = ['--skipLibCheck', 'false', '--skipDefaultLibCheck'];
const strict = ['--noEmit', '--strict', ...checked, '--target', 'es2022', '--lib', 'es2022,dom'];

describe('the README’s examples compile', () => {
  const imported = `${esm}
    import type { AuthenticateResult } from '@latchkey/browser';
    export const status = (result: AuthenticateResult) => result.status;
    import { createLatchkey, type Latchkey, memoryStorage } from '@latchkey/browser/native';
    export const app: Latchkey = createLatchkey({ origin: 'https://app.example.com', storage: memoryStorage() });
    signIn.send({ type: 'submit-address', userid: 'ada@example.com' });
    // @ts-expect-error no such action
    signIn.send({ type: 'sign-in' });`;
  const required = `import latchkey = require('@latchkey/browser');
    latchkey.init({ apiKey: 'lk_pk_x' }).then(({ status }) => status);
    export const error = new latchkey.LatchkeyError('NETWORK', 'retryable', 'm').category;`;

  it('are in the README', () => {
    expect(esm).toContain("from '@latchkey/browser'");
    expect(commonjs).not.toBe('');
  });

  it.each([
    ['node', 'esm.ts', imported, older, ['--module', 'es2022', '--moduleResolution', 'node']],
    ['node, CommonJS', 'cjs.ts', required, older, ['--module', 'commonjs', '--moduleResolution', 'node']],
    ['node16', 'esm.mts', imported, older, ['--module', 'node16', '--moduleResolution', 'node16']],
    ['node16, CommonJS', 'cjs.cts', required, older, ['--module', 'node16', '--moduleResolution', 'node16']],
    ['nodenext', 'esm.mts', imported, current, ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
    ['nodenext, CommonJS', 'cjs.cts', required, current, ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
    ['bundler', 'esm.ts', imported, current, ['--module', 'esnext', '--moduleResolution', 'bundler']],
    ['bundler, older', 'esm.ts', imported, older, ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('with moduleResolution %s', async (_, file, program, compiler, settings) => {
    writeFileSync(join(folder, file), program);
    expect(await output(compiler, [...strict, ...settings, file])).toBe('');
  });
});

/** The parts of its modules that the example uses; `npm run interop -- expo` has the modules themselves. */
const modulesOfExpo = `
  declare module 'react-native' {
    import type { FunctionComponent, PropsWithChildren } from 'react';
    export const View: FunctionComponent<PropsWithChildren>;
    export const Text: FunctionComponent<PropsWithChildren>;
    export const TextInput: FunctionComponent<{ value?: string; onChangeText?: (text: string) => void; autoCapitalize?: 'none' }>;
    export const Button: FunctionComponent<{ title: string; disabled?: boolean; onPress?: () => void }>;
  }
  declare module 'expo-secure-store' {
    export const WHEN_UNLOCKED_THIS_DEVICE_ONLY: number;
    type Options = { keychainAccessible?: number };
    export function getItemAsync(key: string, options?: Options): Promise<string | null>;
    export function setItemAsync(key: string, value: string, options?: Options): Promise<void>;
    export function deleteItemAsync(key: string, options?: Options): Promise<void>;
  }
  declare module 'react-native-quick-crypto' {
    export function install(): void;
  }`;

describe('the example for Expo', () => {
  const example = readFileSync(join(root, 'shared/browser/example/expo.tsx'), 'utf8');
  const settings = ['--module', 'esnext', '--moduleResolution', 'bundler', '--jsx', 'react-jsx', '--types', 'react'];
  const problemsOf = async (text: string) => {
    writeFileSync(join(folder, 'expo.tsx'), text);
    writeFileSync(join(folder, 'modules.d.ts'), modulesOfExpo);
    return output(current, [...strict, ...settings, 'expo.tsx', 'modules.d.ts']);
  };

  it('compiles, with strict types', async () => {
    symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
    expect(await problemsOf(example)).toBe('');
    expect(await problemsOf(example.replace('otp: typed', 'code: typed'))).toContain("'code' does not exist");
  });
});

describe('the package loads', () => {
  const named = ['authenticate', 'createLatchkey', 'init', 'LatchkeyError', 'start'];
  const print = `console.log(${JSON.stringify(named)}.every((name) => typeof latchkey[name] === 'function'))`;

  it.each([
    ['by require', 'load.cjs', `${commonjs}; ${print}`],
    ['by import', 'load.mjs', `import * as latchkey from '@latchkey/browser'; ${print}`],
  ])('%s', async (_, file, program) => {
    writeFileSync(join(folder, file), program);
    expect(await output(file, [])).toBe('true\n');
  });

  it('in both formats on one page, with errors that either recognizes', async () => {
    const program = `import { createRequire } from 'node:module';
      import * as one from '@latchkey/browser';
      const other = createRequire(import.meta.url)('@latchkey/browser');
      const error = await other.init().catch((thrown) => thrown);
      console.log(one.LatchkeyError === other.LatchkeyError, error instanceof one.LatchkeyError, error.code);`;
    writeFileSync(join(folder, 'both.mjs'), program);
    expect(await output('both.mjs', [])).toBe('false true INVALID_ARGUMENT\n');
  });
});

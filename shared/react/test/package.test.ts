import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The packed tarball, as an application installs it beside React 18 or 19. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const readme = readFileSync(join(root, 'shared/react/README.md'), 'utf8');
const versions = ['18', '19'] as const;
const folders = new Map<string, string>();

beforeAll(async () => {
  for (const version of versions) folders.set(version, await install(version));
});
afterAll(() => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true });
});

async function install(version: (typeof versions)[number]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-react-'));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@latchkey'), { recursive: true });
  for (const name of ['browser', 'react']) {
    const [tarball = ''] = readdirSync(join(root, 'shared/dist')).filter((file) =>
      file.startsWith(`latchkey-${name}-`),
    );
    await run('tar', ['xzf', join(root, 'shared/dist', tarball), '-C', folder]);
    cpSync(join(folder, 'package'), join(modules, '@latchkey', name), { recursive: true });
    rmSync(join(folder, 'package'), { recursive: true });
  }
  // Copies: by a link, react-dom would find the workspace's React.
  for (const name of ['react', 'react-dom']) cpSync(sourceOf(name, version), join(modules, name), { recursive: true });
  symlinkSync(join(root, 'node_modules/@types'), join(modules, '@types'));
  return folder;
}

/** The workspace has React 19, and React 18 under another name. */
function sourceOf(name: string, version: string): string {
  const { resolve } = createRequire(import.meta.url);
  return dirname(resolve(`${name}${version === '18' ? '-18' : ''}/package.json`));
}

async function output(folder: string, args: string[]): Promise<string> {
  return run(process.execPath, args, { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

const program = `
  const session = { sub: 'u', user: { email: 'ada@example.com' }, amr: [], signedInAt: 1, expiresAt: 2 };
  const Status = () => latchkey.useSession().status;
  const Form = () => latchkey.useSignIn().state?.step ?? 'no step';
  const page = (initialSession) => renderToString(h(latchkey.LatchkeyProvider, { apiKey: 'lk_pk_x', baseUrl: 'https://id.example.com', initialSession },
    h(Status), h(latchkey.SignedIn, { fallback: 'Loading' }, ({ user }) => user.email), h(latchkey.SignedOut, null, h(latchkey.SignIn, { appName: 'A' }), h(Form))));
  const bare = (html) => html.replaceAll('<!-- -->', '');
  console.log(JSON.stringify([React.version.split('.')[0], bare(page()), bare(page(null)), bare(page(session))]));`;

describe.each(versions)('with React %s', (version) => {
  it.each([
    [
      'ES modules',
      'page.mjs',
      `import * as latchkey from '@latchkey/react'; import * as React from 'react'; import { renderToString } from 'react-dom/server'; const h = React.createElement;`,
    ],
    [
      'CommonJS',
      'page.cjs',
      `const latchkey = require('@latchkey/react'); const React = require('react'); const { renderToString } = require('react-dom/server'); const h = React.createElement;`,
    ],
  ])('renders on a server, with %s', async (_, file, load) => {
    const folder = folders.get(version) ?? '';
    writeFileSync(join(folder, file), load + program);
    const printed = await output(folder, [file]);
    const form =
      '<latchkey-sign-in api-key="lk_pk_x" base-url="https://id.example.com" app-name="A"></latchkey-sign-in>';
    expect(JSON.parse(printed)).toEqual([
      version,
      'loadingLoading',
      `signed-out${form}no step`,
      'signed-inada@example.com',
    ]);
  });
});

describe('the package', () => {
  it('is marked for the client in each entry', () => {
    for (const entry of ['index.js', 'cjs/index.js']) {
      const text = readFileSync(join(folders.get('19') ?? '', 'node_modules/@latchkey/react/dist', entry), 'utf8');
      expect(text).toMatch(/^(?:"use strict";\n)?'use client';/);
    }
  });

  it('weighs at most 8,000 bytes gzip on top of the browser SDK and React', async () => {
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: {
          input: join(root, 'shared/react/src/index.ts'),
          preserveEntrySignatures: 'strict',
          external: [/^react/, /^@latchkey\/browser/],
        },
      },
    });
    const { output: chunks } = [built].flat()[0] as Rolldown.RolldownOutput;
    expect(chunks).toHaveLength(1);
    expect(gzipSync(chunks[0].code, { level: 9 }).length).toBeLessThanOrEqual(8000);
  });

  it('has strict types, also in a custom form', async () => {
    const folder = folders.get('19') ?? '';
    const text = `import { LatchkeyProvider, SignedIn, SignIn, useSession, useSignIn, type Session, type SessionError } from '@latchkey/react';
      import { createElement } from 'react';
      export function Form() {
        const { send, state } = useSignIn({ rememberDevice: false });
        if (state?.step === 'code') send({ type: 'submit-code', otp: state.testCode ?? '' });
        // @ts-expect-error no such action
        send({ type: 'sign-in' });
        const session = useSession<{ accountId: string }>();
        return session.status === 'signed-in' ? session.session.user.accountId : null;
      }
      export const code = (error: SessionError) => error.code;
      export const page = (initialSession: Session) =>
        createElement(LatchkeyProvider, { apiKey: 'a', baseUrl: 'b', initialSession }, createElement(SignedIn, { children: ({ user }) => user.email }));
      type OfServer<User> = Omit<Required<Session<User>>, 'acr' | 'authTime'> & { acr: string | undefined; authTime: number | undefined; sid: string | undefined };
      export const layout = (initialSession: OfServer<{ accountId: string }> | null, basePath: string | undefined) =>
        createElement(LatchkeyProvider, { apiKey: 'a', baseUrl: 'b', basePath, initialSession }, createElement(SignIn, { appName: basePath }));`;
    for (const [file, settings] of [
      ['form.mts', ['--module', 'nodenext']],
      ['form.cts', ['--module', 'nodenext']],
      ['form.ts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
    ] as const) {
      writeFileSync(join(folder, file), text);
      const strict = [
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--target',
        'es2022',
        '--lib',
        'es2022,dom',
      ];
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      expect(await output(folder, [tsc, ...strict, '--types', 'react', ...settings, file])).toBe('');
    }
  });

  it('has a README whose page and form have less than 40 lines', () => {
    const snippets = [...readme.matchAll(/```jsx\n([\s\S]*?)```/g)].map(
      ([, text = '']) => text.trim().split('\n').length,
    );
    expect(snippets).toHaveLength(3);
    expect(Math.max(...snippets)).toBeLessThan(40);
  });
});

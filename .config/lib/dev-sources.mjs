/**
 * Preloaded by dev.mjs, into itself and the server: runs TypeScript sources of the server without a build. Types are
 * removed, not checked.
 */
import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import * as hooks from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transformSync } from '@swc/core';
import { memory } from './workspace.mjs';

const contracts = (part) => new URL(`../../shared/contracts/src/${part}.ts`, import.meta.url).href;

export function resolve(specifier, context, next) {
  const [found, part = 'index'] = /^@latchkey\/contracts(?:\/([\w-]+))?$/.exec(specifier) ?? [];
  return found ? { url: contracts(part), shortCircuit: true } : next(specifier, context);
}

export function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: withoutTypes(fileURLToPath(url)), shortCircuit: true };
}

/** Keeps the result on disk, with the mtime of the source. @throws a syntax error, with its place */
export function withoutTypes(path) {
  const { atime, mtime } = statSync(path);
  const kept = join(memory, 'dev', `${path}.js`);
  if (statSync(kept, { throwIfNoEntry: false })?.mtimeMs === mtime.getTime()) return readFileSync(kept, 'utf8');
  const { code } = transformSync(readFileSync(path, 'utf8'), options(path));
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, code);
  utimesSync(kept, atime, mtime);
  return code;
}

/** Equal to server/tsconfig.json. */
const options = (filename) => ({
  filename,
  configFile: false,
  swcrc: false,
  sourceMaps: 'inline',
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, verbatimModuleSyntax: true },
  },
});

if (hooks.registerHooks) hooks.registerHooks({ resolve, load });
// Before Node 22.15, hooks run in a thread, which loads this module again.
else if (isMainThread) hooks.register(import.meta.url);

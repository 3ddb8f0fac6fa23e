import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const alias = [
  { find: /^@latchkey\/contracts$/, replacement: at('shared/contracts/src/index.ts') },
  { find: /^@latchkey\/contracts\/user-agent$/, replacement: at('shared/contracts/src/user-agent.ts') },
  { find: /^@latchkey\/contracts\/search-fold$/, replacement: at('shared/contracts/src/search-fold.ts') },
  { find: /^@latchkey\/browser$/, replacement: at('shared/browser/src/index.ts') },
  { find: /^@latchkey\/browser\/internal$/, replacement: at('shared/browser/src/internal.ts') },
  { find: /^@latchkey\/browser\/qr$/, replacement: at('shared/browser/src/qr/picture.ts') },
  { find: /^@latchkey\/browser\/elements$/, replacement: at('shared/browser/src/elements/index.ts') },
  { find: /^@latchkey\/node$/, replacement: at('shared/node/src/index.ts') },
  // Vite resolves graphql's ESM copy, Node the CommonJS one, and graphql rejects duplicates.
  { find: /^graphql$/, replacement: at('node_modules/graphql/index.js') },
];

const shared = {
  resolve: { alias },
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: false } },
} as const;

const run = {
  // Only a test that hangs takes this long, on any machine.
  testTimeout: 480_000,
  hookTimeout: 480_000,
  expect: { poll: { timeout: 240_000, interval: 20 } },
  // Importing the server costs more than running most files. No test changes module state that another file reads.
  isolate: false,
  // A retry keeps the run green; `npm test` lists each test that needed one, as a defect.
  retry: Number(process.env['LATCHKEY_TEST_RETRIES'] ?? 1),
  // Most tests wait for PostgreSQL, a separate process: one worker per core, not one fewer.
  maxWorkers: Math.max(2, availableParallelism()),
};

/** Starts PostgreSQL when a test asks for a database. */
export const server = defineConfig({
  ...shared,
  root: at('.'),
  test: {
    ...run,
    name: 'server',
    root: at('.'),
    include: ['server/{src,test}/**/*.test.ts'],
    globalSetup: [at('server/test/global-setup.ts')],
  },
});

export const packages = defineConfig({
  ...shared,
  root: at('.'),
  test: {
    ...run,
    name: 'packages',
    root: at('.'),
    include: ['shared/**/*.test.ts', 'console/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
  },
});

const tools = defineConfig({ test: { ...run, name: 'tools', root: at('.'), include: ['.config/**/*.test.ts'] } });

export default defineConfig({
  root: at('.'),
  test: { reporters: ['default'], maxWorkers: run.maxWorkers, projects: [server, packages, tools] },
});

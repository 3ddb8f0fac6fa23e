import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tenantRole } from '../src/adapters/postgres/row-security.ts';
import { parseInput } from '../src/commands/command.ts';
import { allCommands } from '../src/commands/commands.ts';
import { renderConfigMarkdown } from '../src/config.ts';
import { allMetrics } from './all-metrics.ts';

const commands = await allCommands();

const root = join(import.meta.dirname, '../..');
const folder = (name: string) => readdirSync(join(root, name)).map((file) => `${name}/${file}`);
const documents = [
  'README.md',
  'CHANGELOG.md',
  '.github/SECURITY.md',
  '.github/CONTRIBUTING.md',
  ...folder('server/docs'),
].filter((path) => path.endsWith('.md'));
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };

/** Lines of shell code blocks, without comments and prompts; continuation lines are joined. */
function shellLines(path: string): string[] {
  const blocks = [...text(path).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block as string);
  const lines = blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'));
  return lines.map((line) => line.replace(/\s+#.*$/, '').trim()).filter((line) => line !== '');
}

/** Every mention of a Latchkey command, in code blocks and text, with its arguments. */
function mentions(path: string): { name: string; args: string[] }[] {
  const inline = [...text(path).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code as string);
  return [...shellLines(path), ...inline].flatMap((line) => {
    const found =
      /(?:^|[\s;&])(?:latchkey|npm run(?: -s| --silent)?) (?!latchkey\b)([a-z][a-z:-]*)(?: -- | |$)(.*)/.exec(line);
    if (!found) return [];
    const [, name = '', rest = ''] = found;
    const words = rest.split(/\s+(?:&&|>|\|)\s?|[;>|]/)[0]?.trim() ?? '';
    return [{ name, args: words.split(/\s+/).filter((word) => word !== '' && word !== '…') }];
  });
}

const anchors = (path: string): string[] =>
  [...text(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    (title as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(documents)('%s', (path) => {
  it('has no broken links', () => {
    const links = [...text(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string);
    for (const link of links.filter((each) => !/^https?:/.test(each))) {
      const [file, anchor] = link.split('#');
      const target = file ? join(dirname(path), file) : path;
      expect(existsSync(join(root, target)), link).toBe(true);
      if (anchor) expect(anchors(target), link).toContain(anchor);
    }
  });

  it('mentions only existing commands and options', () => {
    for (const { name, args } of mentions(path)) {
      const command = commands.find((one) => one.name === name);
      if (!command) expect(Object.keys(scripts), name).toContain(name);
      else if (args.length > 0) expect(() => parseInput(command, args), `${name} ${args.join(' ')}`).not.toThrow();
    }
  });

  it('mentions only existing settings', () => {
    const known = renderConfigMarkdown();
    // Excludes the settings of products: they are generated, and the products define them.
    const ours = text(path).replace(/<!-- settings: [\s\S]*?<!-- end -->/g, '');
    const words = ours.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? [];
    // GF_… and OIDC_…: settings of Grafana and Outline. CONFIG_…: the reader's variables.
    const others = [
      'LATCHKEY_TEST_DATABASE_URL',
      'CHROME_PATH',
      // A setting of Node.
      'NODE_EXTRA_CA_CERTS',
      'DANGER_',
      'SERVER_ERROR',
      'NO_ACCESS',
      'CONNECTION_REQUIRED',
      'APPROVAL_REQUIRED',
      'RATE_LIMITED',
      'PROVISIONED_ONLY',
      'ORGANIZATION_ADMIN',
      'USER_NOT_FOUND',
      'CODE_REJECTED',
      'PASSKEY_UNSUPPORTED',
      'PASSKEY_REQUIRED',
      'PASSKEY_MODEL_NOT_ALLOWED',
    ];
    const isOthers = (word: string) => others.includes(word) || /^(GF|OIDC|CONFIG|ACTIONS)_/.test(word);
    for (const word of new Set(words.filter((each) => !isOthers(each)))) expect(known, word).toContain(`\`${word}\``);
  });

  it('mentions only existing metrics', async () => {
    const known = await allMetrics();
    const words = text(path).match(/\b(?:latchkey|nodejs|process)_[a-z0-9_]+\b/g) ?? [];
    for (const word of words.filter((one) => one !== tenantRole))
      expect(known, word).toContain(word.replace(/_(count|bucket|sum)$/, ''));
  });

  it('mentions only existing files', () => {
    const words = [...text(path).matchAll(/(?:-f |`)((?:server|shared|e2e|console)\/[\w./-]+|docker-compose\.yml)/g)];
    for (const [, file] of words) {
      // Written by builds and by browser tests.
      if (file?.startsWith('server/dist/') || file === 'e2e/test-results') continue;
      expect(existsSync(join(root, file as string)), file).toBe(true);
    }
  });
});

describe('the documentation', () => {
  it('mentions every command', () => {
    const all = documents.map(text).join('\n');
    for (const { name } of commands) {
      expect(all, name).toMatch(new RegExp(`(latchkey|npm run) ${name}\\b`));
      expect(Object.keys(scripts)).toContain(name);
      expect(scripts[name]).toBe(`exec node .config/start.mjs ${name}`);
    }
  });

  it('is linked from its first page', () => {
    for (const path of folder('server/docs').filter((each) => !each.endsWith('README.md'))) {
      expect(text('server/docs/README.md')).toContain(`](${path.slice('server/docs/'.length)})`);
    }
  });
});

it('the index of the decisions lists each record once, with its title', () => {
  const records = folder('server/decisions').filter((path) => !path.endsWith('README.md'));
  const lines = records.map((path) => {
    const [, number, title] = /^# (\d{4}) (.+)$/m.exec(text(path)) ?? [];
    return `- [${number}](${path.slice('server/decisions/'.length)}) ${title}`;
  });
  const listed = text('server/decisions/README.md').split('\n');
  expect(listed.filter((line) => line.startsWith('- ')).toSorted()).toEqual(lines.toSorted());
  const numbers = lines.map((line) => line.slice(0, '- [0000]'.length));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});

/** The text of all sources; without the decisions, tests of the documents and built files. */
function sources(): string {
  const skipped = /node_modules|\/(dist|decisions|docs|test-results)(\/|$)|docs\.test\.ts$/;
  return ['server', 'shared', 'console', 'e2e', '.config']
    .flatMap((name) =>
      readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => `${name}/${file}`),
    )
    .filter((path) => /\.(ts|tsx|mjs|js|graphql|json|sql|ya?ml)$/.test(path) && !skipped.test(path))
    .map(text)
    .join('\n');
}

it('decisions and the architecture mention only existing identifiers', () => {
  const known = new Set(sources().match(/[A-Za-z_$][\w$]*/g));
  // A magic comment of V8, which a decision mentions.
  const foreign = new Set(['allFunctionsCalledOnLoad']);
  for (const path of ['server/ARCHITECTURE.md', ...folder('server/decisions')]) {
    const names = [...text(path).matchAll(/`([\w$.]*[a-z][A-Z][\w$.]*)(?:\(\))?`/g)].flatMap(
      ([, one]) => one?.split('.') ?? [],
    );
    const unknown = names.filter((name) => name !== '' && !known.has(name) && !foreign.has(name));
    expect(unknown, path).toEqual([]);
  }
});

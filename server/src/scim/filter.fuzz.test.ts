import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { query, sql } from '../domain/kernel/sql.ts';
import { compileFilter } from './filter/compile.ts';
import { parseFilter, parsePath } from './filter/parser.ts';
import { groupType, userType } from './schema/resource-type.ts';
import { ScimError } from './scim-error.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const userCount = 80;
/** Each run compares the filter with every user: together 32,000 comparisons. */
const filterRuns = 400;

let app: ScimApp;
let project: ScimProject;
let users: Json[];

type Json = Record<string, unknown>;
type Tree =
  | { kind: 'and' | 'or'; terms: Tree[] }
  | { kind: 'not'; term: Tree }
  | { kind: 'test'; path: Path; operator: string; value?: string | boolean | null }
  | { kind: 'element'; of: Path; term: Tree };

/** Names and locations of attributes, independent of the schema under test. */
interface Path {
  text: string;
  /** The extension's URN, the attribute and, if any, its part. */
  at: readonly string[];
  type: 'text' | 'exact' | 'boolean' | 'instant';
  /** A missing value counts as false (`primary`). */
  absentIsFalse?: true;
}

const paths: Path[] = [
  { text: 'userName', at: ['userName'], type: 'text' },
  { text: `${core}:userName`, at: ['userName'], type: 'text' },
  { text: 'externalId', at: ['externalId'], type: 'exact' },
  { text: 'displayName', at: ['displayName'], type: 'text' },
  { text: 'title', at: ['title'], type: 'text' },
  { text: 'name.familyName', at: ['name', 'familyName'], type: 'text' },
  { text: `${core}:name.middleName`, at: ['name', 'middleName'], type: 'text' },
  { text: 'profileUrl', at: ['profileUrl'], type: 'exact' },
  { text: 'active', at: ['active'], type: 'boolean' },
  { text: 'emails', at: ['emails', 'value'], type: 'text' },
  { text: 'emails.value', at: ['emails', 'value'], type: 'text' },
  { text: 'emails.type', at: ['emails', 'type'], type: 'text' },
  { text: 'emails.primary', at: ['emails', 'primary'], type: 'boolean', absentIsFalse: true },
  { text: 'roles', at: ['roles', 'value'], type: 'text' },
  { text: 'addresses.locality', at: ['addresses', 'locality'], type: 'text' },
  { text: 'groups.display', at: ['groups', 'display'], type: 'text' },
  { text: `${enterprise}:department`, at: [enterprise, 'department'], type: 'text' },
  { text: `${enterprise}:manager`, at: [enterprise, 'manager', 'value'], type: 'exact' },
  { text: `${enterprise}:manager.value`, at: [enterprise, 'manager', 'value'], type: 'exact' },
  { text: 'meta.created', at: ['meta', 'created'], type: 'instant' },
  { text: 'schemas', at: ['schemas'], type: 'text' },
];

const parts: Record<string, Path[]> = {
  emails: [
    { text: 'value', at: ['value'], type: 'text' },
    { text: 'type', at: ['type'], type: 'text' },
    { text: 'display', at: ['display'], type: 'text' },
    { text: 'primary', at: ['primary'], type: 'boolean', absentIsFalse: true },
  ],
  roles: [
    { text: 'value', at: ['value'], type: 'text' },
    { text: 'type', at: ['type'], type: 'text' },
  ],
  addresses: [
    { text: 'locality', at: ['locality'], type: 'text' },
    { text: 'type', at: ['type'], type: 'text' },
  ],
};

const words = [
  'a',
  'A',
  'b',
  'ab',
  'aB',
  'ba',
  '%',
  '_',
  '\\',
  '"',
  "'",
  'a%b',
  'a_b',
  '日本',
  '😀',
  ' ',
  'a b',
  '?',
  '$1',
  '',
];
const word = fc.constantFrom(...words);
const address = fc
  .constantFrom('a@b', 'A@b', 'ab@b', "a'b@b", 'a%b@b', 'a_b@b', '日本@b')
  .chain((text) => fc.integer({ min: 0, max: 30 }).map((n) => `${n}.${text}`));
const instants = ['2026-03-01T12:00:00Z', '2026-03-01T13:00:00+01:00', '2026-03-01T12:00:01.5Z', '2026-03-01T12:00:03'];
const urns = [core, enterprise, 'urn:none', 'urn'];

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const several = <T>(arbitrary: fc.Arbitrary<T>) => maybe(fc.array(arbitrary, { minLength: 1, maxLength: 3 }));
const user = fc.record({
  userName: fc.tuple(fc.constantFrom('u', 'U', 'a', 'B'), word).map(([first, rest]) => first + rest),
  externalId: maybe(word),
  displayName: maybe(word),
  title: maybe(word),
  profileUrl: maybe(word),
  active: fc.boolean(),
  name: maybe(fc.record({ familyName: maybe(word), middleName: maybe(word) })),
  emails: several(
    fc.record({
      value: address,
      type: maybe(fc.constantFrom('work', 'Work', 'home')),
      primary: maybe(fc.boolean()),
      display: maybe(word),
    }),
  ),
  roles: several(fc.record({ value: word, type: maybe(word) })),
  addresses: several(fc.record({ locality: maybe(word), type: maybe(word) })),
  [enterprise]: maybe(fc.record({ department: maybe(word), manager: maybe(fc.record({ value: word })) })),
});

function valueFor(path: Path): fc.Arbitrary<string | boolean> {
  if (path.type === 'boolean') return fc.boolean();
  if (path.type === 'instant') return fc.constantFrom(...instants);
  if (path.text === 'schemas') return fc.constantFrom(...urns);
  return fc.oneof(word, address);
}

function test(path: Path): fc.Arbitrary<Tree> {
  const orders = path.type === 'boolean' ? [] : ['gt', 'ge', 'lt', 'le'];
  const parts = path.type === 'boolean' || path.type === 'instant' ? [] : ['co', 'sw', 'ew'];
  return fc.oneof(
    fc.constant<Tree>({ kind: 'test', path, operator: 'pr' }),
    fc.constantFrom('eq', 'ne').map<Tree>((operator) => ({ kind: 'test', path, operator, value: null })),
    fc
      .tuple(fc.constantFrom('eq', 'ne', ...orders, ...parts), valueFor(path))
      .map<Tree>(([operator, value]) => ({ kind: 'test', path, operator, value })),
  );
}

function tree(leaf: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  return fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({ kind: fc.constant('not' as const), term: tie('tree') }),
      fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        terms: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
      }),
    ),
  })).tree;
}

const element = fc.constantFrom(...Object.keys(parts)).chain((name) =>
  tree(fc.constantFrom(...(parts[name] as Path[])).chain(test)).map<Tree>((term) => ({
    kind: 'element',
    of: { text: name, at: [name], type: 'text' },
    term,
  })),
);
const filter = tree(
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...paths).chain(test) }, { weight: 1, arbitrary: element }),
);

/** Renders the filter with random case, spaces and redundant parentheses. */
function written(node: Tree, random: () => number): string {
  const cased = (text: string) => [...text].map((c) => (random() % 3 === 0 ? c.toUpperCase() : c)).join('');
  const space = () => [' ', '  ', '\t'][random() % 3] as string;
  switch (node.kind) {
    case 'not':
      return `${cased('not')}${random() % 2 ? ' ' : ''}(${written(node.term, random)})`;
    case 'and':
    case 'or': {
      const terms = node.terms.map((term) => {
        const text = written(term, random);
        const needed = node.kind === 'and' ? term.kind === 'or' : false;
        return needed || random() % 4 === 0 ? `(${text})` : text;
      });
      return terms.join(`${space()}${cased(node.kind)}${space()}`);
    }
    case 'element':
      return `${cased(node.of.text)}[${written(node.term, random)}]`;
    case 'test': {
      const { path, operator, value } = node;
      if (operator === 'pr') return `${cased(path.text)}${space()}${cased('pr')}`;
      return `${cased(path.text)}${space()}${cased(operator)}${space()}${JSON.stringify(value)}`;
    }
  }
}

/** Naive evaluation of a filter by RFC 7644. */
function holds(node: Tree, resource: Json): boolean {
  switch (node.kind) {
    case 'and':
      return node.terms.every((term) => holds(term, resource));
    case 'or':
      return node.terms.some((term) => holds(term, resource));
    case 'not':
      return !holds(node.term, resource);
    case 'element':
      return valuesAt(resource, node.of.at).some((each) => holds(node.term, each as Json));
    case 'test':
      return testHolds(node.path, node.operator, node.value, valuesAt(resource, node.path.at));
  }
}

function testHolds(
  path: Path,
  operator: string,
  value: string | boolean | null | undefined,
  values: unknown[],
): boolean {
  const present = values.some((each) => each !== undefined && each !== '');
  if (operator === 'pr' || (operator === 'ne' && value === null)) return present;
  if (value === null) return !present;
  const all = path.absentIsFalse ? values.map((each) => each ?? false) : values;
  if (operator === 'ne') return all.length === 0 || all.some((each) => !compares(path, 'eq', each, value));
  return all.some((each) => compares(path, operator, each, value));
}

function compares(path: Path, operator: string, actual: unknown, wanted: unknown): boolean {
  if (actual === undefined) return false;
  if (path.type === 'boolean') return actual === wanted;
  if (path.type === 'instant') {
    const zoned = /Z|[+-]\d\d:\d\d$/.test(String(wanted)) ? String(wanted) : `${wanted}Z`;
    return inOrder(operator, Math.sign(Date.parse(String(actual)) - Date.parse(zoned)));
  }
  const fold = (text: unknown) => (path.type === 'text' ? String(text).toLowerCase() : String(text));
  const [left, right] = [fold(actual), fold(wanted)];
  if (operator === 'co') return left.includes(right);
  if (operator === 'sw') return left.startsWith(right);
  if (operator === 'ew') return left.endsWith(right);
  return inOrder(operator, Buffer.compare(Buffer.from(left), Buffer.from(right)));
}

function inOrder(operator: string, order: number): boolean {
  if (operator === 'eq') return order === 0;
  if (operator === 'gt') return order > 0;
  if (operator === 'ge') return order >= 0;
  return operator === 'lt' ? order < 0 : order <= 0;
}

/** Every value at a path; undefined for elements without the part. */
function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, name === undefined ? [] : [name, ...rest]));
  if (name === undefined || value === undefined) return [value];
  const next = (value as Json)[name];
  // Without elements there are no values, not even undefined ones.
  return next === undefined && Object.hasOwn(parts, name) ? [] : valuesAt(next, rest);
}

beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
  for (const [index, sample] of fc.sample(user, { numRuns: userCount, seed: 7 }).entries()) {
    app.clock.turn(0.5);
    const emails = sample.emails?.map((each) => ({ ...each, value: `${index}${each.value}` }));
    const reply = await project.request('POST', '/Users', {
      ...sample,
      emails,
      userName: `${sample.userName}${index}`,
    });
    expect(reply.status, reply.text).toBe(201);
  }
  const all = (await project.request('GET', `/Users?count=${userCount}`)).body.Resources as Json[];
  for (const [index, displayName] of ['a', 'B', '%'].entries()) {
    const members = all.filter((_, n) => n % (index + 2) === 0).map(({ id }) => ({ value: id }));
    await project.request('POST', '/Groups', { displayName, members });
  }
  users = (await project.request('GET', '/Users?count=100')).body.Resources as Json[];
});
afterAll(() => app.close());

describe('filters', () => {
  it(`agree between parser, SQL and a naive evaluator, ${filterRuns} filters over all users`, async () => {
    expect(users.length).toBe(userCount);
    const em = app.services.db.reader();
    const context = { projectId: project.id, organizationId: null, baseUrl: project.baseUrl };
    let hits = 0;
    await fc.assert(
      fc.asyncProperty(filter, fc.infiniteStream(fc.nat(11)), async (node, randoms) => {
        const text = written(node, () => randoms.next().value as number);
        const where = compileFilter(parseFilter(userType, text), context);
        const found = await query(
          em,
          sql<{ id: string }>`select r.id from users r where r.project_id = ${project.id} and ${where}`,
        );
        const ids = new Set(found.map(({ id }) => id));
        for (const each of users) {
          const wanted = holds(node, each);
          if (ids.has(each['id'] as string) !== wanted) {
            throw new Error(`${text}\nshould ${wanted ? '' : 'not '}find ${JSON.stringify(each)}`);
          }
          hits += wanted ? 1 : 0;
        }
      }),
      { numRuns: filterRuns, seed: 20261121 },
    );
    // Enough filters match and enough do not.
    expect(hits / (filterRuns * users.length)).toBeGreaterThan(0.2);
    expect(hits / (filterRuns * users.length)).toBeLessThan(0.8);
  });

  const fragments = [
    'userName',
    'emails',
    'emails[',
    ']',
    '.value',
    'eq',
    'ne',
    'pr',
    'co',
    'gt',
    'and',
    'or',
    'not',
    'not(',
    '(',
    ')',
    '"a"',
    '"',
    '\\',
    'true',
    'null',
    '5',
    '-1e9',
    'urn:',
    core,
    enterprise,
    ':',
    '.',
    '[',
    'active',
    'members',
    ' ',
    '__proto__',
    '\0',
    '\ud800',
    '%',
    '🦆',
  ];
  const nonsense = fc.oneof(
    fc.array(fc.constantFrom(...fragments), { maxLength: 25 }).map((list) => list.join(' ')),
    fc.array(fc.constantFrom(...fragments), { maxLength: 25 }).map((list) => list.join('')),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );

  it('either parse or are refused, as filters and as paths', () => {
    const refusedOr = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        if (!(error instanceof ScimError) || error.status !== 400) throw error;
      }
    };
    fc.assert(
      fc.property(nonsense, (text) => {
        for (const type of [userType, groupType]) {
          refusedOr(() =>
            compileFilter(parseFilter(type, text), {
              projectId: project.id,
              organizationId: null,
              baseUrl: project.baseUrl,
            }),
          );
          refusedOr(() => parsePath(type, text));
        }
      }),
      { numRuns: 5_000, seed: 20261121 },
    );
  });

  it('never end in a 500 over HTTP', async () => {
    await fc.assert(
      fc.asyncProperty(nonsense, async (text) => {
        const reply = await project.request('POST', '/Users/.search', { filter: text, count: 0 });
        expect([200, 400]).toContain(reply.status);
      }),
      { numRuns: 150, seed: 20261121 },
    );
    expect(app.bugs).toEqual([]);
  });
});

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { applyStep, type Resource } from './patch.ts';
import { patchSteps } from './patch-operations.ts';
import { groupType, userType } from './schema/resource-type.ts';
import { ScimError } from './scim-error.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

type Element = Record<string, unknown>;
type Op = 'add' | 'replace' | 'remove';
/** An operation of the naive evaluator. */
type Operation =
  | { kind: 'simple'; op: Op; at: readonly string[]; value: string | boolean | null }
  | { kind: 'complex'; op: Op; at: readonly string[]; value: Element | null }
  | { kind: 'list'; op: Op; name: string; values: Element[] }
  | {
      kind: 'chosen';
      op: Op;
      name: string;
      test: { part: string; value: string | boolean };
      part?: string;
      value: unknown;
    };

const word = fc.constantFrom('a', 'A', 'b', 'c', 'work', 'Work', 'home', '日本', '"', '\\', "'");
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const defined = (value: object): Element =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
const element = fc
  .record({ value: word, type: maybe(word), display: maybe(word), primary: maybe(fc.boolean()) })
  .map(defined);
const list = fc.constantFrom('roles', 'entitlements', 'ims');
const op = fc.constantFrom<Op>('add', 'replace', 'remove');

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    kind: fc.constant('simple' as const),
    op,
    at: fc.constantFrom(
      ['title'],
      ['nickName'],
      ['name', 'givenName'],
      ['name', 'familyName'],
      [enterprise, 'department'],
    ),
    value: fc.option(word),
  }),
  fc.record({
    kind: fc.constant('complex' as const),
    op,
    at: fc.constant(['name']),
    value: fc.option(fc.record({ givenName: maybe(fc.option(word)), middleName: maybe(fc.option(word)) }).map(defined)),
  }),
  fc.record({ kind: fc.constant('list' as const), op, name: list, values: fc.array(element, { maxLength: 3 }) }),
  fc
    .record({
      kind: fc.constant('chosen' as const),
      op,
      name: list,
      test: fc.oneof(
        fc.record({ part: fc.constantFrom('type', 'value', 'display'), value: word }),
        fc.record({ part: fc.constant('primary'), value: fc.boolean() }),
      ),
      part: maybe(fc.constantFrom('value', 'type', 'display')),
      value: word,
      whole: element,
    })
    .map(({ whole, part, value, ...rest }) => (part ? { ...rest, part, value } : { ...rest, value: whole })),
);

/** Renders the operation as a client would. */
function written(operation: Operation): Element {
  const { op } = operation;
  const joined = (at: readonly string[]) => (at[0]?.startsWith('urn:') ? at.join(':') : at.join('.'));
  switch (operation.kind) {
    case 'simple':
    case 'complex':
      return { op, path: joined(operation.at), ...(op === 'remove' ? {} : { value: operation.value }) };
    case 'list':
      return {
        op,
        path: operation.name,
        ...(op === 'remove' && operation.values.length === 0 ? {} : { value: operation.values }),
      };
    case 'chosen': {
      const { name, test, part, value } = operation;
      const path = `${name}[${test.part} eq ${JSON.stringify(test.value)}]${part ? `.${part}` : ''}`;
      return { op, path, ...(op === 'remove' ? {} : { value }) };
    }
  }
}

/** Naive implementation of RFC 7644 §3.5.2 and the decisions. */
function naive(resource: Element, operation: Operation): void {
  switch (operation.kind) {
    case 'simple':
      return setAt(resource, operation.at, operation.op === 'remove' ? null : operation.value);
    case 'complex':
      if (operation.op === 'remove' || operation.value === null) return setAt(resource, operation.at, null);
      for (const [name, value] of Object.entries(operation.value))
        setAt(resource, [...operation.at, name], value as string | null);
      return;
    case 'list':
      return naiveList(resource, operation);
    case 'chosen':
      return naiveChosen(resource, operation);
  }
}

function setAt(resource: Element, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) {
    const inner = (resource[name] ?? {}) as Element;
    setAt(inner, rest, value);
    resource[name] = inner;
    if (Object.keys(inner).length === 0) delete resource[name];
  } else if (value === null) delete resource[name];
  else resource[name] = value;
}

function naiveList(resource: Element, { op, name, values }: Extract<Operation, { kind: 'list' }>): void {
  let elements = [...((resource[name] ?? []) as Element[])];
  const given = elementsOf(values);
  if (op === 'replace') elements = given;
  if (op === 'add') elements = elementsOf([...elements, ...given]);
  if (op === 'remove') {
    const named = (each: Element) => given.some((wanted) => Object.entries(wanted).every(([k, v]) => same(each[k], v)));
    elements = values.length === 0 ? [] : elements.filter((each) => !named(each));
  }
  store(resource, name, elements, null);
}

/** The last element with `primary` is primary; equal elements are merged. */
function elementsOf(values: Element[]): Element[] {
  const last = values.findLastIndex(({ primary }) => primary === true);
  return values
    .map((each, index) => (each['primary'] && index !== last ? { ...each, primary: false } : each))
    .reduce<Element[]>((all, each) => withElement(all, each), []);
}

function withElement(elements: Element[], added: Element): Element[] {
  const at = elements.findIndex((each) =>
    each['value'] === undefined && added['value'] === undefined
      ? isDeepStrictEqual(each, added)
      : each['value'] === added['value'] && each['type'] === added['type'],
  );
  if (at < 0) return [...elements, added];
  return elements.map((each, index) => (index === at ? { ...each, ...added } : each));
}

function naiveChosen(resource: Element, { op, name, test, part, value }: Extract<Operation, { kind: 'chosen' }>): void {
  const elements = (resource[name] ?? []) as Element[];
  const meets = (each: Element) =>
    same(test.part === 'primary' ? (each['primary'] ?? false) : each[test.part], test.value);
  const parts = part ? { [part]: value } : (value as Element);
  if (op === 'remove') {
    const left = elements.flatMap((each) => {
      if (!meets(each)) return [each];
      if (!part) return [];
      const { [part]: _, ...rest } = each;
      return rest['value'] === undefined ? [] : [rest];
    });
    return store(resource, name, left, null);
  }
  if (elements.some(meets)) {
    const next = elements.map((each) => (meets(each) ? { ...each, ...parts } : each));
    const chosen = elements.findLastIndex(meets);
    return store(resource, name, next, parts['primary'] === true ? chosen : null);
  }
  const made = { [test.part]: test.value, ...parts };
  if (made['value'] === undefined && made['display'] === undefined) return;
  store(resource, name, elementsOf([...elements, made]), null);
}

/** Keeps one primary value: the chosen one, else the last. */
function store(resource: Element, name: string, elements: Element[], chosen: number | null): void {
  const primary = chosen ?? elements.findLastIndex((each) => each['primary'] === true);
  const one = elements.map((each, index) =>
    each['primary'] && index !== primary ? { ...each, primary: false } : each,
  );
  // Merges elements that have become equal.
  const distinct = elementsOf(one);
  if (distinct.length === 0) delete resource[name];
  else resource[name] = distinct;
}

function same(a: unknown, b: unknown): boolean {
  return typeof a === 'string' && typeof b === 'string' ? a.toLowerCase() === b.toLowerCase() : a === b;
}

let app: ScimApp;
let project: ScimProject;
beforeAll(async () => {
  app = await startScimApp();
  project = await app.project();
});
afterAll(() => app.close());

const operations = fc.array(operation, { minLength: 1, maxLength: 8 });

describe('PATCH', () => {
  it('agrees with a naive evaluator on 20,000 random bodies', () => {
    fc.assert(
      fc.property(operations, (list) => {
        const resource: Resource = {};
        for (const step of patchSteps(userType, { Operations: list.map(written) })) applyStep(resource, step);
        const expected: Element = {};
        for (const each of list) naive(expected, each);
        expect(resource).toEqual(expected);
      }),
      { numRuns: 5_000, seed: 20261125 },
    );
  });

  it('is stored, returned and read back unchanged', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        const { id } = (await project.request('POST', '/Users', { userName: `fuzz${number++}` })).body;
        const reply = await project.request('PATCH', `/Users/${id}`, { Operations: list.map(written) });
        expect(reply.status, reply.text).toBe(200);
        const expected: Element = {};
        for (const each of list) naive(expected, each);
        const { schemas, id: _, userName, active, meta, ...rest } = reply.body;
        expect(rest).toEqual(expected);
        expect((await project.request('GET', `/Users/${id}`)).body).toEqual(reply.body);
        const { name, emails } = rest;
        const again = await project.request('PUT', `/Users/${id}`, { userName, active, ...rest, name, emails });
        expect(again.body).toEqual(reply.body);
      }),
      { numRuns: 60, seed: 20261125 },
    );
    expect(app.bugs).toEqual([]);
  });

  const fragments = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      'a',
      '',
      0,
      -1,
      1e300,
      [],
      {},
      ['a'],
      { value: 'a' },
      [{ value: 'a' }],
      'False',
      '\0',
      '\ud800',
    ),
    fc.json().map((text) => JSON.parse(text) as unknown),
  );
  const path = fc.constantFrom(
    'userName',
    'active',
    'name',
    'name.givenName',
    'emails',
    'emails.value',
    'emails[type eq "work"]',
    'emails[type eq "work"].value',
    'emails[not (value pr) and primary eq true].type',
    'phoneNumbers[value sw "+"]',
    'x509Certificates',
    enterprise,
    `${enterprise}:manager`,
    `${enterprise}:manager.$ref`,
    'urn:unknown',
    'members',
    'members[value eq "x"]',
    'displayName',
    'groups',
    'meta',
    'id',
    'schemas',
    '',
    ' ',
    '[',
    'emails[',
    'emails[]',
    '__proto__',
    'constructor.prototype',
    'password',
    'externalId',
  );
  const body = fc.oneof(
    fc.record({
      Operations: fc.array(
        fc.record(
          { op: fc.constantFrom('add', 'Replace', 'REMOVE', 'x', 5), path: maybe(path), value: maybe(fragments) },
          { requiredKeys: [] },
        ),
        { maxLength: 5 },
      ),
    }),
    fc.dictionary(fc.oneof(path, fc.string()), fragments),
    fragments,
  );

  it('refuses invalid bodies with 400 only, for users and groups', () => {
    fc.assert(
      fc.property(body, (value) => {
        for (const type of [userType, groupType]) {
          if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
          try {
            const resource: Resource = {};
            for (const step of patchSteps(type, value as Record<string, unknown>)) applyStep(resource, step);
          } catch (error) {
            if (!(error instanceof ScimError) || error.status !== 400) throw error;
          }
        }
        expect(({} as Record<string, unknown>)['givenName']).toBeUndefined();
      }),
      { numRuns: 5_000, seed: 20261125 },
    );
  });

  it('never ends in a 500 over HTTP: users, groups, Bulk', async () => {
    const user = (await project.request('POST', '/Users', { userName: 'target' })).body.id as string;
    const group = (await project.request('POST', '/Groups', { displayName: 'target' })).body.id as string;
    const targets: [string, string][] = [
      ['PATCH', `/Users/${user}`],
      ['PATCH', `/Groups/${group}`],
      ['PUT', `/Users/${user}`],
      ['PUT', `/Groups/${group}`],
      ['POST', '/Users'],
      ['POST', '/Groups'],
      ['POST', '/Bulk'],
      ['POST', '/Users/.search'],
    ];
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(...targets), async (value, [method, where]) => {
        const reply = await project.request(method, where, value);
        expect(reply.status, reply.text).toBeLessThan(500);
      }),
      { numRuns: 300, seed: 20261125 },
    );
    expect(app.bugs).toEqual([]);
  });
});

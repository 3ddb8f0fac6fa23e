import { getIntrospectionQuery, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { adminSchema } from '../schema.ts';
import { limits, limitsOf } from './limits.ts';

const checkLimits = limitsOf(adminSchema());
const check = (text: string, variables: Record<string, unknown> = {}) => {
  const document = parse(text);
  const operation = document.definitions.find(({ kind }) => kind === 'OperationDefinition') as OperationDefinitionNode;
  return () => checkLimits(document, operation, variables);
};
const nested = (depth: number) => `{ ${'a { '.repeat(depth - 1)}a${' }'.repeat(depth - 1)} }`;

describe('the limits of a request', () => {
  it('allow a depth of 10 and refuse 11, also through fragments and inline fragments', () => {
    expect(check(nested(limits.depth))).not.toThrow();
    expect(check(nested(limits.depth + 1))).toThrow('depth');
    expect(check(nested(50))).toThrow('depth');
    expect(check(`{ a { ... { ...F } } } fragment F on X ${nested(limits.depth)}`)).toThrow('depth');
  });

  it('count the aliases of a fragment for each spread', () => {
    const fragment = 'fragment F on X { b: a c: a d: a }';
    expect(check(`{ ...F ...F ...F ...F ...F } ${fragment}`)).not.toThrow();
    expect(check(`{ ...F ...F ...F ...F ...F e: a } ${fragment}`)).toThrow('aliases');
  });

  it('multiply the cost below a page by its size: literal, variable, default or absent', () => {
    const page = (first: string) => `query ($n: Int, $m: Int = 100) { projects${first} { edges { node { id } } } }`;
    const cost = (text: string, variables?: Record<string, unknown>) => {
      const many = `query ($n: Int, $m: Int = 100) { ${Array(40)
        .fill(/\{ (.*) \}$/.exec(text)?.[1])
        .join(' ')} }`;
      return check(many, variables);
    };
    expect(cost(page('(first: 80)'))).not.toThrow();
    expect(cost(page('(first: 90)'))).toThrow('cost');
    expect(cost(page('(first: $n)'), { n: 90 })).toThrow('cost');
    expect(cost(page('(first: $n)'), { n: 1 })).not.toThrow();
    expect(cost(page('(first: $m)'))).toThrow('cost');
    expect(cost(page(''))).not.toThrow();
  });

  it('count a page whose name is also that of a list as a page', () => {
    const groups = (first: number) => `{ groups(projectId: "x", first: ${first}) { edges { node { id } } } }`;
    const many = (first: number) => check(`{ ${Array(40).fill(groups(first).slice(1, -1)).join(' ')} }`);
    expect(many(80)).not.toThrow();
    expect(many(90)).toThrow('cost');
  });

  it('do not follow cyclic fragments', () => {
    expect(check('{ ...A } fragment A on X { a ...B } fragment B on X { b ...A }')).not.toThrow();
  });

  it('allow full introspection, and no deeper', () => {
    expect(check(getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true }))).not.toThrow();
    expect(check(`{ __schema { ${'a { '.repeat(20)}a${' }'.repeat(20)} } }`)).toThrow('introspectionDepth');
  });

  it('allow one introspection: with 15, a small request took seconds and 30 MB', () => {
    const twice = (name: string) => check(`{ a: ${name} { kind } b: ${name} { kind } }`);
    expect(twice('__schema')).toThrow('introspections');
    expect(twice('__type(name: "User")')).toThrow('introspections');
    expect(check('{ __schema { ...F } ...G } fragment F on X { a } fragment G on X { b: __type { a } }')).toThrow(
      'introspections',
    );
    expect(check('{ __typename __type(name: "User") { __typename kind } me { __typename } }')).not.toThrow();
  });
});

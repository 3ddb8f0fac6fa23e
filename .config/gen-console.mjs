/**
 * Generates the console's GraphQL operations: validates `console/admin/**\/*.graphql` against the golden schema, and
 * writes types and query texts. Also writes the types of audit events. With `--check`, fails if a file is out of date.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildSchema, concatAST, Kind, parse, print, stripIgnoredCharacters, visit } from 'graphql';
import { eventTypes } from '../server/dist/domain/audit/event-types.js';
import { fail, root } from './lib/workspace.mjs';

const output = 'console/admin/generated/operations.ts';
const eventOutput = 'console/admin/generated/event-types.ts';
const text = readFileSync(join(root, 'server/src/admin/schema.graphql'), 'utf8');
const documents = readdirSync(join(root, 'console/admin'), { recursive: true })
  .filter((path) => path.endsWith('.graphql'))
  .sort()
  .map((path) => ({ location: path, document: parse(readFileSync(join(root, 'console/admin', path), 'utf8')) }));
const { definitions } = concatAST(documents.map(({ document }) => document));
const fragments = new Map(
  definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]),
);

const types = await codegen({
  filename: output,
  schema: parse(text),
  schemaAst: buildSchema(text),
  documents,
  plugins: [{ operations: {} }],
  pluginMap: { operations },
  config: {
    scalars: { ID: 'string', DateTime: 'string', JSON: 'unknown', JSONObject: 'Record<string, unknown>' },
    enumType: 'string-literal',
    inlineFragmentTypes: 'combine',
    skipTypename: true,
  },
});

// Query texts instead of syntax trees: a tenth of the bundle size.
const texts = definitions
  .filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  .map((operation) => {
    const name = operation.name.value;
    const type = `${name}${operation.operation === 'query' ? 'Query' : 'Mutation'}`;
    const source = stripIgnoredCharacters([operation, ...fragmentsOf(operation)].map(print).join('\n'));
    return `export const ${name} = ${JSON.stringify(source)} as Operation<${type}, ${type}Variables>;\n`;
  });

const file = `// Written by npm run gen from the .graphql files beside the pages. Do not edit.
declare const types: unique symbol;

/** Query text, typed by its data and variables. */
export type Operation<Data, Variables> = string & { readonly [types]?: (variables: Variables) => Data };

${types.trim()}

${texts.join('')}`;

put(output, file);
put(
  eventOutput,
  `// Written by npm run gen from server/src/domain/audit/event-types.ts. Do not edit.
/** A type of audit event. */
export type EventType =
${eventTypes.map((type) => `  | '${type}'`).join('\n')};
`,
);

function put(path, content) {
  if (read(join(root, path)) === content) return;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  writeFileSync(join(root, path), content);
  process.stdout.write(`${path}\n`);
}

function fragmentsOf(node, found = new Set()) {
  visit(node, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (!fragment || found.has(fragment)) return;
      found.add(fragment);
      fragmentsOf(fragment, found);
    },
  });
  return [...found];
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

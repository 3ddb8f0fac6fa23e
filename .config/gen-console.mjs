/**
 * Generates the console's GraphQL operations: validates `console/admin/**\/*.graphql` against the golden schema, and
 * writes types, and query texts in a module for each folder, so that a page loads only those it sends. Also writes the sentences
 * of audit events. With `--check`, fails if a file is out of date.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildSchema, concatAST, Kind, parse, print, stripIgnoredCharacters, visit } from 'graphql';
import { events, resources } from '../server/dist/nouns.js';
import { fail, root } from './lib/workspace.mjs';

const generated = 'console/admin/generated';
const output = `${generated}/operations.ts`;
const typesOutput = `${generated}/types.ts`;
const textsFolder = `${generated}/texts`;
const eventOutput = `${generated}/events.ts`;
const switchOutput = `${generated}/switches.ts`;
const text = readFileSync(join(root, 'server/src/admin/schema.graphql'), 'utf8');

/** By resource, then section: the declared settings that the console shows as switches. */
const switches = Object.entries(resources).map(([resource, fields]) => {
  const shown = Object.entries(fields).filter(([, { control }]) => control !== undefined);
  return [resource, Object.groupBy(shown, ([, { control }]) => control.section)];
});
const shownBy = switches.filter(([, sections]) => Object.keys(sections).length > 0);
/** `...ClientSwitches` in the query of a page reads them all. */
const switchFragments = shownBy.map(([resource, sections]) => {
  const names = Object.values(sections).flatMap((section) => section.map(([name]) => name));
  return `fragment ${resource}Switches on ${resource} { ${names.join(' ')} }`;
});
const documents = readdirSync(join(root, 'console/admin'), { recursive: true })
  .filter((path) => path.endsWith('.graphql'))
  .sort()
  .map((path) => ({ location: path, document: parse(readFileSync(join(root, 'console/admin', path), 'utf8')) }));
const declared = { location: switchOutput, document: parse(switchFragments.join('\n')) };
const { definitions } = concatAST([...documents, declared].map(({ document }) => document));
const fragments = new Map(
  definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]),
);

const types = await codegen({
  filename: output,
  schema: parse(text),
  schemaAst: buildSchema(text),
  documents: [...documents, declared],
  plugins: [{ operations: {} }],
  pluginMap: { operations },
  config: {
    scalars: { ID: 'string', DateTime: 'string', JSON: 'unknown', JSONObject: 'Record<string, unknown>' },
    enumType: 'string-literal',
    inlineFragmentTypes: 'combine',
    skipTypename: true,
  },
});

const notice = '// Written by npm run gen from the .graphql files beside the pages. Do not edit.\n';
put(
  typesOutput,
  `${notice}declare const types: unique symbol;

/** Query text, typed by its data and variables. */
export type Operation<Data, Variables> = string & { readonly [types]?: (variables: Variables) => Data };

${types.trim()}
`,
);

const texts = new Map();
for (const { location, document } of documents) {
  const folder = location.split('/', 1)[0];
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  texts.set(folder, [...(texts.get(folder) ?? []), ...operations]);
}
for (const [folder, operations] of texts) {
  put(
    `${textsFolder}/${folder}.ts`,
    `${notice}import type * as of from '../types.ts';\n\n${operations.map(textOf).join('')}`,
  );
}
for (const name of readdirSync(join(root, textsFolder))) {
  if (!texts.has(name.replace(/\.ts$/, ''))) remove(`${textsFolder}/${name}`);
}
const modules = [...texts.keys()].map((folder) => `export * from './texts/${folder}.ts';\n`).join('');
put(output, `${notice}${modules}export type * from './types.ts';\n`);

const sentenceOf = ([type, [topic, sentence]]) => `  '${type}': ['${topic}', template(${JSON.stringify(sentence)})],\n`;
put(
  eventOutput,
  `// Written by npm run gen from server/src/domain/*/*.nouns.ts. Do not edit.
import { template } from '../language/language.ts';

/** Filter and sentence of each type of audit event. */
export const sentences = {
${Object.entries(events).map(sentenceOf).join('')}} as const satisfies Record<string, readonly [string, string]>;

export type EventType = keyof typeof sentences;
export type EventGroup = (typeof sentences)[EventType][0];
`,
);

const rowOf = ([name, { control }]) =>
  `      ${name}: {\n        label: ${messageOf(control.label)},\n        help: ${messageOf(control.help)},\n      },\n`;
const messageOf = ({ en }) => `t(${JSON.stringify(en)})`;
const sectionOf = ([section, fields]) => `    ${section}: {\n${fields.map(rowOf).join('')}    },\n`;
put(
  switchOutput,
  `// Written by npm run gen from server/src/domain/*/*.resource.ts. Do not edit.
import { t } from '../language/language.ts';

/** Settings that are shown as switches, by resource and section. */
export const switches = {
${shownBy.map(([resource, sections]) => `  ${resource}: {\n${Object.entries(sections).map(sectionOf).join('')}  },\n`).join('')}};
`,
);

/** Query texts instead of syntax trees: a tenth of the bundle size. */
function textOf(operation) {
  const name = operation.name.value;
  const type = `${name}${operation.operation === 'query' ? 'Query' : 'Mutation'}`;
  const source = stripIgnoredCharacters([operation, ...fragmentsOf(operation)].map(print).join('\n'));
  return `export const ${name} = ${JSON.stringify(source)} as of.Operation<of.${type}, of.${type}Variables>;\n`;
}

function remove(path) {
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  rmSync(join(root, path));
}

function put(path, content) {
  if (read(join(root, path)) === content) return;
  if (process.argv.includes('--check')) fail(`${path} is out of date: run npm run gen`);
  mkdirSync(dirname(join(root, path)), { recursive: true });
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

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

/** Languages that are translated; the sources are in English. */
export const languages = ['de', 'es', 'fr', 'ja'];
const catalogs = 'console/admin/language/messages';

/**
 * Folders of the console whose texts load with their pages, from catalogs of their own: those that have a folder of catalogs.
 * A text that other folders use, too, is in the main catalog.
 * @param {string} root
 */
export const areasOf = (root) =>
  readdirSync(join(root, catalogs), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** @param {string} [area] absent: the main catalog */
export const catalogOf = (language, area) => `${catalogs}/${area === undefined ? '' : `${area}/`}${language}.json`;

/** The area of a source; undefined: none. */
export const areaOf = (path, areas) => areas.find((area) => path.startsWith(`console/admin/${area}/`));

/**
 * The messages of each catalog, sorted; `undefined` is the main one.
 * @param {readonly string[]} areas
 * @param {readonly { path: string; messages: readonly { text: string }[] }[]} sources
 * @param {readonly string[]} ofServer
 */
export function catalogued(areas, sources, ofServer) {
  const users = new Map(ofServer.map((text) => [text, new Set([undefined])]));
  for (const { path, messages } of sources)
    for (const { text } of messages) users.set(text, (users.get(text) ?? new Set()).add(areaOf(path, areas)));
  const found = new Map([undefined, ...areas].map((area) => [area, []]));
  for (const [text, of] of users) found.get(of.size === 1 ? [...of][0] : undefined).push(text);
  return new Map([...found].map(([area, texts]) => [area, texts.sort()]));
}

/** Functions of console/admin/language/ that translate their first argument. `template` leaves its placeholders. */
const translators = new Set(['t', 'rich', 'template']);
/** JSX properties whose values are shown. */
const shownProperties =
  /^(?:alt|aria-(?:label|description|valuetext)|description|done|empty|error|head|header|hint|label|lead|legend|note|nothing|one|placeholder|subject|title|unit|verb)$/;
/** A word in sentence case, or several words. */
const prose = /^[A-Z]-?[a-z]|[A-Za-z,.’}] [a-z]{2,}|^[a-z]+ [A-Z]/;

/** Addresses, networks, scope names, grid columns and placeholders. */
const code = /^(?:(?=.*\d)[\da-f.:/, ]+|https?:\/\/\S*|\w+:\w+|.*\bminmax\(.*|\{\w+\})$/;

/** The code of the quickstarts: its strings are not texts, but the names of its snippets are marked. */
export const isSnippet = (path) => /\/quickstart\/[^/]+\.ts$/.test(path);

/** Sources of the console that people see, without tests. */
export function consoleSources(root) {
  const folder = 'console/admin';
  return readdirSync(join(root, folder), { recursive: true })
    .map((path) => `${folder}/${path}`)
    .filter(
      (path) => /(?<!\.test)\.tsx?$/.test(path) && !/\/(?:generated\/(?!switches\.|events\.)|language\/)/.test(path),
    )
    .sort();
}

/**
 * Messages of a source, texts that are not marked as messages, and invalid marks.
 * @param {string} path
 * @param {string} source
 */
export function read(path, source = readFileSync(path, 'utf8')) {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const found = { messages: [], unmarked: [], faults: [] };
  const at = (node) => source.slice(0, node.start).split('\n').length;
  const note = (list, node, text) => list.push({ line: at(node), text: text.trim().replace(/\s+/g, ' ') });

  // Also visits parts that are not shown: their messages must be in the catalogs.
  const visit = (node, isShown = false, isRead = true) => {
    if (Array.isArray(node)) for (const child of node) visit(child, isShown, isRead);
    if (!node?.type) return;
    if (skipped(node)) return;
    if (node.type === 'CallExpression' && translators.has(node.callee.name)) {
      const [message, ...rest] = node.arguments;
      const text = textOf(message);
      // Among the values of rich() are the elements of its tags.
      const isValue = ({ key }) => key !== undefined && !text?.includes(`</${key.name}>`);
      const hasObject = node.callee.name === 'rich' ? rest[0]?.properties.some(isValue) === true : rest.length > 0;
      if (text === undefined) note(found.faults, node, 'The first argument must be a string literal.');
      else {
        const hasValues = hasObject || (node.callee.name === 'template' && text.includes('{'));
        found.messages.push({ line: at(node), text, hasValues });
      }
      visit(rest, false, isRead);
      return;
    }
    if (isRead && node.type === 'JSXText' && /[A-Za-z]/.test(node.value)) note(found.unmarked, node, node.value);
    const text = textOf(node);
    if (isRead && text !== undefined && !code.test(text) && (prose.test(text) || (isShown && /[A-Za-z]/.test(text))))
      note(found.unmarked, node, text);
    const shows =
      node.type === 'JSXAttribute'
        ? shownProperties.test(node.name.name)
        : node.type === 'Property'
          ? node.key.name !== 'unit' && shownProperties.test(node.key.name)
          : isShown && passes(node);
    for (const [name, child] of Object.entries(node)) {
      visit(child, shows, isRead && !isUnseen(node, name));
    }
  };
  visit(program);
  return found;
}

/** Imports, types, and parts of them. */
const skipped = ({ type }) => /^(?:Import|ExportAll|TS(?!As|Satisfies|NonNull))/.test(type);

/** Whether the part of such an expression can become its value. */
const passes = ({ type }) =>
  ['ConditionalExpression', 'JSXExpressionContainer', 'LogicalExpression', 'ParenthesizedExpression'].includes(type);

/** Parts that are not shown: keys, compared values, class names and styles. */
function isUnseen(node, name) {
  if (name === 'key' || name === 'typeAnnotation' || name === 'typeArguments') return !node.computed;
  if (name === 'test' || (node.type === 'NewExpression' && node.callee.name === 'Error')) return true;
  if (node.type === 'BinaryExpression') return node.operator !== '+';
  if (node.type === 'JSXAttribute')
    return (
      name === 'value' &&
      /^(?:key|class|className|style|styles|d|w|h|spacing|gap|cols|to|href|flex|size|position|width)$/.test(
        node.name.name,
      )
    );
  return node.type === 'MemberExpression' && name === 'property';
}

/** Text of a string literal or template; undefined: neither. */
function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return undefined;
  return node.quasis.map(({ value }) => value.cooked).join('{}');
}

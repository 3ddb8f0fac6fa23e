import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

/** First words of the reason of a refusal, after the name of its field. */
const reasonStart =
  /^(?:already|belonged|cannot|client_credentials needs|files are|has|have|is|must|names|needs|occurs|or userName|was)\b .*\w/;
const notAllowed = 'This is not allowed: ';

/** Locations of the server's texts that the console shows, and the patterns that find them. */
const places = [
  {
    // Without requests that the console does not send: YAML documents, sign-ins, and parameters of exports and lists.
    files:
      /^(?:domain\/(?!accounts\/own\/|ceremonies|configuration|portal\/(?:open-links|portal(?:-connections|-directory)?)\.ts)|admin\/(?!api\/|.*\bexport|.*\/routes))/,
    find: refusals,
  },
  // Also of viewers, and of admins whose role has changed since the page was loaded.
  { files: /^admin\/api\/(?:authorize|caller-checks)\.ts$/, find: refusals },
  { files: /^domain\/support\/(?:explanations|oauth-errors)\.ts$/, find: explanations },
  { files: /^domain\/support\/explanations\.ts$/, find: codes },
  { files: /^domain\/instance\/checks\.ts$/, find: checks },
  { files: /^admin\/api\/error-content\.ts$/, find: (node) => (nameOf(node) === 'message' ? bodies(node.value) : []) },
  { files: /^admin\/directories\/self-test\.ts$/, find: selfTest },
];

/**
 * Texts of the server, in the form that the console shows: sentences, and codes as words. `{0}`, `{1}` … are replaced
 * with values.
 */
export function serverTexts(root) {
  const folder = join(root, 'server/src');
  const found = new Set();
  for (const path of readdirSync(folder, { recursive: true })) {
    const matching = places.filter(({ files }) => /(?<!\.test)\.ts$/.test(path) && files.test(path));
    if (matching.length === 0) continue;
    const { program, errors } = parseSync(path, readFileSync(join(folder, path), 'utf8'));
    if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
    const visit = (node) => {
      if (Array.isArray(node)) node.forEach(visit);
      if (!node?.type || /^(?:Import|ExportAll|TS(?!As|Satisfies|NonNull))/.test(node.type)) return;
      for (const { find } of matching) for (const text of find(node)) if (isProse(text)) found.add(text);
      for (const child of Object.values(node)) visit(child);
    };
    visit(program);
  }
  return [...found];
}

/** The argument of each function that is the noun of a resource. */
const nounArguments = { found: 1, existing: 3 };

/** Reasons of `invalid` and `forbidden`, and nouns of resources that were not found. */
function refusals(node) {
  const reasons = texts(node).filter((text) => reasonStart.test(text));
  const nouns = texts(node.type === 'CallExpression' && node.arguments[nounArguments[node.callee.name]]);
  if (nameOf(node) === 'what') nouns.push(...texts(node.value));
  const members = node.type === 'ObjectExpression' ? node.properties : [];
  const valueOf = (name) => members.find((member) => nameOf(member) === name)?.value;
  const forbidden = valueOf('code')?.value === 'forbidden' ? bodies(valueOf('reason')) : [];
  const sentences = reasons.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
  return [...sentences, ...nouns, ...forbidden.map((reason) => `${notAllowed}${reason}.`)];
}

/** Meaning and remedy. */
function explanations(node) {
  if (node.type === 'CallExpression' && node.callee.name === 'explain')
    return node.arguments.slice(0, 2).flatMap(texts);
  return node.type === 'VariableDeclarator' && node.init?.type === 'Literal' ? texts(node.init) : [];
}

/** Fault codes as words, as the list of events shows them. */
function codes(node) {
  const code = node.shorthand || node.value?.type === 'ArrowFunctionExpression' ? undefined : nameOf(node);
  return typeof code === 'string' && /^[a-z][a-z_, -]+$/.test(code) ? [code.replaceAll(/[_-]/g, ' ')] : [];
}

/** Names of checks and their results. */
function checks(node) {
  const name = nameOf(node);
  return [...texts(node), ...(name ? [name] : [])].filter((text) => /^[A-Z\d{].*[a-z]{2}|^SMS$/.test(text));
}

function selfTest(node) {
  if (node.type !== 'CallExpression' || node.callee.name !== 'request') return [];
  return node.arguments.slice(0, 2).flatMap(texts);
}

/** Whether a text has words besides its values. */
const isProse = (text) => /[A-Za-z]{2}/.test(text.replaceAll(/\{\d\}/g, ''));

const nameOf = (node) => (node.type === 'Property' ? (node.key.name ?? node.key.value) : undefined);

/** Texts that an expression may have as its value. */
function bodies(node) {
  if (node?.type === 'ConditionalExpression') return [...bodies(node.consequent), ...bodies(node.alternate)];
  return node?.type === 'LogicalExpression' ? [...bodies(node.left), ...bodies(node.right)] : texts(node);
}

function texts(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return [node.value];
  if (node?.type !== 'TemplateLiteral') return [];
  return [node.quasis.map(({ value }, index) => (index === 0 ? '' : `{${index - 1}}`) + value.cooked).join('')];
}

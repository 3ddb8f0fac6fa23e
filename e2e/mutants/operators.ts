import type { Edit } from './edit.ts';
import { looksLikeSql, sqlEdits } from './sql.ts';
import { bare, calledName, field, list, type Node } from './tree.ts';

/** Context of a node. */
export interface Place {
  /** Outermost first. */
  ancestors: readonly Node[];
  /** Source text of the file. */
  source: string;
}

/** A mutation: replaces the whole `node`; with `statement`, removes it. */
export interface Mutation {
  operator: string;
  node: Node;
  /** Replacement. */
  text: string;
  /** The differing part of `node`, for reports, before and after. */
  before: string;
  after: string;
  statement?: true;
}

/** All mutations of a node itself, without those of its children. */
export function mutationsOf(node: Node, place: Place): Mutation[] {
  const rule = rules[node.type];
  return rule ? rule(node, place) : [];
}

type Rule = (node: Node, place: Place) => Mutation[];

const rules: Record<string, Rule> = {
  IfStatement: (node, place) => conditionOf(field(node, 'test'), place, [true, false]),
  ConditionalExpression: (node, place) => conditionOf(field(node, 'test'), place, [true, false]),
  WhileStatement: (node, place) => conditionOf(field(node, 'test'), place, [false]),
  LogicalExpression: logical,
  BinaryExpression: binary,
  UnaryExpression: (node, place) =>
    node['operator'] === '!' && !isCondition(node, place)
      ? [replaced('negation', node, `(${textOf(field(node, 'argument'), place)})`, place)]
      : [],
  Literal: literal,
  // Tag and template together: a tag before another expression would be a call.
  TemplateLiteral: (node, place) =>
    place.ancestors.at(-1)?.type === 'TaggedTemplateExpression' ? [] : template(node, node, place),
  TaggedTemplateExpression: (node, place) => template(node, field(node, 'quasi') as Node, place),
  ExpressionStatement: (node, place) =>
    isRemovable(node) ? [{ ...replaced('statement', node, '', place), statement: true }] : [],
  ArrayExpression: array,
  ObjectExpression: object,
  CallExpression: call,
  ChainExpression: (node, place) => {
    const text = textOf(node, place);
    const by = text.replace(/\?\.(?=[[(])/, '').replace(/\?\./, '.');
    return by === text ? [] : [replaced('chain', node, by, place)];
  },
};

const textOf = (node: Node | undefined, { source }: Place) => (node ? source.slice(node.start, node.end) : '');

function replaced(operator: string, node: Node, text: string, place: Place): Mutation {
  return { operator, node, text, before: textOf(node, place), after: text };
}

/** Replaces a part of `node`. */
function changed(node: Node, { operator, start, end, text }: Edit, { source }: Place): Mutation {
  const whole = source.slice(node.start, start) + text + source.slice(end, node.end);
  return { operator, node, text: whole, before: source.slice(start, end), after: text };
}

/** Constant values to test: of `a && b` only false, of `a || b` only true; dropping an operand tests the other case. */
function conditionOf(test: Node | undefined, place: Place, values: boolean[]): Mutation[] {
  if (!test) return [];
  const { type, operator } = bare(test);
  if (type === 'Literal') return [];
  const dominated = type === 'LogicalExpression' ? operator === '&&' : undefined;
  return values
    .filter((value) => dominated === undefined || value !== dominated)
    .map((value) => replaced('condition', test, String(value), place));
}

/** Whether only the node's truth value matters: then its condition is mutated already. */
function isCondition(node: Node, { ancestors }: Place): boolean {
  const parent = ancestors.at(-1);
  if (!parent) return false;
  if (parent.type === 'ParenthesizedExpression')
    return isCondition(parent, { ancestors: ancestors.slice(0, -1), source: '' });
  return parent['test'] === node || parent.type === 'LogicalExpression';
}

/** `a ?? null` and `a` are equal to the database. */
function logical(node: Node, place: Place): Mutation[] {
  const [left, right] = [textOf(field(node, 'left'), place), textOf(field(node, 'right'), place)];
  const sides = node['operator'] === '??' && /^(null|undefined)$/.test(right) ? [right] : [left, right];
  return sides.map((side) => replaced('operand', node, `(${side})`, place));
}

const boundaries: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const arithmetic: Record<string, string> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' };
const comparisons = new Set(['===', '!==', '==', '!=', '<', '<=', '>', '>=', 'in', 'instanceof']);

function binary(node: Node, place: Place): Mutation[] {
  const operator = String(node['operator']);
  const [left, right] = [field(node, 'left'), field(node, 'right')];
  const sides = [left, right].map((side) => textOf(side, place));
  const found: Mutation[] = [];
  const boundary = boundaries[operator];
  if (boundary) found.push(replaced('boundary', node, `${sides[0]} ${boundary} ${sides[1]}`, place));
  if (comparisons.has(operator) && !isCondition(node, place)) {
    found.push(...['true', 'false'].map((value) => replaced('comparison', node, value, place)));
  }
  const isText = [left, right].some((side) => side && /^['"`]/.test(textOf(side, place)));
  const other = arithmetic[operator];
  if (other && !isText) found.push(replaced('arithmetic', node, `${sides[0]} ${other} ${sides[1]}`, place));
  return found;
}

function literal(node: Node, place: Place): Mutation[] {
  const { value } = node;
  const parent = place.ancestors.at(-1);
  const isKey = parent?.['key'] === node || parent?.['property'] === node || parent?.type === 'ExpressionStatement';
  if (isKey || parent?.type.startsWith('TS')) return [];
  if (typeof value === 'boolean') return [replaced('boolean', node, String(!value), place)];
  if (typeof value === 'number') return [replaced('number', node, String(value + 1), place)];
  if (typeof value === 'string') return inSql(node, node, [], place);
  const pattern = (node['regex'] as { pattern: string; flags: string } | undefined)?.pattern;
  if (pattern === undefined) return [];
  const flags = (node['regex'] as { flags: string }).flags;
  const others = [pattern.replace(/^\^/, ''), pattern.replace(/\$$/, '')].filter((other) => other !== pattern);
  return others.filter((other) => other !== '').map((other) => replaced('pattern', node, `/${other}/${flags}`, place));
}

function template(node: Node, quoted: Node, place: Place): Mutation[] {
  const first = quoted.start + 1;
  const holes = list(quoted, 'expressions').map((hole): [number, number] => {
    const before = place.source.lastIndexOf('${', hole.start);
    return [before - first, place.source.indexOf('}', hole.end) + 1 - first];
  });
  return inSql(node, quoted, holes, place);
}

/** @param quoted the part of `node` with the text, including quotes */
function inSql(node: Node, quoted: Node, holes: [number, number][], place: Place): Mutation[] {
  const text = textOf(quoted, place).slice(1, -1);
  if (!looksLikeSql(text)) return [];
  const first = quoted.start + 1;
  return sqlEdits(text, holes).map((edit) =>
    changed(node, { ...edit, start: edit.start + first, end: edit.end + first }, place),
  );
}

/** Removes each word of a list once. Parameter lists stay: dropping one only makes the statement invalid. */
function array(node: Node, place: Place): Mutation[] {
  const elements = list(node, 'elements');
  const isWords = elements.every((element) => element.type === 'Literal' && typeof element['value'] === 'string');
  if (elements.length === 0 || !isWords) return [];
  return elements.map((element, index) => without('element', node, elements, index, element, place));
}

const filters = /^(find(One|OneOrFail|All|AndCount)?|count|nativeUpdate|nativeDelete)$/;
const writes = /^(assign|create|nativeUpdate)$/;

/** Removes each condition of a database filter and each written value once. */
function object(node: Node, place: Place): Mutation[] {
  const properties = list(node, 'properties');
  const use = useOf(node, place);
  if (!use) return [];
  return properties.flatMap((property, index) => {
    const isMethod = /Function/.test(field(property, 'value')?.type ?? '');
    return isMethod ? [] : [without(use, node, properties, index, property, place)];
  });
}

function useOf(node: Node, { ancestors }: Place): string | undefined {
  for (let at = ancestors.length - 1; at >= 0; at -= 1) {
    const ancestor = ancestors[at] as Node;
    if (ancestor.type === 'VariableDeclarator') {
      const name = field(ancestor, 'id')?.['name'];
      return typeof name === 'string' && /^(where|filter|waiting)$/i.test(name) ? 'filter' : undefined;
    }
    if (ancestor.type === 'CallExpression') {
      const index = list(ancestor, 'arguments').findIndex(
        (argument) => argument.start <= node.start && node.end <= argument.end,
      );
      const name = calledName(ancestor);
      if (filters.test(name) && index === 1) return 'filter';
      return writes.test(name) && index >= 1 ? 'write' : undefined;
    }
    if (!/^(Property|ObjectExpression|ParenthesizedExpression)$/.test(ancestor.type)) return undefined;
  }
  return undefined;
}

function without(operator: string, node: Node, all: Node[], index: number, one: Node, place: Place): Mutation {
  const next = all[index + 1];
  const before = all[index - 1];
  const [start, end] = next ? [one.start, next.start] : [before?.end ?? one.start, one.end];
  return { ...changed(node, { operator, start, end, text: '' }, place), before: textOf(one, place), after: '' };
}

const receivers = /^(filter|trim|toLowerCase|toUpperCase|normalize|sort|reverse|toSorted|replace|replaceAll|padStart)$/;
const twins = new Map(Object.entries({ some: 'every', every: 'some', min: 'max', max: 'min' }));

function call(node: Node, place: Place): Mutation[] {
  const callee = field(node, 'callee');
  const property = callee ? field(callee, 'property') : undefined;
  if (callee?.type !== 'MemberExpression' || !property || callee['optional'] === true) return [];
  if (isInChain(node, place)) return [];
  const name = calledName(node);
  if (receivers.test(name)) return [replaced('call', node, textOf(field(callee, 'object'), place), place)];
  const twin = twins.get(name);
  if (!twin) return [];
  return [changed(node, { operator: 'call', start: property.start, end: property.end, text: twin }, place)];
}

/** Whether the node is a link of `a?.b.c()`: in parentheses, the rest of the chain would no longer stop with it. */
function isInChain(node: Node, { ancestors }: Place): boolean {
  let link = node;
  for (const ancestor of ancestors.toReversed()) {
    if (ancestor.type === 'ChainExpression') return true;
    if (ancestor['object'] !== link && ancestor['callee'] !== link) return false;
    link = ancestor;
  }
  return false;
}

/** Statements with an effect: no directives or constructor assignments. */
function isRemovable(node: Node): boolean {
  const expression = bare(field(node, 'expression') as Node);
  if (expression.type === 'Literal') return false;
  if (expression.type === 'CallExpression') return field(expression, 'callee')?.type !== 'Super';
  const target = field(expression, 'left');
  return !(
    target &&
    field(target, 'object')?.type === 'ThisExpression' &&
    field(expression, 'right')?.type === 'Identifier'
  );
}

import { parseSync } from 'vite';

/** A syntax tree node (ESTree with TypeScript), with the members used here. */
export interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

export function parse(path: string, source: string): Node {
  const { errors, program } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  return program as unknown as Node;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** Child nodes without types and decorators, which have no effect at run time. */
export function children(node: Node): Node[] {
  return Object.entries(node).flatMap(([field, value]) => {
    if (field === 'decorators' || field === 'typeAnnotation' || field === 'typeArguments') return [];
    if (field === 'returnType' || field === 'typeParameters' || field === 'superTypeArguments') return [];
    return (Array.isArray(value) ? value : [value]).filter(isNode).filter(({ type }) => isCode(type));
  });
}

function isCode(type: string): boolean {
  if (/^TS(As|Satisfies|NonNull|Instantiation)|^TSParameterProperty$/.test(type)) return true;
  return !type.startsWith('TS') && !/^(Import|ExportAll)/.test(type);
}

/** The expression without parentheses and type assertions. */
export function bare(node: Node): Node {
  const wraps = /^(ParenthesizedExpression|TSAsExpression|TSSatisfiesExpression|TSNonNullExpression|ChainExpression)$/;
  return wraps.test(node.type) ? bare(node['expression'] as Node) : node;
}

export function field(node: Node, name: string): Node | undefined {
  const value = node[name];
  return isNode(value) ? value : undefined;
}

export function list(node: Node, name: string): Node[] {
  const value = node[name];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Last name of the callee: `find` of `em.find(…)`. */
export function calledName(call: Node): string {
  const callee = field(call, 'callee');
  const name = callee?.type === 'MemberExpression' ? field(callee, 'property') : callee;
  return typeof name?.['name'] === 'string' ? name['name'] : '';
}

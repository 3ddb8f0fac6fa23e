import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { type Mutation, mutationsOf } from './operators.ts';
import { bare, children, field, list, type Node, parse } from './tree.ts';

export interface Mutant {
  /** Hash of its change and of its function: stays the same while other parts of the file change. */
  id: string;
  /** Relative to the repository root. */
  file: string;
  line: number;
  /** Enclosing function or constant. */
  within: string;
  operator: string;
  before: string;
  after: string;
  /** Module constant that contains it, if it is evaluated at import. */
  constant?: string;
}

export interface Instrumented {
  mutants: Mutant[];
  /** Source per file with all mutants, each behind its ID. */
  sources: Map<string, string>;
}

interface File {
  path: string;
  source: string;
  program: Node;
  /** Module constants by name; imported ones by local name. */
  constants: Map<string, string>;
}

/**
 * Inserts all mutants into the sources, so that each can be activated at run time without recompiling or reimporting
 * (`switch.ts`).
 */
export function instrument(root: string, paths: readonly string[]): Instrumented {
  const files = paths.map((path) => readModule(root, path));
  for (const file of files) takeImports(file, files);
  const mutants: Mutant[] = [];
  const sources = new Map(files.map((file) => [file.path, new Writer(file, mutants).write()]));
  return { mutants, sources };
}

function readModule(root: string, path: string): File {
  const source = readFileSync(join(root, path), 'utf8');
  const program = parse(path, source);
  const constants = new Map<string, string>();
  for (const statement of list(program, 'body')) {
    const declaration = constantOf(statement);
    for (const name of declaration ? namesIn(field(declaration, 'id') as Node) : []) {
      constants.set(name, constantKey(path, declaration as Node));
    }
  }
  return { path, source, program, constants };
}

const constantKey = (path: string, declarator: Node) => `${path}#${declarator.start}`;

function takeImports(file: File, files: readonly File[]): void {
  for (const statement of list(file.program, 'body')) {
    if (statement.type !== 'ImportDeclaration' || statement['importKind'] === 'type') continue;
    const path = join(dirname(file.path), String(field(statement, 'source')?.['value']));
    const other = files.find((one) => one.path === path);
    for (const specifier of other ? list(statement, 'specifiers') : []) {
      const key = other?.constants.get(String(field(specifier, 'imported')?.['name']));
      if (key) file.constants.set(String(field(specifier, 'local')?.['name']), key);
    }
  }
}

/** Declarator of a module constant that can be evaluated again without side effects. */
function constantOf(statement: Node): Node | undefined {
  const declaration = statement.type === 'ExportNamedDeclaration' ? field(statement, 'declaration') : statement;
  if (declaration?.type !== 'VariableDeclaration' || declaration['kind'] !== 'const') return undefined;
  const [declarator, another] = list(declaration, 'declarations');
  const init = declarator && field(declarator, 'init');
  return init && !another && isRepeatable(init) && !/Function/.test(bare(init).type) ? declarator : undefined;
}

function isRepeatable(node: Node): boolean {
  if (/^(NewExpression|ClassExpression|AwaitExpression)$/.test(node.type)) return false;
  if (node.type === 'TaggedTemplateExpression' && field(node, 'tag')?.['name'] !== 'sql') return false;
  return /Function/.test(node.type) || children(node).every(isRepeatable);
}

function namesIn(pattern: Node): string[] {
  if (pattern.type === 'Identifier') return [String(pattern['name'])];
  return list(pattern, 'properties').map((property) => String(field(property, 'value')?.['name']));
}

interface Surroundings {
  within: readonly string[];
  constant: string | undefined;
  /** The statement of the module or the member of the class. */
  unit: Node;
}

/** Rewrites one file. */
class Writer {
  private readonly file: File;
  private readonly mutants: Mutant[];
  private readonly mutations = new Map<Node, Mutation[]>();
  private readonly shadowed = new Set<string>();
  /** Number of mutants that look alike. */
  private readonly alike = new Map<string, number>();
  private readonly lineStarts: number[];

  constructor(file: File, mutants: Mutant[]) {
    this.file = file;
    this.mutants = mutants;
    this.lineStarts = [0, ...[...file.source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  }

  write(): string {
    const { program, source } = this.file;
    this.collect(program, [], { within: [], constant: undefined, unit: program });
    return this.render(program, []) + source.slice(program.end);
  }

  private collect(node: Node, ancestors: Node[], { within, constant, unit: around }: Surroundings): void {
    const inside = [...within, ...nameOf(node)];
    const unit = ancestors.length === 1 || /^(Method|Property)Definition$/.test(node.type) ? node : around;
    const declarator = ancestors.length === 1 ? constantOf(node) : undefined;
    const key = declarator ? constantKey(this.file.path, declarator) : constant;
    // A function body runs when called, not at import.
    const here = /Function/.test(node.type) ? undefined : key;
    if (ancestors.length > 3 && node.type === 'VariableDeclarator') this.shadow(field(node, 'id'));
    if (/Function/.test(node.type)) for (const parameter of list(node, 'params')) this.shadow(parameter);
    for (const mutation of mutationsOf(node, { ancestors, source: this.file.source })) {
      const { operator, before, after } = mutation;
      const id = this.idOf(unit, [inside.join('.'), operator, before, after]);
      this.mutants.push({
        id,
        file: this.file.path,
        line: this.lineOf(mutation.node.start, before),
        within: inside.join('.'),
        operator,
        before,
        after,
        ...(here && { constant: here }),
      });
      const others = this.mutations.get(mutation.node) ?? [];
      this.mutations.set(mutation.node, [...others, { ...mutation, text: this.guarded(id, mutation) }]);
    }
    for (const child of children(node)) {
      this.collect(child, [...ancestors, node], { within: inside, constant: here, unit });
    }
  }

  private idOf(unit: Node, change: readonly string[]): string {
    const text = this.file.source.slice(unit.start, unit.end).replace(/\s+/g, ' ');
    const what = [this.file.path, text, ...change].join('\0');
    const number = this.alike.get(what) ?? 0;
    this.alike.set(what, number + 1);
    return createHash('sha256').update(`${what}\0${number}`).digest('hex').slice(0, 12);
  }

  private guarded(id: string, { text, statement }: Mutation): string {
    return statement ? `if(!__mutants('${id}'))` : `__mutants('${id}')?(${text}):`;
  }

  private shadow(pattern: Node | undefined): void {
    if (!pattern) return;
    if (pattern.type === 'Identifier') this.shadowed.add(String(pattern['name']));
    for (const child of children(pattern)) this.shadow(child);
  }

  /** Line of the change within a multi-line node. */
  private lineOf(start: number, before: string): number {
    const at = Math.max(start, this.file.source.indexOf(before, start));
    return this.lineStarts.filter((line) => line <= at).length;
  }

  private render(node: Node, ancestors: readonly Node[]): string {
    const { source } = this.file;
    let text = '';
    let at = node.start;
    const inside = [...ancestors, node];
    // In `{ a = 1 }`, the key is a part of the value.
    for (const child of children(node).toSorted((one, other) => one.start - other.start || other.end - one.end)) {
      if (child.start < at) continue;
      text += source.slice(at, child.start) + this.render(child, inside);
      at = child.end;
    }
    text += source.slice(at, node.end);
    const mutations = this.mutations.get(node);
    if (mutations) {
      const guards = mutations.map((mutation) => mutation.text).join('');
      text = mutations[0]?.statement ? `{${guards}{${text}}}` : `(${guards}(${text}))`;
    }
    return this.asConstant(node, ancestors, this.asRead(node, ancestors, text));
  }

  /** Turns `const a = 1` into a variable that is recomputed when one of its mutants is activated. */
  private asConstant(node: Node, ancestors: readonly Node[], text: string): string {
    if (node.type === 'VariableDeclaration') {
      const parent = ancestors.at(-1) as Node;
      const isOwn = parent.type === 'Program' || (parent.type === 'ExportNamedDeclaration' && ancestors.length === 2);
      return isOwn && constantOf(node) ? text.replace(/^const/, 'let') : text;
    }
    const declarator = ancestors[1] && constantOf(ancestors[1]);
    if (!declarator || field(declarator, 'init') !== node) return text;
    const id = field(declarator, 'id') as Node;
    const names = namesIn(id);
    const pattern = id.type === 'Identifier' ? names[0] : `{${names.join()}}`;
    const key = JSON.stringify(constantKey(this.file.path, declarator));
    return `__mutants.constant(${key}, () => (${text}), (value) => { (${pattern} = value); })`;
  }

  /** Records a read of a constant, to find the tests for its mutants. */
  private asRead(node: Node, ancestors: readonly Node[], text: string): string {
    const parent = ancestors.at(-1);
    if (node.type === 'Property' && node['shorthand'] === true && parent?.type === 'ObjectExpression') {
      const name = String(field(node, 'key')?.['name']);
      const key = this.keyOf(name);
      return key ? `${name}: __mutants.read(${JSON.stringify(key)}, ${name})` : text;
    }
    if (node.type !== 'Identifier' || !parent || !isReading(node, parent)) return text;
    const key = this.keyOf(String(node['name']));
    return key ? `__mutants.read(${JSON.stringify(key)}, ${text})` : text;
  }

  private keyOf(name: string): string | undefined {
    return this.shadowed.has(name) ? undefined : this.file.constants.get(name);
  }
}

function isReading(node: Node, parent: Node): boolean {
  if (parent.type === 'MemberExpression') return parent['object'] === node || parent['computed'] === true;
  if (parent.type === 'Property') return parent['value'] === node && parent['shorthand'] !== true;
  if (/^(VariableDeclarator|AssignmentPattern)$/.test(parent.type))
    return parent['id'] !== node && parent['left'] !== node;
  if (/Function|Pattern|Specifier|Class|RestElement|MethodDefinition/.test(parent.type)) return parent['body'] === node;
  return parent.type !== 'PropertyDefinition' || parent['value'] === node;
}

function nameOf(node: Node): string[] {
  const named = /^(FunctionDeclaration|ClassDeclaration|VariableDeclarator)$/.test(node.type);
  const name = named ? field(node, 'id') : node.type === 'MethodDefinition' ? field(node, 'key') : undefined;
  return typeof name?.['name'] === 'string' ? [name['name']] : [];
}

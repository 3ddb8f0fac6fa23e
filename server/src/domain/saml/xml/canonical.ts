import { SamlError } from '../saml-error.ts';
import type { Attribute, Element } from './element.ts';

interface Options {
  /** `InclusiveNamespaces`, '' for `#default`. */
  inclusive?: readonly string[];
  /** A child of the root that is left out: the enveloped signature. */
  without?: Element;
  /** Written here: of any size. */
  isOwn?: boolean;
}

/** Characters of namespaces in one output, which writes a namespace of an ancestor at each element that uses it. Its reader refuses longer ones. */
const maxDeclared = 256 * 1024;

/** Exclusive XML Canonicalization 1.0 of an element, without comments. */
export function canonical(element: Element, { inclusive = [], without, isOwn = false }: Options = {}): string {
  const parts: string[] = [];
  write(element, new Map([['', '']]), { inclusive, without, parts, left: isOwn ? Infinity : maxDeclared });
  return parts.join('');
}

interface Writing {
  inclusive: readonly string[];
  without: Element | undefined;
  parts: string[];
  /** Characters of namespaces that may follow. */
  left: number;
}

/** @param rendered the declarations that the output's ancestors have, prefix to namespace */
function write(element: Element, rendered: ReadonlyMap<string, string>, writing: Writing): void {
  const { parts } = writing;
  const name = qualified(element);
  const { declarations, inner } = declared(element, rendered, writing.inclusive);
  parts.push('<', name);
  for (const [prefix, ns] of declarations) {
    writing.left -= ns.length;
    if (writing.left < 0) throw new SamlError('too-large', 'namespaces');
    parts.push(prefix === '' ? ' xmlns="' : ` xmlns:${prefix}="`, escapedValue(ns), '"');
  }
  for (const one of [...element.attributes].sort(byNamespace)) {
    parts.push(' ', qualified(one), '="', escapedValue(one.value), '"');
  }
  parts.push('>');
  for (const child of element.children) {
    if (child === writing.without) continue;
    if (typeof child === 'string') parts.push(escapedText(child));
    else write(child, inner, writing);
  }
  parts.push('</', name, '>');
}

/** The declarations that are visibly used here or are named as inclusive, and that no ancestor has rendered. */
function declared(element: Element, rendered: ReadonlyMap<string, string>, inclusive: readonly string[]) {
  const used = new Set([
    element.prefix,
    ...element.attributes.map(({ prefix }) => prefix).filter(Boolean),
    ...inclusive,
  ]);
  used.delete('xml');
  const declarations: [string, string][] = [];
  for (const prefix of used) {
    const ns = element.scope.get(prefix) ?? (prefix === '' ? '' : undefined);
    if (ns !== undefined && rendered.get(prefix) !== ns) declarations.push([prefix, ns]);
  }
  declarations.sort(([a], [b]) => order(a, b));
  return { declarations, inner: declarations.length === 0 ? rendered : new Map([...rendered, ...declarations]) };
}

function qualified({ prefix, name }: { prefix: string; name: string }): string {
  return prefix === '' ? name : `${prefix}:${name}`;
}

function byNamespace(a: Attribute, b: Attribute): number {
  return order(a.ns, b.ns) || order(a.name, b.name);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function escapedText(value: string): string {
  return value.replace(/[&<>\r]/g, (one) => textEscapes[one] ?? one);
}

/** Also how messages are written. */
export function escapedValue(value: string): string {
  return value.replace(/[&<"\t\n\r]/g, (one) => valueEscapes[one] ?? one);
}

const textEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
const valueEscapes: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '"': '&quot;' },
  ...{ '\t': '&#x9;', '\n': '&#xA;', '\r': '&#xD;' },
};

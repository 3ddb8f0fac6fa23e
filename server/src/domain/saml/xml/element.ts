import { SamlError } from '../saml-error.ts';

/** A name with its namespace; '': none. */
export interface Attribute {
  prefix: string;
  name: string;
  ns: string;
  value: string;
}

/** An element as {@link read} returns it. Never changed. */
export interface Element {
  prefix: string;
  name: string;
  ns: string;
  attributes: readonly Attribute[];
  /** Prefix ('' for the default) to namespace, of this element and its ancestors. */
  scope: ReadonlyMap<string, string>;
  children: readonly (Element | string)[];
}

/** The value of an attribute without a namespace. */
export function attribute(element: Element, name: string): string | undefined {
  return element.attributes.find((one) => one.ns === '' && one.name === name)?.value;
}

export function elements(parent: Element): Element[] {
  return parent.children.filter((child) => typeof child !== 'string');
}

export function children(parent: Element, ns: string, name: string): Element[] {
  return elements(parent).filter((child) => child.ns === ns && child.name === name);
}

/** The only child of this name; undefined: none. More than one is refused. */
export function child(parent: Element, ns: string, name: string): Element | undefined {
  const [first, second] = children(parent, ns, name);
  if (second) throw new SamlError('malformed', `${parent.name} has several ${name}`);
  return first;
}

export function required(parent: Element, ns: string, name: string): Element {
  const found = child(parent, ns, name);
  if (!found) throw new SamlError('malformed', `${parent.name} has no ${name}`);
  return found;
}

/** The text of an element without child elements, without the white space of XML around it. */
export function text(element: Element): string {
  if (elements(element).length > 0) throw new SamlError('malformed', `${element.name} has child elements`);
  return withoutSpaces(element.children.join(''));
}

/** XML 1.0 section 2.3. Not `trim`: other spaces can be all that differs between the names of two users. */
function withoutSpaces(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isSpace(value.charAt(start))) start += 1;
  while (start < end && isSpace(value.charAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r';
}

/** All elements of this name at any depth, the root included. */
export function descendants(root: Element, ns: string, name: string): Element[] {
  const found: Element[] = [];
  const open = [root];
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.ns === ns && next.name === name) found.push(next);
    open.push(...elements(next));
  }
  return found;
}

import { field, isObject } from '../patch-operations.ts';
import { isHidden } from '../schema/attribute.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';

/** A name or path of which one segment names a secret. */
const secretPath = /(^|[:.])(password|secret|token|authorization)($|[:.])/i;
const secretWord = /(?<![\w-])(password|secret|token|authorization)(?![\w-])/i;
/** A path without a filter: it contains no value. */
const bareName = /^[\w:.$-]*$/;
const notKept = '[not kept]';
const maxDepth = 8;
const maxListed = 50;

/**
 * Removes secrets, values of attributes that are never returned, and the data of Bulk operations (which concern many users)
 * from the record of a request. A path may name a secret or such an attribute, and a filter may contain its value.
 */
export class Redaction {
  /** Names of attributes that are never returned, and their aliases, in lower case. */
  private readonly hidden: readonly string[];

  /** @param users the type of the project's users */
  constructor(private readonly users: ResourceType) {
    const { aliases, custom } = users;
    const own = (custom?.attributes ?? []).filter(isHidden).flatMap(({ name }) => [`:${name}`, `.${name}`]);
    const others = [...(aliases ?? [])].flatMap(([alias, attribute]) => (isHidden(attribute) ? [alias] : []));
    this.hidden = [...own, ...others].map((name) => name.toLowerCase());
  }

  /** The path with its query, or without if that names a secret. */
  path(path: string): string {
    const at = path.indexOf('?');
    return at >= 0 && this.mentions(path.slice(at)) ? `${path.slice(0, at)}?${notKept}` : path;
  }

  /** A filter, or the name or path of an attribute, unless it names a secret and may contain its value. */
  filter(text: string): string {
    return !bareName.test(text) && this.mentions(text) ? notKept : text;
  }

  body(value: unknown, depth = 0, urn = ''): unknown {
    if (depth > maxDepth) return '…';
    if (Array.isArray(value)) return value.slice(0, maxListed).map((each) => this.body(each, depth + 1, urn));
    if (!isObject(value)) return value;
    const isBulk = depth === 2 && field(value, 'method') !== undefined;
    const path = field(value, 'path');
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const isOfPath = typeof path === 'string' && /^value$/i.test(name);
        const target = isOfPath ? path : qualified(urn, name);
        const shown = this.filter(name);
        if ((isBulk && /^data$/i.test(name)) || this.hides(target)) return [shown, notKept];
        if (/^(filter|path|location)$/i.test(name) && typeof each === 'string') return [shown, this.filter(each)];
        return [shown, this.body(each, depth + 1, /^urn:/i.test(target) ? target : '')];
      }),
    );
  }

  private hides(name: string): boolean {
    const bare = (name.split('[', 1)[0] ?? '').trim();
    if (secretPath.test(bare)) return true;
    if (this.hidden.length === 0) return false;
    const target = resolve(this.users, bare);
    return target?.kind === 'attribute' && isHidden(target.attribute);
  }

  private mentions(text: string): boolean {
    if (secretWord.test(text)) return true;
    const lower = this.hidden.length === 0 ? '' : text.toLowerCase();
    return this.hidden.some((name) => lower.includes(name));
  }
}

function qualified(urn: string, name: string): string {
  return urn === '' || /^urn:/i.test(name) ? name : `${urn}:${name}`;
}

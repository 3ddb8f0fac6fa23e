import { isObject } from '../patch-operations.ts';
import { isHidden } from '../schema/attribute.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';

const secretNames = /^(password|secret|token|authorization)$/i;
const notKept = '[not kept]';
const maxDepth = 8;
const maxListed = 50;

/**
 * Removes from a request what its record must not keep: secrets, values of attributes that are never returned, and the data
 * of Bulk operations, which concern many users.
 */
export class Redaction {
  /** Names of attributes that are never returned, and their aliases, in lower case. */
  private readonly hidden: readonly string[];

  /** @param users the type of the project's users */
  constructor(private readonly users: ResourceType) {
    const { aliases, custom } = users;
    const own = (custom?.attributes ?? []).filter(isHidden).map(({ name }) => `:${name.toLowerCase()}`);
    const others = [...(aliases ?? [])].flatMap(([alias, attribute]) => (isHidden(attribute) ? [alias] : []));
    this.hidden = [...own, ...others];
  }

  /** The path with its query, or without if that names an attribute that is never returned. */
  path(path: string): string {
    const [resource, query] = path.split('?', 2);
    return query !== undefined && this.mentions(query) ? `${resource}?${notKept}` : path;
  }

  body(value: unknown, depth = 0, urn = ''): unknown {
    if (depth > maxDepth) return '…';
    if (Array.isArray(value)) return value.slice(0, maxListed).map((each) => this.body(each, depth + 1, urn));
    if (!isObject(value)) return value;
    const isBulk = depth === 2 && 'method' in value;
    const path = textAt(value, 'path');
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const isOfPath = path !== undefined && /^value$/i.test(name);
        const target = isOfPath ? path : qualified(urn, name);
        if (secretNames.test(name) || (isBulk && name === 'data') || this.hides(target)) return [name, notKept];
        if (/^(filter|path)$/i.test(name) && typeof each === 'string' && this.mentions(each)) return [name, notKept];
        return [name, this.body(each, depth + 1, /^urn:/i.test(target) ? target : '')];
      }),
    );
  }

  private hides(name: string): boolean {
    if (this.hidden.length === 0) return false;
    const target = resolve(this.users, (name.split('[', 1)[0] ?? '').trim());
    return target?.kind === 'attribute' && isHidden(target.attribute);
  }

  private mentions(text: string): boolean {
    const lower = this.hidden.length === 0 ? '' : text.toLowerCase();
    return this.hidden.some((name) => lower.includes(name));
  }
}

function qualified(urn: string, name: string): string {
  return urn === '' || /^urn:/i.test(name) ? name : `${urn}:${name}`;
}

function textAt(value: Record<string, unknown>, name: string): string | undefined {
  const found = Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}

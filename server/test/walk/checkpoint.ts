import { Browser, Tab } from './browsers.ts';
import { Model } from './model.ts';
import { Jar } from './wire.ts';

/** Base of further classes whose fields are part of the test's state. */
export abstract class Restorable {}

/** Classes whose fields are part of the test's state; other instances, such as keys, do not change. */
const stateful = new Set<unknown>([
  Object.prototype,
  null,
  Model.prototype,
  Tab.prototype,
  Browser.prototype,
  Jar.prototype,
]);

/** Copies the state that the roots reach. Returns a function that restores it, in the same objects. */
export function checkpoint(roots: readonly object[]): () => void {
  const undo: (() => void)[] = [];
  const seen = new Set<object>();
  const open = [...roots];
  for (let one = open.pop(); one; one = open.pop()) {
    if (seen.has(one)) continue;
    seen.add(one);
    const parts = copyOf(one, undo);
    for (const part of parts) if (typeof part === 'object' && part !== null) open.push(part);
  }
  return () => {
    for (const restore of undo) restore();
  };
}

/** Copies one object without its parts, which it returns. */
function copyOf(one: object, undo: (() => void)[]): Iterable<unknown> {
  if (Array.isArray(one)) {
    const items = one.slice();
    undo.push(() => void one.splice(0, one.length, ...items));
    return items;
  }
  if (one instanceof Map) {
    const entries = [...one];
    undo.push(() => {
      one.clear();
      for (const [key, value] of entries) one.set(key, value);
    });
    return entries.flat();
  }
  if (one instanceof Set) {
    const items = [...one];
    undo.push(() => {
      one.clear();
      for (const item of items) one.add(item);
    });
    return items;
  }
  if (!stateful.has(Object.getPrototypeOf(one)) && !(one instanceof Restorable)) return [];
  const fields = { ...one };
  undo.push(() => {
    for (const name of Object.keys(one)) if (!(name in fields)) Reflect.deleteProperty(one, name);
    Object.assign(one, fields);
  });
  return Object.values(fields);
}

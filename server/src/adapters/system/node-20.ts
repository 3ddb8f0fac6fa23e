/** Functions that the server uses and Node 20 lacks; `main.ts` imports this first. */

/** As `Map.groupBy`. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

if (!('groupBy' in Map)) Object.assign(Map, { groupBy });

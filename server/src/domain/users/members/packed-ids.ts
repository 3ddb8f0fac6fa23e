import { setImmediate } from 'node:timers/promises';
import { type Fragment, sql } from '../../kernel/sql.ts';

const idBytes = 16;
const usualBatch = 5000;

/** SQL: the ids of many rows as one value, 16 bytes each: rows of their own would cost ten times as much memory and time. */
export function packed(column: string): Fragment {
  const id = sql.ref(column);
  return sql`string_agg(uuid_send(${id}), ''::bytea order by ${id})`;
}

/** The ids of {@link packed}, in batches; other requests run in between. */
export async function* inBatches(ids: Buffer | null | undefined, batch = usualBatch): AsyncGenerator<string[]> {
  const all = ids ?? Buffer.alloc(0);
  for (let from = 0; from < all.length; from += batch * idBytes) {
    if (from > 0) await setImmediate();
    yield unpacked(all.subarray(from, from + batch * idBytes));
  }
}

function unpacked(ids: Buffer): string[] {
  const hex = ids.toString('hex');
  return Array.from({ length: ids.length / idBytes }, (_, at) => {
    const one = hex.slice(at * 2 * idBytes, (at + 1) * 2 * idBytes);
    return `${one.slice(0, 8)}-${one.slice(8, 12)}-${one.slice(12, 16)}-${one.slice(16, 20)}-${one.slice(20)}`;
  });
}

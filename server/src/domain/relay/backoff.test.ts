import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { longestRetries } from '../delivery/lanes.ts';
import { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { retries as ofLogout } from '../logout/attempts.ts';
import { retries as ofWebhooks } from '../webhooks/attempts.ts';
import { pauses } from './receiver-channel.ts';

let orm: MikroORM;
let db: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  orm = await openDatabase({ url: fresh.url });
  db = new Database(orm);
});
afterAll(async () => {
  await orm.close(true);
  await drop();
});

const now = new Date('2026-11-29T00:00:00Z');
const wait = (next: Date) => (next.getTime() - now.getTime()) / 1000;
const least = { ...systemRandom, integer: () => 0 };
const most = { ...systemRandom, integer: (below: number) => below - 1 };

describe('the waits between attempts', () => {
  it.each([
    ['logout tokens', ofLogout, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]],
    ['webhooks', ofWebhooks, [10, 30, 90, 270, 810, 2430, 7290, 14_400, 14_400]],
    ['receivers that seem to be down', pauses, [5, 10, 20, 40, 60, 60]],
    ['messages', longestRetries, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]],
  ] as const)(
    'of %s grow up to their limit, and are never longer than the SQL says',
    async (_name, backoff, seconds) => {
      expect(seconds.map((_, index) => wait(backoff.next(now, index + 1, least)))).toEqual(seconds);
      const failures = [0, ...seconds.map((_, index) => index + 1), 60, 1000];
      const longest = await query(
        db.alone,
        sql<{
          failures: number;
          seconds: number;
        }>`select failures, (${backoff.longest(sql`failures`)})::float8 as seconds
        from unnest(${failures}::int[]) as failures order by failures`,
      );
      expect(longest[0]?.seconds).toBe(0);
      for (const { failures: count, seconds: limit } of longest.slice(1)) {
        const waited = wait(backoff.next(now, count, most));
        expect(waited).toBeLessThanOrEqual(limit);
        expect(waited).toBeGreaterThan(0.99 * limit);
      }
    },
  );
});

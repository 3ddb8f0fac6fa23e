import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LaneLag } from '../domain/relay/channel.ts';
import { processTasks, startTasks } from './process-tasks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lines: string[] = [];
const log = {
  warn: (_fields: object, text: string) => void lines.push(`warn ${text}`),
  error: (_fields: object, text: string) => void lines.push(`error ${text}`),
};

it('each task runs on its own period in each process, and a failure is logged once until it ends', async () => {
  const runs = { beats: 0, keys: 0, statistics: 0 };
  let isDown = false;
  const attempt = async (name: keyof typeof runs) => {
    runs[name] += 1;
    if (isDown) throw new Error('down');
  };
  let late: readonly string[] = [];
  const lag: LaneLag[] = [
    { lane: 'codes', pending: 3, seconds: 130 },
    { lane: 'webhooks-slow', pending: 9, seconds: 999 },
  ];
  const tasks = processTasks({
    processes: { beat: () => attempt('beats') },
    keys: { have: () => attempt('keys') },
    relays: [{ lag: async () => lag }],
    onLate: (lanes) => {
      late = lanes;
    },
    renewStatistics: () => attempt('statistics'),
  });
  const stop = startTasks(tasks, log);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toEqual({ beats: 3, keys: 3, statistics: 30 });
  expect(late).toEqual(['codes: due for 130 s, 3 pending']);
  isDown = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines.toSorted()).toEqual([
    'error no signing key',
    'warn heartbeat failed',
    'warn renewal of statistics failed',
  ]);
  isDown = false;
  await vi.advanceTimersByTimeAsync(20_000);
  isDown = true;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(lines).toHaveLength(6);
  stop();
  const before = { ...runs };
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toEqual(before);
});

import { overviewTimes } from '../screens/overview-times.ts';
import { type Print, printColumns } from './harness/table.ts';

/** Slow-downs of the browser's CPU, with the limit for the median in milliseconds. */
const runs = [
  { slowDown: 1, limitMs: undefined },
  { slowDown: 4, limitMs: 1500 },
];

/** Time until the overview of the console is ready, with an empty cache. */
export async function consoleLoad(print: Print): Promise<void> {
  const times = await overviewTimes(runs.map(({ slowDown }) => slowDown));
  const lines = runs.map(({ slowDown, limitMs }, index) => {
    const sorted = (times[index] ?? []).toSorted((a, b) => a - b);
    const median = sorted[(sorted.length - 1) / 2] ?? 0;
    const holds = limitMs === undefined ? '' : `${median <= limitMs ? '✓' : '✗'} ${limitMs}`;
    return [
      `overview, CPU × ${slowDown}`,
      ...[sorted[0] ?? 0, median, sorted.at(-1) ?? 0].map((ms) => ms.toFixed(0)),
      holds,
    ];
  });
  printColumns(['page', 'fastest ms', 'median ms', 'slowest ms', '≤ ms'], lines, print);
}

import type { Figures } from './measure.ts';

/** A workload with the figures of each contender; Latchkey is first. */
export interface Row {
  workload: string;
  figures: Figures[];
  /** Targets; `true` if met. */
  places: { text: string; holds: boolean }[];
  /** Caveat of the comparison. */
  note?: string;
}

export type Print = (line: string) => void;

/** Prints progress to stderr. */
export function progress(line: string): void {
  process.stderr.write(`  … ${line}\n`);
}

const columns = [
  'workload',
  'subject',
  'rate/s',
  'p50 ms',
  'p99 ms',
  'CPU ms: server',
  'database',
  'both',
  'RSS MB',
  'CPU ×',
];

/** Prints Markdown, as in RESULTS.md. `CPU ×`: Latchkey's CPU per operation over this subject's. */
export function printTable(rows: readonly Row[], print: Print): void {
  const lines = rows.flatMap(({ workload, figures }) => {
    const own = figures[0];
    return figures.map((one, index) => [
      index === 0 ? workload : '',
      one.subject,
      one.rate.toFixed(0),
      one.p50.toFixed(1),
      one.p99.toFixed(1),
      one.serverCpu.toFixed(2),
      one.databaseCpu.toFixed(2),
      cpuOf(one).toFixed(2),
      (one.memoryBytes / 2 ** 20).toFixed(0),
      index === 0 || !own ? '' : (cpuOf(own) / cpuOf(one)).toFixed(2),
    ]);
  });
  printColumns(columns, lines, print);
  print('');
  for (const { workload, places, note } of rows) {
    for (const { text, holds } of places) print(`- ${holds ? '✓' : '✗'} ${workload}: ${text}`);
    if (note !== undefined) print(`- ${workload}: ${note}`);
  }
}

export function printColumns(head: readonly string[], lines: readonly (readonly string[])[], print: Print): void {
  const widths = head.map((title, at) => Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0)));
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`;
  print(row(head));
  print(`| ${widths.map((width, at) => (at < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`);
  for (const line of lines) print(row(line));
}

/** CPU of server and database per operation, in milliseconds. */
export function cpuOf({ serverCpu, databaseCpu }: Figures): number {
  return serverCpu + databaseCpu;
}

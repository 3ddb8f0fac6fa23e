import { readdirSync, readFileSync } from 'node:fs';

/** `sysconf(_SC_CLK_TCK)` on Linux. */
const ticksPerSecond = 100;
/** Bytes per unit of `/proc/<pid>/status`. */
const kilobyte = 1024;

/**
 * User and system CPU of processes and their descendants so far, in milliseconds, from `/proc/<pid>/stat`; ended
 * children are included through their parent. Linux only.
 */
export function cpuMilliseconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of tree(pids)) {
    const fields = statOf(pid);
    // utime, stime, cutime, cstime (proc(5), fields 14 to 17).
    if (fields) for (const index of [11, 12, 13, 14]) ticks += Number(fields[index]);
  }
  return (ticks * 1000) / ticksPerSecond;
}

/** Resident memory of these processes (`VmRSS`), in bytes. */
export function residentBytes(pids: readonly number[]): number {
  let bytes = 0;
  for (const pid of pids) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * kilobyte;
    } catch {
      // The process has ended.
    }
  }
  return bytes;
}

/** These processes and their descendants. */
function tree(pids: readonly number[]): Set<number> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? Number(statOf(Number(name))?.[1]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = new Set<number>();
  const open = [...pids];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** Fields from the third (state) on; the second, the name, may contain anything. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

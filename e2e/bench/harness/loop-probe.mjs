/**
 * Preloaded into a measured server (`node --import`): appends each long turn of its event loop to the file in
 * `LOOP_PROBE_FILE`, as `<end in ms since the epoch> <duration in ms> <CPU of the main thread meanwhile in ms>`.
 */
import { appendFileSync } from 'node:fs';

const periodMs = 5;
const leastMs = 20;
const file = process.env.LOOP_PROBE_FILE;

let before = performance.now();
let cpuBefore = process.threadCpuUsage();
setInterval(() => {
  const now = performance.now();
  const cpu = process.threadCpuUsage(cpuBefore);
  const took = now - before - periodMs;
  if (took >= leastMs) {
    appendFileSync(file, `${Date.now()} ${took.toFixed(1)} ${((cpu.user + cpu.system) / 1000).toFixed(1)}\n`);
  }
  before = performance.now();
  cpuBefore = process.threadCpuUsage();
}, periodMs).unref();

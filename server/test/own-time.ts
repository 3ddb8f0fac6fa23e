const tickMs = 10;

/**
 * The result of `work`, and the milliseconds that it took, excluding the time in which a busy machine did not run this
 * process: each turn of the event loop counts for at most two ticks.
 */
export async function ownTime<Result>(work: () => Promise<Result>): Promise<{ result: Result; took: number }> {
  let [took, before] = [0, performance.now()];
  const count = () => {
    const now = performance.now();
    took += Math.min(now - before, 2 * tickMs);
    before = now;
  };
  const timer = setInterval(count, tickMs);
  try {
    const result = await work();
    count();
    return { result, took };
  } finally {
    clearInterval(timer);
  }
}

const tickMs = 10;

/**
 * The result of `work`, and the milliseconds that passed for this process in the meantime: each turn of the event loop counts
 * for at most two ticks, so that the time in which a busy machine does not run the process does not count.
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

/**
 * Calls `tick` with the seconds left, by the clock and not by counting, until they are 0 or it returns false.
 *
 * @returns stops it
 */
export function countDown(seconds: number, tick: (left: number) => boolean | void): () => void {
  const end = performance.now() + seconds * 1000;
  let timer = 0;
  const step = () => {
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    if (tick(left) === false || left === 0) clearInterval(timer);
  };
  timer = setInterval(step, 1000) as unknown as number;
  step();
  return () => clearInterval(timer);
}

/** A duration in its largest sufficient unit. */
export function wait(seconds: number, language: string): string {
  const [value, unit] =
    seconds < 100 ? [seconds, 'second'] : seconds < 5400 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  const options = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(language, options).format(Math.ceil(value));
}

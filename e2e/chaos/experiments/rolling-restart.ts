import { freePort, type Latchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, percentile } from '../experiment.ts';
import { Balancer } from '../support/balancer.ts';
import { load, World } from '../support/world.ts';

export const rollingRestart: Experiment = {
  name: 'rolling-restart',
  done: 'two processes behind a proxy, restarted in turn (4 restarts) under load',
  passes: 'no failed sign-in; each process exits within 10 s of SIGTERM with code 0',
  async run({ scale, log }) {
    const restarts = Math.max(2, Math.round(4 * scale));
    const world = await World.create({ env: { SHUTDOWN_DELAY_SECONDS: '1' } });
    const balancer = new Balancer();
    world.onClose(() => balancer.close());
    try {
      const start = async (): Promise<Latchkey> => {
        const port = await freePort();
        const latchkey = await world.start({ PORT: String(port) });
        await balancer.add(latchkey, port);
        return latchkey;
      };
      await balancer.listen(Number(world.issuerPort));
      const running = [await start(), await start()];
      const app = await world.app();
      const people = await world.people(app, 5);
      const hosted = await world.hostedPeople(app, 1);
      const under = load([
        ...people.map((person) => () => person.signIn()),
        ...hosted.map((person) => () => person.signInHosted()),
      ]);
      await pause(1_000);
      const stopMs: number[] = [];
      const faults: string[] = [];
      for (let count = 0; count < restarts; count += 1) {
        const [oldest] = running.splice(0, 1);
        if (!oldest) break;
        const startedAt = performance.now();
        const code = await oldest.stop();
        stopMs.push(performance.now() - startedAt);
        balancer.remove(oldest);
        if (code !== 0) faults.push(`exit code ${code}: ${oldest.output().slice(-300)}`);
        running.push(await start());
        log(`restarted after ${Math.round(stopMs.at(-1) ?? 0)} ms`);
        await pause(1_500);
      }
      await under.stop();
      const { results } = under;
      return evaluate(
        `${results.good} sign-ins (p99 ${percentile(results.tookMs, 0.99)} ms), ${results.refused.length + results.wrong.length} failed over ${restarts} restarts; stopped in ${Math.round(Math.max(...stopMs))} ms at most`,
        [
          results.good < 20 && `only ${results.good} sign-ins`,
          Math.max(...stopMs) > 10_000 && `a stop took ${Math.round(Math.max(...stopMs))} ms`,
          ...faults,
          ...results.refused.map(({ why }) => why),
          ...results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

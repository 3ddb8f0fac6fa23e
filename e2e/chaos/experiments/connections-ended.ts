import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { load, World } from '../support/world.ts';

export const connectionsEnded: Experiment = {
  name: 'connections-ended',
  done: 'pg_terminate_backend on all connections of Latchkey, every second, for 30 s under load',
  passes: 'only correct responses, or 503 with Retry-After; no restart; immediate recovery',
  async run({ scale, log }) {
    const seconds = Math.max(5, Math.round(30 * scale));
    const world = await World.create();
    try {
      const latchkey = await world.start();
      const app = await world.app();
      const people = await world.people(app, 6);
      const hosted = await world.hostedPeople(app, 2);
      const under = load([
        ...people.map((person) => () => person.signIn()),
        ...hosted.map((person) => () => person.signInHosted()),
      ]);
      let ended = 0;
      for (let second = 0; second < seconds; second += 1) {
        await pause(1_000);
        const rows = await world.postgres.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'latchkey' and pid <> pg_backend_pid() and backend_type = 'client backend'`,
        );
        ended += rows.length;
      }
      log(`${ended} connections ended`);
      // Let requests in flight finish.
      await pause(6_000);
      const refusedThen = under.results.refused.length;
      const goodThen = under.results.good;
      const isRecovered = await until(() => under.results.good > goodThen + 3, 20_000);
      await under.stop();
      const { results } = under;
      const live = await fetch(`${latchkey.managementUrl}/health/live`).then(({ status }) => status, String);
      return evaluate(
        `${ended} connections ended; ${results.good} sign-ins right (p99 ${percentile(results.tookMs, 0.99)} ms), ${results.refused.length} refused, ${results.wrong.length} wrong`,
        [
          live !== 200 && `live: ${live}`,
          results.good < 5 && `only ${results.good} sign-ins went through`,
          results.refused.length > refusedThen &&
            `refused ${results.refused.length - refusedThen} times after the fault ended`,
          !isRecovered && 'no sign-ins after the fault ended',
          ...results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

import pg from 'pg';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { load, World } from '../support/world.ts';

export const poolStarved: Experiment = {
  name: 'pool-starved',
  done: 'all connections of the pool wait for a lock held for 20 s',
  passes: 'JWKS and discovery respond within 500 ms; others get 503 within 9 s, none hangs; recovery within 5 s',
  async run({ scale, log }) {
    const seconds = Math.max(8, 20 * scale);
    const world = await World.create({ env: { DATABASE_POOL_SIZE: '4' } });
    try {
      const latchkey = await world.start();
      const app = await world.app();
      const people = await world.people(app, 12);
      const holder = new pg.Client({ connectionString: world.postgres.url });
      await holder.connect();
      const under = load(people.map((person) => () => person.signIn()));
      await pause(1_000);
      await holder.query('begin');
      await holder.query('lock table ceremonies in access exclusive mode');
      const until_ = performance.now() + seconds * 1000;
      const publicMs: number[] = [];
      const faults: string[] = [];
      await pause(1_000);
      while (performance.now() < until_) {
        for (const path of ['openid-configuration', 'jwks.json']) {
          const startedAt = performance.now();
          const status = await fetch(`${world.issuer}/.well-known/${path}`).then(({ status: code }) => code, String);
          publicMs.push(performance.now() - startedAt);
          if (status !== 200) faults.push(`${path}: ${status}`);
        }
        await pause(200);
      }
      const live = await fetch(`${latchkey.managementUrl}/health/live`).then(({ status }) => status, String);
      await holder.query('rollback');
      await holder.end();
      const backAt = performance.now();
      const before = under.results.good;
      await until(() => under.results.good > before + 5, 15_000);
      const wellAfter = performance.now() - backAt;
      await under.stop();
      const { results } = under;
      log(`${results.good} sign-ins in total`);
      const slowest = Math.max(0, ...results.refused.map(({ tookMs }) => tookMs));
      return evaluate(
        `JWKS and discovery: p99 ${percentile(publicMs, 0.99)} ms over ${publicMs.length}; ${results.refused.length} refused, the slowest in ${Math.round(slowest)} ms; recovered after ${Math.round(wellAfter)} ms`,
        [
          Math.max(...publicMs) > 500 && `JWKS or discovery took ${Math.round(Math.max(...publicMs))} ms`,
          live !== 200 && `live: ${live}`,
          results.refused.length === 0 && seconds > 10 && 'no request was refused',
          slowest > 9_000 && `a rejection took ${Math.round(slowest)} ms`,
          wellAfter > 5_000 && `recovered only after ${Math.round(wellAfter)} ms`,
          ...faults,
          ...results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { load, World } from '../support/world.ts';

const workers = 6;

/** PostgreSQL is stopped or frozen under load, then resumed. */
function databaseAway(how: 'stopped' | 'frozen'): Experiment {
  return {
    name: how === 'stopped' ? 'database-stopped' : 'database-frozen',
    done:
      how === 'stopped'
        ? 'PostgreSQL stopped for 30 s under load'
        : 'PostgreSQL frozen for 15 s (SIGSTOP: connections stay open without a response)',
    passes:
      '503 with Retry-After within 2 s; not ready, but live; JWKS, discovery and the status page respond; recovery within 5 s; no restart',
    async run({ scale, log }) {
      const seconds = Math.max(4, (how === 'stopped' ? 30 : 15) * scale);
      const world = await World.create({ env: { STATUS_PAGE: 'true' } });
      try {
        const latchkey = await world.start();
        const app = await world.app();
        const people = await world.people(app, workers);
        const under = load(people.map((person) => () => person.signIn()));
        await pause(2_000);
        log(`${under.results.good} sign-ins before`);
        const faults: string[] = [];
        const wentAt = performance.now();
        if (how === 'stopped') await world.postgres.stop();
        else world.postgres.freeze();
        const status = async (path: string) =>
          fetch(path, { signal: AbortSignal.timeout(5_000) }).then(({ status: code }) => code, String);
        await pause(3_000);
        const seen = {
          live: await status(`${latchkey.managementUrl}/health/live`),
          started: await status(`${latchkey.managementUrl}/health/started`),
          ready: await status(`${latchkey.managementUrl}/health/ready`),
        };
        if (seen.live !== 200 || seen.started !== 200 || seen.ready !== 503)
          faults.push(`health: ${JSON.stringify(seen)}`);
        const shown = await shownStatus(world.issuer);
        if (shown !== 'unavailable') faults.push(`/status shows ${shown}`);
        const publicMs: number[] = [];
        while (performance.now() < wentAt + seconds * 1000) {
          for (const path of ['openid-configuration', 'jwks.json']) {
            const startedAt = performance.now();
            const code = await status(`${world.issuer}/.well-known/${path}`);
            publicMs.push(performance.now() - startedAt);
            if (code !== 200) faults.push(`${path}: ${code}`);
          }
          await pause(250);
        }
        if (how === 'stopped') await world.postgres.start();
        else world.postgres.thaw();
        const backAt = performance.now();
        const isReady = async () => (await status(`${latchkey.managementUrl}/health/ready`)) === 200;
        if (!(await until(isReady, 10_000))) faults.push('did not become ready again');
        const readyAfter = performance.now() - backAt;
        // Disrupted until the refusals are two minutes old.
        if ((await shownStatus(world.issuer)) === 'unavailable') faults.push('/status still shows unavailable');
        const before = under.results.good;
        await until(() => under.results.good > before, 10_000);
        const goodAfter = performance.now() - backAt;
        await pause(2_000);
        await under.stop();
        const { results } = under;
        const slowest = Math.max(0, ...results.refused.map(({ tookMs }) => tookMs));
        const late = results.refused.filter(({ at }) => at > backAt + 5_000).length;
        if (slowest > 2_000) faults.push(`a rejection took ${Math.round(slowest)} ms`);
        if (Math.max(readyAfter, goodAfter) > 5_000) faults.push(`recovered after ${Math.round(goodAfter)} ms`);
        if (late > 0) faults.push(`${late} rejections more than 5 s after recovery`);
        if (results.good === 0 || results.refused.length === 0) faults.push('the load was not affected');
        const unexpected = results.refused.find(({ why }) => !why.endsWith(': 503'));
        if (unexpected) faults.push(`not a 503: ${unexpected.why}`);
        faults.push(...results.wrong);
        return evaluate(
          `${results.refused.length} refused, the slowest in ${Math.round(slowest)} ms; ready again after ${Math.round(readyAfter)} ms, first sign-in after ${Math.round(goodAfter)} ms; JWKS and discovery p99 ${percentile(publicMs, 0.99)} ms; ${results.wrong.length} wrong`,
          faults,
        );
      } finally {
        await world.close();
      }
    },
  };
}

/** The state on the public status page, or the reason why it is missing. */
async function shownStatus(issuer: string): Promise<string> {
  const answer = fetch(`${issuer}/status`, { signal: AbortSignal.timeout(2_000) });
  return answer.then(async (response) => String(((await response.json()) as { status?: string }).status), String);
}

export const databaseStopped = databaseAway('stopped');
export const databaseFrozen = databaseAway('frozen');

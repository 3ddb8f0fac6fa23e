import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdminApi } from '../../support/admin-api.ts';
import { startLatchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, until } from '../experiment.ts';
import { Person } from '../support/person.ts';
import { createApp, load } from '../support/world.ts';

const withinMs = 10_000;

export const embeddedKilled: Experiment = {
  name: 'embedded-killed',
  done: 'kill -9 of the embedded PostgreSQL alone, three times under load',
  passes: 'the server restarts it and serves again within 10 s; no wrong response, no acknowledged user lost',
  async run({ scale, log }) {
    const kills = Math.max(1, Math.round(3 * scale));
    const unlimited = { SIGNIN_CHALLENGES_PER_MINUTE: '1000000', TRUST_PROXY: 'loopback', LOG_LEVEL: 'error' };
    const latchkey = await startLatchkey(unlimited);
    try {
      const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
      const app = await createApp(latchkey.baseUrl, admin);
      const made: Person[] = [];
      const under = load(
        Array.from({ length: 4 }, () => async () => {
          const person = new Person(app, `${randomBytes(6).toString('hex')}@example.com`);
          await person.signIn();
          made.push(person);
        }),
      );
      const recoveredMs: number[] = [];
      const faults: string[] = [];
      for (let count = 0; count < kills; count += 1) {
        await pause(2_000);
        const [pid] = readFileSync(join(latchkey.dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
        process.kill(Number(pid), 'SIGKILL');
        const [killedAt, before] = [performance.now(), under.results.good];
        if (!(await until(() => under.results.good > before + 4, 30_000))) faults.push('no sign-ins after a kill');
        recoveredMs.push(performance.now() - killedAt);
        log(`sign-ins again ${Math.round(recoveredMs.at(-1) ?? 0)} ms after the kill`);
      }
      await under.stop();
      // Each acknowledged user signs in again, by the key of its device and as the same user.
      const sample = made.slice(0, 20).concat(made.slice(20).slice(-20));
      const lost: string[] = [];
      for (const person of sample) await person.signIn().catch((error: Error) => lost.push(error.message));
      const { results } = under;
      return evaluate(
        `${results.good} sign-ins, ${results.refused.length} refused, ${results.wrong.length} wrong over ${kills} kills; again after ${Math.round(Math.max(...recoveredMs))} ms at most; ${lost.length} of ${sample.length} users lost`,
        [
          Math.max(...recoveredMs) > withinMs && `recovered after ${Math.round(Math.max(...recoveredMs))} ms`,
          ...faults,
          ...lost,
          ...results.wrong,
        ],
      );
    } finally {
      await latchkey.stop();
    }
  },
};

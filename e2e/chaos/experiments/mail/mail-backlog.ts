import { randomBytes } from 'node:crypto';
import { type Experiment, evaluate, pause, percentile, until } from '../../experiment.ts';
import { Outbox } from '../../support/outbox.ts';
import { Person } from '../../support/person.ts';
import { World } from '../../support/world.ts';

export const mailBacklog: Experiment = {
  name: 'mail-backlog',
  done: '100,000 notices wait in the queue while 20 users ask for a code, one every 2 s',
  passes: 'each code arrives within 2 s of the request, while notices still wait',
  async run({ scale, log }) {
    const world = await World.create();
    const outbox = new Outbox(world);
    try {
      await world.start();
      const app = await world.app();
      const [person] = await world.people(app, 1);
      if (!person) throw new Error('no user');
      await world.mail.close();
      await outbox.notify(person);
      await outbox.copyNotice(Math.round(100_000 * scale));
      // As slow as a real server; the backlog outlives the experiment.
      world.mail.answerAfterMs = 50;
      await world.mail.open();
      await until(() => world.mail.received.length > 20, 60_000);
      const waiting = async () => (await outbox.all()).filter(({ state }) => state === 'pending').length;
      log(`${await waiting()} notices waiting`);
      const tookMs: number[] = [];
      const faults: string[] = [];
      for (let count = 0; count < 20; count += 1) {
        const email = `${randomBytes(6).toString('hex')}@example.com`;
        const startedAt = performance.now();
        const arrived = () => world.mail.received.find(({ to }) => to === email);
        await new Person(app, email).askForOtp();
        if (await until(() => arrived() !== undefined, 10_000)) tookMs.push((arrived()?.at ?? 0) - startedAt);
        else faults.push(`no code within 10 s: ${email}`);
        await pause(2_000);
      }
      const left = await waiting();
      const slowest = Math.round(Math.max(...tookMs));
      return evaluate(
        `${tookMs.length} codes, median ${percentile(tookMs, 0.5)} ms, the slowest ${slowest} ms from the request to its mail; ${left} notices still waiting`,
        [...faults, slowest > 2_000 && `a code took ${slowest} ms`, left < 100 && 'the backlog ended too early'],
      );
    } finally {
      await world.close();
    }
  },
};

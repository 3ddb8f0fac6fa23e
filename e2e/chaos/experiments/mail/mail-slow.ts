import { type Experiment, evaluate, pause, until } from '../../experiment.ts';
import { Outbox } from '../../support/outbox.ts';
import { World } from '../../support/world.ts';

const slowMs = 25_000;

export const mailSlow: Experiment = {
  name: 'mail-slow',
  done: 'the mail server accepts each mail after 25 s; two processes',
  passes: 'each mail arrives once, in one attempt, also after another 75 s',
  async run({ say }) {
    const world = await World.create();
    const outbox = new Outbox(world);
    try {
      await world.start();
      await world.start();
      const app = await world.app();
      const people = await world.people(app, 3);
      await until(async () => (await outbox.all()).every(({ state }) => state !== 'pending'), 20_000);
      const earlier = new Set((await outbox.all()).map(({ id }) => id));
      world.mail.answerAfterMs = slowMs;
      for (const person of people) await outbox.notify(person);
      const during = async () => (await outbox.all()).filter(({ id }) => !earlier.has(id));
      const isSettled = await until(
        async () => (await during()).every(({ state }) => state !== 'pending'),
        180_000,
        500,
      );
      say('all accepted; waiting for repeated ones');
      // The lease of a message (60 s) and the interval of the recovery.
      await pause(75_000);
      const [messages, counts] = [await during(), world.mail.counts()];
      const wrong = messages.filter(({ id, attempts }) => counts.get(id) !== 1 || attempts !== 1);
      return evaluate(`${messages.length - wrong.length} of ${messages.length} mails arrived once in one attempt`, [
        messages.length < people.length && `only ${messages.length} messages`,
        !isSettled && 'messages still pending after 180 s',
        ...wrong.map(({ id, template, attempts }) => `${template}: ${counts.get(id) ?? 0} mails, ${attempts} attempts`),
      ]);
    } finally {
      await world.close();
    }
  },
};

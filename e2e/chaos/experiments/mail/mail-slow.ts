import { type Experiment, evaluate, pause, until } from '../../experiment.ts';
import { Outbox } from '../../support/outbox.ts';
import { World } from '../../support/world.ts';

/** Longer than two claims of a message (60 s each): without a claim, or without its renewal, each mail is sent again meanwhile. */
const slowMs = 160_000;

export const mailSlow: Experiment = {
  name: 'mail-slow',
  done: 'the mail server accepts each mail after 160 s; two processes',
  passes: 'each notice is sent once, in one attempt (an attempt at a code ends after a minute)',
  async run({ log }) {
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
      const during = async () =>
        (await outbox.all()).filter(({ id, template }) => !earlier.has(id) && template !== 'sign-in-code');
      await until(async () => (await during()).every(({ attempts }) => attempts > 0), 30_000);
      const isSettled = await until(
        async () => (await during()).every(({ state }) => state !== 'pending'),
        2 * slowMs,
        500,
      );
      log(isSettled ? 'all accepted' : 'not all accepted');
      // Time for a duplicate to arrive.
      await pause(5_000);
      const messages = await during();
      const sent = (id: string) => world.mail.offered.filter((offered) => offered === id).length;
      const wrong = messages.filter(({ id, state, attempts }) => sent(id) !== 1 || state !== 'sent' || attempts !== 1);
      return evaluate(`${messages.length - wrong.length} of ${messages.length} notices sent once in one attempt`, [
        messages.length < people.length && `only ${messages.length} messages`,
        !isSettled && `messages still pending after ${(2 * slowMs) / 1000} s`,
        ...wrong.map(
          ({ id, template, state, attempts }) => `${template}: ${sent(id)} mails, ${attempts} attempts, ${state}`,
        ),
      ]);
    } finally {
      await world.close();
    }
  },
};

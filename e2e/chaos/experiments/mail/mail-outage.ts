import { type Experiment, evaluate, pause, until } from '../../experiment.ts';
import { Outbox } from '../../support/outbox.ts';
import { World } from '../../support/world.ts';

/** Attempts of a notice in 40 minutes: its pauses double from 1 s to 15 minutes. */
const attempts = 12;

export const mailOutage: Experiment = {
  name: 'mail-outage',
  done: 'the mail server refuses connections for as many attempts as a notice makes in 40 minutes; the pauses are shortened',
  passes: 'each unexpired message arrives once within 60 s; expired codes end as expired and never arrive',
  async run({ scale, log }) {
    const world = await World.create();
    const outbox = new Outbox(world);
    try {
      await world.start();
      const app = await world.app();
      const people = await world.people(app, Math.max(3, Math.round(10 * scale)));
      await until(async () => (await outbox.all()).every(({ state }) => state !== 'pending'), 20_000);
      const earlier = new Set((await outbox.all()).map(({ id }) => id));
      await world.mail.close();
      for (const person of people) await outbox.notify(person);
      await outbox.copyNotice(Math.round(200 * scale));
      const during = async () => (await outbox.all()).filter(({ id }) => !earlier.has(id));
      const tried = async () => Math.min(...(await during()).map((message) => message.attempts));
      await until(async () => (await tried()) > 0, 60_000);
      // Codes live for 5 minutes.
      await world.postgres.query(
        `update messages set expires_at = now() where template = 'sign-in-code' and state = 'pending'`,
      );
      const notices = async () => (await during()).filter(({ template }) => template !== 'sign-in-code');
      const isTried = await until(
        async () => {
          await outbox.makeDue();
          return (await notices()).every((message) => message.attempts >= attempts);
        },
        300_000,
        500,
      );
      log(`${(await notices()).length} notices, each tried ${attempts} times`);
      await world.mail.open();
      const openedAt = performance.now();
      const isSettled = await until(
        async () => {
          await outbox.makeDue();
          return (await during()).every(({ state }) => state !== 'pending');
        },
        60_000,
        500,
      );
      const seconds = (performance.now() - openedAt) / 1000;
      await pause(2_000);
      const counts = world.mail.counts();
      const [codes, others] = [(await during()).filter(({ template }) => template === 'sign-in-code'), await notices()];
      const missing = others.filter(({ id }) => !counts.has(id));
      const twice = others.filter(({ id }) => (counts.get(id) ?? 0) > 1);
      const late = codes.filter(({ id, expired }) => counts.has(id) || !expired);
      return evaluate(
        `${others.length - missing.length} of ${others.length} notices arrived within ${seconds.toFixed(1)} s, ${twice.length} more than once; ${codes.length - late.length} of ${codes.length} codes ended as expired`,
        [
          !isTried && `a notice was tried less than ${attempts} times`,
          !isSettled && 'messages still pending after 60 s',
          codes.length === 0 && 'no code was pending',
          missing.length > 0 && `${missing.length} notices lost`,
          twice.length > 0 && `${twice.length} notices arrived more than once`,
          late.length > 0 && `${late.length} codes sent, or not ended as expired`,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

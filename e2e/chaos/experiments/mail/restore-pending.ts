import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Experiment, evaluate, until } from '../../experiment.ts';
import { Outbox } from '../../support/outbox.ts';
import { World } from '../../support/world.ts';

export const restorePending: Experiment = {
  name: 'restore-pending',
  done: 'a backup with pending messages, restored into another database; their codes have expired meanwhile',
  passes: 'each notice arrives once within 3 minutes; codes end as expired within 6 and never arrive',
  async run({ scale, log }) {
    const world = await World.create();
    const outbox = new Outbox(world);
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-chaos-'));
    world.onClose(() => rmSync(folder, { recursive: true }));
    try {
      const first = await world.start();
      const app = await world.app();
      const people = await world.people(app, Math.max(3, Math.round(10 * scale)));
      await until(async () => (await outbox.all()).every(({ state }) => state !== 'pending'), 20_000);
      const earlier = new Set((await outbox.all()).map(({ id }) => id));
      await world.mail.close();
      for (const person of people) await outbox.notify(person);
      const file = join(folder, 'a.jsonl.gz');
      await world.run('backup', '--to', file);
      await first.stop();
      await world.postgres.query('create database restored', 'postgres');
      const restored = new URL(world.postgres.url);
      restored.pathname = '/restored';
      const env = { DATABASE_URL: restored.href };
      await world.runWith(env, 'restore', file);
      await world.postgres.query(
        `update messages set expires_at = now() where template = 'sign-in-code' and state = 'pending'`,
        'restored',
      );
      await world.mail.open();
      await world.start({ ...env, PORT: world.issuerPort });
      const startedAt = performance.now();
      const pending = async (isCode: boolean) => {
        return (await outbox.all('restored')).filter(
          ({ state, template }) => state === 'pending' && (template === 'sign-in-code') === isCode,
        ).length;
      };
      const isSent = await until(async () => (await pending(false)) === 0, 180_000, 1_000);
      const seconds = (performance.now() - startedAt) / 1000;
      log(`notices sent after ${seconds.toFixed(0)} s`);
      // Swept every 5 minutes.
      const isSwept = await until(async () => (await pending(true)) === 0, 360_000, 1_000);
      const during = (await outbox.all('restored')).filter(({ id }) => !earlier.has(id));
      const counts = world.mail.counts();
      const notices = during.filter(({ template }) => template !== 'sign-in-code');
      const codes = during.filter(({ template }) => template === 'sign-in-code');
      const wrong = notices.filter(({ id }) => counts.get(id) !== 1);
      const late = codes.filter(({ id, expired }) => counts.has(id) || !expired);
      return evaluate(
        `${notices.length - wrong.length} of ${notices.length} notices arrived once, the last after ${seconds.toFixed(0)} s; ${codes.length - late.length} of ${codes.length} codes ended as expired`,
        [
          !isSent && 'notices still pending after 3 minutes',
          !isSwept && 'codes still pending after 6 minutes',
          notices.length < people.length && `only ${notices.length} notices`,
          codes.length === 0 && 'no code was pending',
          wrong.length > 0 && `${wrong.length} notices lost or repeated`,
          late.length > 0 && `${late.length} codes sent, or not ended as expired`,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

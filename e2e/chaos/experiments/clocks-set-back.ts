import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Experiment, evaluate, pause, until } from '../experiment.ts';
import { DatabaseClock } from '../support/database-clock.ts';
import { Person } from '../support/person.ts';
import { World } from '../support/world.ts';

const hour = 3600;
/**
 * Once a minute, the relay and the job queue look for waits that a wrong clock has set; a job may be due once a minute.
 */
const limitMs = 150_000;

export const clocksSetBack: Experiment = {
  name: 'clocks-set-back',
  done: 'the clocks of the server and of the database are an hour ahead while webhooks, log streams, mails and jobs work and wait for retries, then both are set back',
  passes:
    'within 150 s events reach webhook and log stream, also those that waited, codes arrive, and a periodic job runs',
  async run({ log }) {
    const clock = DatabaseClock.create();
    if (!clock) return { verdict: 'skipped', measured: 'no C compiler for the clock of the database' };
    const world = await World.create({ clock });
    world.onClose(() => clock.remove());
    const arrived = { webhook: 0, stream: 0 };
    let fails = false;
    const receiver = createServer(async (req, res) => {
      for await (const _ of req);
      if (!fails) arrived[req.url === '/webhook' ? 'webhook' : 'stream'] += 1;
      res.writeHead(fails ? 503 : 204).end();
    });
    await new Promise<void>((done) => {
      receiver.listen(0, '127.0.0.1', done);
    });
    world.onClose(() => receiver.close().closeAllConnections());
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    try {
      clock.turn(hour);
      const first = await world.start({}, { adjustable: true, aheadSeconds: hour });
      const app = await world.app();
      await world.admin.run(
        'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
        {
          input: { projectId: app.projectId, url: `${url}/webhook`, types: ['user.*'] },
        },
      );
      await world.admin.run('mutation ($input: CreateLogStreamInput!) { createLogStream(input: $input) { id } }', {
        input: { projectId: app.projectId, kind: 'HTTP', target: `${url}/stream` },
      });
      // Through the API: proofs of a page use its own clock, which is right.
      const addUser = (email: string) =>
        world.admin.run('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
          input: { projectId: app.projectId, email },
        });
      await addUser('first@example.com');
      const isDelivered = await until(() => arrived.webhook > 0 && arrived.stream > 0, 30_000);
      await until(() => jobs(world, 'true'), 90_000, 500);
      // Creates retries and pauses by the clock that is ahead.
      fails = true;
      await addUser('waits@example.com');
      await pause(5_000);
      fails = false;
      [arrived.webhook, arrived.stream] = [0, 0];
      log('set back by an hour');
      clock.turn(-hour);
      await first.turn(-hour);
      const backAt = performance.now();
      const took: Record<string, number | null> = { webhook: null, stream: null, code: null, job: null };
      const note = async (name: string, holds: () => boolean | Promise<boolean>) => {
        if (await until(holds, limitMs, 200)) took[name] = Math.round((performance.now() - backAt) / 1000);
      };
      const email = 'later@example.com';
      const ask = async () => {
        await until(
          () =>
            new Person(app, email).askForOtp().then(
              () => true,
              () => false,
            ),
          60_000,
          1_000,
        );
        await note('code', () => world.mail.received.some(({ to }) => to === email));
      };
      await Promise.all([
        ask(),
        note('webhook', () => arrived.webhook > 0),
        note('stream', () => arrived.stream > 0),
        note('job', () => jobs(world, `started_on <= now() and created_on <= now()`)),
      ]);
      const shown = Object.entries(took).map(
        ([name, seconds]) => `${name} ${seconds === null ? 'never' : `${seconds} s`}`,
      );
      return evaluate(`after the clocks were set back: ${shown.join(', ')}`, [
        !isDelivered && 'nothing was delivered while the clocks were ahead',
        ...Object.entries(took).map(
          ([name, seconds]) => seconds === null && `${name}: none within ${limitMs / 1000} s`,
        ),
      ]);
    } finally {
      await world.close();
    }
  },
};

/** Whether a periodic job has completed. */
async function jobs(world: World, where: string): Promise<boolean> {
  const [row] = await world.postgres.query<{ count: number }>(
    `select count(*)::int as count from jobs.job where name = 'sweep.custom-attributes' and state = 'completed' and ${where}`,
  );
  return (row?.count ?? 0) > 0;
}

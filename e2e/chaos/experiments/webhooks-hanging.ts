import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { World } from '../support/world.ts';

const projects = 50;
/** Of the 20 webhooks of each project. */
const good = 2;
const events = 10;

export const webhooksHanging: Experiment = {
  name: 'webhooks-hanging',
  done: '900 of 1,000 webhooks hang, in 50 projects; each project has an event every 2 s',
  passes: 'the others get each event within 15 s, at the median at most a second later than without them',
  async run({ scale, log }) {
    const count = Math.max(4, Math.round(projects * scale));
    const world = await World.create();
    /** Arrivals at receivers that respond, by webhook and event. */
    const arrived = new Map<string, number>();
    const hanging = new Set<string>();
    const receiver = createServer(async (req, res) => {
      const path = req.url ?? '';
      for await (const _ of req);
      if (path.startsWith('/hangs')) return void hanging.add(path);
      arrived.set(`${path} ${req.headers['webhook-id']}`, performance.now());
      res.writeHead(204).end();
    });
    await new Promise<void>((done) => {
      receiver.listen(0, '127.0.0.1', done);
    });
    world.onClose(() => receiver.close().closeAllConnections());
    const { port } = receiver.address() as AddressInfo;
    try {
      await world.start();
      const ids: { project: string; user: string }[] = [];
      for (let n = 0; n < count; n += 1) {
        const project = await world.admin.createProject(`Chaos ${n}`);
        const made = await world.admin.run<{ createUser: { id: string } }>(
          'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
          { input: { projectId: project, email: 'user@example.com' } },
        );
        ids.push({ project, user: made.createUser.id });
      }
      const subscribe = async (kind: 'good' | 'hangs', each: number) => {
        for (const { project } of ids) {
          await Promise.all(
            Array.from({ length: each }, (_, n) =>
              world.admin.run(
                'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
                {
                  input: {
                    projectId: project,
                    url: `http://127.0.0.1:${port}/${kind}/${project}/${n}`,
                    types: ['user.updated'],
                  },
                },
              ),
            ),
          );
        }
      };
      await subscribe('good', good);
      const alone = await delaysOf(world, ids, arrived);
      log(`alone: p50 ${percentile(alone, 0.5)} ms`);
      await subscribe('hangs', 20 - good);
      const beside = await delaysOf(world, ids, arrived);
      const expected = events * count * good;
      const slowest = Math.round(Math.max(...beside));
      return evaluate(
        `the other ${count * good}: p50 ${percentile(beside, 0.5)} ms, p99 ${percentile(beside, 0.99)} ms, at most ${slowest} ms beside ${hanging.size} that hang; p50 ${percentile(alone, 0.5)} ms, p99 ${percentile(alone, 0.99)} ms without them`,
        [
          beside.length < expected && `${expected - beside.length} of ${expected} events did not arrive`,
          hanging.size < count * (20 - good) && `only ${hanging.size} hanging receivers were called`,
          percentile(beside, 0.5) > percentile(alone, 0.5) + 1_000 && 'the median is a second longer',
          slowest > 15_000 && `an event took ${slowest} ms`,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

/** Milliseconds from each event to its arrivals. */
async function delaysOf(
  world: World,
  ids: readonly { project: string; user: string }[],
  arrived: Map<string, number>,
): Promise<number[]> {
  arrived.clear();
  const startedAt = new Map<string, number[]>();
  for (let n = 0; n < events; n += 1) {
    const roundAt = performance.now();
    for (const { project, user } of ids) {
      startedAt.set(project, [...(startedAt.get(project) ?? []), performance.now()]);
      await world.admin.run('mutation ($input: UpdateUserInput!) { updateUser(input: $input) { id } }', {
        input: { id: user, displayName: `Name ${n} of ${roundAt}` },
      });
    }
    await pause(Math.max(0, 2_000 - (performance.now() - roundAt)));
  }
  await until(() => arrived.size >= events * ids.length * good, 60_000, 100);
  // Events of one user arrive in order.
  const byWebhook = Map.groupBy(arrived, ([key]) => key.split(' ')[0] as string);
  return [...byWebhook].flatMap(([path, own]) => {
    const starts = startedAt.get(path.split('/')[2] as string) ?? [];
    return own.map(([, at], n) => at - (starts[n] ?? at));
  });
}

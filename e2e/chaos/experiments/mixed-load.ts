import { randomUUID } from 'node:crypto';
import { type Experiment, evaluate, pause, percentile } from '../experiment.ts';
import { LoadResults, load, World } from '../support/world.ts';

export const mixedLoad: Experiment = {
  name: 'mixed-load',
  done: 'sign-ins, SSO, SCIM and the admin API together for 3 minutes, an hour with --full',
  passes: 'no wrong or rejected response; flat memory: heap after collection in the last third as in the second',
  async run({ scale, full, log }) {
    const seconds = full ? 3_600 : Math.max(30, 180 * scale);
    const world = await World.create();
    try {
      const latchkey = await world.start();
      const app = await world.app();
      const people = await world.people(app, 3);
      const [sso] = await world.hostedPeople(app, 1);
      const headers = {
        Authorization: `Bearer ${await world.admin.issueScimToken(app.projectId)}`,
        'Content-Type': 'application/scim+json',
      };
      const users = `${world.issuer}/v1/scim/${app.projectId}/Users`;
      const results = new LoadResults();
      const under = load(
        [
          ...people.map((person) => () => person.signIn()),
          async () => sso?.signInHosted(),
          async () => {
            const userName = `${randomUUID()}@example.com`;
            const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
            const made = await expectStatus(201, users, {
              method: 'POST',
              headers,
              body: JSON.stringify({ schemas, userName }),
            });
            const found = await expectStatus(
              200,
              `${users}?${new URLSearchParams({ filter: `userName eq "${userName}"` })}`,
              { headers },
            );
            if ((found as { totalResults?: number }).totalResults !== 1) throw new Error('created user not found');
            await expectStatus(200, `${users}?count=100`, { headers });
            await expectStatus(204, `${users}/${(made as { id: string }).id}`, { method: 'DELETE', headers });
          },
          async () => {
            await world.admin.run('query ($id: ID!) { users(projectId: $id, first: 50) { edges { node { id } } } }', {
              id: app.projectId,
            });
            await pause(200);
          },
        ],
        results,
        20,
      );
      const samples: { at: number; heap: number; resident: number }[] = [];
      const startedAt = performance.now();
      while (performance.now() < startedAt + seconds * 1000) {
        await pause(Math.min(2_000, (seconds * 1000) / 60));
        const text = await (await fetch(`${latchkey.managementUrl}/metrics`)).text();
        const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? 0) / 1024 / 1024;
        samples.push({
          at: (performance.now() - startedAt) / 1000 / seconds,
          heap: figure('nodejs_heap_size_used_bytes'),
          resident: figure('process_resident_memory_bytes'),
        });
      }
      await under.stop();
      log(`${results.good} operations done`);
      // The minimum of a window approximates the heap after a collection.
      const third = (from: number) => samples.filter(({ at }) => at >= from && at < from + 1 / 3);
      const floor = (from: number) => Math.min(...third(from).map(({ heap }) => heap));
      const [middle, last] = [floor(1 / 3), floor(2 / 3)];
      const resident = Math.round(Math.max(...samples.map((sample) => sample.resident)));
      return evaluate(
        `${results.good} operations in ${Math.round(seconds)} s (p99 ${percentile(results.tookMs, 0.99)} ms), ${results.refused.length} refused, ${results.wrong.length} wrong; heap floor ${middle.toFixed(1)} → ${last.toFixed(1)} MB, resident at most ${resident} MB`,
        [
          last > middle * 1.15 + 5 && `the heap grew from ${middle.toFixed(1)} to ${last.toFixed(1)} MB`,
          ...results.refused.map(({ why }) => why),
          ...results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

async function expectStatus(status: number, url: string, init: RequestInit): Promise<unknown> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${init.method ?? 'GET'} ${answer.status}: ${text.slice(0, 200)}`);
  return text === '' ? undefined : JSON.parse(text);
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { Person } from '../support/person.ts';
import { World } from '../support/world.ts';

export const logoutKilled: Experiment = {
  name: 'logout-killed',
  done: 'kill -9 of one of two processes while both deliver logouts to slow receivers',
  passes: 'each logout token arrives at least once within 60 s, with one jti each',
  async run({ scale, say }) {
    const count = Math.max(10, Math.round(60 * scale));
    const world = await World.create();
    const arrived = new Map<string, { jti: string; at: number }[]>();
    let begunPosts = 0;
    const receiver = createServer(async (req, res) => {
      begunPosts += 1;
      let text = '';
      for await (const chunk of req) text += chunk;
      // Count a token only after the response: a request in flight may be lost with its sender.
      await pause(400);
      const token = new URLSearchParams(text).get('logout_token') ?? '';
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
        string,
        string
      >;
      res.writeHead(200).end(() => {
        const sub = String(claims['sub']);
        arrived.set(sub, [...(arrived.get(sub) ?? []), { jti: String(claims['jti']), at: performance.now() }]);
      });
    });
    await new Promise<void>((done) => {
      receiver.listen(0, '127.0.0.1', done);
    });
    world.onClose(() => receiver.close().closeAllConnections());
    try {
      const first = await world.start();
      const backchannelLogoutUri = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/logout`;
      const app = await world.app({ backchannelLogoutUri });
      const people = Array.from({ length: count }, (_, index) => new Person(app, `person-${index}@example.com`));
      for (const person of people) await person.signInHosted();
      await world.start();
      const begun = performance.now();
      await Promise.all(people.map((person) => person.signOut(person.idToken)));
      await until(() => begunPosts >= Math.min(10, count / 2), 20_000, 5);
      await first.kill();
      say(`killed after ${begunPosts} of ${count} deliveries started`);
      await until(() => people.every(({ sub }) => sub !== undefined && arrived.has(sub)), 70_000);
      const missing = people.filter(({ sub }) => sub === undefined || !arrived.has(sub));
      const times = [...arrived.values()].map(([first_]) => (first_?.at ?? 0) - begun);
      const twoJti = [...arrived.values()].filter((tokens) => new Set(tokens.map(({ jti }) => jti)).size > 1);
      const again = [...arrived.values()].filter((tokens) => tokens.length > 1).length;
      const slowest = Math.round(Math.max(0, ...times));
      return evaluate(
        `${arrived.size} of ${count} arrived, the last after ${(slowest / 1000).toFixed(1)} s (median ${percentile(times, 0.5)} ms), ${again} more than once`,
        [
          missing.length > 0 && `${missing.length} never arrived`,
          slowest > 60_000 && `the last took ${slowest} ms`,
          twoJti.length > 0 && `${twoJti.length} came under two jti`,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

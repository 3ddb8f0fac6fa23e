import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { Person, Refused } from '../support/person.ts';
import { World } from '../support/world.ts';

/** Repeats a logout that a busy machine refuses with a 503, as its `Retry-After` asks. */
async function signOut(person: Person): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await person.signOut(person.idToken);
    } catch (error) {
      if (!(error instanceof Refused) || tries === 5) throw error;
      await pause(1_000);
    }
  }
}

export const logoutKilled: Experiment = {
  name: 'logout-killed',
  done: 'kill -9 of one of two processes while both deliver logouts to slow receivers',
  passes: 'each logout token, of a user and of each session, arrives at least once within 60 s, with one jti each',
  async run({ scale, log }) {
    const count = Math.max(10, Math.round(60 * scale));
    const world = await World.create();
    /** By subject, then by `sid`; '' for the token without. */
    const arrived = new Map<string, Map<string, { jti: string; at: number }[]>>();
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
        const { sub = '', sid = '', jti = '' } = claims;
        const ofUser = arrived.get(sub) ?? new Map<string, { jti: string; at: number }[]>();
        arrived.set(sub, ofUser.set(sid, [...(ofUser.get(sid) ?? []), { jti, at: performance.now() }]));
      });
    });
    await new Promise<void>((done) => {
      receiver.listen(0, '127.0.0.1', done);
    });
    world.onClose(() => receiver.close().closeAllConnections());
    try {
      const first = await world.start();
      const backchannelLogoutUri = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/logout`;
      const app = await world.app({ backchannelLogoutUri, backchannelLogoutSessionRequired: true });
      const people = Array.from({ length: count }, (_, index) => new Person(app, `person-${index}@example.com`));
      for (const person of people) await person.signInHosted();
      await world.start();
      const startedAt = performance.now();
      await Promise.all(people.map(signOut));
      await until(() => begunPosts >= Math.min(10, count / 2), 20_000, 5);
      await first.kill();
      log(`killed after ${begunPosts} of ${count * 2} deliveries started`);
      // One without `sid`, and one for the session.
      const isComplete = ({ sub = '' }: Person) => arrived.get(sub)?.has('') && arrived.get(sub)?.size === 2;
      await until(() => people.every(isComplete), 70_000);
      const missing = people.filter((person) => !isComplete(person));
      const deliveries = [...arrived.values()].flatMap((ofUser) => [...ofUser.values()]);
      const times = deliveries.map(([first_]) => (first_?.at ?? 0) - startedAt);
      const twoJti = deliveries.filter((tokens) => new Set(tokens.map(({ jti }) => jti)).size > 1);
      const again = deliveries.filter((tokens) => tokens.length > 1).length;
      const slowest = Math.round(Math.max(0, ...times));
      return evaluate(
        `${deliveries.length} of ${count * 2} arrived, the last after ${(slowest / 1000).toFixed(1)} s (median ${percentile(times, 0.5)} ms), ${again} more than once`,
        [
          missing.length > 0 && `not all arrived for ${missing.length} users`,
          slowest > 60_000 && `the last took ${slowest} ms`,
          twoJti.length > 0 && `${twoJti.length} arrived under two jti`,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

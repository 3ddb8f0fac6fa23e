import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import { Outbox } from '../support/outbox.ts';
import { type App, Person, Refused } from '../support/person.ts';
import { createApp, World } from '../support/world.ts';

const limitMs = 2_000;
/** As a mail server on the network. */
const mailMs = 100;

/** One project floods every channel; another one's mails and logout tokens are timed. */
export const flood: Experiment = {
  name: 'flood',
  done: 'one project has 3,020 logout tokens for receivers that hang, 1,000 invitations and 300 codes for strangers to deliver, by two processes',
  passes:
    "each code, security notice and logout token of another project arrives within 2 s, while the first one's wait",
  async run({ scale, log }) {
    const rounds = Math.max(5, Math.round(20 * scale));
    const world = await World.create();
    const tokens = new Map<string, number>();
    const receiver = createServer(async (req, res) => {
      let text = '';
      for await (const chunk of req) text += chunk;
      if (req.url === '/hangs') return;
      const token = new URLSearchParams(text).get('logout_token') ?? '';
      const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string };
      tokens.set(sub, performance.now());
      res.writeHead(200).end();
    });
    await new Promise<void>((done) => {
      receiver.listen(0, '127.0.0.1', done);
    });
    world.onClose(() => receiver.close().closeAllConnections());
    const at = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${path}`;
    try {
      await world.start();
      await world.start();
      const outbox = new Outbox(world);
      const flooding = await createApp(world.issuer, world.admin, { backchannelLogoutUri: at('hangs') });
      const app = await createApp(world.issuer, world.admin, { backchannelLogoutUri: at('good') });
      const people = Array.from({ length: rounds }, (_, n) => new Person(app, `person-${n}@example.com`));
      for (const person of people) await person.signInHosted();
      const alone = await timed(world, app, people.slice(0, Math.floor(rounds / 2)), tokens);
      world.mail.answerAfterMs = mailMs;
      await floodWith(world, outbox, flooding);
      const waiting = async () => (await outbox.all()).filter(({ state }) => state === 'pending').length;
      log(`${await waiting()} messages waiting`);
      const flooded = await timed(world, app, people.slice(Math.floor(rounds / 2)), tokens);
      const left = await waiting();
      const [{ count } = { count: 0 }] = await world.postgres.query<{ count: number }>(
        `select count(*)::int as count from logout_deliveries where state = 'pending' and project_id = '${flooding.projectId}'`,
      );
      const shown = (name: string, { code, notice, logout }: Times) =>
        `${name}: codes p50 ${percentile(code, 0.5)}, at most ${slowest(code)} ms; notices ${percentile(notice, 0.5)}, ${slowest(notice)}; logout tokens ${percentile(logout, 0.5)}, ${slowest(logout)}`;
      return evaluate(
        `${shown('alone', alone)}. ${shown('behind the flood', flooded)}; ${left} messages and ${count} logout tokens still waiting`,
        [
          ...Object.entries(flooded).map(
            ([name, times]) => slowest(times) > limitMs && `${name}: ${slowest(times)} ms`,
          ),
          left < 100 && 'the flood of messages ended too early',
          count < 1_000 * scale && 'the flood of logout tokens ended too early',
        ],
      );
    } finally {
      await world.close();
    }
  },
};

async function floodWith(world: World, outbox: Outbox, app: App): Promise<void> {
  const person = new Person(app, 'flood@example.com');
  await person.signInHosted();
  await person.signOut(person.idToken);
  await world.postgres.query(
    `insert into logout_deliveries select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'after_id', null))).*
     from logout_deliveries d, generate_series(1, 3020)
     where d.id = (select id from logout_deliveries where project_id = '${app.projectId}' and sid is null limit 1)`,
  );
  const known = new Person(app, 'known@example.com');
  await known.signIn();
  await outbox.notify(known);
  await outbox.copyNotice(1_000, 2);
  const strangers = Array.from({ length: 300 }, (_, n) => new Person(app, `stranger-${n}@example.com`));
  const ask = async (): Promise<void> => {
    for (let one = strangers.pop(); one; one = strangers.pop()) await served(() => one.askForOtp());
  };
  await Promise.all([ask(), ask(), ask(), ask()]);
}

/** Repeats a request that a busy machine refuses with a 503, as its `Retry-After` asks. */
async function served(request: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Refused) || tries === 10) throw error;
      await pause(1_000);
    }
  }
}

interface Times {
  code: number[];
  notice: number[];
  logout: number[];
}

/** Milliseconds from the response of the server to the arrival. */
async function timed(world: World, app: App, people: readonly Person[], tokens: Map<string, number>): Promise<Times> {
  const times: Times = { code: [], notice: [], logout: [] };
  const arrives = async (list: number[], startedAt: number, found: () => number | undefined) => {
    await until(() => found() !== undefined, 60_000, 5);
    list.push((found() ?? Number.POSITIVE_INFINITY) - startedAt);
  };
  const mailTo = (to: string, after: number) => () =>
    world.mail.received.find((mail) => mail.to === to && mail.at > after)?.at;
  for (const person of people) {
    const email = `${randomBytes(6).toString('hex')}@example.com`;
    let askedAt = 0;
    await served(async () => {
      askedAt = performance.now();
      await new Person(app, email).askForOtp();
    });
    await arrives(times.code, askedAt, mailTo(email, askedAt));
    const name = `notified-${email}`;
    for (const _ of [1, 2]) await served(() => new Person(app, name).signIn());
    const signedInAt = performance.now();
    const notices = () => world.mail.received.filter(({ to, subject }) => to === name && !/code/i.test(subject))[0]?.at;
    await arrives(times.notice, signedInAt, notices);
    let outAt = 0;
    await served(async () => {
      outAt = performance.now();
      await person.signOut(person.idToken);
    });
    await arrives(times.logout, outAt, () => tokens.get(person.sub ?? ''));
    await pause(300);
  }
  return times;
}

const slowest = (times: readonly number[]): number => Math.round(Math.max(0, ...times));

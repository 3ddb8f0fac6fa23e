import { randomBytes } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { freePort, type Latchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, until } from '../experiment.ts';
import { Balancer } from '../support/balancer.ts';
import { MailSink } from '../support/mail-sink.ts';
import { type App, Person } from '../support/person.ts';
import { LoadResults, load, World } from '../support/world.ts';

/** A sign-in whose ID token verifies with a key set that is fetched now. */
async function verifiedSignIn(person: Person): Promise<void> {
  await person.signIn();
  const { issuer, clientId } = person.app;
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
  await jwtVerify(person.idToken, keys, { issuer, audience: clientId });
}

/** The steps of server/docs/rotation.md. */
export const keysChanged: Experiment = {
  name: 'keys-changed',
  done: 'signing keys, master key and mail server changed under load, two processes restarted one after the other',
  passes:
    'no failed sign-in, each ID token verifies, each mail arrives once, no value left under the earlier master key',
  async run({ log }) {
    const world = await World.create({ env: { SHUTDOWN_DELAY_SECONDS: '1' } });
    const balancer = new Balancer();
    const nextMail = await MailSink.create();
    world.onClose(() => nextMail.close());
    world.onClose(() => balancer.close());
    try {
      await balancer.listen(Number(world.issuerPort));
      const running: Latchkey[] = [];
      const start = async (env: Record<string, string>) => {
        const port = await freePort();
        const latchkey = await world.start({ PORT: String(port), ...env });
        await balancer.add(latchkey, port);
        running.push(latchkey);
      };
      await start({});
      await start({});
      const restart = async (env: Record<string, string>) => {
        for (const old of running.splice(0)) {
          await old.stop();
          balancer.remove(old);
          await start(env);
        }
      };
      const app = await world.app();
      const people = await world.people(app, 4);
      const second = await personWithTotp(world);
      const newUsers: Person[] = [];
      const ask = async () => {
        const person = new Person(app, `${randomBytes(6).toString('hex')}@example.com`);
        await person.askForOtp();
        newUsers.push(person);
      };
      const under = load(people.map((person) => () => verifiedSignIn(person)));
      const asking = load([ask], under.results, 500);

      await world.run('keys:rotate');
      const [old, fresh] = [world.settings['MASTER_KEY'] as string, randomBytes(32).toString('base64')];
      await restart({ MASTER_KEY: old, MASTER_KEY_SECOND: fresh });
      const changed = { MASTER_KEY: fresh, MASTER_KEY_SECOND: old };
      await restart(changed);
      await world.runWith(changed, 'master-key:rotate');
      const last = { MASTER_KEY: fresh, SMTP_URL: nextMail.url };
      await restart(last);
      log(`${under.results.good} sign-ins during three rounds of restarts`);
      await Promise.all([under.stop(), asking.stop()]);
      await world.runWith(last, 'keys:rotate', '--emergency');
      // For five seconds, one process may sign with a key that the other refuses.
      const signInAll = async () => {
        for (const person of people) await verifiedSignIn(person);
      };
      const isReplaced = await until(() => new LoadResults().count(signInAll), 30_000);
      await second.signIn();
      await new Person(app, 'last@example.com').askForOtp();

      const mails = () => [...world.mail.received, ...nextMail.received];
      const codesTo = (email: string) => mails().filter(({ to }) => to === email).length;
      const emails = [...newUsers.map(({ email }) => email), 'last@example.com'];
      await until(() => emails.every((email) => codesTo(email) > 0), 30_000);
      const notOnce = emails.filter((email) => codesTo(email) !== 1);
      const left = (await world.doctor(last))['Master key'];
      const { results } = under;
      return evaluate(
        `${results.good} sign-ins and codes, ${results.refused.length + results.wrong.length} failed over 6 restarts; ${emails.length - notOnce.length} of ${emails.length} mails arrived once, ${nextMail.received.length} by the new server`,
        [
          !isReplaced && 'sign-ins still failed 30 s after the withdrawal of all keys',
          results.good < 20 && `only ${results.good} sign-ins`,
          nextMail.received.length === 0 && 'the new mail server got no mail',
          left?.level !== 'ok' && `doctor: ${left?.summary ?? 'no check of the master key'}`,
          ...notOnce.map((email) => `${email} got ${codesTo(email)} mails`),
          ...results.refused.map(({ why }) => why),
          ...results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

/** Enrolled in an authenticator app, whose secret the master key seals. */
async function personWithTotp(world: World): Promise<Person> {
  const app = await world.app();
  const query = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
  await world.admin.run(query, { input: { id: app.projectId, mfaPolicy: 'REQUIRED', offeredFactors: ['TOTP'] } });
  const person = new Person(app, 'totp@example.com');
  await person.signIn();
  return person;
}

/** "The base address" in server/docs/rotation.md. */
export const addressChanged: Experiment = {
  name: 'address-changed',
  done: 'processes with the earlier and a new BASE_URL on one database, while applications move from one to the other',
  passes: 'sign-ins at both addresses under load without a failure, as the same users, with ID tokens of the address',
  async run({ scale }) {
    const world = await World.create();
    try {
      await world.start();
      const app = await world.app();
      const people = await world.people(app, 4);
      const port = await freePort();
      const moved: App = { ...app, issuer: `http://localhost:${port}` };
      const staying = load(people.slice(0, 2).map((person) => () => verifiedSignIn(person)));
      await world.start({ BASE_URL: moved.issuer, PORT: String(port) });
      // Their browsers have device keys of the application's page, which now uses the new address.
      const movers = people.slice(2).map((person) => Person.from(moved, person.save()));
      const hosted = new Person(moved, people[2]?.email ?? '');
      hosted.sub = people[2]?.sub;
      const moving = load([...movers.map((person) => () => verifiedSignIn(person)), () => hosted.signInHosted()]);
      const enough = () => staying.results.good > 50 * scale && moving.results.good > 50 * scale;
      await until(enough, 60_000);
      await Promise.all([staying.stop(), moving.stop()]);
      const faults = [staying.results, moving.results].flatMap(({ refused, wrong }) => [
        ...refused.map(({ why }) => why),
        ...wrong,
      ]);
      return evaluate(
        `${staying.results.good} sign-ins at the earlier address and ${moving.results.good} at the new one, ${faults.length} failed`,
        [!enough() && 'too few sign-ins', ...faults],
      );
    } finally {
      await world.close();
    }
  },
};

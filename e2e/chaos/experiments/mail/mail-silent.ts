import { randomBytes } from 'node:crypto';
import { type Experiment, evaluate, pause, percentile, until } from '../../experiment.ts';
import { type App, Person } from '../../support/person.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { World } from '../../support/world.ts';

const codesPerPhase = 10;
/** A check of the idle connection (3 s), a new one, and slack for a busy machine. */
const withinMs = 10_000;
const outageMs = 90_000;
/** Attempts during the outage end within 90 s, then the next one follows after 30 s at most. */
const afterOutageMs = 150_000;

/** Connections to the mail server that are dropped silently, as behind a NAT or after a failover. */
export const mailSilent: Experiment = {
  name: 'mail-silent',
  done: 'ten times, the open connections to the mail server forward nothing more and stay open, as behind a NAT; then all, new ones too, for 90 s',
  passes:
    'a code requested after each drop arrives within 10 s; readiness warns during the outage; each code of the outage arrives within 150 s of its end, and none is lost',
  async run({ log }) {
    const world = await World.create();
    const proxy = await TcpProxy.to(world.mail.port);
    world.onClose(() => proxy.close());
    try {
      const latchkey = await world.start({ SMTP_URL: `smtp://127.0.0.1:${proxy.port}` });
      const app = await world.app();
      const ask = () => askForCode(world, app);
      const arrived = async (email: string, limitMs: number) => {
        const from = performance.now();
        return (await until(() => wasSent(world, email), limitMs)) ? performance.now() - from : null;
      };
      await arrived(await ask(), withinMs);
      const times: number[] = [];
      let late = 0;
      for (let drops = 0; drops < codesPerPhase; drops += 1) {
        // Unused for longer than a second: the connection is checked first.
        await pause(1_500);
        proxy.silence();
        const ms = await arrived(await ask(), withinMs);
        if (ms === null) late += 1;
        else times.push(ms);
      }
      log(`${times.length} of ${codesPerPhase} after drops`);
      proxy.silence({ newOnes: true });
      const waiting: string[] = [];
      for (let codes = 0; codes < codesPerPhase; codes += 1) waiting.push(await ask());
      const warns = () => isWarning(latchkey.managementUrl);
      const outageEnds = performance.now() + outageMs;
      const warned = await until(warns, outageMs, 1_000);
      await pause(Math.max(0, outageEnds - performance.now()));
      proxy.forward();
      const recovered: number[] = [];
      await Promise.all(
        waiting.map(async (email) => {
          const ms = await arrived(email, afterOutageMs);
          if (ms !== null) recovered.push(ms);
        }),
      );
      const isRecovered = await until(async () => !(await warns()), withinMs, 500);
      return evaluate(
        `after drops ${times.length} of ${codesPerPhase} codes, p50 ${percentile(times, 0.5)} ms, at most ${percentile(times, 1)} ms; ` +
          `after the outage ${recovered.length} of ${waiting.length}, the last after ${(percentile(recovered, 1) / 1000).toFixed(1)} s; readiness ${warned ? 'warned' : 'did not warn'}`,
        [
          late > 0 && `${late} codes did not arrive within ${withinMs / 1000} s of a drop`,
          recovered.length < waiting.length && `${waiting.length - recovered.length} codes of the outage were lost`,
          !warned && 'readiness did not warn during the outage',
          !isRecovered && 'readiness still warns after the outage',
        ],
      );
    } finally {
      await world.close();
    }
  },
};

async function askForCode(world: World, app: App): Promise<string> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  await new Person(app, email, world.issuer).askForOtp();
  return email;
}

function wasSent({ mail }: World, email: string): boolean {
  return mail.received.some(({ to }) => to === email);
}

async function isWarning(managementUrl: string): Promise<boolean> {
  const { warnings } = (await (await fetch(`${managementUrl}/health/ready`)).json()) as { warnings: string[] };
  return warnings.some((warning) => /mail/i.test(warning));
}

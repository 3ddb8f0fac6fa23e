import { randomOn } from '../../src/adapters/system/random.ts';
import type { OutgoingMail, OutgoingSms } from '../../src/domain/delivery/sender.ts';
import { buildSibling, buildTestApp, type TestApp } from '../build-app.ts';
import { type AdjustableClock, adjustableClock } from '../clock.ts';
import { type ChangeLog, nameOfSecond, watchChanges } from './changes.ts';

/** A sent message. */
export interface Delivered {
  messageId: string;
  to: string;
  text: string;
}

/** A clock with an offset in milliseconds. */
function skewed(clock: AdjustableClock): AdjustableClock & { skewMs: number } {
  const own = {
    skewMs: 0,
    now: () => new Date(clock.now().getTime() + own.skewMs),
    turn: (seconds: number) => clock.turn(seconds),
  };
  return own;
}

/**
 * Two processes on one database, each with its own clock and ids. The time of the test is `clock`; {@link skew} sets the
 * offset of a process.
 */
export class Processes {
  readonly clock: AdjustableClock;
  readonly apps: readonly [TestApp, TestApp];
  readonly log: ChangeLog;
  private readonly clocks: readonly { skewMs: number }[];

  static async start(): Promise<Processes> {
    const clock = adjustableClock();
    const clocks = [skewed(clock), skewed(clock)] as const;
    const first = await buildTestApp(undefined, { clock: clocks[0], random: randomOn(clocks[0]) });
    const second = await buildSibling(first, first.url, {
      clock: clocks[1],
      random: randomOn(clocks[1]),
      connectionName: nameOfSecond,
    });
    await first.services.seed.create({ demo: false });
    const log = await watchChanges(first.databaseUrl);
    return new Processes(clock, clocks, [first, second], log);
  }

  private constructor(
    clock: AdjustableClock,
    clocks: readonly { skewMs: number }[],
    apps: readonly [TestApp, TestApp],
    log: ChangeLog,
  ) {
    this.clock = clock;
    this.clocks = clocks;
    this.apps = apps;
    this.log = log;
  }

  get issuer(): string {
    return this.apps[0].url;
  }

  now(): number {
    return this.clock.now().getTime();
  }

  skew(process: number, milliseconds: number): void {
    const clock = this.clocks[process];
    if (clock) clock.skewMs = milliseconds;
  }

  /** Runs all queued jobs, and returns the sent messages. */
  async deliver(): Promise<Delivered[]> {
    const delivered: Delivered[] = [];
    for (const app of this.apps) {
      await app.runJobs();
      delivered.push(...app.mailbox.splice(0).map(read));
    }
    return delivered;
  }

  /** Log lines of unexpected errors. */
  bugs(): string[] {
    return this.apps.flatMap((app) =>
      app.logLines.splice(0).filter((line) => /"level":"?(error|fatal|50|60)/.test(line)),
    );
  }

  async close(): Promise<void> {
    await this.log.close();
    await this.apps[1].close();
    await this.apps[0].close();
  }
}

function read({ id, to, text }: OutgoingMail | OutgoingSms): Delivered {
  return { messageId: id, to, text };
}

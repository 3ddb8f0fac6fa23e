import { type IncomingMessage, request } from 'node:http';
import type { Latchkey } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, percentile } from '../experiment.ts';
import type { App } from '../support/person.ts';
import { SharedSocket } from '../support/shared-socket.ts';
import { World } from '../support/world.ts';

export const socketRestart: Experiment = {
  name: 'socket-restart',
  done: '20 restarts of processes that get their socket as from systemd: one process ten times, then two in turn, under 50,000 requests on separate connections',
  passes: 'no request fails, each gets a response within 60 s; each process exits with code 0',
  async run({ scale, log }) {
    const restarts = Math.max(2, Math.round(20 * scale));
    const requests = Math.round(50_000 * scale);
    // Refusals, and why, are logged at `info`.
    const world = await World.create({ env: { LOG_LEVEL: 'info' } });
    const socket = new SharedSocket(Number(world.issuerPort));
    world.onClose(() => socket.close());
    try {
      const start = () => world.start({ PORT: world.issuerPort }, { socket: socket.descriptor });
      const running: Latchkey[] = [await start()];
      const app = await world.app();
      const load = new Load(world.issuer.replace('localhost', '127.0.0.1'), app);
      const faults: string[] = [];
      const restart = async () => {
        const oldest = running.shift() as Latchkey;
        const code = await oldest.stop();
        if (code !== 0) faults.push(`exit code ${code}: ${oldest.output().slice(-300)}`);
        running.push(await start());
        await pause(500);
      };
      for (let count = 0; count < restarts / 2; count += 1) await restart();
      const alone = load.take();
      log(`one process: ${alone.length} requests, the slowest ${percentile(alone, 1)} ms`);
      running.push(await start());
      load.take();
      for (let count = 0; count < restarts / 2; count += 1) await restart();
      const inTurn = load.take();
      log(`two processes: ${inTurn.length} requests, the slowest ${percentile(inTurn, 1)} ms`);
      while (load.total < requests) await pause(100);
      await load.stop();
      return evaluate(
        `${load.total} requests, ${load.faults.length} failed over ${restarts} restarts; the slowest waited ${percentile(alone, 1)} ms for one process, ${percentile(inTurn, 1)} ms with a second one`,
        [...faults, ...(load.faults.length > 0 ? world.processes.flatMap(errorsOf) : []), ...load.faults],
      );
    } finally {
      await world.close();
    }
  },
};

/** Log lines of a process with the reason of a refusal. */
function errorsOf(process: Latchkey): string[] {
  return process
    .output()
    .split('\n')
    .filter((line) => /"level":[56]0|"status":503/.test(line));
}

/** Fetches keys and starts sign-ins, as a proxy does: no request is sent twice. */
class Load {
  readonly faults: string[] = [];
  total = 0;
  #tookMs: number[] = [];
  #isStopped = false;
  readonly #base: string;
  readonly #app: App;
  readonly #workers: Promise<void>[];

  constructor(base: string, app: App) {
    this.#base = base;
    this.#app = app;
    this.#workers = Array.from({ length: 8 }, (_, index) => this.#work(index % 2 === 0));
  }

  /** Durations since the last call, in milliseconds. */
  take(): number[] {
    return this.#tookMs.splice(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
  }

  async #work(isPost: boolean): Promise<void> {
    while (!this.#isStopped) {
      const startedAt = performance.now();
      const fault = await this.#ask(isPost);
      this.total += 1;
      this.#tookMs.push(performance.now() - startedAt);
      if (fault !== null) this.faults.push(fault);
    }
  }

  #ask(isPost: boolean): Promise<string | null> {
    const path = isPost ? '/v1/signin/challenge' : '/.well-known/jwks.json';
    const body = JSON.stringify({ jkt: 'A'.repeat(43) });
    const headers: Record<string, string> = isPost
      ? {
          'Content-Type': 'application/json',
          Origin: new URL(this.#app.redirectUri).origin,
          'X-Api-Key': this.#app.publishableKey,
        }
      : {};
    let text = '';
    return new Promise((done) => {
      const asked = request(
        this.#base + path,
        { method: isPost ? 'POST' : 'GET', headers, agent: false, timeout: 60_000 },
        (answer: IncomingMessage) => {
          answer.on('error', ({ message }) => done(`${path}: ${message}`));
          answer.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          answer.on('end', () => done(answer.statusCode === 200 ? null : `${path}: ${answer.statusCode} ${text}`));
        },
      );
      asked.on('timeout', () => asked.destroy(new Error('no response in 60 s')));
      asked.on('error', ({ message }) => done(`${path}: ${message}`));
      asked.end(isPost ? body : undefined);
    });
  }
}

import { connect, type Socket } from 'node:net';
import { type Experiment, evaluate, pause, percentile, until } from '../experiment.ts';
import type { App } from '../support/person.ts';
import { load, World } from '../support/world.ts';

const megabyte = 1024 * 1024;

export const hostileClients: Experiment = {
  name: 'hostile-clients',
  done: '2,000 slow-loris sockets, bodies of 50 MB, JSON 10,000 deep, Content-Length with Transfer-Encoding, under load',
  passes:
    'other clients are not rejected, with p99 under 1 s (on a busy machine: twice the baseline); slow connections are closed within 45 s, other attacks get 4xx; memory grows by less than 150 MB',
  async run({ scale, log }) {
    const count = Math.max(200, Math.round(2_000 * scale));
    const world = await World.create();
    try {
      const latchkey = await world.start();
      const app = await world.app();
      const people = await world.people(app, 4);
      const port = Number(world.issuerPort);
      const quiet = load(
        people.map((person) => () => person.signIn()),
        undefined,
        50,
      );
      await pause(3_000);
      await quiet.stop();
      // Sign-in latency before the attack.
      const before = percentile(
        people.flatMap(({ tookMs }) => tookMs.splice(0)),
        0.99,
      );
      const memoryBefore = await residentMegabytes(latchkey.managementUrl);

      const faults: string[] = [];
      const under = load(
        people.map((person) => () => person.signIn()),
        undefined,
        50,
      );
      const startedAt = performance.now();
      const slow = Array.from(
        { length: count },
        (_, index) => new SlowClient(port, index % 2 === 0 ? 'headers' : 'body'),
      );
      await until(() => slow.every(({ isOpen }) => isOpen), 10_000);
      log(`${slow.filter(({ isOpen }) => isOpen).length} slow connections open`);
      const token = await world.admin.issueScimToken(app.projectId);
      for (const attack of attacks(app, token)) {
        const answer = await answerTo(port, attack.head, attack.body);
        if (!/^HTTP\/1\.1 4\d\d/.test(answer) && !(answer === '' && attack.mayBeCut)) {
          faults.push(`${attack.name}: ${answer.slice(0, 60) || 'no response'}`);
        }
      }
      await until(() => slow.every(({ isOpen }) => !isOpen), 60_000);
      const cutAfter = performance.now() - startedAt;
      const left = slow.filter(({ isOpen }) => isOpen).length;
      for (const client of slow) client.end();
      await under.stop();
      const memoryAfter = await residentMegabytes(latchkey.managementUrl);
      const p99 = percentile(
        people.flatMap(({ tookMs }) => tookMs),
        0.99,
      );
      return evaluate(
        `${count} slow sockets cut after ${(cutAfter / 1000).toFixed(0)} s; requests p99 ${p99} ms under attack (${under.results.good} sign-ins), ${before} ms before; memory ${memoryBefore} → ${memoryAfter} MB`,
        [
          left > 0 && `${left} slow connections are still open after a minute`,
          cutAfter > 45_000 && `slow connections were cut only after ${Math.round(cutAfter)} ms`,
          p99 > Math.max(1_000, before * 2) && `requests took ${p99} ms at p99`,
          memoryAfter > memoryBefore + 150 && `memory grew from ${memoryBefore} to ${memoryAfter} MB`,
          ...faults,
          ...under.results.refused.map(({ why }) => why),
          ...under.results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

/** Sends a byte now and then, and never completes a request. */
class SlowClient {
  isOpen = false;
  readonly #socket: Socket;
  readonly #writer: NodeJS.Timeout;

  constructor(port: number, part: 'headers' | 'body') {
    this.#socket = connect(port, '127.0.0.1', () => {
      this.isOpen = true;
      const start =
        'POST /oauth2/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';
      this.#socket.write(part === 'headers' ? start : `${start}Content-Length: 60000\r\n\r\n`);
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.end());
    this.#writer = setInterval(() => this.#socket.write(part === 'headers' ? 'X-A: b\r\n' : 'a'), 1_000);
  }

  end(): void {
    this.isOpen = false;
    clearInterval(this.#writer);
    this.#socket.destroy();
  }
}

interface Attack {
  name: string;
  head: string[];
  body: string | number;
  /** The server may also close the connection without a response, because the client may still be sending. */
  mayBeCut: boolean;
}

function attacks(app: App, token: string): Attack[] {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const nested = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const scim = `POST /v1/scim/${app.projectId}/Users`;
  const scimHead = [`Authorization: Bearer ${token}`, 'Content-Type: application/scim+json'];
  const signIn = ['Content-Type: application/json', `X-Api-Key: ${app.publishableKey}`, 'Origin: http://127.0.0.1:9'];
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const places: [string, string[]][] = [
    [scim, scimHead],
    ['POST /oauth2/token', [form]],
    ['POST /v1/signin/challenge', signIn],
    ['POST /admin/graphql', ['Content-Type: application/json']],
    ['POST /v1/delegation', ['Content-Type: application/jose', `X-Api-Key: ${app.secretKey}`]],
    ['POST /oauth2/end_session', [form]],
  ];
  return [
    ...places.map(([request, headers]) => ({
      name: `50 MB to ${request}`,
      head: [request, ...headers],
      body: 50 * megabyte,
      mayBeCut: true,
    })),
    ...[deep, nested].flatMap((body) => [
      { name: `deep JSON to ${scim}`, head: [scim, ...scimHead], body, mayBeCut: false },
      { name: 'deep JSON to sign-in', head: ['POST /v1/signin/challenge', ...signIn], body, mayBeCut: false },
      {
        name: 'deep JSON to GraphQL',
        head: ['POST /admin/graphql', 'Content-Type: application/json'],
        body,
        mayBeCut: false,
      },
    ]),
    {
      name: 'both Content-Length and Transfer-Encoding',
      head: ['POST /oauth2/token', form, 'Transfer-Encoding: chunked'],
      body: '0\r\n\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n',
      mayBeCut: false,
    },
    {
      name: 'a header of 64 KB',
      head: ['GET /userinfo', `X-Long: ${'x'.repeat(64 * 1024)}`],
      body: '',
      mayBeCut: true,
    },
  ];
}

/** Raw response. @param body text, or number of zero bytes */
function answerTo(port: number, [request = '', ...headers]: string[], body: string | number): Promise<string> {
  const length = typeof body === 'number' ? body : Buffer.byteLength(body);
  const head = [`${request} HTTP/1.1`, 'Host: localhost', ...headers, `Content-Length: ${length}`, 'Connection: close'];
  return new Promise((done) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', async () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      if (typeof body === 'string') return void socket.write(body);
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      for (let sent = 0; sent < body && !socket.destroyed && answer === ''; sent += chunk.length) {
        if (!socket.write(chunk))
          await Promise.race([new Promise((ready) => socket.once('drain', ready)), pause(2_000)]);
      }
    });
    socket.setTimeout(40_000, () => socket.destroy());
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(answer));
  });
}

/** Resident memory of the process, from its metrics. */
async function residentMegabytes(managementUrl: string): Promise<number> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? 0) / megabyte);
}

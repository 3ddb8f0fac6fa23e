import { Connection } from './http.ts';
import { cpuMilliseconds, residentBytes } from './process.ts';

/** A server to measure, with its database if it has one. */
export interface Subject {
  name: string;
  /** Target URLs; connections are distributed evenly. */
  urls: string[];
  serverPids: number[];
  /** Postmaster; its backends are counted too. */
  databasePid?: number | undefined;
}

/** One operation on a connection; throws on an unexpected response. */
type Operation = (connection: Connection, worker: number, count: number) => Promise<void>;

/** Input that a workload consumes, prepared unmeasured. */
interface Stock {
  /** Called before each round; replaces the rest. */
  fill(connections: readonly Connection[]): Promise<void>;
  /** Ends the round early. */
  isEmpty(): boolean;
}

export interface Workload {
  operation: Operation;
  stock?: Stock;
}

/** A workload as implemented by one subject. */
export interface Contender extends Workload {
  subject: Subject;
}

export interface Plan {
  /** Concurrent connections. */
  concurrency: number;
  /** Rounds per contender. */
  rounds: number;
  secondsPerRound: number;
  warmUpSeconds: number;
}

export interface Figures {
  subject: string;
  operations: number;
  /** Operations per second: median of the rounds. */
  rate: number;
  /** Milliseconds, over all rounds. */
  p50: number;
  p99: number;
  /** User and system CPU per operation, in milliseconds. */
  serverCpu: number;
  databaseCpu: number;
  /** RSS of the server's processes at the end of the last round. */
  memoryBytes: number;
}

/** Contenders alternate per round, so that other load on the machine affects all of them equally. */
export async function measure(contenders: readonly Contender[], plan: Plan): Promise<Figures[]> {
  const measurements = contenders.map((contender) => new Measurement(contender, plan.concurrency));
  for (const measurement of measurements) await measurement.run(plan.warmUpSeconds, false);
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const measurement of measurements) await measurement.run(plan.secondsPerRound, true);
  }
  return measurements.map((measurement) => measurement.figures());
}

class Measurement {
  readonly #contender: Contender;
  readonly #connections: Connection[];
  readonly #latencies: number[] = [];
  readonly #rates: number[] = [];
  readonly #counts: number[];
  #serverCpu = 0;
  #databaseCpu = 0;
  #memory = 0;

  constructor(contender: Contender, concurrency: number) {
    const { urls } = contender.subject;
    this.#contender = contender;
    this.#connections = Array.from({ length: concurrency }, (_, at) => new Connection(urls[at % urls.length] ?? ''));
    this.#counts = this.#connections.map(() => 0);
  }

  async run(forSeconds: number, counts: boolean): Promise<void> {
    const { subject, operation, stock } = this.#contender;
    const { serverPids, databasePid } = subject;
    const database = databasePid === undefined ? [] : [databasePid];
    // A database that is a child of the server counts as database only.
    const cpu = () => {
      const ofDatabase = cpuMilliseconds(database);
      return { ofDatabase, ofServer: cpuMilliseconds([...serverPids, ...database]) - ofDatabase };
    };
    await stock?.fill(this.#connections);
    const before = cpu();
    const begin = performance.now();
    const end = begin + forSeconds * 1000;
    let done = 0;
    await Promise.all(
      this.#connections.map(async (connection, worker) => {
        for (let now = performance.now(); now < end && !stock?.isEmpty(); ) {
          const count = this.#counts[worker] ?? 0;
          this.#counts[worker] = count + 1;
          await operation(connection, worker, count);
          const finished = performance.now();
          if (counts) this.#latencies.push(finished - now);
          now = finished;
          done += 1;
        }
      }),
    );
    // Servers close connections that idle while others have their turn.
    for (const connection of this.#connections) connection.close();
    if (!counts) return;
    const after = cpu();
    this.#rates.push((done * 1000) / (performance.now() - begin));
    this.#serverCpu += after.ofServer - before.ofServer;
    this.#databaseCpu += after.ofDatabase - before.ofDatabase;
    this.#memory = residentBytes(serverPids);
  }

  figures(): Figures {
    const sorted = Float64Array.from(this.#latencies).sort();
    const operations = sorted.length;
    return {
      subject: this.#contender.subject.name,
      operations,
      rate: median(this.#rates),
      p50: sorted[Math.floor(operations * 0.5)] ?? Number.NaN,
      p99: sorted[Math.floor(operations * 0.99)] ?? Number.NaN,
      serverCpu: this.#serverCpu / operations,
      databaseCpu: this.#databaseCpu / operations,
      memoryBytes: this.#memory,
    };
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

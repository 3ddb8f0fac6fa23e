import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { firstDay } from '../../upgrade/releases.ts';
import { type Experiment, evaluate, pause, percentile } from '../experiment.ts';
import { buildRelease } from '../support/release.ts';
import { World } from '../support/world.ts';

const longestWaitMs = 100;
const writer = 'chaos-writer';

export const indexBuild: Experiment = {
  name: 'index-build',
  done: `an audit log of 10,000,000 events in the schema of ${firstDay.name} is migrated, with its indexes, while four clients write to it`,
  passes: 'no write waits for a lock for more than 100 ms; every event is there afterwards, and every index valid',
  async run({ scale, log }) {
    const events = Math.round(10_000_000 * scale);
    const release = await buildRelease(firstDay);
    if (typeof release === 'string') return { verdict: 'skipped', measured: release };
    // PostgreSQL logs each wait for a lock that lasts longer; how long a write takes depends on the machine, too.
    const world = await World.create({
      postgres: {
        log_lock_waits: 'on',
        deadlock_timeout: `${longestWaitMs}ms`,
        log_min_messages: 'log',
        log_line_prefix: '%a|',
      },
    });
    world.onClose(() => release.remove());
    try {
      await (await world.start({}, { main: release.main })).stop();
      const project = await fill(world, events);
      log(`${events} events`);
      let isDone = false;
      const writing = Array.from({ length: 4 }, () => writeUntil(world, project, () => isDone));
      await pause(2_000);
      const startedAt = performance.now();
      await world.start({ PORT: world.issuerPort }).finally(() => {
        isDone = true;
      });
      const seconds = (performance.now() - startedAt) / 1000;
      const tookMs = (await Promise.all(writing)).flat();
      const waits = world.postgres
        .log()
        .filter((line) => line.startsWith(`${writer}|`) && / acquired .* after /.test(line));
      const [rows] = await world.postgres.query<{ count: number }>('select count(*)::int as count from audit_log');
      const invalid = await world.postgres.query<{ name: string }>(
        'select indexrelid::regclass::text as name from pg_index where not indisvalid',
      );
      const expected = events + tookMs.length;
      return evaluate(
        `${events} events migrated in ${seconds.toFixed(1)} s beside ${tookMs.length} writes: ${waits.length} waited over ${longestWaitMs} ms for a lock, the slowest took ${percentile(tookMs, 1)} ms (p99 ${percentile(tookMs, 0.99)} ms)`,
        [
          tookMs.length < 100 && `only ${tookMs.length} writes`,
          // The server also writes events.
          (rows?.count ?? 0) < expected && `${rows?.count} of ${expected} events left`,
          ...waits,
          ...invalid.map(({ name }) => `index not valid: ${name}`),
        ],
      );
    } finally {
      await world.close();
    }
  },
};

/** Time-ordered IDs (UUIDv7), the latest now. */
async function fill({ postgres }: World, events: number): Promise<string> {
  const project = randomUUID();
  await postgres.query(
    `insert into projects (id, name, created_at, updated_at) values ('${project}', 'Large', now(), now())`,
  );
  const batch = 250_000;
  for (let done = 0; done < events; done += batch) {
    await postgres.query(
      `insert into audit_events (id, project_id, at, type, result, actor_kind)
       select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || '7' ||
           substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
         '${project}', now(), 'signin.succeeded', 'success', 'user'
       from generate_series(${done + 1}, ${Math.min(events, done + batch)}) n`,
    );
  }
  return project;
}

/** Writes events as the earlier release does, one after the other. @returns how long each took, in milliseconds */
async function writeUntil({ postgres }: World, project: string, isDone: () => boolean): Promise<number[]> {
  const client = new pg.Client({ connectionString: postgres.url, application_name: writer });
  await client.connect();
  const tookMs: number[] = [];
  try {
    while (!isDone()) {
      const startedAt = performance.now();
      await client.query(
        `insert into audit_events (id, project_id, at, type, result, actor_kind)
         values ($1, $2, now(), 'signin.succeeded', 'success', 'user')`,
        [timeOrderedId(), project],
      );
      tookMs.push(performance.now() - startedAt);
      await pause(5);
    }
  } finally {
    await client.end();
  }
  return tookMs;
}

function timeOrderedId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const [, , , ...rest] = randomUUID().split('-');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(0, 3)}-${rest.join('-')}`;
}

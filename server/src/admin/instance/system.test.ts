import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { beatSeconds, Processes, type Runtime } from '../../domain/instance/processes.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';

let harness: AdminHarness;

beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());

const runtime: Runtime = {
  ...{ host: 'one', pid: 7, version: '1.2.3', nodeVersion: '24.0.0', signMicroseconds: 1400, migrations: [] },
};
const ask = async () => {
  const { data, code } = await harness.call(`{ system { level checks { name level summary advice }
    processes { host pid version signMicroseconds } database { version sizeBytes connections maxConnections }
    mail { kind lastSentAt } jobs { name } backup { takenAt } } }`);
  return code ?? data.system;
};
/** Heartbeats are in the database's time, which no test can turn. */
const aged = (seconds: number) =>
  harness.services.db.transaction((em) =>
    execute(em, sql`update processes set seen_at = seen_at - make_interval(secs => ${seconds})`),
  );
const checkOf = (system: any, name: string) => system.checks.find((one: any) => one.name === name);

describe('Query.system', () => {
  it('reports the actual state of the instance', async () => {
    const system = await ask();
    expect(system).toMatchObject({
      level: 'FAIL',
      processes: [],
      mail: { kind: null, lastSentAt: null },
      backup: null,
    });
    expect(system.database.version).toMatch(/^\d\d/);
    expect(system.database.sizeBytes).toBeGreaterThan(1e6);
    expect(checkOf(system, 'Mail')).toMatchObject({ level: 'FAIL', summary: 'No mail server is set' });
    expect(checkOf(system, 'Backup')).toMatchObject({ level: 'WARN', summary: 'No backup recorded' });
    // The clock of the test is fixed in March, that of the database is not.
    expect(checkOf(system, 'Clock').level).toBe('FAIL');
  });

  it('lists each process while it sends heartbeats', async () => {
    const { db } = harness.services;
    const [one, two] = [
      new Processes({ db, clock: harness.clock, random: systemRandom, runtime }),
      new Processes({ db, clock: harness.clock, random: systemRandom, runtime: { ...runtime, host: 'two' } }),
    ];
    await Promise.all([one.beat(), two.beat()]);
    await one.beat();
    const hosts = async () => (await ask()).processes.map(({ host }: { host: string }) => host).sort();
    expect(await hosts()).toEqual(['one', 'two']);
    await aged(4 * beatSeconds);
    expect(await hosts()).toEqual([]);
    await Promise.all([one.beat(), two.beat()]);
    await two.leave();
    expect(await hosts()).toEqual(['one']);
    await aged(2 * 24 * 3600);
    await two.beat();
    const left = await db.reader().execute('select host from processes');
    expect(left).toEqual([{ host: 'two' }]);
  });

  it('lists a process with a wrong clock while it sends heartbeats, and names it', async () => {
    const { db } = harness.services;
    const clock = { now: () => new Date(Date.now() - 300_000) };
    const behind = new Processes({ db, clock, random: systemRandom, runtime: { ...runtime, host: 'slow', pid: 9 } });
    await behind.beat();
    const system = await ask();
    expect(system.processes.map(({ host }: { host: string }) => host)).toContain('slow');
    expect(checkOf(system, 'Clock')).toMatchObject({
      level: 'FAIL',
      summary: expect.stringMatching(/Process 9 on slow is (299\.\d|300\.\d) s behind the database/),
    });
    const [row] = await db
      .reader()
      .execute(`select abs(extract(epoch from now() - seen_at)) < 60 as right from processes
      where host = 'slow'`);
    expect(row).toEqual({ right: true });
    await behind.leave();
  });

  it('reports pending migrations, and those of a newer version', async () => {
    const em = harness.services.db.reader();
    await execute(em, sql`insert into migrations (name, executed_at) values ('20990101000000-later', now())`);
    expect(checkOf(await ask(), 'Migrations').level).toBe('WARN');
  });

  it('is for owners', async () => {
    const { id } = await harness.services.projects.create({ name: 'Acme' }, { kind: 'system' });
    const answer = await harness.call('{ system { level } }', {}, await harness.tokenOf('project_admin', id));
    expect(answer.code).toBe('forbidden');
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminRoom, openAdminRoom } from '../../../test/admin-room.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { beatSeconds, Processes, type Runtime } from '../../domain/instance/processes.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';

let room: AdminRoom;

beforeAll(async () => {
  room = await openAdminRoom();
});
afterAll(() => room.close());

const runtime: Runtime = {
  ...{ host: 'one', pid: 7, version: '1.2.3', nodeVersion: '24.0.0', signMicroseconds: 1400, migrations: [] },
};
const ask = async () => {
  const { data, code } = await room.call(`{ system { level checks { name level summary advice }
    processes { host pid version signMicroseconds } database { version sizeBytes connections maxConnections }
    mail { kind lastSentAt } jobs { name } backup { takenAt } } }`);
  return code ?? data.system;
};
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
    // The room's clock stands still in March, the database's does not.
    expect(checkOf(system, 'Clock').level).toBe('FAIL');
  });

  it('lists each process while it sends heartbeats', async () => {
    const { db } = room.services;
    const [one, two] = [
      new Processes({ db, clock: room.clock, random: systemRandom, runtime }),
      new Processes({ db, clock: room.clock, random: systemRandom, runtime: { ...runtime, host: 'two' } }),
    ];
    await Promise.all([one.beat(), two.beat()]);
    await one.beat();
    const hosts = async () => (await ask()).processes.map(({ host }: { host: string }) => host).sort();
    expect(await hosts()).toEqual(['one', 'two']);
    room.clock.turn(4 * beatSeconds);
    expect(await hosts()).toEqual([]);
    await Promise.all([one.beat(), two.beat()]);
    await two.leave();
    expect(await hosts()).toEqual(['one']);
    room.clock.turn(2 * 24 * 3600);
    await two.beat();
    const left = await db.reader().execute('select host from processes');
    expect(left).toEqual([{ host: 'two' }]);
  });

  it('reports pending migrations, and those of a newer version', async () => {
    const em = room.services.db.reader();
    await execute(em, sql`insert into migrations (name, executed_at) values ('20990101000000-later', now())`);
    expect(checkOf(await ask(), 'Migrations').level).toBe('WARN');
  });

  it('is for owners', async () => {
    const { id } = await room.services.projects.create({ name: 'Acme' }, { kind: 'system' });
    const answer = await room.call('{ system { level } }', {}, await room.tokenOf('project_admin', id));
    expect(answer.code).toBe('forbidden');
  });
});

it('reports no unexpected error', () => expect(room.bugs).toEqual([]));

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Experiment, evaluate, pause, until } from '../experiment.ts';
import { Person } from '../support/person.ts';
import { load, World } from '../support/world.ts';

/** A full disk, in memory, under the tables (`base`) or the write-ahead log (`pg_wal`). */
function diskFullUnder(folder: 'base' | 'pg_wal'): Experiment {
  const isTables = folder === 'base';
  return {
    name: isTables ? 'disk-full' : 'wal-full',
    done: `the disk of the ${isTables ? 'tables' : 'write-ahead log'} is full for 15 s under load`,
    passes:
      '503 to every write that fails; not ready and the reason named, but live; sign-ins again within 15 s of free space; no acknowledged user lost; no restart of Latchkey',
    async run({ scale, log }) {
      const disk = mkdtempSync(join(tmpdir(), 'latchkey-chaos-disk-'));
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0711', 'tmpfs', disk], { stdio: 'pipe' });
      } catch (error) {
        rmdirSync(disk);
        return { verdict: 'skipped', measured: `no small disk: ${(error as Error).message.split('\n')[0]}` };
      }
      // A large segment would fill the disk before the experiment does.
      const world = await World.create({ postgres: { max_wal_size: '64MB', min_wal_size: '32MB' } });
      const { postgres } = world;
      try {
        await postgres.stop();
        postgres.move(folder, disk);
        await postgres.start();
        const latchkey = await world.start();
        const app = await world.app();
        const headers = {
          Authorization: `Bearer ${await world.admin.issueScimToken(app.projectId)}`,
          'Content-Type': 'application/scim+json',
        };
        const acknowledged: string[] = [];
        const under = load(
          Array.from({ length: 4 }, () => async () => {
            const email = `${randomBytes(6).toString('hex')}@example.com`;
            await new Person(app, email).signIn();
            acknowledged.push(email);
          }),
        );
        await pause(2_000);
        fill(join(disk, 'filler'));
        // More than the segments that exist: PostgreSQL needs a new one.
        if (!isTables)
          await postgres
            .query(`select pg_logical_emit_message(false, 'chaos', repeat('x', 150000000))`)
            .catch(() => undefined);
        const health = (path: string) =>
          fetch(`${latchkey.managementUrl}/health/${path}`).then(
            async (answer) => ({ status: answer.status, body: await answer.text() }),
            (error: unknown) => ({ status: 0, body: String(error) }),
          );
        const isOff = await until(async () => (await health('ready')).status === 503, 30_000);
        const { body } = await health('ready');
        await pause(15_000 * scale);
        const live = (await health('live')).status;
        const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
        const provision = (user: number) =>
          fetch(`${world.issuer}/v1/scim/${app.projectId}/Users`, {
            method: 'POST',
            headers,
            body: JSON.stringify({
              schemas,
              userName: `full-${user}@example.com`,
              title: randomBytes(400).toString('hex'),
            }),
          }).then((answer) => answer.text(), String);
        // The pages that exist may have space for some.
        let scim = '';
        for (let user = 0; user < 100 && !/disk of the database is full/.test(scim); user += 1)
          scim = await provision(user);
        const metrics = await fetch(`${latchkey.managementUrl}/metrics`).then((answer) => answer.text());
        log(`not ready: ${body.slice(0, 160)}`);
        rmSync(join(disk, 'filler'));
        const freedAt = performance.now();
        const before = under.results.good;
        let hadEnded = false;
        const isBack = await until(async () => {
          // Without space for its log PostgreSQL ends, at once or in its recovery; a service manager starts it again.
          if (postgres.hasEnded) {
            hadEnded = true;
            await postgres.start();
          }
          return under.results.good > before + 4;
        }, 60_000);
        const backMs = performance.now() - freedAt;
        const isReady = await until(async () => (await health('ready')).status === 200, 15_000);
        await under.stop();
        const rows = await postgres.query<{ email: string }>('select user_name as email from users');
        const kept = new Set(rows.map(({ email }) => email));
        const lost = acknowledged.filter((email) => !kept.has(email));
        const { results } = under;
        return evaluate(
          `${results.refused.length} refused, ${results.wrong.length} wrong; ${hadEnded ? 'PostgreSQL ended and was started again; ' : ''}sign-ins again after ${Math.round(backMs)} ms; ${acknowledged.length} users acknowledged, ${lost.length} lost`,
          [
            !isOff && 'stayed ready',
            isTables && !/disk|space/i.test(body) && `the reason is not named: ${body}`,
            isTables && !/disk of the database is full/.test(scim) && `SCIM does not name the reason: ${scim}`,
            !/^latchkey_database_up 0$/m.test(metrics) && 'latchkey_database_up is not 0',
            latchkey.output().includes('[object') && 'the log has an object without its fields',
            live !== 200 && `live: ${live}`,
            !isBack && 'no sign-ins after space was freed',
            backMs > 15_000 && `recovered after ${Math.round(backMs)} ms`,
            !isReady && 'did not become ready again',
            lost.length > 0 && `lost: ${lost.slice(0, 3).join(', ')}`,
            ...results.wrong,
          ],
        );
      } finally {
        rmSync(join(disk, 'filler'), { force: true });
        await world.close();
        execFileSync('umount', ['--lazy', disk]);
        rmdirSync(disk);
      }
    },
  };
}

/** Writes until there is no space. */
function fill(path: string): void {
  for (let size = 1 << 20; size >= 4096; size >>= 4) {
    try {
      while (true) appendFileSync(path, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

export const diskFull = diskFullUnder('base');
export const walFull = diskFullUnder('pg_wal');

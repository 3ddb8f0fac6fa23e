import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import pg from 'pg';
import { AdminApi } from '../../support/admin-api.ts';
import { freePort } from '../../support/latchkey.ts';
import { type Experiment, evaluate, until } from '../experiment.ts';
import { CellRouter } from '../support/cells.ts';
import { type App, Person } from '../support/person.ts';
import { Postgres } from '../support/postgres.ts';
import { World } from '../support/world.ts';

/** A Latchkey with a separate database, and one application. */
interface Cell {
  name: string;
  world: World;
  app: App;
  sdk: Person;
  hosted: Person;
}

const faultOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );

export const cells: Experiment = {
  name: 'cells',
  done: 'two databases behind one address and a directory; one is killed; a project moves to the other',
  passes:
    'both sign in at the address, with tokens that its keys verify; with one database down, the other signs in; the moved project keeps ids, devices and `sub`',
  async run({ log }) {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-cells-'));
    const directory = await Postgres.create();
    const issuerPort = await freePort();
    const shared = { BASE_URL: `http://localhost:${issuerPort}`, MASTER_KEY: randomBytes(32).toString('base64') };
    const ports = { one: await freePort(), two: await freePort() };
    const client = new pg.Client({ connectionString: directory.url });
    client.on('error', () => undefined);
    const router = new CellRouter(client, ports);
    const worlds: World[] = [];
    try {
      await client.connect();
      await router.listen(issuerPort);
      const open = async (name: 'one' | 'two'): Promise<Cell> => {
        const world = await World.create({ env: shared });
        worlds.push(world);
        const latchkey = await world.start({ PORT: String(ports[name]) });
        const app = await world.app({}, new AdminApi(`http://localhost:${ports[name]}`, latchkey.adminToken));
        await router.assign([app.projectId, app.clientId, app.publishableKey, app.secretKey], name);
        const person = (kind: string) => new Person(app, `${kind}-${name}@example.com`);
        return { name, world, app, sdk: person('sdk'), hosted: person('hosted') };
      };
      const [one, two] = [await open('one'), await open('two')];
      const keys = createRemoteJWKSet(new URL(`${shared.BASE_URL}/.well-known/jwks.json`));
      const faults: (string | undefined | false)[] = [];

      const signIn = async ({ sdk, hosted, app }: Cell) => {
        await sdk.signIn();
        await hosted.signInHosted();
        for (const { idToken } of [sdk, hosted]) {
          await jwtVerify(idToken, keys, { issuer: shared.BASE_URL, audience: app.clientId });
        }
      };
      for (const cell of [one, two, one, two]) faults.push(await faultOf(signIn(cell)));
      log('both cells sign in at one address');

      await one.world.postgres.stop('immediate');
      const away = await faultOf(signIn(one));
      faults.push(!away?.includes('503') && `without its database the first cell answered ${away ?? 'a sign-in'}`);
      const other = await faultOf(signIn(two));
      faults.push(other && `while the first database was down: ${other}`);
      await one.world.postgres.start();
      const back = await until(async () => (await faultOf(signIn(one))) === undefined, 30_000, 500);
      faults.push(!back && 'the first cell did not recover');
      log(`with one database down, its cell answered "${away}", the other signed in`);

      const before = await usersOf(one.world.postgres, one.app.projectId);
      const [file, passphrase] = [join(folder, 'project.jsonl'), join(folder, 'passphrase')];
      writeFileSync(passphrase, randomBytes(24).toString('hex'), { mode: 0o600 });
      const secrets = ['--passphrase-file', passphrase];
      await one.world.run('export', '--project', one.app.projectId, '--to', file, ...secrets);
      await two.world.run('import', file, ...secrets);
      const { projectId, clientId, publishableKey, secretKey } = one.app;
      await router.assign([projectId, clientId, publishableKey, secretKey], two.name);
      const after = await usersOf(two.world.postgres, projectId);
      faults.push(JSON.stringify(before) !== JSON.stringify(after) && 'users or devices differ after the move');
      // The device key signs in at once, and `sub` stays: `Person` checks both. Sessions do not move.
      faults.push(await faultOf(one.sdk.signIn()));
      one.hosted.cookies.clear();
      faults.push(await faultOf(one.hosted.signInHosted()));
      await one.world.postgres.stop('immediate');
      const alone = await faultOf(one.sdk.signIn());
      faults.push(alone && `without the first cell: ${alone}`);
      await one.world.postgres.start();
      return evaluate(
        `${before.length} users of the moved project kept ids and devices; the cell without its database answered "${away}"`,
        faults,
      );
    } finally {
      router.close();
      await client.end();
      for (const world of worlds) await world.close();
      await directory.destroy();
      rmSync(folder, { recursive: true });
    }
  },
};

/** Each user with its device keys. */
async function usersOf(postgres: Postgres, projectId: string): Promise<unknown[]> {
  const rows = await postgres.query(
    `select u.id, u.email, array_agg(d.id || d.jkt order by d.id) as devices from users u
     join credentials d on d.project_id = u.project_id and d.user_id = u.id
     where u.project_id = '${projectId}' group by u.project_id, u.id order by u.id`,
  );
  return rows;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Experiment, evaluate } from '../experiment.ts';
import { load, World } from '../support/world.ts';

export const backupFidelity: Experiment = {
  name: 'backup-fidelity',
  done: 'a backup under load, restored into another database, which the server then uses',
  passes: 'every user known before the backup signs in with the earlier device key, without a code, as the same user',
  async run({ scale, log }) {
    const world = await World.create();
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-chaos-'));
    world.onClose(() => rmSync(folder, { recursive: true }));
    try {
      const first = await world.start();
      const app = await world.app();
      const people = await world.people(app, Math.max(4, Math.round(20 * scale)));
      const others = await world.people(app, 2);
      const under = load(others.map((person) => () => person.signIn()));
      const file = join(folder, 'a.jsonl.gz');
      await world.run('backup', '--to', file);
      await under.stop();
      log(`backed up during ${under.results.good} sign-ins`);
      await first.stop();
      await world.postgres.query('create database restored', 'postgres');
      const restored = new URL(world.postgres.url);
      restored.pathname = '/restored';
      const env = { DATABASE_URL: restored.href };
      await world.runWith(env, 'restore', file);
      await world.start({ ...env, PORT: world.issuerPort });
      const codes = async () => {
        const rows = await world.postgres.query<{ count: number }>(
          `select count(*)::int as count from audit_log where type = 'otp.sent'`,
          'restored',
        );
        return rows[0]?.count ?? 0;
      };
      const before = await codes();
      const failed: string[] = [];
      for (const person of people) await person.signIn().catch((error: Error) => failed.push(error.message));
      const asked = (await codes()) - before;
      return evaluate(
        `${people.length - failed.length} of ${people.length} users signed in with their earlier keys, ${asked} codes sent; ${under.results.wrong.length} wrong during the backup`,
        [...failed, asked > 0 && `${asked} codes sent to known devices`, ...under.results.wrong],
      );
    } finally {
      await world.close();
    }
  },
};

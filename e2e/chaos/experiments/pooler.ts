import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/latchkey.ts';
import { type Experiment, evaluate, pause, percentile } from '../experiment.ts';
import { load, World } from '../support/world.ts';

const program = process.env['PGBOUNCER'] ?? 'pgbouncer';
const identity = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Latchkey behind PgBouncer, if installed (or named by `PGBOUNCER`). */
function behind(mode: 'transaction' | 'session'): Experiment {
  return {
    name: mode === 'transaction' ? 'pooler' : 'pooler-session',
    done: `Latchkey behind PgBouncer with ${mode} pooling: sign-ins, logouts and jobs under load for 10 s`,
    passes: 'no wrong or rejected response; jobs complete; `doctor` detects whether prepared statements persist',
    async run({ scale }) {
      let version: string;
      try {
        version = execFileSync(program, ['--version'], { encoding: 'utf8' });
      } catch {
        return {
          verdict: 'skipped',
          measured: 'pgbouncer not installed (Debian: apt-get install pgbouncer)',
        };
      }
      const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
      const knowsStatements = major > 1 || minor >= 21;
      const keepsStatements = mode === 'session' || knowsStatements;
      const folder = mkdtempSync(join(tmpdir(), 'latchkey-chaos-pgbouncer-'));
      chmodSync(folder, 0o755);
      const port = await freePort();
      const world = await World.create({
        // Row-level security needs connections that keep their role.
        env: { DATABASE_PREPARED_STATEMENTS: String(keepsStatements), DATABASE_ROW_SECURITY: 'false' },
        via: async (postgres) => {
          const { password } = new URL(postgres.url);
          writeFileSync(join(folder, 'users.txt'), `"latchkey" "${password}"\n`, { mode: 0o644 });
          const settings = [
            '[databases]',
            `latchkey = host=127.0.0.1 port=${postgres.port}`,
            '[pgbouncer]',
            'listen_addr = 127.0.0.1',
            `listen_port = ${port}`,
            'unix_socket_dir =',
            'auth_type = scram-sha-256',
            `auth_file = ${join(folder, 'users.txt')}`,
            `pool_mode = ${mode}`,
            // Session mode dedicates a server connection per client: pool, jobs and listener of one process.
            `default_pool_size = ${mode === 'transaction' ? 10 : 20}`,
            ...(knowsStatements ? ['max_prepared_statements = 200'] : []),
            'ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
          ];
          writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`, { mode: 0o644 });
          return port;
        },
      });
      const pooler = spawn(program, [join(folder, 'pgbouncer.ini')], {
        ...identity,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      pooler.stderr?.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-2_000);
      });
      world.onClose(() => {
        pooler.kill('SIGINT');
        rmSync(folder, { recursive: true, force: true });
      });
      try {
        await pause(1_000);
        await world.start();
        const { Statements: found } = await world.doctor({ DATABASE_PREPARED_STATEMENTS: 'true' });
        const expected = keepsStatements ? 'ok' : 'fail';
        const app = await world.app();
        const people = await world.people(app, 4);
        const hosted = await world.hostedPeople(app, 2);
        const under = load([
          ...people.map((person) => () => person.signIn()),
          ...hosted.map((person) => () => person.signInHosted()),
        ]);
        await pause(Math.max(4_000, 10_000 * scale));
        await under.stop();
        const { results } = under;
        await pause(4_000);
        const [jobs] = await world.postgres.query<{ open: number; done: number }>(
          `select (count(*) filter (where state < 'completed' and name like 'delivery.%'))::int as open,
           (count(*) filter (where state = 'completed' and name like 'delivery.%'))::int as done from jobs.job`,
        );
        return evaluate(
          `PgBouncer ${major}.${minor}: ${results.good} sign-ins (p99 ${percentile(results.tookMs, 0.99)} ms), ${results.refused.length} refused, ${results.wrong.length} wrong; ${jobs?.done} mails sent, ${jobs?.open} waiting`,
          [
            found?.level !== expected &&
              `doctor reports ${JSON.stringify(found)} of prepared statements, not ${expected}`,
            results.good < 10 && `only ${results.good} sign-ins: ${stderr.slice(-300)}`,
            (jobs?.open ?? 1) > 0 && `${jobs?.open} mails still wait`,
            ...results.refused.map(({ why }) => why),
            ...results.wrong,
          ],
        );
      } finally {
        await world.close();
      }
    },
  };
}

export const pooler = behind('transaction');
export const poolerSession = behind('session');

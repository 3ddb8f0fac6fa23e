import { randomUUID } from 'node:crypto';
import { type Experiment, evaluate, pause, until } from '../experiment.ts';
import type { Postgres } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { LoadResults, load, World } from '../support/world.ts';

export const failover: Experiment = {
  name: 'failover',
  done: 'synchronous streaming standby, promoted under load after the primary is killed; its address moves',
  passes: 'no wrong response, no acknowledged user lost, sign-ins within 5 s of the promotion, no restart',
  async run({ scale, log }) {
    let proxy: TcpProxy | undefined;
    let standby: Postgres | undefined;
    const world = await World.create({
      via: async (postgres) => {
        proxy = await TcpProxy.to(postgres.port);
        return proxy.port;
      },
    });
    world.onClose(() => proxy?.close());
    world.onClose(() => standby?.destroy());
    try {
      const latchkey = await world.start();
      const app = await world.app();
      const people = await world.people(app, 5);
      standby = await world.postgres.standby();
      await world.postgres.query("alter system set synchronous_standby_names = '*'");
      await world.postgres.query('select pg_reload_conf()');
      const streams = () =>
        world.postgres.query<{ sync_state: string }>('select sync_state from pg_stat_replication').then(
          ([row]) => row?.sync_state === 'sync',
          () => false,
        );
      if (!(await until(streams, 20_000)))
        return evaluate('the standby does not replicate', ['no synchronous standby']);
      const { managementUrl } = latchkey;
      await until(
        () =>
          fetch(`${managementUrl}/health/ready`).then(
            ({ ok }) => ok,
            () => false,
          ),
        10_000,
      );
      const headers = {
        Authorization: `Bearer ${await world.admin.issueScimToken(app.projectId)}`,
        'Content-Type': 'application/scim+json',
      };
      const acknowledged: string[] = [];
      const create = async () => {
        const body = JSON.stringify({
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
          userName: `${randomUUID()}@example.com`,
        });
        const answer = await fetch(`${world.issuer}/v1/scim/${app.projectId}/Users`, { method: 'POST', headers, body });
        const json = (await answer.json()) as { id?: string };
        if (answer.status === 201 && json.id !== undefined) acknowledged.push(json.id);
        else if (answer.status !== 503) throw new Error(`SCIM: ${answer.status} ${JSON.stringify(json).slice(0, 200)}`);
        else await pause(100);
      };
      const signIns = load(people.map((person) => () => person.signIn()));
      const creations = load([create, create], new LoadResults());
      await pause(Math.max(2_000, 5_000 * scale));
      log(`${signIns.results.good} sign-ins and ${acknowledged.length} users before`);
      await world.postgres.stop('immediate');
      await pause(2_000);
      proxy?.retarget(standby.port);
      // A read-only standby must not count as a working database.
      await pause(1_000);
      const promotedAt = performance.now();
      await standby.promote();
      const before = signIns.results.good;
      await until(() => signIns.results.good > before, 20_000);
      const wellAfter = performance.now() - promotedAt;
      await pause(3_000);
      await Promise.all([signIns.stop(), creations.stop()]);
      const ids = await standby.query<{ id: string }>(`select id from users where project_id = '${app.projectId}'`);
      const stored = new Set(ids.map(({ id }) => id));
      const lost = acknowledged.filter((id) => !stored.has(id));
      const { results } = signIns;
      return evaluate(
        `${acknowledged.length} users acknowledged, ${lost.length} lost; ${results.good} sign-ins, ${results.refused.length} refused, ${results.wrong.length} wrong; sign-ins again ${Math.round(wellAfter)} ms after the promotion`,
        [
          lost.length > 0 && `${lost.length} acknowledged users are lost`,
          wellAfter > 5_000 && `recovered only after ${Math.round(wellAfter)} ms`,
          ...results.wrong,
          ...creations.results.wrong,
        ],
      );
    } finally {
      await world.close();
    }
  },
};

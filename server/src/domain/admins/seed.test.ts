import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { Client } from '../clients/client.entity.ts';
import { system } from '../kernel/actor.ts';
import { Seed } from './seed.ts';

let app: TestApp;
beforeEach(async () => {
  app = await buildTestApp();
});
afterEach(() => app.close());

const at = (issuer: string) => {
  const { audit, clients, db, projects } = app.services;
  return new Seed({ db, clock: app.clock, audit, projects, clients, issuer });
};
const eventsOf = async (type: string) => {
  const sql = 'select subject_name, detail from audit_log where type = ? order by id';
  return app.services.db.reader().execute<{ subject_name: string; detail: Record<string, unknown> }[]>(sql, [type]);
};

describe('built-in projects and clients', () => {
  it('are created once, with the demo only if requested at the first start', async () => {
    const first = await at('http://localhost:3000').create({ demo: false });
    expect(first.demoClient).toBeNull();
    expect(first.console).toMatchObject({ builtIn: 'console', signUp: 'provisioned_only', scimEnabled: false });
    const again = await at('http://localhost:3000').create({ demo: true });
    expect([again.console.id, again.demoClient]).toEqual([first.console.id, null]);
    expect(await eventsOf('instance.created')).toMatchObject([{ subject_name: 'Latchkey' }]);
    expect(await eventsOf('client.updated')).toEqual([]);
  });

  it('are created once by two processes that start concurrently', async () => {
    const results = await Promise.all([1, 2, 3].map(() => at('http://localhost:3000').create({ demo: true })));
    expect(new Set(results.map(({ console }) => console.id)).size).toBe(1);
    expect(await eventsOf('instance.created')).toHaveLength(1);
  });

  it('follow the base address: URIs change, the version increases, and URIs that an admin added stay', async () => {
    const { consoleClient, demoClient } = await at('http://localhost:3000').create({ demo: true });
    const before = { console: consoleClient.version, demo: demoClient?.version ?? 0 };
    app.clock.turn(60);
    await at('http://localhost:3000').create({ demo: true });
    const reread = async (id: string) => app.services.db.reader().findOneOrFail(Client, { id });
    expect((await reread(consoleClient.id)).version).toBe(before.console);

    const mine = ['http://localhost:3000/demo', 'https://mine.example/cb'];
    await app.services.clients.update(demoClient as Client, { redirectUris: mine }, system);
    await at('https://id.example.com').create({ demo: true });
    const moved = await reread(consoleClient.id);
    expect(moved).toMatchObject({
      redirectUris: ['https://id.example.com/admin/callback'],
      postLogoutRedirectUris: ['https://id.example.com/admin'],
      version: before.console + 1,
      updatedAt: app.clock.now(),
    });
    const demo = await reread(demoClient?.id ?? '');
    expect(demo.redirectUris).toEqual(['https://id.example.com/demo', 'https://mine.example/cb']);
    const names = (await eventsOf('client.updated')).map(({ subject_name: name }) => name);
    expect(names).toEqual(['Demo', 'Latchkey console', 'Demo']);
  });
});

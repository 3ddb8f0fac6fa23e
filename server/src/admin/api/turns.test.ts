/** Callers with many or slow requests leave connections to the others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { everything } from '../../domain/admins/permission.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';

let harness: AdminHarness;
let projectId: string;
beforeAll(async () => {
  // One connection holds the lock below, and a caller takes two.
  harness = await openAdminHarness({ poolSize: 5 });
  projectId = (await harness.services.projects.create({ name: 'Acme' }, system)).id;
});
afterAll(() => harness.close());

const slow = (aliases: number) => {
  const groups = (at: number) => `a${at}: groups(projectId: "${projectId}") { totalCount edges { node { id } } }`;
  return `{ ${Array.from({ length: aliases }, (_, at) => groups(at)).join(' ')} }`;
};
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

/** Runs `meanwhile` while `requests` wait for a lock on the table; `blocked` counts the connections that wait for it. */
async function whileLocked<T>(
  table: string,
  requests: () => Promise<T>,
  meanwhile: (blocked: () => Promise<number>) => Promise<unknown>,
): Promise<T> {
  const { answers } = await harness.services.db.transaction(async (em) => {
    // A test that waits for a connection and gets none fails, and ends.
    await execute(em, sql`set local idle_in_transaction_session_timeout = '100s'`);
    await execute(em, sql`lock table ${sql.table(table)} in access exclusive mode`);
    const started = requests();
    // Other tests have the same table in other databases of the server.
    const waiting = sql`select from pg_locks where relation = ${table}::regclass and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await meanwhile(async () => (await query(em, waiting)).length);
    return { answers: started };
  });
  return answers;
}

describe('a caller of the admin API', () => {
  it('takes at most half of the connections for all its requests, which finish in turn', async () => {
    const admin = await harness.tokenOf('project_admin', projectId);
    const other = await harness.tokenOf('project_admin', projectId);
    const requests = () => times(3, () => harness.call(slow(15), {}, admin));
    const answers = await whileLocked('groups', requests, async (blocked) => {
      await expect.poll(blocked).toBe(2);
      const { data } = await harness.call(`{ project(id: "${projectId}") { name } }`, {}, other);
      expect(data).toEqual({ project: { name: 'Acme' } });
      await harness.sessionOf(await harness.person('signs-in@example.com'));
      expect(await blocked()).toBe(2);
    });
    for (const { data, errors } of answers) {
      expect(errors).toEqual([]);
      expect(Object.values(data)).toEqual(Array.from({ length: 15 }, () => ({ totalCount: 0, edges: [] })));
    }
  });

  it('leaves connections to sign-ins, also together with other callers', async () => {
    const callers = await times(3, () => harness.tokenOf('project_admin', projectId));
    const requests = () => Promise.all(callers.map((caller) => harness.call(slow(15), {}, caller)));
    const answers = await whileLocked('groups', requests, async (blocked) => {
      await expect.poll(blocked).toBe(3);
      await harness.sessionOf(await harness.person('beside-many@example.com'));
      expect(await blocked()).toBe(3);
    });
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('takes turns with the tokens that its account created', async () => {
    const email = 'maker@example.com';
    const userId = await harness.person(email);
    const by = { grants: everything, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId }, by);
    const session = await harness.sessionOf(userId);
    const issue = 'mutation ($input: IssueAdminTokenInput!) { issueAdminToken(input: $input) { token } }';
    const input = { name: 'ci', role: 'PROJECT_ADMIN', projectId };
    const { data } = await harness.call(issue, { input }, session);
    const token = { Authorization: `Bearer ${data.issueAdminToken.token}` };
    const requests = () => Promise.all([session, token].map((headers) => harness.call(slow(2), {}, headers)));
    const answers = await whileLocked('groups', requests, async (blocked) => {
      await expect.poll(blocked).toBe(2);
      await harness.person('meanwhile@example.com');
      expect(await blocked()).toBe(2);
    });
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('changes in turn', async () => {
    const create = 'mutation ($input: CreateClientInput!) { createClient(input: $input) { client { id } } }';
    const admin = await harness.tokenOf('project_admin', projectId);
    const requests = () => times(6, () => harness.call(create, { input: { projectId, name: 'App' } }, admin));
    const answers = await whileLocked('clients', requests, async (blocked) => {
      await expect.poll(blocked).toBe(2);
      await harness.person('beside@example.com');
      expect(await blocked()).toBe(2);
    });
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('downloads in turn', async () => {
    const admin = await harness.tokenOf('project_admin', projectId);
    const address = `${harness.url}/admin/export/users?project=${projectId}&format=jsonl`;
    const download = async () => {
      const response = await fetch(address, { headers: admin });
      return [response.status, await response.text()];
    };
    const answers = await whileLocked(
      'users',
      () => times(4, download),
      async (blocked) => {
        await expect.poll(blocked).toBe(2);
        expect((await harness.call('{ me { kind } }')).data).toEqual({ me: { kind: 'BOOTSTRAP_TOKEN' } });
        expect(await blocked()).toBe(2);
      },
    );
    expect(answers).toEqual(Array.from({ length: 4 }, () => [200, '']));
  });

  it('gets 429 for further requests while a thousand of its connections wait', async () => {
    const admin = await harness.tokenOf('project_admin', projectId);
    const requests = () => times(67, () => harness.call(slow(15), {}, admin));
    const answers = await whileLocked('groups', requests, async () => {
      const further = () => harness.call('{ me { kind } }', {}, admin);
      await expect.poll(async () => (await further()).status).toBe(429);
      const { code, headers } = await further();
      expect([code, headers.get('retry-after')]).toEqual(['too-many', '1']);
      const download = await fetch(`${harness.url}/admin/export/events?project=${projectId}`, { headers: admin });
      expect(download.status).toBe(429);
    });
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

/** A row that is deleted between its check and a write that refers to it is not found: no unexpected error. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, type Answer, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { callOperation, newProjectObjects, operations, type ProjectObjects } from '../../../test/admin-operations.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, sql } from '../../domain/kernel/sql.ts';

let harness: AdminHarness;
beforeAll(async () => {
  harness = await openAdminHarness();
});
afterAll(() => harness.close());

/** Commits a deletion once the call waits for it: with `blocksReads` at a read of the table, else at a write. */
async function deletedDuring(
  { table, id, blocksReads = false }: { table: string; id: string; blocksReads?: boolean },
  call: () => Promise<Answer>,
): Promise<Answer> {
  const { db } = harness.services;
  const { answer } = await db.transaction(async (em) => {
    if (blocksReads) await execute(em, sql`lock table ${sql.table(table)} in access exclusive mode`);
    await execute(em, sql`delete from ${sql.table(table)} where id = ${id}`);
    const answer = call();
    await untilLockWaits(db, 1);
    return { answer };
  });
  return answer;
}

const creations = [
  ...['createClient', 'createApi', 'createGroup', 'createUser', 'importUsers', 'createCustomAttribute'],
  ...['createWebhook', 'createLogStream', 'createCustomDomain', 'saveExperienceDraft'],
  ...['issueScimToken', 'issueAdminToken', 'grantRole'],
];

it.each(creations)('%s in a project', async (name) => {
  const { id: project } = await harness.services.projects.create({ name }, system);
  const [root, , field] = operations.find((one) => one[1] === name) as (typeof operations)[number];
  const ids = { project } as ProjectObjects;
  const answer = await deletedDuring({ table: 'projects', id: project }, () =>
    callOperation(harness, ids, [root, field], bootstrap),
  );
  expect(answer.errors[0]?.extensions).toMatchObject({ code: 'not-found', what: 'project' });
});

const readsOfClients: Record<string, (ids: ProjectObjects) => string> = {
  role: ({ role }) => `{ role(id: "${role}") { client { id } } }`,
  consents: ({ project }) => `{ consents(projectId: "${project}") { edges { node { client { id } } } } }`,
  logoutDeliveries: ({ project }) =>
    `{ logoutDeliveries(projectId: "${project}") { edges { node { client { id } } } } }`,
};

it.each(Object.entries(readsOfClients))('%s with an application', async (name, queryOf) => {
  const { ids } = await newProjectObjects(harness, name.toLowerCase());
  const answer = await deletedDuring({ table: 'clients', id: ids.client, blocksReads: true }, () =>
    harness.call(queryOf(ids)),
  );
  expect(answer.errors[0]?.extensions).toMatchObject({ code: 'not-found', what: 'client' });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

/** Two equal calls at once have the effect of one. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, type Answer, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { callOperation, newProjectObjects, operations, type ProjectObjects } from '../../../test/admin-operations.ts';
import { atOnce } from '../../../test/at-once.ts';
import { lockWaits } from '../../../test/lock-waits.ts';
import { query, sql } from '../../domain/kernel/sql.ts';

let harness: AdminHarness;
let ours: ProjectObjects;
beforeAll(async () => {
  harness = await openAdminHarness();
  ours = (await newProjectObjects(harness, 'ours')).ids;
});
afterAll(() => harness.close());

/** Mutations, with the table that they change and the event that they record. */
const endings: Record<string, { table: string; event: string }> = {
  revokeAdminToken: { table: 'admin_tokens', event: 'admin-token.revoked' },
  revokeScimToken: { table: 'scim_tokens', event: 'scim-token.revoked' },
  revokeApiKey: { table: 'api_keys', event: 'api-key.revoked' },
  revokeClientSecret: { table: 'client_secrets', event: 'client-secret.revoked' },
  revokeDelegationKey: { table: 'delegation_keys', event: 'delegation-key.revoked' },
  revokeRefreshGrant: { table: 'refresh_grants', event: 'refresh-grant.revoked' },
  revokeConsent: { table: 'consents', event: 'access.removed' },
  endUserSession: { table: 'sessions', event: 'session.ended' },
  revokeUserDevice: { table: 'credentials', event: 'device.revoked' },
  revokeUserPasskey: { table: 'credentials', event: 'passkey.revoked' },
};

it.each(Object.entries(endings))('%s', async (name, { table, event }) => {
  const [root, , field] = operations.find((one) => one[1] === name) as (typeof operations)[number];
  const call = () => callOperation(harness, ours, [root, field], bootstrap);
  for (const answer of await atOnce(harness.services.db, table, [call, call])) {
    expect([undefined, 'not-found']).toContain(answer.status === 'fulfilled' ? answer.value.code : answer.reason);
  }
  const events = await query(
    harness.services.db.alone,
    sql`select type from audit_log where project_id = ${ours.project} and type = ${event}`,
  );
  expect(events).toEqual([{ type: event }]);
});

it.each([
  ['revokeApiKey', 'api_keys', 'apiKey'],
  ['revokeClientSecret', 'client_secrets', 'clientSecret'],
  ['revokeDelegationKey', 'delegation_keys', 'delegationKey'],
] as const)('%s during the deletion of its application', async (name, table, kind) => {
  const { ids } = await newProjectObjects(harness, kind.toLowerCase());
  const revoke = () => harness.call(`mutation { ${name}(id: "${ids[kind]}") { id } }`);
  const remove = () => harness.call(`mutation { deleteClient(id: "${ids.client}") }`);
  expect(await oneBehindTheOther([table, ids[kind]], revoke, remove)).toEqual([undefined, undefined]);
});

it.each([
  ['setApiGrant', 'apis', 'api'],
  ['inviteUser', 'users', 'user'],
  ['revokeUserPasskey', 'users', 'user'],
] as const)('%s during the deletion of its project', async (name, table, kind) => {
  const tag = name.toLowerCase();
  const { ids } = await newProjectObjects(harness, tag);
  const [root, , field] = operations.find((one) => one[1] === name) as (typeof operations)[number];
  const change = () => callOperation(harness, ids, [root, field], bootstrap);
  const input = `{ id: "${ids.project}", confirmName: "Project ${tag}" }`;
  const remove = () => harness.call(`mutation { deleteProject(input: ${input}) { users } }`);
  const [changed, removed] = await oneBehindTheOther([table, ids[kind]], change, remove);
  expect([undefined, 'not-found']).toContain(changed);
  expect(removed).toBe(undefined);
});

/** Runs both while the row is locked: `first` waits for it before `second` does. @returns their error codes */
async function oneBehindTheOther(
  [table, id]: readonly [string, string],
  first: () => Promise<Answer>,
  second: () => Promise<Answer>,
): Promise<(string | undefined)[]> {
  const { db } = harness.services;
  const waiting = () => lockWaits(db);
  const { answers } = await db.transaction(async (em) => {
    await query(em, sql`select from ${sql.table(table)} where id = ${id} for update`);
    const one = first();
    await expect.poll(waiting).toBe(1);
    const other = second();
    await expect.poll(waiting).toBe(2);
    return { answers: Promise.all([one, other]) };
  });
  return (await answers).map(({ code }) => code);
}

it('grantRole for a new address', async () => {
  const grant = () =>
    harness.call('mutation { grantRole(input: { email: "new@example.com", role: OWNER }) { admin { email } } }');
  for (const answer of await atOnce(harness.services.db, 'users', [grant, grant])) {
    expect(answer).toMatchObject({ value: { data: { grantRole: { admin: { email: 'new@example.com' } } } } });
  }
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

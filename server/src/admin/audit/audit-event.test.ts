import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { randomOn } from '../../adapters/system/random.ts';
import type { AuditEntry } from '../../domain/audit/audit.ts';
import { listEvents, statementOf } from '../../domain/audit/events.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';

let harness: AdminHarness;
let projectId: string;
let clientId: string;
const ada = '019a0000-0000-7000-8000-00000000ada0';
const grace = '019a0000-0000-7000-8000-0000000c0de0';

beforeAll(async () => {
  harness = await openAdminHarness();
  const { projects, clients } = harness.services;
  projectId = (await projects.create({ name: 'Acme' }, system)).id;
  clientId = (await clients.create({ projectId, name: 'Portal' }, system)).client.id;
  await record({ type: 'user.signed_in', actor: { kind: 'user', id: ada }, clientId });
  await record({ type: 'user.updated', actor: system, subject: { kind: 'user', id: ada } });
  await record({ type: 'otp.rejected', actor: system, result: 'failure', subject: { kind: 'user', id: grace } });
  harness.clock.turn(3600);
  await record({ type: 'user.signed_in', actor: { kind: 'user', id: grace }, clientId });
});
afterAll(() => harness.close());

function record(entry: Omit<AuditEntry, 'projectId'>): Promise<unknown> {
  const { audit, db } = harness.services;
  return db.transaction(async (em) => audit.record(em, { projectId, ...entry }));
}

async function ask(filter: object, headers?: Record<string, string>) {
  const answer = await harness.call(
    `query ($id: ID, $filter: AuditEventFilter) { auditEvents(projectId: $id, filter: $filter) {
      edges { node { type actor { id } } } } }`,
    { id: projectId, filter },
    headers,
  );
  return answer.code ?? answer.data.auditEvents.edges.map((edge: any) => edge.node.type);
}

describe('Query.auditEvents', () => {
  it('finds events with the user as actor or subject', async () => {
    expect(await ask({ userId: ada })).toEqual(['user.updated', 'user.signed_in']);
    expect(await ask({ userId: ada, types: ['user.signed_in'] })).toEqual(['user.signed_in']);
    expect(await ask({ actorId: grace })).toEqual(['user.signed_in']);
    expect(await ask({ subjectId: grace })).toEqual(['otp.rejected']);
  });

  it('finds by application, type, result and time, each and together', async () => {
    expect(await ask({ clientId })).toEqual([
      'user.signed_in',
      'user.signed_in',
      'api-key.issued',
      'api-key.issued',
      'client.created',
    ]);
    expect(await ask({ types: ['otp.rejected', 'user.updated'] })).toEqual(['otp.rejected', 'user.updated']);
    expect(await ask({ result: 'FAILURE' })).toEqual(['otp.rejected']);
    expect(await ask({ types: ['user.signed_in', 'otp.rejected'], result: 'FAILURE' })).toEqual(['otp.rejected']);
    expect(await ask({ types: [] })).toEqual([]);
    const now = harness.clock.now().toISOString();
    expect(await ask({ since: now })).toEqual(['user.signed_in']);
    expect(await ask({ until: now, types: ['user.signed_in', 'user.updated'] })).toEqual([
      'user.updated',
      'user.signed_in',
    ]);
  });

  it('finds the events of a request by the id in its response', async () => {
    const { headers } = await harness.call(
      'mutation ($id: ID!) { updateProject(input: { id: $id, name: "B" }) { id } }',
      {
        id: projectId,
      },
    );
    const requestId = headers.get('x-request-id');
    expect(await ask({ requestId })).toEqual(['project.updated']);
    expect(await ask({ requestId: '00000000-0000-4000-8000-000000000000' })).toEqual([]);
  });

  it('paginates without gaps or repeats for every filter', async () => {
    const filter = { types: ['user.signed_in', 'user.updated', 'otp.rejected', 'client.created'] };
    const em = harness.services.db.reader();
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const page = await listEvents(em, projectId, filter, { first: 2, after });
      seen.push(...page.items.map(({ type }) => type));
      after = page.items.at(-1)?.id ?? null;
      if (!page.hasNextPage) break;
    }
    expect(seen).toEqual(['user.signed_in', 'otp.rejected', 'user.updated', 'user.signed_in', 'client.created']);
  });

  it('refuses malformed ids and too many types', async () => {
    for (const name of ['userId', 'clientId', 'requestId', 'signInId'])
      expect(await ask({ [name]: 'Portal' })).toBe('invalid');
    expect(await ask({ types: Array.from({ length: 101 }, (_, index) => `a.${index}`) })).toBe('invalid');
  });

  it('has the events of a sign-in as one item, across pages, for those who may read events', async () => {
    const viewer = await harness.tokenOf('project_viewer', projectId);
    const signInId = randomOn(harness.clock).id();
    const actor = { kind: 'anonymous', signInId } as const;
    await record({ type: 'otp.requested', actor });
    await record({ type: 'webhook.tested', actor: system });
    await record({ type: 'user.signed_in', actor });
    const groups = async (after: string | null, headers?: Record<string, string>, id: string | null = projectId) => {
      const answer = await harness.call(
        `query ($id: ID, $after: String) { auditEventGroups(projectId: $id, first: 1, after: $after) {
          pageInfo { endCursor } edges { node { id events { id type detail } } } } }`,
        { id, after },
        headers,
      );
      return answer.code ?? answer.data.auditEventGroups;
    };
    const types = (page: any) => page.edges[0].node.events.map(({ type }: any) => type);
    for (const headers of [undefined, viewer]) {
      const first = await groups(null, headers);
      expect(types(first)).toEqual(['otp.requested', 'user.signed_in']);
      expect(first.edges[0].node.events[0].detail).toEqual({ signInId });
      const second = await groups(first.pageInfo.endCursor, headers);
      expect(types(second)).toEqual(['webhook.tested']);
      expect(types(await groups(second.pageInfo.endCursor, headers))).toEqual(['admin-token.issued']);
    }
    expect(await groups(null, viewer, null)).toBe('forbidden');
    const other = (await harness.services.projects.create({ name: 'Other' }, system)).id;
    expect(await groups(null, await harness.tokenOf('project_admin', other))).toBe('not-found');
  });

  it('reads at most a page of an index for every filter, among a hundred thousand events', async () => {
    const em = harness.services.db.reader();
    await execute(
      em,
      sql`insert into audit_log (id, project_id, at, type, result, actor_kind, actor_id, client_id)
        select gen_random_uuid(), ${projectId}, now(), (array['user.signed_in', 'otp.sent',
          'session.ended'])[1 + n % 3],
          'success', 'user', 'somebody-' || n % 1000, ${clientId}
        from generate_series(1, 100000) as n`,
    );
    await execute(em, sql`analyze audit_log`);
    const page = { first: 51, after: null };
    const filters = [
      {},
      { types: ['otp.rejected'] },
      { types: ['otp.rejected', 'mfa.rejected', 'user.signed_in'] },
      { result: 'failure' as const },
      { types: ['otp.rejected', 'mfa.rejected'], result: 'failure' as const },
      { userId: ada },
      { userId: ada, types: ['user.signed_in', 'user.updated'] },
      { clientId },
      { clientId, types: ['otp.sent', 'user.signed_in'] },
    ];
    for (const filter of filters) {
      for (const scope of [projectId, null]) {
        const statement = statementOf(scope, filter, page);
        const plan = await query(
          em,
          sql<{ 'QUERY PLAN': { Plan: Plan }[] }>`explain (analyze, format json) ${statement}`,
        );
        const read = nodesOf(plan[0]?.['QUERY PLAN'][0]?.Plan as Plan);
        const label = JSON.stringify({ filter, scope });
        expect(
          read.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']),
          label,
        ).toEqual([]);
        for (const node of read) {
          expect(
            (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
            label,
          ).toBeLessThan(1000);
        }
      }
    }
  });
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

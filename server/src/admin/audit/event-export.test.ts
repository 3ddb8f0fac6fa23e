import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { everything } from '../../domain/admins/permission.ts';
import { system } from '../../domain/kernel/actor.ts';

let harness: AdminHarness;
let projectId: string;
let clientId: string;
const many = 1200;

beforeAll(async () => {
  harness = await openAdminHarness();
  const { projects, clients, audit, db } = harness.services;
  projectId = (await projects.create({ name: 'Acme' }, system)).id;
  clientId = (await clients.create({ projectId, name: 'Port, "al"' }, system)).client.id;
  await db.transaction(async (em) => {
    for (let n = 0; n < many; n += 1) {
      const actor = { kind: 'user' as const, id: 'ada', name: '=HYPERLINK("https://evil.example")' };
      audit.record(em, { type: 'user.signed_in', actor, projectId, clientId, detail: { amr: ['swk'] } });
    }
  });
  harness.clock.turn(1);
});
afterAll(() => harness.close());

const get = (query: Record<string, string>, headers: Record<string, string> = bootstrap) =>
  fetch(`${harness.url}/admin/export/events?${new URLSearchParams(query)}`, { headers });

describe('GET /admin/export/events', () => {
  it('returns the filtered events as CSV, safe for spreadsheets, with names', async () => {
    const response = await get({ project: projectId, type: 'user.signed_in' });
    expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="events-.*\.csv"$/);
    const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
    expect(head).toContain('"at","type","result","actor_kind"');
    expect(lines).toHaveLength(many);
    expect(lines[0]).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
    expect(lines[0]).toContain('"Port, ""al"""');
  });

  it('returns JSON Lines by the same filters, newest first', async () => {
    const response = await get({ project: projectId, format: 'jsonl', client: clientId, until: '2027-01-01' });
    const events = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).toHaveLength(many + 3);
    expect(events[0]).toMatchObject({ type: 'user.signed_in', clientName: 'Port, "al"', detail: { amr: ['swk'] } });
    expect(events.at(-1)).toMatchObject({ type: 'client.created', at: '2026-03-01T12:00:00.000Z' });
  });

  it('is recorded as an event', async () => {
    const { data } = await harness.call(
      `query ($id: ID) { auditEvents(projectId: $id, filter: { types: ["audit.exported"] }, first: 1) {
        edges { node { actor { kind } detail } } } }`,
      { id: projectId },
    );
    expect(data.auditEvents.edges[0].node).toEqual({
      actor: { kind: 'bootstrap-token' },
      detail: { format: 'jsonl', filter: { clientId, until: '2027-01-01T00:00:00.000Z' } },
    });
  });

  it('requires permission to read the events; others get not-found', async () => {
    const other = (await harness.services.projects.create({ name: 'Other' }, system)).id;
    const viewer = await harness.tokenOf('project_viewer', projectId);
    const foreign = await harness.tokenOf('project_admin', other);
    const status = async (query: Record<string, string>, headers: Record<string, string>) =>
      (await get(query, headers)).status;
    expect(await status({ project: projectId }, {})).toBe(401);
    expect(await status({ project: projectId }, { Authorization: 'Bearer nothing' })).toBe(401);
    expect(await status({ project: projectId }, foreign)).toBe(404);
    expect(await status({ project: '019a0000-0000-7000-8000-000000000000' }, viewer)).toBe(404);
    expect(await status({}, viewer)).toBe(403);
    expect(await status({ project: projectId, type: 'client.created' }, viewer)).toBe(200);
  });

  it("accepts the console's session, but not from a link of another site", async () => {
    const userId = await harness.person('owner@example.com');
    await harness.services.admins.grantRole(
      { email: 'owner@example.com', role: 'owner' },
      { grants: everything, actor: system },
    );
    const { Cookie = '' } = await harness.sessionOf(userId);
    const from = async (site: string) =>
      (await get({ type: 'client.created' }, { Cookie, 'Sec-Fetch-Site': site })).status;
    expect([await from('same-origin'), await from('none'), await from('cross-site'), await from('same-site')]).toEqual([
      200, 200, 403, 403,
    ]);
  });

  it.each([
    [{ format: 'xlsx' }],
    [{ result: 'maybe' }],
    [{ since: 'yesterday' }],
    [{ until: '2026-99-99' }],
    [{ client: 'Portal' }],
    [{ frmat: 'csv' }],
    [{ actor: '\0' }],
  ])('refuses %j as invalid, before anything is sent', async (query) => {
    const response = await get({ project: projectId, ...query } as Record<string, string>);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { errors: [{ extensions: { code: 'invalid' } }] },
    ]);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

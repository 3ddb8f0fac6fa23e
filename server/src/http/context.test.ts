import { beforeAll, expect, it } from 'vitest';
import { partyAt } from '../../test/project-issuer.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

const world = SigninWorld.ofTests();
let database: typeof world.app.services.db;

beforeAll(() => {
  database = world.app.services.db;
});

/** X-Forwarded-For as proxies and callers send it, and the stored address. */
const sent: [header: string, stored: string | null][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51008', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['[2001:db8::7]:443', '2001:db8::7'],
  ['2001:db8::7%eth0', '2001:db8::7'],
  ["' OR 1", null],
  ['<script>alert(1)</script>', null],
  ['203.0.113.777', null],
  ['unknown.example', null],
  ['x'.repeat(4000), null],
];

/** The addresses in a table of the current project, without duplicates. */
const stored = async (table: string, column: string) => {
  const text = `select distinct ${column} as ip from "${table}" where project_id = ?`;
  return (await rows<{ ip: string | null }>(database, text, [world.project.id])).map(({ ip }) => ip);
};

it.each(sent)(
  'of the forwarded address %s, events and SCIM tokens keep only the parsed address',
  async (header, ip) => {
    const { app, project, client } = world;
    const from = { 'X-Forwarded-For': header };
    await rows(database, 'delete from audit_log where project_id = ?', [project.id]);
    const page = await world.page();
    await page.challenge();
    const address = newAddress();
    expectStatus(await page.post('authenticate', { txn: page.txn, userid: address }, from), 'OTP_NEEDED');
    const party = partyAt(app, project, client);
    await party.exchange('unknown', {}, from);
    const { token } = await app.services.directories.issueScimToken({ projectId: project.id, name: 'Okta' }, system);
    const url = `${app.url}/v1/scim/${project.id}/Users`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json', ...from };
    const body = JSON.stringify({ userName: newAddress() });
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(201);
    await app.services.requestRecords.settled();
    expect(await stored('scim_tokens', 'last_used_address')).toEqual([ip]);
    // Events of the test itself have no address.
    expect((await stored('audit_log', 'ip')).filter((one) => one !== null)).toEqual(ip === null ? [] : [ip]);
    const text = (await rows<object>(database, 'select * from audit_log where project_id = ?', [project.id]))
      .map((row) => JSON.stringify(row))
      .join();
    if (ip !== header) expect(text).not.toContain(header);
  },
);

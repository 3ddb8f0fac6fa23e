/** Responses and requests of groups with many members (decisions/0310). */
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { system } from '../domain/kernel/actor.ts';
import { defaultAnswerLimits } from './answers/limits.ts';
import { maxGroupBytes } from './members/group-body.ts';

/** Larger than the buffers of a local connection. */
const many = 40_000;

let app: ScimApp;
let project: ScimProject;
let large: string;
let medium: string;
beforeAll(async () => {
  app = await startScimApp({ poolSize: 2 });
  project = await app.project();
  const em = app.services.db.reader();
  // Nothing here searches, and the entries of long names cost minutes of CPU time.
  await em.execute('drop index users_search_fold_index, users_search_grams_index');
  await em.execute(
    `insert into users (id, project_id, user_name, user_name_key, display_name, created_at, updated_at)
     select gen_random_uuid(), ?, 'user-' || n, 'user-' || n, repeat('é', 300), now(), now() from generate_series(1, ?::int) n`,
    [project.id, many],
  );
  const create = async (displayName: string) => (await project.request('POST', '/Groups', { displayName })).body.id;
  [large, medium] = [await create('large'), await create('medium')];
  const fill = (group: string, size: number) =>
    em.execute(
      `insert into group_members (project_id, group_id, user_id, created_at)
       select project_id, ?, id, now() from users where project_id = ? order by id limit ?`,
      [group, project.id, size],
    );
  await fill(large, many);
  await fill(medium, 6000);
});
afterAll(() => app.close());

/** Begins a response. Nothing is read until `resume`. */
function begun(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${project.token}` };
    get(`${project.baseUrl}${path}`, { headers, agent: false }, (response) => resolve(response.pause())).on(
      'error',
      reject,
    );
  });
}

/** Reads the rest. */
async function rest(response: IncomingMessage): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  await new Promise((resolve) => response.once('close', resolve).once('error', () => undefined));
  return { text: Buffer.concat(chunks).toString(), isWhole: response.complete };
}

const records = async () => {
  await app.services.requestRecords.settled();
  return rows<{ status: number; detail: string | null }>(
    app.services.db,
    'select status, detail from scim_request_records where project_id = ? order by id desc',
    [project.id],
  );
};

describe('a group with many members', () => {
  it('is sent in parts, whole, with each member once', async () => {
    const response = await begun(`/Groups/${large}`);
    expect([response.statusCode, response.headers['content-length']]).toEqual([200, undefined]);
    const { text, isWhole } = await rest(response);
    const { members, meta } = JSON.parse(text);
    expect([isWhole, members.length, new Set(members.map(({ value }: { value: string }) => value)).size]).toEqual([
      true,
      many,
      many,
    ]);
    expect(response.headers.etag).toBe(meta.version);
    // Names are truncated.
    expect(members[0].display).toBe('é'.repeat(256));
  });

  it('leaves the connections of the database to others while its client does not read', async () => {
    app.answerLimits.stallMs = 300;
    const stalled = await Promise.all([
      begun(`/Groups/${large}`),
      begun(`/Groups/${large}`),
      begun(`/Groups/${large}`),
    ]);
    for (let n = 0; n < 5; n += 1) expect((await project.request('GET', '/Users?count=1')).status).toBe(200);
    // Its client is disconnected, and cannot mistake the part for the whole.
    await expect.poll(async () => (await records()).filter(({ status }) => status === 408)).toHaveLength(3);
    for (const response of stalled) {
      const { text, isWhole } = await rest(response);
      expect(isWhole).toBe(false);
      expect(() => JSON.parse(text)).toThrow();
    }
    app.answerLimits.stallMs = defaultAnswerLimits.stallMs;
  });

  it('is cut off if the token is revoked meanwhile; a client cannot mistake that for the end', async () => {
    const { token, scimToken } = await app.services.directories.issueScimToken(
      { projectId: project.id, name: 'Second' },
      system,
    );
    const response = await new Promise<IncomingMessage>((resolve) => {
      const headers = { authorization: `Bearer ${token}` };
      get(`${project.baseUrl}/Groups/${large}`, { headers, agent: false }, (begins) => resolve(begins.pause()));
    });
    await app.services.directories.revokeScimToken({ project: { id: project.id }, id: scimToken.id } as never, system);
    app.clock.turn(2);
    expect((await rest(response)).isWhole).toBe(false);
    expect((await records())[0]).toMatchObject({ status: 401 });
  });
});

describe('a PUT of a group', () => {
  it('accepts the result of a GET, however large', async () => {
    const { text, headers } = await project.request('GET', `/Groups/${medium}`);
    expect(Buffer.byteLength(text)).toBeGreaterThan(2 * 1024 * 1024);
    const path = `/Groups/${medium}`;
    const same = await project.request('PUT', path, undefined, { raw: text });
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([200, text, headers.get('etag')]);
    const group = JSON.parse(text);
    const { members } = group;
    const changed = { ...group, displayName: 'renamed', members: [...members.slice(2), members[0]] };
    const reply = await project.request('PUT', path, undefined, { raw: JSON.stringify(changed, null, 4) });
    expect([reply.status, reply.body.displayName, reply.body.members.length]).toEqual([200, 'renamed', 5999]);
    expect(reply.headers.get('etag')).not.toBe(headers.get('etag'));
    const [event] = await rows<{ detail: object }>(
      app.services.db,
      `select detail from audit_events where type = 'group.updated' and project_id = ? order by at desc, id desc limit 1`,
      [project.id],
    );
    expect(event?.detail).toMatchObject({ added: 0, removed: 1 });
    const stale = [...changed.members, { value: '00000000-0000-4000-8000-000000000000' }];
    const refused = await project.request('PUT', path, { displayName: 'x', members: stale });
    expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidValue']);
    expect((await project.request('GET', path)).body).toMatchObject({
      displayName: 'renamed',
      members: { length: 5999 },
    });
  });

  it('is refused beyond its limit, and other requests beyond a megabyte', async () => {
    const text = (await project.request('GET', `/Groups/${medium}`)).text;
    for (const [method, path] of [
      ['POST', '/Groups'],
      ['PATCH', `/Groups/${medium}`],
      ['PUT', '/Users/00000000-0000-4000-8000-000000000000'],
    ] as const) {
      expect((await project.request(method, path, undefined, { raw: text })).status).toBe(413);
    }
    const headers = { 'content-length': String(maxGroupBytes + 1) };
    const raw = new Uint8Array(maxGroupBytes + 1).fill(0x20);
    expect((await project.request('PUT', `/Groups/${medium}`, undefined, { raw, headers })).status).toBe(413);
  });
});

it('a group too large for any response is refused, alone and in a list, with a reason that names it, and can still be changed', async () => {
  app.answerLimits.bytes = 2 * 1024 * 1024;
  const path = `/Groups/${medium}`;
  for (const asked of [path, '/Groups?filter=displayName+ne+%22large%22&sortBy=id']) {
    const { status, body } = await project.request('GET', asked);
    expect([status, body.scimType]).toEqual([400, 'tooMany']);
    for (const named of [medium, 'excludedAttributes=members', 'groups.value eq']) expect(body.detail).toContain(named);
  }
  expect((await project.request('GET', `${path}?excludedAttributes=members`)).status).toBe(200);
  const { body } = await project.request('GET', `/Users?filter=groups.value+eq+%22${medium}%22&attributes=userName`);
  const members = body.Resources.slice(0, 10).map(({ id }: { id: string }) => ({ value: id }));
  expect(body.totalResults).toBeGreaterThan(5000);
  const more = { Operations: [{ op: 'replace', path: 'displayName', value: 'patched' }] };
  expect((await project.request('PATCH', path, more)).status).toBe(204);
  const small = await project.request('POST', '/Groups', { displayName: 'before', members });
  const list = await project.request('GET', '/Groups?sortBy=displayName');
  expect(list.body.Resources.map(({ id }: { id: string }) => id)).toEqual([small.body.id]);
  const current = await app.services.db
    .reader()
    .execute<{ value: string }[]>('select user_id as value from group_members where group_id = ?', [medium]);
  const put = await project.request('PUT', path, { displayName: 'put', members: current });
  expect([put.status, put.text, put.headers.get('etag')]).toEqual([204, '', expect.stringMatching(/^W/)]);
  app.answerLimits.bytes = defaultAnswerLimits.bytes;
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;
let foreign: Project;
const target = 'https://logs.example.com/in?token=abc';
const secret = 'Bearer 0123456789-secret';

beforeAll(async () => {
  harness = await openAdminHarness();
  project = await harness.services.projects.create({ name: 'Acme' }, system);
  foreign = await harness.services.projects.create({ name: 'Other' }, system);
});
afterAll(() => harness.close());

const shown =
  'id kind receiver description types format gzip header paused position failures lastError lag { waiting since }';
const create = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: CreateLogStreamInput!) { createLogStream(input: $input) { ${shown} } }`,
    { input: { projectId: project.id, kind: 'HTTP', target, ...input } },
    headers,
  );
const made = async (input: object = {}) => {
  const { id: projectId } = await harness.services.projects.create({ name: 'Alone' }, system);
  return { projectId, id: (await create({ projectId, ...input })).data.createLogStream.id as string };
};
const update = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: UpdateLogStreamInput!) { updateLogStream(input: $input) { ${shown} } }`,
    { input },
    headers,
  );
const detailOf = async (projectId: string, type: string) =>
  (
    await query(
      harness.services.db.alone,
      sql<{
        detail: unknown;
      }>`select detail from audit_log where project_id = ${projectId} and type = ${type} order by id desc`,
    )
  )[0]?.detail;

describe('a log stream', () => {
  it('has a secret that no row, event or response contains', async () => {
    const { body } = await create({
      secret,
      types: ['user.*'],
      description: ' SIEM ',
      format: 'JSON_ARRAY',
      gzip: true,
    });
    const { createLogStream } = JSON.parse(body).data;
    expect(createLogStream).toMatchObject({
      ...{ kind: 'HTTP', receiver: 'https://logs.example.com', description: 'SIEM', types: ['user.*'] },
      ...{ format: 'JSON_ARRAY', gzip: true, header: 'Authorization', paused: false, failures: 0 },
    });
    const stored = await query(
      harness.services.db.alone,
      sql`select to_jsonb(s) as row from log_streams s union all select to_jsonb(e) from audit_log e`,
    );
    const text = body + JSON.stringify(stored);
    expect(text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'))).toBe(false);
  });

  it('is named by its host in events, which record a change of its secret without the secret', async () => {
    const { id, projectId } = await made();
    await update({ id, target: 'https://new.example.com/secret-path', types: ['user.created'], secret });
    expect(await detailOf(projectId, 'log-stream.updated')).toEqual({
      before: { target: 'https://logs.example.com', types: [] },
      after: { target: 'https://new.example.com', types: ['user.created'], secret: 'changed' },
    });
  });

  it('requires its secret again if its target changes: an admin who does not know it cannot redirect it', async () => {
    const { id } = await made({ secret });
    const moved = await update({ id, target: 'https://evil.example.com/' });
    expect([moved.code, moved.errors[0]?.extensions['field']]).toEqual(['invalid', 'secret']);
    expect((await update({ id, description: 'Same target', target })).code).toBeUndefined();
    expect((await update({ id, target: 'https://new.example.com/', secret: 'Bearer new' })).code).toBeUndefined();
    const removed = await update({ id, header: null, secret: null });
    expect(removed.data.updateLogStream.header).toBeNull();
  });

  it.each([
    ['an unknown kind', { kind: 'KAFKA' }, undefined],
    ['plain http', { target: 'http://logs.example.com/' }, 'target'],
    ['a private address', { target: 'https://10.0.0.1/' }, 'target'],
    ['a private collector', { kind: 'SYSLOG', target: 'tls://192.168.1.1:6514' }, 'target'],
    ['a private collector (IPv6)', { kind: 'SYSLOG', target: 'tls://[::1]:6514' }, 'target'],
    ['this machine', { kind: 'SYSLOG', target: 'tls://localhost:6514' }, 'target'],
    ['syslog without TLS', { kind: 'SYSLOG', target: 'tcp://logs.example.com:601' }, 'target'],
    ['port 0', { kind: 'SYSLOG', target: 'tls://logs.example.com:0' }, 'target'],
    ['port 65536', { kind: 'SYSLOG', target: 'tls://logs.example.com:65536' }, 'target'],
    ['no port', { kind: 'SYSLOG', target: 'tls://logs.example.com' }, 'target'],
    ['a secret for syslog', { kind: 'SYSLOG', target: 'tls://logs.example.com:6514', secret }, 'secret'],
    ['a line break in the secret', { secret: 'a\r\nX: b' }, 'secret'],
    ['a header without a secret', { header: 'X-Key' }, 'secret'],
    ['a header of the connection', { header: 'Content-Length', secret }, 'header'],
    ['an unknown event type', { types: ['user.flew'] }, 'types[0]'],
    ['a long description', { description: 'x'.repeat(101) }, 'description'],
    ['a file of a project', { kind: 'FILE', target: 'audit.jsonl' }, 'kind'],
    ['a file without a folder', { kind: 'FILE', target: 'audit.jsonl', projectId: null }, 'kind'],
  ])('refuses %s, naming the field', async (_what, input, field) => {
    const answer = await create(input);
    expect(answer.data?.createLogStream).toBeUndefined();
    if (field) expect([answer.code, answer.errors[0]?.extensions['field']]).toEqual(['invalid', field]);
    else expect(answer.status).toBe(400);
  });

  it('is limited to ten, also in a race', async () => {
    const { id } = await harness.services.projects.create({ name: 'Full' }, system);
    const codes = await Promise.all(Array.from({ length: 15 }, async () => (await create({ projectId: id })).code));
    expect(codes.filter((code) => code === undefined)).toHaveLength(10);
    expect(codes.filter((code) => code === 'invalid')).toHaveLength(5);
  });

  it('can be tested, within limits and unless it is paused, and deleted', async () => {
    const { id, projectId } = await made();
    const test = () => harness.call('mutation ($id: ID!) { testLogStream(id: $id) }', { id });
    expect((await test()).data.testLogStream).toMatch(/^[0-9a-f-]{36}$/);
    expect((await update({ id, paused: true })).data.updateLogStream.paused).toBe(true);
    expect((await test()).code).toBe('invalid');
    await update({ id, paused: false });
    let code: string | undefined;
    for (let n = 0; n < 60 && code === undefined; n += 1) ({ code } = await test());
    expect(code).toBe('too-many');
    expect((await harness.call('mutation ($id: ID!) { deleteLogStream(id: $id) }', { id })).data.deleteLogStream).toBe(
      id,
    );
    expect(await detailOf(projectId, 'log-stream.deleted')).toBeNull();
  });
});

describe('log streams', () => {
  const operations = [
    'query ($id: ID!) { logStream(id: $id) { id } }',
    'query ($id: ID!) { logStreamTarget(id: $id) }',
    'mutation ($id: ID!) { updateLogStream(input: { id: $id, paused: true }) { id } }',
    'mutation ($id: ID!) { testLogStream(id: $id) }',
    'mutation ($id: ID!) { deleteLogStream(id: $id) }',
  ];

  it.each(operations)('of another project or of the instance are refused to project admins: %s', async (operation) => {
    const headers = await harness.tokenOf('project_admin', foreign.id);
    const ofInstance = (await create({ projectId: null })).data.createLogStream.id as string;
    const unknown = await harness.call(operation, { id: '019a0000-0000-7000-8000-000000000000' }, headers);
    expect(unknown.code).toBe('not-found');
    const answers = [
      await harness.call(operation, { id: (await made()).id }, headers),
      await harness.call(operation, { id: ofInstance }, headers),
    ];
    for (const answer of answers) expect(['not-found', 'forbidden']).toContain(answer.code);
    const { data } = await harness.call('query ($id: ID!) { logStream(id: $id) { paused } }', { id: ofInstance });
    expect(data.logStream).toEqual({ paused: false });
    await harness.call('mutation ($id: ID!) { deleteLogStream(id: $id) }', { id: ofInstance });
  });

  it('of the instance are for owners only', async () => {
    for (const role of ['project_viewer', 'project_admin'] as const) {
      const headers = await harness.tokenOf(role, project.id);
      expect((await create({ projectId: null }, headers)).code).toBe('forbidden');
      expect((await harness.call('{ logStreams { id } }', {}, headers)).code).toBe('forbidden');
    }
    const { data } = await create({ projectId: null }, await harness.tokenOf('owner'));
    const list = await harness.call('{ logStreams { id } }', {}, await harness.tokenOf('owner'));
    expect(list.data.logStreams).toContainEqual({ id: data.createLogStream.id });
  });

  it('are readable to a viewer, without the path of the target, but not changeable', async () => {
    const { id, projectId } = await made({ secret });
    const headers = await harness.tokenOf('project_viewer', projectId);
    const read = await harness.call(`query ($id: ID!) { logStream(id: $id) { ${shown} } }`, { id }, headers);
    expect(read.data.logStream.receiver).toBe('https://logs.example.com');
    expect(read.body).not.toContain('token=abc');
    const list = await harness.call(
      'query ($id: ID!) { logStreams(projectId: $id) { id } }',
      { id: projectId },
      headers,
    );
    expect(list.data.logStreams).toEqual([{ id }]);
    expect((await create({ projectId }, headers)).code).toBe('forbidden');
    for (const operation of operations.slice(1)) {
      expect((await harness.call(operation, { id }, headers)).code, operation).toBe('forbidden');
    }
    expect((await harness.call('query ($id: ID!) { logStreamTarget(id: $id) }', { id })).data.logStreamTarget).toBe(
      target,
    );
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

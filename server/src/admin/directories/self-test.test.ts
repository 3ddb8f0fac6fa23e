import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapToken, buildTestApp, type TestApp } from '../../../test/build-app.ts';
import { system } from '../../domain/kernel/actor.ts';

let app: TestApp;
let projectId: string;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
  projectId = (await app.make.project()).id;
});
afterAll(() => app.close());

interface SelfTestResponse {
  data: { testDirectory: { name: string; proves: string; passed: boolean; request: string; fault: string | null }[] };
  errors: { extensions: { code: string } }[];
}

async function run(id = projectId): Promise<SelfTestResponse> {
  const response = await fetch(`${app.url}/admin/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bootstrapToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      query: 'mutation ($id: ID!) { testDirectory(projectId: $id) { name proves passed request fault durationMs } }',
      variables: { id },
    }),
  });
  return (await response.json()) as SelfTestResponse;
}

const countOf = async (table: string) => {
  const [row] = await app.services.db.reader().execute(`select count(*)::int as count from ${table}`);
  return (row as { count: number }).count;
};

describe("the directory's self-test", () => {
  it("runs a user's lifecycle over SCIM, and each step has a check", async () => {
    const { data } = await run();
    expect(data.testDirectory.map((step) => [step.name, step.fault])).toEqual([
      ['Discovery', null],
      ['Without a token', null],
      ['Create a user', null],
      ['Create a duplicate', null],
      ['Find by userName', null],
      ['Change a name', null],
      ['Push a group', null],
      ['Deactivate', null],
      ['Delete', null],
      ['Read the deleted user', null],
    ]);
    expect(data.testDirectory.every((step) => step.passed && step.proves && step.request)).toBe(true);
  });

  it('leaves users, groups, tokens, requests and counts unchanged, and is recorded in the audit log', async () => {
    const tables = ['users', 'groups', 'scim_tokens', 'scim_request_records'];
    const project = await app.make.project();
    const { id } = project;
    const user = await app.make.user(project);
    await app.services.groups.create(id, { displayName: 'Staff', externalId: null }, [user.id], system);
    await app.services.directories.issueScimToken({ projectId: id, name: 'Okta' }, system);
    const before = await Promise.all(tables.map(countOf));
    await Promise.all([run(id), run(id)]);
    expect(await Promise.all(tables.map(countOf))).toEqual(before);
    const [counts] = await app.services.db
      .reader()
      .execute('select coalesce(sum(requests), 0)::int as sum from scim_days');
    expect(counts).toEqual({ sum: 0 });
    const events = await app.services.db
      .reader()
      .execute("select result, actor_kind from audit_log where type = 'directory.tested' and project_id = ?", [id]);
    expect(events).toEqual(Array.from({ length: 2 }, () => ({ result: 'success', actor_kind: 'bootstrap-token' })));
  });

  it('is refused if directory sync is off', async () => {
    const off = await app.make.project({ name: 'Off' });
    await app.services.projects.update(off.id, { scimEnabled: false }, system);
    const tokens = await countOf('scim_tokens');
    expect((await run(off.id)).errors[0]?.extensions.code).toBe('forbidden');
    expect(await countOf('scim_tokens')).toBe(tokens);
  });

  it('is limited per project', async () => {
    const { id } = await app.make.project();
    const { db, limits } = app.services;
    const rule = { name: 'directory-tests', max: 20, windowSeconds: 600 };
    for (let at = 1; at < rule.max; at += 1) await db.transaction((em) => limits.spend(em, rule, id));
    expect((await run(id)).errors).toBeUndefined();
    const [error] = (await run(id)).errors;
    expect(error?.extensions).toMatchObject({ code: 'too-many', retryAfterSeconds: expect.any(Number) });
    expect((await run()).errors).toBeUndefined();
    app.clock.turn(600);
    expect((await run(id)).errors).toBeUndefined();
  });

  it('sends the custom attributes that the project requires', async () => {
    const { id } = await app.make.project();
    const { customAttributes } = app.services;
    const required = { required: true, uniqueness: 'server' } as const;
    for (const type of ['string', 'integer', 'decimal', 'dateTime', 'reference'] as const) {
      await customAttributes.create(id, { ...required, name: `one-${type}`, type }, system);
      await customAttributes.create(id, { ...required, name: `many-${type}`, type, multiValued: true }, system);
    }
    await customAttributes.create(id, { required: true, name: 'flag', type: 'boolean' }, system);
    const subAttributes = [{ name: 'place', type: 'string' as const }];
    await customAttributes.create(id, { required: true, name: 'desk', type: 'complex', subAttributes }, system);
    const { data } = await run(id);
    expect(data.testDirectory.map(({ fault }) => fault)).toEqual(Array(10).fill(null));
    expect((await run(id)).data.testDirectory.every(({ passed }) => passed)).toBe(true);
  });
});

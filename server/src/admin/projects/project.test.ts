import { createHash, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { newAuthority } from '../../../test/certificates.ts';
import { untilLockWaits } from '../../../test/lock-waits.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, { kind: 'system' })).id;
});
afterAll(() => harness.close());

/** Names appear in mails and their subjects: no address, no code, no control character for text direction. */
const namesRefusedInMail = [
  'Visit https://evil.example',
  'www.evil.example',
  'Your code is 123456',
  'a\u202eb',
  'a\u2066b',
];

describe('the API of projects', () => {
  it('creates a project with the defaults of the contract when only a name is given', async () => {
    const { data } = await harness.call(
      `mutation ($input: CreateProjectInput!) { createProject(input: $input) {
        id name builtIn scimEnabled scimAuthoritative testMode signUp mfaPolicy version
        sessionPolicy { idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds } } }`,
      { input: { name: '  Example Inc. ' } },
    );
    expect(data.createProject).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Example Inc.',
      builtIn: null,
      scimEnabled: true,
      scimAuthoritative: true,
      testMode: false,
      signUp: 'OPEN',
      mfaPolicy: 'OFF',
      version: 1,
      sessionPolicy: {
        idleTimeoutSeconds: 1800,
        maxSessionSeconds: 28800,
        idTokenTtlSeconds: 60,
        accessTokenTtlSeconds: 300,
      },
    });
  });

  it('lists the usage of each project, its newest event included', async () => {
    const { services } = harness;
    const ids = await Promise.all(
      ['Used one', 'Used two'].map(async (name) => (await services.projects.create({ name }, { kind: 'system' })).id),
    );
    const create = (what: string, input: object) =>
      harness.call(`mutation ($input: Create${what}Input!) { create${what}(input: $input) { __typename } }`, {
        input: { projectId: ids[0], ...input },
      });
    expect((await create('User', { email: 'used@example.com' })).code).toBeUndefined();
    expect((await create('Client', { name: 'Used', redirectUris: [] })).code).toBeUndefined();
    const { data } = await harness.call(
      '{ projects(search: "Used ") { edges { node { id usage { users clients lastActivityAt } } } } }',
    );
    const usage = new Map(data.projects.edges.map(({ node }: { node: { id: string } }) => [node.id, node]));
    const lastActivityAt = expect.stringMatching(/^\d{4}-/);
    expect(usage.get(ids[0])).toMatchObject({ usage: { users: 1, clients: 1, lastActivityAt } });
    expect(usage.get(ids[1])).toMatchObject({ usage: { users: 0, clients: 0, lastActivityAt } });
  });

  it('changes given fields, leaves absent and null ones, and records previous and new values', async () => {
    const { id } = await harness.services.projects.create({ name: 'Before' }, { kind: 'system' });
    const { data } = await harness.call(
      `mutation ($input: UpdateProjectInput!) { updateProject(input: $input) {
        name scimEnabled signUp mfaPolicy testMode scimAuthoritative version } }`,
      { input: { id, name: 'After', signUp: 'PROVISIONED_ONLY', mfaPolicy: 'REQUIRED', scimEnabled: null } },
    );
    expect(data.updateProject).toEqual({
      name: 'After',
      scimEnabled: true,
      signUp: 'PROVISIONED_ONLY',
      mfaPolicy: 'REQUIRED',
      testMode: false,
      scimAuthoritative: true,
      version: 2,
    });
    const events = await harness.call(
      `query ($id: ID) { auditEvents(projectId: $id, filter: { types: ["project.updated"] }) {
        edges { node { type result actor { kind name } subject { kind id name } detail } } } }`,
      { id },
    );
    expect(events.data.auditEvents.edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      {
        type: 'project.updated',
        result: 'SUCCESS',
        actor: { kind: 'bootstrap-token', name: 'bootstrap token' },
        subject: { kind: 'project', id, name: 'After' },
        detail: {
          before: { name: 'Before', signUp: 'open', mfaPolicy: 'off' },
          after: { name: 'After', signUp: 'provisioned_only', mfaPolicy: 'required' },
        },
      },
    ]);
  });

  it.each([
    ['accessTokenTtlSeconds', 0],
    ['accessTokenTtlSeconds', 3601],
    ['accessTokenTtlSeconds', -1],
    ['idTokenTtlSeconds', 0],
    ['idleTimeoutSeconds', 0],
    ['maxSessionSeconds', 2_000_000_000],
  ])('refuses a session policy with %s of %d as invalid', async (field, value) => {
    const input = { projectId, [field]: value };
    const { code, errors } = await harness.call(
      'mutation ($input: UpdateSessionPolicyInput!) { updateSessionPolicy(input: $input) { id } }',
      { input },
    );
    expect(code).toBe('invalid');
    expect(errors[0].extensions.field).toBe(field);
  });

  it('accepts a session policy within its bounds, whole or in part', async () => {
    const mutation = `mutation ($input: UpdateSessionPolicyInput!) { updateSessionPolicy(input: $input) {
      idleTimeoutSeconds maxSessionSeconds idTokenTtlSeconds accessTokenTtlSeconds } }`;
    const whole = {
      idleTimeoutSeconds: 60,
      maxSessionSeconds: 3600,
      idTokenTtlSeconds: 30,
      accessTokenTtlSeconds: 3600,
    };
    const first = await harness.call(mutation, { input: { projectId, ...whole } });
    expect(first.data.updateSessionPolicy).toEqual(whole);
    const second = await harness.call(mutation, { input: { projectId, accessTokenTtlSeconds: 1 } });
    expect(second.data.updateSessionPolicy).toEqual({ ...whole, accessTokenTtlSeconds: 1 });
  });

  const fields = 'emailFactor deviceTrustDays smsCountries smsPerDay';
  const update = `mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { ${fields} } }`;

  it('creates projects without email as a factor, with 180 days of device trust and 1,000 SMS a day', async () => {
    const created = await harness.call(
      `mutation ($input: CreateProjectInput!) { createProject(input: $input) { ${fields} } }`,
      { input: { name: 'Fresh' } },
    );
    const defaults = { emailFactor: false, deviceTrustDays: 180, smsCountries: [], smsPerDay: 1000 };
    expect(created.data.createProject).toEqual(defaults);
    expect(harness.builtIn.console).toMatchObject(defaults);
  });

  it('stores email factor, device trust and SMS limits, with previous and new values in the audit log', async () => {
    const { id } = await harness.services.projects.create({ name: 'Limits' }, { kind: 'system' });
    const set = { emailFactor: true, deviceTrustDays: 3650, smsCountries: ['se', 'DE', 'SE', 'XK'], smsPerDay: 0 };
    const { data } = await harness.call(update, { input: { id, ...set } });
    const kept = { ...set, smsCountries: ['DE', 'SE', 'XK'] };
    expect(data.updateProject).toEqual(kept);
    const events = await harness.call(
      `query ($id: ID) { auditEvents(projectId: $id, filter: { types: ["project.updated"] }) { edges { node { detail } } } }`,
      { id },
    );
    expect(events.data.auditEvents.edges[0].node.detail).toEqual({
      before: { emailFactor: false, deviceTrustDays: 180, smsCountries: [], smsPerDay: 1000 },
      after: kept,
    });
    const emptied = await harness.call(update, { input: { id, smsCountries: [] } });
    expect(emptied.data.updateProject.smsCountries).toEqual([]);
  });

  it.each([
    ['deviceTrustDays', 0],
    ['deviceTrustDays', 3651],
    ['smsPerDay', -1],
    ['smsPerDay', 1_000_001],
    ['smsCountries', ['DEU']],
    ['smsCountries', ['ZZ']],
    ['smsCountries', ['']],
  ])('refuses %s of %j as invalid', async (field, value) => {
    const { code, errors } = await harness.call(update, { input: { id: projectId, [field]: value } });
    expect([code, errors?.[0].extensions.field]).toEqual(['invalid', field]);
  });

  describe('models of passkeys', () => {
    const aaguid = 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd';
    const other = '2fc0579f-8113-47ea-b116-bb5a8db9202a';
    const root = newAuthority('Example root').pem;
    const preview = `query ($projectId: ID!, $aaguids: [String!]!, $roots: [String!]!) {
      passkeyModelStanding(projectId: $projectId, aaguids: $aaguids, roots: $roots) { usersWithOthers usersWithOnlyOthers } }`;

    it('are stored, with previous and new values in the audit log', async () => {
      const { id } = await harness.services.projects.create({ name: 'Models' }, { kind: 'system' });
      const mutation = `mutation ($input: UpdateProjectInput!) {
        updateProject(input: $input) { passkeyAaguids passkeyRoots } }`;
      const { data } = await harness.call(mutation, {
        input: { id, passkeyAaguids: [aaguid.toUpperCase()], passkeyRoots: [root] },
      });
      const after = { passkeyAaguids: [aaguid], passkeyRoots: [root] };
      expect(data.updateProject).toEqual(after);
      const events = await harness.call(
        `query ($id: ID) { auditEvents(projectId: $id, filter: { types: ["project.updated"] }) { edges { node { detail } } } }`,
        { id },
      );
      const before = { passkeyAaguids: [], passkeyRoots: [] };
      expect(events.data.auditEvents.edges[0].node.detail).toEqual({ before, after });
    });

    it.each([
      ['passkeyAaguids', ['YubiKey']],
      ['passkeyRoots', ['nonsense']],
    ])('refuse %s of %j as invalid', async (field, value) => {
      const mutation = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
      const { code, errors } = await harness.call(mutation, { input: { id: projectId, [field]: value } });
      expect([code, errors?.[0].extensions.field]).toEqual(['invalid', field]);
    });

    it('have a preview of the users who hold others, before they are saved', async () => {
      const project = await harness.services.projects.create({ name: 'Preview' }, { kind: 'system' });
      const newUser = (name: string) =>
        harness.services.db.transaction((em) =>
          harness.services.users.signUp(em, project.id, `${name}@example.com`, { kind: 'system' }),
        );
      const [one, two, gone] = [await newUser('one'), await newUser('two'), await newUser('gone')];
      const keys: string[] = [];
      for (const user of [one, one, two, gone]) keys.push(await harness.passkeyOf(project, user));
      const write = (text: string, ...values: unknown[]) =>
        harness.services.db.transaction((em) => em.execute(text, values));
      await write('update credentials set aaguid = ? where id = ?', other, keys[0]);
      await write('update credentials set revoked_at = now() where id = ?', keys[3]);
      const usage = async (aaguids: string[], roots: string[]) =>
        (await harness.call(preview, { projectId: project.id, aaguids, roots })).data.passkeyModelStanding;
      expect(await usage([], [])).toEqual({ usersWithOthers: 0, usersWithOnlyOthers: 0 });
      expect(await usage([other], [])).toEqual({ usersWithOthers: 2, usersWithOnlyOthers: 1 });
      expect(await usage([aaguid, other], [])).toEqual({ usersWithOthers: 0, usersWithOnlyOthers: 0 });
      expect(await usage([aaguid], [])).toEqual({ usersWithOthers: 1, usersWithOnlyOthers: 0 });
      // Their models are claims, which no root proves.
      expect(await usage([aaguid, other], [root])).toEqual({ usersWithOthers: 2, usersWithOnlyOthers: 2 });
      const digest = createHash('sha256').update(new X509Certificate(root).raw).digest('base64url');
      await write('update credentials set attested_root = ? where id = ?', digest, keys[2]);
      expect(await usage([], [root])).toEqual({ usersWithOthers: 1, usersWithOnlyOthers: 1 });
      const { code } = await harness.call(preview, { projectId: project.id, aaguids: ['x'], roots: [] });
      expect(code).toBe('invalid');
    });
  });

  it('has one value for passkeys, and writes the column `passkeys` with it', async () => {
    const { db, projects } = harness.services;
    const { id } = await projects.create({ name: 'Keys' }, { kind: 'system' });
    const mutation = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { passkeyPolicy } }';
    const stored = async () =>
      (await db.reader().execute('select passkeys, passkey_policy as policy from projects where id = ?', [id]))[0];
    for (const passkeyPolicy of ['OFF', 'REQUIRED', 'PREFERRED', 'ALLOWED', 'REQUIRED']) {
      const { data } = await harness.call(mutation, { input: { id, passkeyPolicy } });
      expect(data.updateProject).toEqual({ passkeyPolicy });
      expect(await stored()).toEqual({ passkeys: passkeyPolicy !== 'OFF', policy: passkeyPolicy.toLowerCase() });
    }
    await db.transaction((em) => em.execute('update projects set passkeys = false where id = ?', [id]));
    const { data } = await harness.call('query ($id: ID!) { project(id: $id) { passkeyPolicy } }', { id });
    expect(data.project).toEqual({ passkeyPolicy: 'OFF' });
  });

  it('shows the effect of requiring passkeys', async () => {
    const { services } = harness;
    const { id } = await services.projects.create({ name: 'Preview' }, { kind: 'system' });
    const query = `query ($id: ID!) { factorStanding(projectId: $id) {
      activeUsers withPasskey sessionsWithoutPasskey pagesWithoutPasskeys } }`;
    const { data } = await harness.call(query, { id });
    const none = { activeUsers: 0, withPasskey: 0, sessionsWithoutPasskey: 0, pagesWithoutPasskeys: [] };
    expect(data.factorStanding).toEqual(none);
    const created = await services.clients.create({ projectId: id, name: 'Shop' }, { kind: 'system' });
    const used = 'update api_keys set last_used_at = now() where client_id = ?';
    await services.db.transaction((em) => em.execute(used, [created.client.id]));
    const pages = async () => (await harness.call(query, { id })).data.factorStanding.pagesWithoutPasskeys;
    expect(await pages()).toEqual(['Shop']);
    await services.clients.update(created.client, { relatedOrigins: true }, { kind: 'system' });
    expect(await pages()).toEqual([]);
  });

  it('reports a conflict to the second of two admins who edit the same node', async () => {
    const { id } = await harness.services.projects.create({ name: 'Shared' }, { kind: 'system' });
    const edit = (name: string) =>
      harness.call('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { name } }', {
        input: { id, name, expectedVersion: 1 },
      });
    const answers = await Promise.all([edit('One'), edit('Two')]);
    expect(answers.map((answer) => answer.code).sort()).toEqual(['conflict', undefined]);
  });

  it.each(['', '   ', 'x'.repeat(101), 'two\nlines', 'nul\u0000', 'half \ud800', ...namesRefusedInMail])(
    'refuses the name %j',
    async (name) => {
      const { code, status } = await harness.call(
        'mutation ($input: CreateProjectInput!) { createProject(input: $input) { id } }',
        { input: { name } },
      );
      expect([status, code]).toEqual([200, 'invalid']);
    },
  );

  it('deletes a project only by its name, and counts the deleted resources', async () => {
    const { id } = await harness.services.projects.create({ name: 'Gone soon' }, { kind: 'system' });
    await harness.services.clients.create({ projectId: id, name: 'App' }, { kind: 'system' });
    const remove = (confirmName: string) =>
      harness.call(
        `mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { users clients sessions scimTokens } }`,
        { input: { id, confirmName } },
      );
    expect((await remove('gone soon')).code).toBe('invalid');
    expect((await remove('Gone soon')).data.deleteProject).toEqual({
      users: 0,
      clients: 1,
      sessions: 0,
      scimTokens: 0,
    });
    expect((await harness.call('query ($id: ID!) { project(id: $id) { id } }', { id })).code).toBe('not-found');
  });

  it('deletes the events of changes that the deletion waited for', async () => {
    const { clients, db, projects } = harness.services;
    const { id } = await projects.create({ name: 'Busy' }, { kind: 'system' });
    const { client } = await clients.create({ projectId: id, name: 'App' }, { kind: 'system' });
    const { deleted } = await db.together(async () => {
      await clients.update(client, { name: 'Late' }, { kind: 'system' });
      const remove = 'mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { clients } }';
      const deleted = harness.call(remove, { input: { id, confirmName: 'Busy' } });
      await untilLockWaits(db, 1);
      return { deleted };
    });
    expect((await deleted).data.deleteProject).toEqual({ clients: 1 });
    expect(await query(db.alone, sql`select type from audit_log where project_id = ${id}`)).toEqual([]);
  });

  it('sets no time limit to the deletion of a project or an application', async () => {
    const { db, projects, clients } = harness.services;
    const { id } = await projects.create({ name: 'Large' }, { kind: 'system' });
    const { client } = await clients.create({ projectId: id, name: 'App' }, { kind: 'system' });
    await execute(
      db.alone,
      sql`create function refuse_time_limit() returns trigger language plpgsql as $$ begin
        if current_setting('statement_timeout') <> '0' then raise 'limited'; end if; return old; end $$`,
    );
    for (const table of ['projects', 'clients']) {
      await execute(
        db.alone,
        sql`create trigger limits before delete on ${sql.table(table)} execute function refuse_time_limit()`,
      );
    }
    // As on a connection of a server.
    const limited = (work: () => Promise<unknown>) =>
      db.together(async (em) => {
        await execute(em, sql`set local statement_timeout = 30000`);
        await work();
      });
    await limited(() => clients.delete(keyIn(id, client.id), { kind: 'system' }));
    await limited(() => projects.delete(id, 'Large', { kind: 'system' }));
  });

  it("does not open the admins' project", async () => {
    const { id, name } = harness.builtIn.console;
    const mutation = 'mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    const introduced = [{ clientMetadataDocuments: 'ANYONE' }, { clientRegistration: 'TOKEN' }];
    const opening = [
      { testMode: true },
      { scimEnabled: true },
      { signUp: 'OPEN' },
      { signUp: 'DOMAINS' },
      ...introduced,
    ];
    for (const change of opening) {
      expect((await harness.call(mutation, { input: { id, ...change } })).code).toBe('invalid');
    }
    const remove = 'mutation ($input: DeleteProjectInput!) { deleteProject(input: $input) { users } }';
    expect((await harness.call(remove, { input: { id, confirmName: name } })).code).toBe('forbidden');
    const issue = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    expect((await harness.call(issue, { input: { projectId: id, name: 'x' } })).code).toBe('forbidden');
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

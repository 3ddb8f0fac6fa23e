import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { customUrn as urn } from '../../domain/users/custom/definition.ts';
import { freshSeconds } from '../api/caller-checks.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;
beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
});
afterAll(() => harness.close());
beforeEach(async () => {
  project = await make.project();
});

const create = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: CreateCustomAttributeInput!) { createCustomAttribute(input: $input) {
      name type mutability returned visibleTo alias subAttributes { name type } } }`,
    { input: { projectId: project.id, type: 'STRING', ...input } },
    headers,
  );
const update = (input: object, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: UpdateCustomAttributeInput!) { updateCustomAttribute(input: $input) { name type description } }`,
    { input: { projectId: project.id, ...input } },
    headers,
  );
const setValues = (id: string, values: Record<string, unknown>, headers?: Record<string, string>) =>
  harness.call(
    `mutation ($input: UpdateCustomValuesInput!) { updateCustomValues(input: $input) {
      customValues { hasValue value attribute { name } } } }`,
    { input: { id, values: Object.entries(values).map(([name, value]) => ({ name, value })) } },
    headers,
  );
const fault = (answer: { errors: { message: string }[] }) => answer.errors[0]?.message;
const events = (subjectId: string, type: string) =>
  harness.services.db.reader().find(AuditEvent, { projectId: project.id, subjectId, type }, { orderBy: { id: 'asc' } });

describe('definitions', () => {
  it('need a fresh sign-in to show values to applications, as a change of claims does', async () => {
    await create({ name: 'clearance' });
    const email = 'clearance@example.com';
    const admin = await harness.person(email);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
    const session = await harness.sessionOf(admin);
    harness.clock.turn(freshSeconds + 1);
    const shown = { visibleTo: ['APPLICATIONS', 'USER'] };
    const codes: (string | undefined)[] = [];
    for (const change of [{ description: 'Level' }, { visibleTo: ['USER'] }, shown]) {
      codes.push((await update({ name: 'clearance', ...change }, session)).code);
    }
    codes.push((await create({ name: 'other', ...shown }, session)).code);
    const stale = 'reauthentication-required';
    expect(codes).toEqual([undefined, undefined, stale, stale]);
  });

  it('need a fresh sign-in to change values, which can give rights in applications', async () => {
    await create({ name: 'clearance', visibleTo: ['APPLICATIONS'] });
    const email = 'values@example.com';
    const admin = await harness.person(email);
    const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
    await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
    const session = await harness.sessionOf(admin);
    harness.clock.turn(freshSeconds + 1);
    const { id } = await make.user(project);
    const custom = [{ name: 'clearance', value: 'top' }];
    const add = (more: object) =>
      harness.call(
        `mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }`,
        { input: { projectId: project.id, email: 'new@example.com', ...more } },
        session,
      );
    const addMany = (more: object) =>
      harness.call(
        `mutation ($input: ImportUsersInput!) { importUsers(input: $input) { created } }`,
        { input: { projectId: project.id, rows: [{ email: 'many@example.com', ...more }] } },
        session,
      );
    const answers = [
      await setValues(id, { clearance: 'top' }, session),
      await add({ custom }),
      await addMany({ custom }),
    ];
    expect(answers.map(({ code }) => code)).toEqual(Array(3).fill('reauthentication-required'));
    expect([(await add({})).code, (await addMany({})).code]).toEqual([undefined, undefined]);
  });

  it('are created, listed, changed and deleted, with events', async () => {
    expect((await create({ name: 'badge', alias: 'badgeNo', visibleTo: ['APPLICATIONS'] })).data).toEqual({
      createCustomAttribute: {
        ...{ name: 'badge', type: 'STRING', mutability: 'READ_WRITE', returned: 'DEFAULT' },
        ...{ visibleTo: ['APPLICATIONS'], alias: 'badgeNo', subAttributes: [] },
      },
    });
    await create({ name: 'hired', type: 'DATE_TIME' });
    await create({ name: 'office', type: 'COMPLEX', subAttributes: [{ name: 'city', type: 'STRING' }] });
    const list = `query ($projectId: ID!) { customAttributes(projectId: $projectId) { name type } }`;
    const listed = () => harness.call(list, { projectId: project.id });
    expect((await listed()).data.customAttributes.map(({ name }: { name: string }) => name)).toEqual([
      'badge',
      'hired',
      'office',
    ]);
    const { id } = await make.user(project);
    await setValues(id, { badge: 'B1' });
    expect((await update({ name: 'badge', description: 'On the card' })).data.updateCustomAttribute).toMatchObject({
      description: 'On the card',
    });
    expect(fault(await update({ name: 'badge', type: 'INTEGER' }))).toBe(
      'type cannot change while users have values of the attribute.',
    );
    await create({ name: 'pin', returned: 'NEVER' });
    await setValues(id, { pin: '0000' });
    expect(fault(await update({ name: 'pin', returned: 'DEFAULT' }))).toBe(
      'returned cannot change while users have values of the attribute.',
    );
    expect((await update({ name: 'hired', type: 'STRING' })).data.updateCustomAttribute.type).toBe('STRING');
    expect((await update({ name: 'nothing' })).code).toBe('not-found');
    const names = { projectId: project.id, name: 'badge' };
    const users = `query ($projectId: ID!, $name: String!) { customAttributeUsers(projectId: $projectId, name: $name) }`;
    expect((await harness.call(users, names)).data.customAttributeUsers).toBe(1);
    const remove = `mutation ($projectId: ID!, $name: String!) { deleteCustomAttribute(projectId: $projectId, name: $name) }`;
    expect((await harness.call(remove, names)).data.deleteCustomAttribute).toBe(1);
    const [event] = await events('badge', 'custom-attribute.updated');
    expect(event).toMatchObject({
      subjectName: 'badge',
      detail: { before: { description: '' }, after: { description: 'On the card' } },
    });
    const [deleted] = await events('badge', 'custom-attribute.deleted');
    expect(deleted?.detail).toMatchObject({ before: { name: 'badge' }, users: 1 });
  });

  it('refuse bad input, naming the field', async () => {
    await create({ name: 'badge', alias: 'x' });
    const cases: [object, string | RegExp][] = [
      [{ name: '' }, /^name must begin with a letter/],
      [{ name: '__proto__' }, /^name must begin with a letter/],
      [{ name: `a'--` }, /^name must begin with a letter/],
      [{ name: 'constructor' }, 'name is reserved.'],
      [{ name: 'schemas' }, 'name is reserved.'],
      [{ name: 'x'.repeat(65) }, 'name must have at most 64 characters.'],
      [{ name: 'a', description: 'x\ny' }, 'description must be one line of text.'],
      [{ name: 'a', alias: 'a b' }, /^alias must be the name of an attribute/],
      [{ name: 'a', alias: `${urn}:b` }, 'alias is reserved.'],
      [{ name: 'a', type: 'COMPLEX' }, 'subAttributes must not be empty: the attribute is complex.'],
      [
        { name: 'a', subAttributes: [{ name: 'b', type: 'STRING' }] },
        'subAttributes must be empty: the attribute is not complex.',
      ],
      [{ name: 'a', type: 'BOOLEAN', indexed: true }, 'indexed cannot be set for an attribute of type boolean.'],
      [
        { name: 'a', mutability: 'WRITE_ONLY', returned: 'DEFAULT' },
        'returned must be never: the attribute is writeOnly.',
      ],
      [{ name: 'a', mutability: 'READ_ONLY', required: true }, 'required must be false: directories cannot write it.'],
      [
        { name: 'a', returned: 'NEVER', uniqueness: 'SERVER' },
        /^uniqueness cannot be set for an attribute that is never/,
      ],
      [
        { name: 'a', mutability: 'WRITE_ONLY', visibleTo: ['APPLICATIONS'] },
        'visibleTo must be empty: the attribute is never returned.',
      ],
    ];
    for (const [input, expected] of cases) {
      expect([input, fault(await create(input))]).toEqual([
        input,
        typeof expected === 'string' ? expected : expect.stringMatching(expected),
      ]);
    }
    expect((await create({ name: 'BADGE' })).code).toBe('taken');
    expect((await create({ name: 'b', alias: 'X' })).code).toBe('taken');
    const { customAttributes } = harness.services;
    for (let n = 1; n < 100; n += 1)
      await customAttributes.create(project.id, { name: `a${n}`, type: 'string' }, system);
    expect(fault(await create({ name: 'last' }))).toBe('name exceeds the limit of 100 for a project.');
  });

  it('belong to admins of the project', async () => {
    const viewer = await harness.tokenOf('project_viewer', project.id);
    const stranger = await harness.tokenOf('project_admin', (await make.project()).id);
    expect((await create({ name: 'a' }, viewer)).code).toBe('forbidden');
    expect((await create({ name: 'a' }, stranger)).code).toBe('not-found');
    const { id } = await make.user(project);
    expect((await setValues(id, { a: 'x' }, viewer)).code).toBe('forbidden');
    expect((await setValues(id, { a: 'x' }, stranger)).code).toBe('not-found');
  });
});

describe('values', () => {
  it('are edited by admins, by type, and audited by name', async () => {
    await create({ name: 'badge', uniqueness: 'SERVER' });
    await create({ name: 'floors', type: 'INTEGER', multiValued: true });
    await create({ name: 'code', mutability: 'IMMUTABLE' });
    await create({ name: 'pin', mutability: 'WRITE_ONLY' });
    const { id } = await make.user(project);
    const answer = await setValues(id, { badge: 'B1', floors: [1, '2', 1], code: 'x', pin: '1234' });
    expect(answer.data.updateCustomValues.customValues).toEqual([
      { hasValue: true, value: 'B1', attribute: { name: 'badge' } },
      { hasValue: true, value: [1, 2], attribute: { name: 'floors' } },
      { hasValue: true, value: 'x', attribute: { name: 'code' } },
      { hasValue: true, value: null, attribute: { name: 'pin' } },
    ]);
    const [event] = await events(id, 'user.updated');
    const changed = ['badge', 'floors', 'code', 'pin'].map((name) => `${urn}:${name}`);
    expect(event?.detail).toEqual({ before: {}, after: {}, changed });
    expect(fault(await setValues(id, { code: 'y' }))).toBe(`${urn}:code is immutable and has a value.`);
    expect(fault(await setValues(id, { floors: ['a'] }))).toBe(`${urn}:floors must be a number.`);
    expect(fault(await setValues(id, { nothing: 1 }))).toBe(`${urn}:nothing is not an attribute of the project.`);
    const second = await make.user(project);
    expect((await setValues(second.id, { badge: 'b1' })).code).toBe('taken');
    expect((await setValues(id, { badge: null, code: 'x' })).data.updateCustomValues.customValues[0].hasValue).toBe(
      false,
    );
    expect((await setValues(second.id, { badge: 'b1' })).errors).toEqual([]);
  });

  it('that are hidden and cannot be changed are refused, whether they equal the stored ones or not', async () => {
    await harness.services.projects.update(project.id, { scimAuthoritative: false }, system);
    await create({ name: 'code', mutability: 'IMMUTABLE', returned: 'NEVER' });
    await create({ name: 'pin', mutability: 'WRITE_ONLY' });
    const { id } = await make.user(project, { provenance: 'scim' });
    expect((await setValues(id, { code: 'x', pin: '1' })).errors).toEqual([]);
    for (const code of ['x', 'y']) {
      expect(fault(await setValues(id, { code }))).toBe(`${urn}:code is immutable and has a value.`);
    }
    await harness.services.projects.update(project.id, { scimAuthoritative: true }, system);
    for (const pin of ['1', '2']) {
      expect(fault(await setValues(id, { pin }))).toBe(`${urn}:pin is managed by the directory: change it there.`);
    }
  });

  it('of an authoritative directory are read-only, except those that only admins write', async () => {
    await harness.services.projects.update(project.id, { scimAuthoritative: true }, system);
    await create({ name: 'badge' });
    await create({ name: 'level', mutability: 'READ_ONLY' });
    const { id } = await make.user(project, { provenance: 'scim' });
    expect(fault(await setValues(id, { badge: 'x' }))).toBe(
      `${urn}:badge is managed by the directory: change it there.`,
    );
    expect((await setValues(id, { level: 'gold' })).errors).toEqual([]);
  });

  it('reach applications by mappings, in their own type, if the definition allows it', async () => {
    await create({ name: 'floor', type: 'INTEGER', visibleTo: ['USER', 'APPLICATIONS'] });
    await create({
      name: 'office',
      type: 'COMPLEX',
      visibleTo: ['APPLICATIONS'],
      subAttributes: [{ name: 'city', type: 'STRING' }],
    });
    await create({ name: 'salary', type: 'INTEGER' });
    const { id } = await make.user(project);
    await setValues(id, { floor: 3, office: { city: 'Bern' }, salary: 9 });
    const { client } = await make.client(project);
    const mappings = [
      { claim: 'floor', attribute: 'custom.floor' },
      { claim: 'city', attribute: 'custom.office.city' },
      { claim: 'place', template: '${custom.office.city}/${custom.floor}' },
      { claim: 'salary', attribute: 'custom.salary' },
      { claim: 'secret', template: '${custom.salary}' },
      { claim: 'none', attribute: 'custom.constructor' },
    ];
    const request = { client: keyIn(project.id, client.id), userId: id, scopes: ['openid'] };
    const em = harness.services.db.reader();
    const { userInfo, omitted } = await harness.services.claims.preview(em, request, { mappings });
    expect(userInfo).toEqual({ sub: id, floor: 3, city: 'Bern', place: 'Bern/3' });
    expect(omitted.map(({ name }) => name)).toEqual(['salary', 'secret', 'none']);
    const settings = await harness.call(`query ($id: ID!) { claimSettings(clientId: $id) { attributes } }`, {
      id: client.id,
    });
    const custom = settings.data.claimSettings.attributes.filter((name: string) => name.startsWith('custom.'));
    expect(custom).toEqual(['custom.floor', 'custom.office', 'custom.office.city']);
  });

  it('are exported with the users, except those that are never returned', async () => {
    await create({ name: 'badge' });
    await create({ name: 'floors', type: 'INTEGER', multiValued: true });
    await create({ name: 'pin', mutability: 'WRITE_ONLY' });
    const { id } = await make.user(project);
    await setValues(id, { badge: '=B1', floors: [1, 2], pin: '1234' });
    const exported = async (format: string) => {
      const url = `${harness.url}/admin/export/users?project=${project.id}&format=${format}`;
      return (await (await fetch(url, { headers: bootstrap })).text()).trimEnd();
    };
    const [head, line] = (await exported('csv')).split('\r\n');
    expect(head).toMatch(/,"custom\.badge","custom\.floors"$/);
    expect(line).toMatch(/,"'=B1","\[1,2\]"$/);
    expect(JSON.parse(await exported('jsonl')).custom).toEqual({ badge: '=B1', floors: [1, 2] });
  });
});

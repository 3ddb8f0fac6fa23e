import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { system } from '../../domain/kernel/actor.ts';

let harness: AdminHarness;
let projectId: string;

beforeAll(async () => {
  harness = await openAdminHarness();
  projectId = (await harness.services.projects.create({ name: 'Acme' }, system)).id;
});
afterAll(() => harness.close());

const create = `mutation ($input: CreateUserInput!) { createUser(input: $input) {
  id userName email phone givenName familyName active provenance } }`;
const created = (input: object) => harness.call(create, { input: { projectId, ...input } });
const faultOf = async (input: object) => (await created(input)).errors[0]?.extensions;

describe('createUser', () => {
  it('adds a user who can sign in, with an event', async () => {
    const { data } = await created({ email: 'ada@example.com', givenName: ' Ada ', phone: '+41791234567' });
    expect(data.createUser).toMatchObject({
      ...{ userName: 'ada@example.com', email: 'ada@example.com', phone: '+41791234567' },
      ...{ givenName: 'Ada', familyName: null, active: true, provenance: 'LOCAL' },
    });
    const found = await harness.services.users.findByAddress(
      harness.services.db.reader(),
      projectId,
      'ADA@example.com',
    );
    expect(found?.id).toBe(data.createUser.id);
    const { data: log } = await harness.call(
      'query ($id: ID!) { auditEvents(projectId: $id, filter: { types: ["user.created"] }) { edges { node { subject { id } } } } }',
      { id: projectId },
    );
    expect(log.auditEvents.edges[0].node.subject.id).toBe(data.createUser.id);
  });

  it('creates one user from 40 concurrent requests for one address', async () => {
    const tries = Array.from({ length: 40 }, () => faultOf({ email: 'race@example.com' }));
    const faults = (await Promise.all(tries)).filter((fault) => fault !== undefined);
    expect(faults).toHaveLength(39);
    for (const fault of faults) expect(fault).toMatchObject({ code: 'taken', field: 'email' });
    expect(harness.bugs).toEqual([]);
  });

  it('accepts a user name in place of an address', async () => {
    const { data } = await created({ userName: 'grace' });
    expect(data.createUser).toMatchObject({ userName: 'grace', email: null });
  });

  it('refuses taken and invalid values, naming the field', async () => {
    await created({ email: 'eve@example.com', phone: '+41791234568' });
    expect(await faultOf({ email: 'EVE@example.com' })).toMatchObject({ code: 'taken', field: 'email' });
    expect(await faultOf({ userName: 'Eve@example.com' })).toMatchObject({ code: 'taken', field: 'userName' });
    expect(await faultOf({ userName: 'x', phone: '+41791234568' })).toMatchObject({ code: 'taken', field: 'phone' });
    expect(await faultOf({})).toMatchObject({ code: 'invalid', field: 'email' });
    expect(await faultOf({ email: 'nobody' })).toMatchObject({ code: 'invalid', field: 'email' });
    expect(await faultOf({ email: 'a@example.com', phone: '079' })).toMatchObject({ code: 'invalid', field: 'phone' });
    expect(await faultOf({ userName: 'a\nb' })).toMatchObject({ code: 'invalid', field: 'userName' });
    expect(await faultOf({ email: 'b@example.com', locale: '!' })).toMatchObject({ code: 'invalid', field: 'locale' });
    expect((await created({ email: 'b@example.com', invite: false })).errors).toEqual([]);
  });
});

/** Directories of organizations that provision people who have an account already: guests, and users who move home (decisions/0402). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { personExport } from '../domain/accounts/person-export.ts';
import { decidedFor } from '../domain/ceremonies/account.ts';
import { system } from '../domain/kernel/actor.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import { UserCount } from '../domain/users/user-count.entity.ts';
import { countUsers, listUsers } from '../domain/users/user-list.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
  await app.services.keys.maintain();
});
afterAll(() => app.close());

let project: ScimProject;
let north: ScimProject;
let south: ScimProject;
let account: string;
const address = 'ada@example.com';
const ada = { userName: 'ada.north', externalId: 'n-1', displayName: 'Ada of North', emails: [{ value: address }] };

beforeEach(async () => {
  project = await app.project();
  [north, south] = [await app.organization(project), await app.organization(project)];
  account = (await project.request('POST', '/Users', { userName: address, displayName: 'Ada' })).body.id;
});

const patch = (op: string, path: string, value?: unknown) => ({ Operations: [{ op, path, value }] });
const query = <Row extends object>(text: string, values: unknown[] = []) =>
  rows<Row>(app.services.db, text, [project.id, ...values]);
const accountRow = async () =>
  (
    await query<Record<string, unknown>>(
      `select organization_id, user_name, display_name, external_id, email, active, provenance, subject from users
        where project_id = ? and id = ?`,
      [account],
    )
  )[0];
const membership = async (of = north) =>
  (
    await query<{ state: string; source: string }>(
      'select state, source from organization_memberships where project_id = ? and organization_id = ? and user_id = ?',
      [of.organizationId, account],
    )
  )[0];
const events = (types: string) =>
  query<{ type: string; subject_id: string }>(
    `select type, subject_id from audit_log where project_id = ? and type like '${types}' order by id`,
  );
/** The totals of the directories of the project, north and south. */
const counts = () =>
  Promise.all(
    [project, north, south].map(async (of) => (await of.request('GET', '/Users?count=0')).body.totalResults as number),
  );
const verified = async (of: ScimProject, domain = 'example.com') => {
  const key = keyIn(project.id, of.organizationId ?? '');
  const { organizationDomains } = app.services;
  const added = await organizationDomains.add(key, domain, system);
  return organizationDomains.verify(added, 'Contract', system);
};
const create = async (of = north, values: object = ada) => {
  const { status, body } = await of.request('POST', '/Users', values);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body as { id: string; active: boolean };
};

describe('a guest', () => {
  it('is a member; the values of the directory stay with its record, and the account is unchanged', async () => {
    const before = await accountRow();
    const { id } = await create();
    expect(id).not.toBe(account);
    expect((await north.request('GET', `/Users/${id}`)).body).toMatchObject({ ...ada, active: true });
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'displayName', 'Countess'));
    await north.request('PUT', `/Users/${id}`, { ...ada, title: 'Analyst' });
    expect((await north.request('GET', '/Users?filter=userName eq "ADA.north"')).body.Resources).toMatchObject([
      { id, displayName: 'Ada of North', title: 'Analyst' },
    ]);
    expect(await accountRow()).toEqual(before);
    expect(await membership()).toEqual({ state: 'active', source: 'directory' });
    expect(await membership(south)).toBeUndefined();
  });

  it('is suspended and activated as a member, and ends with the record', async () => {
    const session = await signedIn();
    const { id } = await create();
    for (const [active, state] of [
      [false, 'suspended'],
      [true, 'active'],
    ] as const) {
      const { body } = await north.request('PATCH', `/Users/${id}`, patch('replace', 'active', active));
      expect(body.active).toBe(active);
      expect(await membership()).toMatchObject({ state });
      expect(await accountRow()).toMatchObject({ active: true });
    }
    expect((await north.request('DELETE', `/Users/${id}`)).status).toBe(204);
    expect((await north.request('GET', `/Users/${id}`)).status).toBe(404);
    expect(await membership()).toBeUndefined();
    expect(await accountRow()).toMatchObject({ active: true, email: address });
    expect(
      await query('select id from sessions where project_id = ? and id = ? and ended_at is null', [session]),
    ).toHaveLength(1);
    expect((await create()).active).toBe(true);
  });

  it('can be created inactive, in groups, and deleted by Bulk', async () => {
    const { id } = await create(north, { ...ada, active: false });
    expect(await membership()).toMatchObject({ state: 'suspended' });
    const { body: group } = await north.request('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] });
    expect(group.members).toMatchObject([{ value: id, display: 'Ada of North' }]);
    const answer = await north.request('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        { method: 'DELETE', path: `/Users/${id}` },
        { method: 'DELETE', path: `/Users/${account}` },
      ],
    });
    expect(answer.body.Operations).toMatchObject([{ status: '204' }, { status: '404' }]);
    expect(await membership()).toBeUndefined();
    expect(await accountRow()).toMatchObject({ active: true });
    expect(app.bugs).toEqual([]);
  });

  it('is no user: not in lists, counts, names at sign-in, nor for admins; its events name the account', async () => {
    const { services } = app;
    const em = services.db.reader();
    const { id } = await create(north, { ...ada, userName: 'other@example.com' });
    const { items } = await listUsers(em, project.id, {}, { first: 10, after: null });
    expect(items.map((user) => user.id)).toEqual([account]);
    expect((await countUsers(em, project.id, {})).count).toBe(1);
    const counted = await em.find(UserCount, { project: project.id });
    expect(counted.reduce((sum, { users }) => sum + users, 0)).toBe(1);
    for (const context of [null, north.organizationId]) {
      expect((await decidedFor(em, project.id, 'other@example.com', context)).account).toBeNull();
      expect((await decidedFor(em, project.id, address, context)).account).toBe(account);
    }
    expect(await services.accounts.find(project.id, id)).toBeNull();
    await expect(services.accounts.setActive(project.id, id, false, system)).rejects.toThrow();
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'title', 'X'));
    await north.request('DELETE', `/Users/${id}`);
    expect(await events('user.%')).toMatchObject([{ type: 'user.created', subject_id: account }]);
    expect(await events('organization-membership.%')).toMatchObject([
      { type: 'organization-membership.created', subject_id: account },
      { type: 'organization-membership.updated', subject_id: account },
      { type: 'organization-membership.ended', subject_id: account },
    ]);
    const left = await em.find(UserCount, { project: project.id }, { refresh: true });
    expect(left.reduce((sum, { users }) => sum + users, 0)).toBe(1);
  });

  it('never gets a login, not even when the address is free', async () => {
    const { id } = await create();
    const { services } = app;
    await services.accounts.change(
      project.id,
      account,
      (user) => ({ ...user, userName: 'gone', attributes: {} }) as never,
      system,
    );
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'emails', [{ value: 'new@example.com' }]));
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'emails', [{ value: address }]));
    await north.request(
      'PATCH',
      `/Users/${id}`,
      patch('add', 'phoneNumbers', [{ value: '+41791234567', type: 'mobile' }]),
    );
    expect(await query('select email, email_key, phone from users where project_id = ? and id = ?', [id])).toEqual([
      { email: null, email_key: null, phone: null },
    ]);
    expect((await decidedFor(services.db.reader(), project.id, address, null)).account).toBeNull();
  });

  it.each([
    ['with the login address in a verified domain', true],
    ['without a login address', false],
  ])('becomes a user at home, %s, when the account ends: the directory does not notice', async (_name, isVerified) => {
    const { id } = await create();
    if (isVerified) await verified(north);
    const read = () => north.request('GET', `/Users/${id}`);
    const before = await read();
    await app.services.accounts.remove(project.id, account, system);
    const after = await read();
    expect(after.text).toBe(before.text);
    expect(await query('select account_id, email, organization_id from users where project_id = ?')).toEqual([
      { account_id: null, email: isVerified ? address : null, organization_id: north.organizationId },
    ]);
    const members = await query('select user_id, state, source from organization_memberships where project_id = ?');
    expect(members).toEqual([{ user_id: id, state: 'active', source: 'directory' }]);
    expect((await events('user.%')).slice(1)).toEqual([
      { type: 'user.erased', subject_id: account },
      { type: 'user.created', subject_id: id },
    ]);
    const counted = await app.services.db.reader().find(UserCount, { project: project.id });
    expect(counted.reduce((sum, { users }) => sum + users, 0)).toBe(1);
    expect(await counts()).toEqual([0, 1, 0]);
  });

  it('has only the default roles of the organization afterwards, not those of the account', async () => {
    const { memberships, organizationRoles, organizations } = app.services;
    for (const key of ['admin', 'staff']) await organizationRoles.create(project.id, { key, name: key }, system);
    const organization = keyIn(project.id, north.organizationId ?? '');
    await memberships.add(organization, { userId: account, roleKeys: ['admin'] }, system);
    await organizations.update(organization, { defaultRoleKeys: ['staff'] }, system);
    const { id } = await create();
    await app.services.accounts.remove(project.id, account, system);
    const members = await query(
      `select m.user_id, m.source, r.key from organization_memberships m
        join organization_membership_roles g on g.project_id = m.project_id and g.membership_id = m.id
        join organization_roles r on r.project_id = m.project_id and r.id = g.role_id where m.project_id = ?`,
    );
    expect(members).toEqual([{ user_id: id, source: 'directory', key: 'staff' }]);
  });

  it('gets no login address in a domain of another organization when the account ends', async () => {
    await verified(south);
    const { id } = await create();
    await app.services.accounts.remove(project.id, account, system);
    expect(await query('select email, account_id from users where project_id = ? and id = ?', [id])).toEqual([
      { email: null, account_id: null },
    ]);
  });

  it('is a suspended member afterwards, if an admin has ended the membership before', async () => {
    const { id } = await create();
    const [held] = await query<{ id: string }>('select id from organization_memberships where project_id = ?');
    await app.services.memberships.remove(keyIn(project.id, held?.id ?? ''), system);
    await app.services.accounts.remove(project.id, account, system);
    const members = await query('select user_id, state from organization_memberships where project_id = ?');
    expect(members).toEqual([{ user_id: id, state: 'suspended' }]);
  });

  it('is in the export of the person', async () => {
    const { id } = await create();
    const em = app.services.db.reader();
    const user = await app.services.users.find(em, project.id, account);
    if (!user) throw new Error('no account');
    let exported = '';
    for await (const part of personExport(() => app.services.db.reader(), user, {})) exported += part;
    expect(JSON.parse(exported).guestRecords).toMatchObject([{ id, displayName: 'Ada of North' }]);
  });

  it.each([
    ['a guest', false],
    ['a user who moves home', true],
  ])('stays suspended by an admin, as %s', async (_name, moves) => {
    const { memberships } = app.services;
    const held = await memberships.add(keyIn(project.id, north.organizationId ?? ''), { userId: account }, system);
    await memberships.setState(held, 'suspended', system);
    if (moves) await verified(north);
    expect((await create()).id === account).toBe(moves);
    expect(await membership()).toMatchObject({ state: 'suspended' });
  });

  it('is one record: with another address, it does not show that the former one has an account', async () => {
    const { id } = await create();
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'emails', [{ value: 'new@example.com' }]));
    const second = await create(north, { ...ada, userName: 'second' });
    expect(await query('select email, account_id from users where project_id = ? and id = ?', [second.id])).toEqual([
      { email: null, account_id: null },
    ]);
  });

  it('keeps a membership that another way gave, under the directory from then on', async () => {
    await app.services.memberships.add(keyIn(project.id, north.organizationId ?? ''), { userId: account }, system);
    const { id } = await create();
    expect(await membership()).toMatchObject({ source: 'admin', state: 'active' });
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'active', false));
    expect(await membership()).toMatchObject({ state: 'suspended' });
    await north.request('DELETE', `/Users/${id}`);
    expect(await membership()).toBeUndefined();
  });

  it('is the only result for a directory that creates an address at once with the one that has verified its domain', async () => {
    await verified(north);
    const names = Array.from({ length: 10 }, (_, n) => `new-${n}`);
    const make = (of: ScimProject) =>
      names.map((userName) =>
        of.request('POST', '/Users', { userName, emails: [{ value: `${userName}@example.com` }] }),
      );
    const answers = await Promise.all([...make(south), ...make(north)]);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    const made = await query<{ organization_id: string }>(
      `select organization_id from users where project_id = ? and user_name like 'new-%' and email is not null`,
    );
    expect(made).toEqual(names.map(() => ({ organization_id: north.organizationId })));
    expect(app.bugs).toEqual([]);
  });

  it('of a user at home in another organization, and of the project', async () => {
    await verified(south);
    const { body } = await south.request('POST', '/Users', { userName: 'bob', emails: [{ value: 'bob@example.com' }] });
    await create(north, { userName: 'bob', emails: [{ value: 'bob@example.com' }] });
    const members = await query<{ organization_id: string }>(
      'select organization_id from organization_memberships where project_id = ? and user_id = ? order by created_at, id',
      [body.id],
    );
    expect(members.map((row) => row.organization_id).sort()).toEqual(
      [north.organizationId, south.organizationId].sort(),
    );
    // The project's own directory has no guests.
    const ofProject = await project.request('POST', '/Users', {
      userName: 'bob',
      emails: [{ value: 'bob@example.com' }],
    });
    expect(ofProject).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });

  it.each(['erase', 'move'] as const)(
    'leaves when its organization is deleted (%s), and the account stays',
    async (people) => {
      await create();
      await north.request('POST', '/Users', { userName: 'own' });
      await app.services.organizationEnds.delete(keyIn(project.id, north.organizationId ?? ''), people, system);
      const left = await query<{ user_name: string }>('select user_name from users where project_id = ? order by 1');
      expect(left.map((row) => row.user_name)).toEqual(people === 'move' ? [address, 'own'] : [address]);
      expect((await project.request('GET', '/Users?count=0')).body.totalResults).toBe(left.length);
    },
  );
});

describe('an account that the directory of an organization gives to another person', () => {
  it('is a member of no other organization', async () => {
    const { memberships } = app.services;
    const { id } = await create(south, { userName: 'bob', emails: [{ value: 'bob@example.com' }] });
    await memberships.add(keyIn(project.id, north.organizationId ?? ''), { userId: id }, system);
    const held = async () =>
      (
        await query<{ organization_id: string }>(
          'select organization_id from organization_memberships where project_id = ? and user_id = ?',
          [id],
        )
      ).map((row) => row.organization_id);
    await south.request('PATCH', `/Users/${id}`, patch('replace', 'active', false));
    await south.request('PATCH', `/Users/${id}`, patch('replace', 'active', true));
    expect(await held()).toHaveLength(2);
    await south.request('PATCH', `/Users/${id}`, patch('replace', 'active', false));
    const other = { userName: 'eve', active: true, emails: [{ value: 'eve@example.com' }] };
    await south.request('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: other }] });
    expect(await held()).toEqual([south.organizationId]);
    expect(await events('organization-membership.ended')).toEqual([
      { type: 'organization-membership.ended', subject_id: id },
    ]);
  });
});

describe('a user in a domain that the organization has verified', () => {
  it('moves home: the account keeps its id, subject and sessions, and gets a mail and the values of the directory', async () => {
    const session = await signedIn();
    await query(`update users set subject = 'former' where project_id = ? and id = ? returning id`, [account]);
    const { body: group } = await project.request('POST', '/Groups', {
      displayName: 'Old',
      members: [{ value: account }],
    });
    await verified(north);
    const { id } = await create();
    expect(id).toBe(account);
    expect(await accountRow()).toMatchObject({
      ...{
        organization_id: north.organizationId,
        user_name: 'ada.north',
        display_name: 'Ada of North',
        email: address,
      },
      ...{ external_id: 'n-1', active: true, provenance: 'scim', subject: 'former' },
    });
    expect(await membership()).toEqual({ state: 'active', source: 'directory' });
    expect((await project.request('GET', `/Users/${account}`)).status).toBe(404);
    expect(await counts()).toEqual([0, 1, 0]);
    expect((await project.request('GET', `/Groups/${group.id}`)).body.members).toEqual([]);
    expect((await north.request('GET', `/Users/${id}`)).body.groups ?? []).toEqual([]);
    expect(
      await query('select id from sessions where project_id = ? and id = ? and ended_at is null', [session]),
    ).toHaveLength(1);
    expect(await events('user.moved')).toEqual([{ type: 'user.moved', subject_id: account }]);
    const mails = await query("select recipient from messages where project_id = ? and template = 'account-moved'");
    expect(mails).toEqual([{ recipient: address }]);
    // The directory is authoritative now.
    await north.request('PATCH', `/Users/${id}`, patch('replace', 'active', false));
    expect(await accountRow()).toMatchObject({ active: false });
    expect(app.bugs).toEqual([]);
  });

  it('moves from another organization, whose membership and record end', async () => {
    const former = await verified(south);
    const { body } = await south.request('POST', '/Users', { userName: 'bob', emails: [{ value: 'bob@example.com' }] });
    await query('update users set last_sign_in_at = created_at where project_id = ? and id = ? returning id', [
      body.id,
    ]);
    await app.services.organizationDomains.remove(former, system);
    await verified(north);
    const { id } = await create(north, { userName: 'bob', emails: [{ value: 'bob@example.com' }] });
    expect(id).toBe(body.id);
    expect((await south.request('GET', `/Users/${id}`)).status).toBe(404);
    const members = await query(
      'select organization_id from organization_memberships where project_id = ? and user_id = ?',
      [id],
    );
    expect(members).toEqual([{ organization_id: north.organizationId }]);
    // It becomes a guest there.
    const again = await create(south, { userName: 'bob', emails: [{ value: 'bob@example.com' }] });
    expect(again.id).not.toBe(id);
    expect(await counts()).toEqual([1, 1, 1]);
  });

  it('stays a guest while the directory has the record', async () => {
    const guest = await create();
    await verified(north);
    const again = await north.request('POST', '/Users', { ...ada, userName: 'again' });
    expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    await north.request('DELETE', `/Users/${guest.id}`);
    const { id } = await create();
    expect(id).toBe(account);
  });

  it('stays where the userName is taken, with all unchanged', async () => {
    await north.request('POST', '/Users', { userName: 'ada.north' });
    await verified(north);
    const before = await accountRow();
    expect(await north.request('POST', '/Users', ada)).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect(await accountRow()).toEqual(before);
    expect(await membership()).toBeUndefined();
  });

  it.each([
    ['another organization has verified it', () => verified(south)],
    ['it is a domain above', () => verified(north, 'sub.example.com')],
    [
      'it is pending',
      async () =>
        void (await app.services.organizationDomains.add(
          keyIn(project.id, north.organizationId ?? ''),
          'example.com',
          system,
        )),
    ],
  ])('becomes a guest if %s', async (_name, prepare) => {
    await prepare();
    expect((await create()).id).not.toBe(account);
    expect(await accountRow()).toMatchObject({ organization_id: null });
  });

  it('gets the id in references of Bulk', async () => {
    await verified(north);
    const { body } = await north.request('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        { method: 'POST', path: '/Users', bulkId: 'u', data: ada },
        { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'G', members: [{ value: 'bulkId:u' }] } },
      ],
    });
    expect(body.Operations).toMatchObject([
      { status: '201', location: `${north.baseUrl}/Users/${account}` },
      { status: '201' },
    ]);
    const { body: groups } = await north.request('GET', '/Groups');
    expect(groups.Resources).toMatchObject([{ members: [{ value: account }] }]);
  });

  it('moves once of 20 requests at once', async () => {
    await verified(north);
    const answers = await Promise.all(Array.from({ length: 20 }, () => north.request('POST', '/Users', ada)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)]);
    expect(app.bugs).toEqual([]);
  });
});

/** @returns the id of an open session of the account */
async function signedIn(): Promise<string> {
  const { db, users } = app.services;
  const of = await db.reader().findOneOrFail(Project, project.id);
  const user = await users.find(db.reader(), project.id, account);
  if (!user) throw new Error('no account');
  return (await app.make.session(of, user)).session.id;
}

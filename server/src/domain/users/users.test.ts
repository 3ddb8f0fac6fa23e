import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import { Database } from '../kernel/database.ts';
import { execute, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { atProject } from './identity/home.ts';
import { countRows } from './listing.ts';
import { User } from './user.entity.ts';
import { UserCount } from './user-count.entity.ts';
import { UserEmail } from './user-email.entity.ts';
import { type UserValues, valuesOf } from './user-record.ts';
import { removal } from './user-tables.ts';
import { Users } from './users.ts';

const clock = { now: () => at };
let at = new Date('2026-11-21T10:00:00Z');
const scim: Actor = { kind: 'scim', name: 'Entra' };
const person: Actor = { kind: 'user' };

let database: FreshDatabase;
let orm: MikroORM;
let db: Database;
let users: Users;
let projectId: string;

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url });
  db = new Database(orm);
  const audit = new Audit({ clock, random: systemRandom });
  users = new Users({ clock, random: systemRandom, audit, accessLost: async () => undefined });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});
beforeEach(async () => {
  projectId = await project();
});

async function project(scimAuthoritative = true): Promise<string> {
  const id = systemRandom.id();
  await db.transaction(async (em) => {
    em.persist(em.create(Project, { id, name: 'Test', scimAuthoritative, createdAt: at, updatedAt: at }));
  });
  return id;
}

function values(overrides: Partial<UserValues> = {}): UserValues {
  const nothing = { externalId: null, displayName: null, givenName: null, familyName: null };
  return { userName: 'alice', ...nothing, active: true, attributes: {}, ...overrides };
}

const create = (overrides: Partial<UserValues>, project = projectId, provenance: 'scim' | 'local' = 'scim') =>
  db.transaction((em) => users.create(em, atProject(project), values(overrides), provenance, scim));
const byAddress = (address: string, project = projectId) =>
  db.transaction((em) => users.findByAddress(em, project, address));
const email = (value: string) => ({ attributes: { emails: [{ value, primary: true }] } });
const mobile = (value: string) => ({ attributes: { phoneNumbers: [{ value, type: 'mobile' }] } });

describe('findByAddress', () => {
  it('finds by login email and by a userName that is an address, ignoring case, inactive users included', async () => {
    const alice = await create({ userName: 'a1', active: false, ...email('Alice@Example.com') });
    const bob = await create({ userName: 'Bob@Example.com', ...email('bob@elsewhere.test') });
    const carol = await create({ userName: 'Carol@Example.com' });
    expect((await byAddress(' alice@EXAMPLE.com '))?.id).toBe(alice.id);
    expect((await byAddress('bob@example.com'))?.id).toBe(bob.id);
    expect((await byAddress('bob@elsewhere.test'))?.id).toBe(bob.id);
    expect((await byAddress('carol@example.com'))?.email).toBe(carol.userName);
    expect(await byAddress('a1')).toBeNull();
  });

  it('prefers the login email to another user’s userName', async () => {
    await create({ userName: 'x@example.com', ...email('old@example.com') });
    const owner = await create({ userName: 'owner', ...email('x@example.com') });
    expect((await byAddress('X@example.com'))?.id).toBe(owner.id);
  });

  it('never crosses projects', async () => {
    await create({ ...email('alice@example.com') });
    expect(await byAddress('alice@example.com', await project())).toBeNull();
  });
});

describe('create', () => {
  it.each([
    ['userName', { userName: 'ALICE' }],
    ['emails', { userName: 'b', ...email('ALICE@example.com') }],
    ['phoneNumbers', { userName: 'c', ...mobile('+41790000001') }],
  ])('refuses a %s that another user of the project has, and leaves the transaction usable', async (field, other) => {
    const attributes = { ...email('alice@example.com').attributes, ...mobile('+41790000001').attributes };
    await create({ attributes });
    await db.transaction(async (em) => {
      await expect(users.create(em, atProject(projectId), values(other), 'scim', scim)).rejects.toMatchObject({
        problem: { code: 'taken', what: 'user', field },
      });
      await users.create(em, atProject(projectId), values({ userName: 'afterwards' }), 'scim', scim);
    });
    await create({ userName: 'alice', attributes }, await project());
  });

  it('allows second addresses of others, and shared office numbers, which are the login phone of the first user', async () => {
    const office = { value: '+41440000000', type: 'work' };
    const shared = { emails: [{ value: 'own@example.com' }, { value: 'office@example.com' }] };
    const first = await create({ userName: 'a', attributes: { ...shared, phoneNumbers: [office] } });
    const others = { emails: [{ value: 'other@example.com' }, { value: 'office@example.com' }] };
    const second = await create({ userName: 'b', attributes: { ...others, phoneNumbers: [office] } });
    expect([first.phone, second.phone]).toEqual(['+41440000000', null]);
    const change = (id: string, edit: (current: UserValues) => UserValues) =>
      db.transaction(
        async (em) => (await users.change(em, projectId, id, (current) => edit(valuesOf(current)), scim)).after,
      );
    expect(await change(second.id, (now) => ({ ...now, displayName: 'B' }))).toMatchObject({ phone: null });
    const third = await create({ userName: 'c' });
    const withOffice = (now: UserValues) => ({ ...now, attributes: { ...now.attributes, phoneNumbers: [office] } });
    expect(await change(third.id, withOffice)).toMatchObject({ phone: null });
    const asOwn = (now: UserValues) => ({
      ...now,
      attributes: { ...now.attributes, phoneNumbers: [{ ...office, primary: true }] },
    });
    await expect(change(second.id, asOwn)).rejects.toMatchObject({ problem: { code: 'taken', field: 'phoneNumbers' } });
  });

  it('gives a number shared by fifty users to one of them, if all are created concurrently', async () => {
    const attributes = { phoneNumbers: [{ value: '+41440000000' }] };
    const made = await Promise.all(Array.from({ length: 50 }, (_, n) => create({ userName: `user${n}`, attributes })));
    expect(made.filter(({ phone }) => phone !== null)).toHaveLength(1);
  });

  it('creates one user in fifty concurrent calls', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => create({ userName: 'race' })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('signUp', () => {
  it('creates a local user from an address', async () => {
    const user = await db.transaction((em) => users.signUp(em, projectId, ' New@Example.com', person));
    expect(user).toMatchObject({
      userName: 'New@Example.com',
      email: 'New@Example.com',
      provenance: 'local',
      active: true,
    });
    await expect(db.transaction((em) => users.signUp(em, projectId, 'new@example.com', person))).rejects.toMatchObject({
      problem: { code: 'taken' },
    });
  });
});

describe('change', () => {
  it('keeps version and time if nothing changes, and increments the version otherwise', async () => {
    const { id } = await create({ displayName: 'Alice', ...email('alice@example.com') }, projectId, 'local');
    at = new Date('2026-11-21T11:00:00Z');
    const same = await db.transaction((em) => users.change(em, projectId, id, valuesOf, scim));
    expect(same).toMatchObject({ changed: false, after: { version: 1, provenance: 'local' } });
    const edit = () => values({ displayName: 'Alice B.', ...email('new@example.com') });
    const { after } = await db.transaction((em) => users.change(em, projectId, id, edit, scim));
    expect(after).toMatchObject({ version: 2, provenance: 'scim', updatedAt: at, email: 'new@example.com' });
    expect(await db.reader().find(UserEmail, { user: { id } })).toMatchObject([{ valueKey: 'new@example.com' }]);
  });

  it('refuses values of another user', async () => {
    await create({ ...email('alice@example.com') });
    const { id } = await create({ userName: 'bob' });
    for (const [field, edit] of [
      ['userName', values({ userName: 'Alice' })],
      ['emails', values({ userName: 'bob', ...email('Alice@example.com') })],
    ] as const) {
      const change = db.transaction((em) => users.change(em, projectId, id, () => edit, scim));
      await expect(change).rejects.toMatchObject({ problem: { code: 'taken', field } });
    }
  });

  it('loses no concurrent update', async () => {
    const { id } = await create({ displayName: '' });
    const append = (letter: string) =>
      db.transaction((em) =>
        users.change(em, projectId, id, (now) => ({ ...valuesOf(now), displayName: now.displayName + letter }), scim),
      );
    await Promise.all([...'abcdefgh'].map(append));
    const user = await db.reader().findOneOrFail(User, { id });
    expect([...(user.displayName ?? '')].sort().join('')).toBe('abcdefgh');
  });
});

describe('the number of users', () => {
  const count = async () => {
    const counted = await countRows(db.reader(), 'users', projectId);
    expect(counted).toBe(await db.reader().count(User, { project: projectId }));
    return counted;
  };
  const erase = (id: string) =>
    db.transaction((em) => execute(em, sql`with ${removal({ projectId, ids: [id] })} select 1 from removed`));
  /** As an import writes them. */
  const imported = {
    insert: () =>
      db.reader().execute(
        `insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
         select gen_random_uuid(), ?, gen_random_uuid(), gen_random_uuid(), now(), now() from generate_series(1, 3)`,
        [projectId],
      ),
    delete: () =>
      db.reader().execute(
        `delete from users where id in (select id from users where project_id = ? and provenance = 'local' limit 2
         for update skip locked)`,
        [projectId],
      ),
  };

  it('follows creation, erasure and rollbacks without triggers, and is deleted with its project', async () => {
    await db.reader().execute('alter table users disable trigger user');
    const made = await Promise.all(Array.from({ length: 20 }, (_, n) => create({ userName: `counted${n}` })));
    await expect(create({ userName: 'counted0' })).rejects.toThrow('taken');
    const undone = db.transaction(async (em) => {
      await users.create(em, atProject(projectId), values({ userName: 'undone' }), 'scim', scim);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await count()).toBe(20);
    await Promise.all(made.slice(0, 5).map(({ id }) => erase(id)));
    expect(await count()).toBe(15);
    await db.reader().execute('alter table users enable trigger user');
    await db.transaction((em) => em.nativeDelete(Project, { id: projectId }));
    expect(await db.reader().count(UserCount, { project: projectId })).toBe(0);
  });

  it('follows imports and other writes on the same connections', async () => {
    const writes = Array.from({ length: 10 }, async (_, n) => {
      const { id } = await create({ userName: `this${n}` });
      await imported.insert();
      if (n % 2 === 0) await erase(id);
      await imported.delete();
    });
    await Promise.all(writes);
    await imported.insert();
    expect(await count()).toBeGreaterThan(5);
    const undone = db.transaction(async (em) => {
      await users.create(em, atProject(projectId), values({ userName: 'undone' }), 'scim', scim);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await imported.insert();
    await count();
  });
});

describe('changePhone', () => {
  const phoneOf = async (project: string, provenance: 'scim' | 'local', to: string | null) => {
    const { id } = await create({ userName: systemRandom.id(), ...mobile('+41790000007') }, project, provenance);
    return db.transaction(async (em) => {
      const user = await users.find(em, project, id);
      return users.changePhone(em, user as NonNullable<typeof user>, to, person);
    });
  };

  it('is refused if the directory owns the phone, except for the directory’s number', async () => {
    await expect(phoneOf(projectId, 'scim', '+41790000008')).rejects.toMatchObject({
      problem: { code: 'phone-locked' },
    });
    expect(await phoneOf(await project(), 'scim', '+41790000007')).toMatchObject({ phone: '+41790000007' });
    expect(await phoneOf(await project(false), 'scim', '+41790000008')).toMatchObject({ phone: '+41790000008' });
  });

  it('replaces and removes the login phone, and refuses invalid numbers and those of another user', async () => {
    expect(await phoneOf(projectId, 'local', null)).toMatchObject({ phone: null });
    await create({ userName: 'other', ...mobile('+41790000009') });
    await expect(phoneOf(projectId, 'local', '+41790000009')).rejects.toMatchObject({ problem: { code: 'taken' } });
    await expect(phoneOf(await project(), 'local', '0790000009')).rejects.toMatchObject({
      problem: { code: 'phone-invalid' },
    });
  });
});

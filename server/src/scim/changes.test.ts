/** Compares changes by one read and one write (decisions/0086) with the same changes under the user's lock. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changed, rows } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { User } from '../domain/users/user.entity.ts';
import { valuesOf } from '../domain/users/user-record.ts';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(() => app.close());

const replace = (path: string, value: unknown) => ({ Operations: [{ op: 'replace', path, value }] });
const remove = (path: string) => ({ Operations: [{ op: 'remove', path }] });
const whole = {
  userName: 'Ada@Example.com',
  externalId: 'e-1',
  displayName: 'Ada',
  name: { givenName: 'Ada', familyName: 'Lovelace', middleName: 'K.' },
  emails: [{ value: 'ada@example.com', primary: true }, { value: 'Second@Example.com' }],
  phoneNumbers: [{ value: '+41790000001', type: 'mobile' }],
  title: 'Countess',
};

/** The results of a change: the row, its addresses and audit events. */
async function leftOf(id: string): Promise<unknown> {
  const { db } = app.services;
  const [user] = await rows<{ row: object }>(
    db,
    `select to_jsonb(u) - 'id' - 'project_id' - 'created_at' as row from users u where id = ?`,
    [id],
  );
  const emails = await rows(db, 'select value_key from user_emails where user_id = ? order by 1', [id]);
  const events = await rows(
    db,
    `select type, result, actor_kind, actor_name, subject_kind, subject_name, detail, at from audit_log
     where subject_id = ? and type <> 'user.created' order by id`,
    [id],
  );
  return { user: user?.row, emails, events };
}

/** Makes every read of a user stale, so that the change takes the lock. */
async function underLock<T>(work: () => Promise<T>): Promise<T> {
  const { users } = app.services;
  users.changeAtOnce = async () => undefined;
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(users, 'changeAtOnce');
  }
}

/** Fails if a change takes the lock. */
async function atOnce<T>(work: () => Promise<T>): Promise<T> {
  const { users } = app.services;
  users.change = () => Promise.reject(new Error('the lock was taken'));
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(users, 'change');
  }
}

const changes: readonly (readonly [what: string, method: string, body: object])[] = [
  ['a name', 'PATCH', replace('displayName', 'Ada B.')],
  ['a part of the name', 'PATCH', replace('name.familyName', 'Byron')],
  ['a removed part of the name', 'PATCH', remove('name.givenName')],
  ['the case of the userName', 'PATCH', replace('userName', 'ada@example.com')],
  [
    'an address other than the login email',
    'PATCH',
    replace('emails', [{ value: 'ada@example.com', primary: true }, { value: 'third@example.com' }]),
  ],
  ['all addresses removed, with a userName that is one', 'PATCH', remove('emails')],
  ['the externalId', 'PATCH', replace('externalId', 'e-2')],
  [
    'an office number',
    'PATCH',
    { Operations: [{ op: 'add', path: 'phoneNumbers', value: [{ value: '+41440000000', type: 'work' }] }] },
  ],
  ['an attribute without a column', 'PATCH', replace('title', 'Programmer')],
  [
    'several attributes',
    'PATCH',
    { Operations: [{ op: 'replace', value: { title: 'T', displayName: 'D', 'name.givenName': 'G' } }] },
  ],
  ['nothing', 'PATCH', replace('title', 'Countess')],
  ['a PUT of the same values', 'PUT', whole],
];

/** These end open sign-ins. */
const loginChanges: typeof changes = [
  ['the userName', 'PATCH', replace('userName', 'AB@Example.com')],
  ['the addresses', 'PATCH', replace('emails', [{ value: 'Third@Example.com' }, { value: 'second@example.com' }])],
  [
    'the order of addresses',
    'PATCH',
    replace('emails', [{ value: 'Second@Example.com', primary: true }, { value: 'ada@example.com' }]),
  ],
  ['the phone removed', 'PATCH', remove('phoneNumbers')],
  ['the whole', 'PUT', { userName: 'new', emails: [{ value: 'new@example.com' }], active: true }],
  ['a PUT with userName only', 'PUT', { userName: 'new' }],
];

describe('a change without the lock', () => {
  it.each(changes)('of %s has the same results and response as with the lock', async (what, method, body) => {
    const way = async (taking: <T>(work: () => Promise<T>) => Promise<T>, isActive: boolean) => {
      const scim = await app.project();
      const { id } = (await scim.request('POST', '/Users', { ...whole, active: isActive })).body;
      await changed(app.services.db, `update users set provenance = 'local' where id = ?`, [id]);
      app.clock.turn(60);
      const { status, headers, body: resource } = await taking(() => scim.request(method, `/Users/${id}`, body));
      app.clock.turn(-60);
      const { meta, id: _id, ...shown } = resource ?? {};
      return [status, headers.get('etag'), shown, meta?.version, meta?.lastModified, await leftOf(id)];
    };
    // An inactive user with another externalId may be another person.
    for (const isActive of what === 'the externalId' ? [true] : [true, false]) {
      const [short, long] = [await way(atOnce, isActive), await way(underLock, isActive)];
      expect(short[0]).toBe(200);
      expect(short).toEqual(long);
    }
  });

  it('by a different actor than the directory keeps the provenance, as with the lock', async () => {
    const way = async (taking: <T>(work: () => Promise<T>) => Promise<T>) => {
      const scim = await app.project();
      const { id } = (await scim.request('POST', '/Users', { ...whole, active: false })).body;
      await changed(app.services.db, `update users set provenance = 'local' where id = ?`, [id]);
      const rename = (current: Parameters<typeof valuesOf>[0]) => ({
        ...valuesOf(current),
        displayName: 'Countess Ada',
      });
      const after = await taking(() => app.services.accounts.change(scim.id, id, rename, system));
      return [after.provenance, await leftOf(id)];
    };
    const short = await way(atOnce);
    expect(short).toMatchObject(['local', { user: { display_name: 'Countess Ada', provenance: 'local' } }]);
    expect(short).toEqual(await way(underLock));
  });

  it('without effect changes neither version nor provenance, and records no event', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', whole)).body;
    await changed(app.services.db, `update users set provenance = 'local' where id = ?`, [id]);
    const before = await leftOf(id);
    app.clock.turn(60);
    for (const same of [replace('title', 'Countess'), replace('userName', 'Ada@Example.com')]) {
      expect((await atOnce(() => scim.request('PATCH', `/Users/${id}`, same))).headers.get('etag')).toBe('W/"1"');
    }
    expect(await leftOf(id)).toEqual(before);
  });

  it.each([
    ['userName', replace('userName', 'TAKEN')],
    ['emails', replace('emails', [{ value: 'Taken@Example.com' }])],
    ['phoneNumbers', replace('phoneNumbers', [{ value: '+41790000099', type: 'mobile' }])],
  ])('is refused with the name of the taken value, and changes nothing: %s', async (field, body) => {
    const scim = await app.project();
    await scim.request('POST', '/Users', {
      ...{ userName: 'taken', emails: [{ value: 'taken@example.com' }] },
      phoneNumbers: [{ value: '+41790000099', type: 'mobile' }],
    });
    const { id } = (await scim.request('POST', '/Users', { userName: 'other', emails: [{ value: 'o@example.com' }] }))
      .body;
    const before = await leftOf(id);
    const refused = await scim.request('PATCH', `/Users/${id}`, body);
    expect(refused).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect(refused.body.detail).toContain(field);
    expect(await leftOf(id)).toEqual(before);
  });

  it('does not change addresses of other users', async () => {
    const scim = await app.project();
    const other = (await scim.request('POST', '/Users', { userName: 'o', emails: [{ value: 'o@example.com' }] })).body
      .id;
    const { id } = (await scim.request('POST', '/Users', whole)).body;
    const before = await leftOf(other);
    await scim.request('PATCH', `/Users/${id}`, replace('emails', [{ value: 'n@example.com' }]));
    await scim.request('PATCH', `/Users/${id}`, remove('emails'));
    expect(await leftOf(other)).toEqual(before);
  });

  it('of a user cannot race with a move to another project: the database refuses the move', async () => {
    const [scim, elsewhere] = [await app.project(), await app.project()];
    const { id } = (await scim.request('POST', '/Users', whole)).body;
    const moved = changed(app.services.db, 'update users set project_id = ? where id = ?', [elsewhere.id, id]);
    await expect(moved).rejects.toThrow('violates foreign key constraint');
  });
});

describe('a change of login address or login phone', () => {
  it.each(loginChanges)('takes the lock: %s', async (_, method, body) => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', whole)).body;
    const { users } = app.services;
    const locked: string[] = [];
    const { change } = Object.getPrototypeOf(users);
    users.change = (...parameters) => {
      locked.push(parameters[2]);
      return change.apply(users, parameters);
    };
    try {
      expect((await scim.request(method, `/Users/${id}`, body)).status).toBe(200);
    } finally {
      Reflect.deleteProperty(users, 'change');
    }
    expect(locked).toEqual([id]);
  });
});

describe('concurrent requests', () => {
  /** A user with a session, a trusted device and an unredeemed code. */
  async function signedIn(scim: ScimProject): Promise<string> {
    const { services, make, clock } = app;
    const { id } = (await scim.request('POST', '/Users', whole)).body;
    const em = services.db.reader();
    const project = await em.findOneOrFail(Project, scim.id);
    const client = (await em.findOne(Client, { project: scim.id })) ?? (await make.client(project)).client;
    await make.session(project, await em.findOneOrFail(User, { id: id as string }));
    await changed(
      services.db,
      `insert into credentials (id, project_id, client_id, user_id, jkt, public_jwk, alg, name, created_at, last_used_at, trusted_until)
       values (?, ?, ?, ?, 'jkt', '{}', 'ES256', 'laptop', ?, ?, ?)`,
      [systemRandom.id(), scim.id, client.id, id, clock.now(), clock.now(), new Date(clock.now().getTime() + 1e9)],
    );
    const in10Minutes = new Date(clock.now().getTime() + 600_000);
    // Two open sign-ins: one that has authenticated this user, and one with only the address.
    for (const [evidence, address] of [
      [[{ kind: 'mail-code', account: id, at: clock.now(), address: 'ada@example.com', ceremony: 'c' }], null],
      [[], 'ada@example.com'],
    ]) {
      await changed(
        services.db,
        `insert into ceremonies (id, project_id, client_id, txn_hash, nonce_hash, nonce_expires_at, state, origin, amr,
           evidence, address, created_at, expires_at)
         values (?, ?, ?, ?, 'nonce', now(), 'otp_sent', 'https://app.example.com', '{}', ?, ?, now(), ?)`,
        [
          ...[systemRandom.id(), scim.id, client.id, systemRandom.id()],
          ...[JSON.stringify(evidence), address, in10Minutes],
        ],
      );
    }
    const code = {
      projectId: project.id,
      clientId: client.id,
      userId: id,
      scope: 'openid',
      authTime: clock.now(),
      amr: ['swk'],
    };
    await services.db.transaction((inside) => services.tokens.issueCode(inside, code));
    return id;
  }

  /** A user's live sessions, devices, codes and open sign-ins. */
  async function open(id: string): Promise<string[]> {
    const found = await rows<{ what: string }>(
      app.services.db,
      `select 'session' as what from sessions where user_id = ? and ended_at is null
       union all select 'device' from credentials where user_id = ? and revoked_at is null and suspended_at is null
       union all select 'code' from authorization_codes where user_id = ? and revoked_at is null
       union all select 'sign-in' from ceremonies where finished_at is null and project_id = (select project_id from users where id = ?)`,
      [id, id, id, id],
    );
    return found.map(({ what }) => what).sort();
  }

  it('a user deactivated during fifty other changes loses all access, and no change is lost', async () => {
    const scim = await app.project();
    const id = await signedIn(scim);
    expect(await open(id)).toEqual(['code', 'device', 'session', 'sign-in', 'sign-in']);
    const role = (n: number) => ({ Operations: [{ op: 'add', path: 'roles', value: [{ value: `r${n}` }] }] });
    const sent = Array.from({ length: 50 }, (_, n) => (n === 25 ? replace('active', 'False') : role(n)));
    const replies = await Promise.all(sent.map((body) => scim.request('PATCH', `/Users/${id}`, body)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const { body } = await scim.request('GET', `/Users/${id}`);
    expect([body.active, body.roles.length, body.meta.version]).toEqual([false, 49, 'W/"51"']);
    expect(await open(id)).toEqual([]);
    expect(new Set(replies.map(({ headers }) => headers.get('etag'))).size).toBe(50);
  });

  it('a user deactivated and reactivated repeatedly keeps only the device of the earlier access', async () => {
    const scim = await app.project();
    const id = await signedIn(scim);
    const turns = Array.from({ length: 40 }, (_, n) => replace('active', n % 2 === 1));
    const replies = await Promise.all(turns.map((body) => scim.request('PATCH', `/Users/${id}`, body)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const { active } = (await scim.request('GET', `/Users/${id}`)).body;
    expect(await open(id)).toEqual(active ? ['device'] : []);
  });

  it('fifty concurrent claims of one address, name and number: one succeeds, and the others change nothing', async () => {
    const scim = await app.project();
    const ids = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const reply = await scim.request('POST', '/Users', {
          userName: `u${n}`,
          emails: [{ value: `u${n}@example.com` }],
        });
        return reply.body.id as string;
      }),
    );
    for (const want of [
      replace('emails', [{ value: 'one@example.com' }]),
      replace('userName', 'one'),
      replace('phoneNumbers', [{ value: '+41790000001', type: 'mobile' }]),
    ]) {
      const replies = await Promise.all(ids.map((id) => scim.request('PATCH', `/Users/${id}`, want)));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(409)]);
      expect(new Set(replies.filter(({ status }) => status === 409).map(({ body }) => body.scimType))).toEqual(
        new Set(['uniqueness']),
      );
    }
    const wrong = await rows(
      app.services.db,
      `select from users u where project_id = ? and (email_key not in (select value_key from user_emails where user_id = u.id)
         or (select count(*) from user_emails where user_id = u.id) <> 1)`,
      [scim.id],
    );
    expect(wrong).toEqual([]);
  });
});

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));

it('keeps the birthdate, which is no SCIM attribute, and does not return it', async () => {
  const scim = await app.project();
  const { id } = (await scim.request('POST', '/Users', whole)).body;
  const { accounts, userEdits } = app.services;
  await userEdits.edit(scim.id, id, { birthdate: '1990-12-31' }, system);
  for (const [method, body] of [
    ['PUT', { ...whole, title: 'Analyst' }],
    ['PATCH', replace('title', 'Author')],
  ] as const) {
    const { status, body: shown } = await scim.request(method, `/Users/${id}`, body);
    expect([status, shown.birthdate]).toEqual([200, undefined]);
  }
  expect((await accounts.find(scim.id, id))?.attributes).toMatchObject({
    ...{ birthdate: '1990-12-31', title: 'Author' },
  });
  const refused = await scim.request('PATCH', `/Users/${id}`, replace('birthdate', '1815-12-10'));
  expect(refused.status).toBe(400);
});

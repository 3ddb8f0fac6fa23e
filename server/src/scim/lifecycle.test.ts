import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redirectUri } from '../../test/factories.ts';
import { changed, tablesThatHold } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { statementsDuring } from '../../test/statements.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { Device } from '../domain/credentials/device.entity.ts';
import { RequestRecord } from '../domain/directories/request-record.entity.ts';
import type { Actor } from '../domain/kernel/actor.ts';
import { digest } from '../domain/kernel/secret.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import { Project } from '../domain/projects/project.entity.ts';
import { Session } from '../domain/sessions/session.entity.ts';
import { User } from '../domain/users/user.entity.ts';

const bulkRequest = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
  await app.services.keys.maintain();
});
afterAll(() => app.close());

const person: Actor = { kind: 'user', ip: '192.0.2.7', userAgent: 'Person’s browser' };
const deactivate = { Operations: [{ op: 'replace', path: 'active', value: false }] };
const reactivate = { Operations: [{ op: 'replace', path: 'active', value: true }] };

/** A signed-in user with a device, an unredeemed code and an access token. */
async function signedIn(scim: ScimProject, userName: string) {
  const { services, make, clock } = app;
  const { body } = await scim.request('POST', '/Users', {
    userName,
    name: { givenName: 'Erika', familyName: 'Mustermann' },
    emails: [{ value: userName, primary: true }],
    phoneNumbers: [{ value: '+41790001122', type: 'mobile' }],
  });
  const user = await services.db.reader().findOneOrFail(User, { id: body.id as string });
  const project = await services.db.reader().findOneOrFail(Project, scim.id);
  const { client } = await make.client(project);
  const { session } = await make.session(project, user);
  const codes = await services.db.transaction(async (em) => {
    em.persist(
      em.create(Device, {
        id: systemRandom.id(),
        project: project.id,
        client,
        user,
        jkt: 'thumbprint',
        publicJwk: {},
        alg: 'ES256',
        name: `${userName}’s laptop`,
        createdAt: clock.now(),
        lastUsedAt: clock.now(),
      }),
    );
    services.audit.record(em, {
      type: 'user.signed_in',
      actor: { ...person, id: user.id, name: userName },
      projectId: project.id,
      subject: { kind: 'user', id: user.id, name: userName },
      detail: { address: userName },
    });
    const request = {
      projectId: project.id,
      clientId: client.id,
      userId: user.id,
      sessionId: session.id,
      redirectUri,
      codeChallenge: digest('verifier'),
      scope: 'openid profile email phone address',
      authTime: clock.now(),
      amr: ['swk'],
    };
    return [await services.tokens.issueCode(em, request), await services.tokens.issueCode(em, request)] as const;
  });
  const relyingParty: Actor = { kind: 'client', id: client.id };
  const exchange = async (code: string) => {
    const answer = await services.tokens.exchange({
      code,
      client,
      codeVerifier: 'verifier',
      redirectUri,
      authenticatedBy: 'none',
      issuer: services.issuers.base,
      actor: relyingParty,
    });
    if (!answer) throw new Error('the client has changed');
    return answer;
  };
  const { access_token } = await exchange(codes[0]);
  expect(await services.tokens.userInfo(access_token, services.issuers.base)).toMatchObject({
    claims: { email: userName },
  });
  return {
    id: user.id,
    session,
    exchange: () => exchange(codes[1]),
    userInfo: () => services.tokens.userInfo(access_token, services.issuers.base),
  };
}

describe('active: false', () => {
  it('ends sessions, codes and UserInfo at once, and suspends devices; reactivation restores only devices', async () => {
    const scim = await app.project();
    const user = await signedIn(scim, 'erika@example.com');
    expect((await scim.request('PATCH', `/Users/${user.id}`, deactivate)).body).toMatchObject({ active: false });
    const check = async () => {
      const session = await app.services.db.reader().findOneOrFail(Session, { id: user.session.id });
      expect(session).toMatchObject({ endReason: 'deactivated', endedAt: app.clock.now() });
      await expect(user.exchange()).rejects.toMatchObject({ problem: { code: 'grant-rejected' } });
      expect(await user.userInfo()).toEqual({ refused: 'invalid_token' });
      const devices = await app.services.db.reader().find(Device, { user: { id: user.id } });
      return devices.map(({ suspendedAt, revokedAt }) => [suspendedAt, revokedAt]);
    };
    expect(await check()).toEqual([[app.clock.now(), null]]);
    await scim.request('PATCH', `/Users/${user.id}`, reactivate);
    expect(await check()).toEqual([[null, null]]);
  });

  it('does the same by PUT and in Bulk', async () => {
    const scim = await app.project();
    const put = await signedIn(scim, 'put@example.com');
    await scim.request('PUT', `/Users/${put.id}`, { userName: 'put@example.com', active: false });
    expect(await put.userInfo()).toEqual({ refused: 'invalid_token' });
    const bulk = await signedIn(await app.project(), 'put@example.com');
    expect(bulk.id).not.toBe(put.id);
    const other = await app.project();
    const third = await signedIn(other, 'bulk@example.com');
    await other.request('POST', '/Bulk', {
      schemas: [bulkRequest],
      Operations: [{ method: 'PATCH', path: `/Users/${third.id}`, data: deactivate }],
    });
    expect(await third.userInfo()).toEqual({ refused: 'invalid_token' });
  });
});

describe('DELETE', () => {
  it('deletes the user’s data from every table, and ends open work', async () => {
    const scim = await app.project();
    const user = await signedIn(scim, 'erase.me@example.org');
    await scim.request('PATCH', `/Users/${user.id}`, {
      Operations: [{ op: 'add', path: 'nickName', value: 'Erasmus' }],
    });
    await scim.request('POST', '/Groups', { displayName: 'Everybody', members: [{ value: user.id }] });
    await scim.request('GET', '/Users?filter=userName+eq+%22ERASE.ME%40example.org%22');
    await scim.request('GET', '/Users?filter=userName+eq%22erase.me%40example.org%22');
    await scim.request('POST', '/Users/.search', { filter: 'emails.value sw "erase.me@example.org"' });
    await scim.request('POST', '/Users', { userName: 'Erase.Me@example.org' });
    // The message of an unsent code has the address in lower case.
    const other = { value: 'Erase.Me.Too@Example.org', type: 'home' };
    await scim.request('PATCH', `/Users/${user.id}`, { Operations: [{ op: 'add', path: 'emails', value: [other] }] });
    const unsent = {
      projectId: scim.id,
      channel: 'mail',
      template: 'sign-in-code',
      locale: 'en',
      app: 'Shop',
    } as const;
    await app.services.db.transaction((em) =>
      app.services.delivery.recordTest(em, systemRandom.id(), { ...unsent, to: 'erase.me.too@example.org' }, 'down'),
    );
    await app.services.requestRecords.settled();
    expect(
      await tablesThatHold(app.services.db, ['erase.me', 'Mustermann', 'Erasmus', '90001122'], scim.id),
    ).not.toEqual([]);

    expect((await scim.request('DELETE', `/Users/${user.id}`)).status).toBe(204);
    await expect(user.exchange()).rejects.toMatchObject({ problem: { code: 'grant-rejected' } });
    expect(await user.userInfo()).toEqual({ refused: 'invalid_token' });
    await app.services.requestRecords.settled();
    const traces = ['erase.me', 'Erasmus', '90001122', '192.0.2.7', 'browser'];
    expect(await tablesThatHold(app.services.db, traces, scim.id)).toEqual([]);
    const log = await app.services.db
      .reader()
      .execute<{ type: string; actor_name: string }[]>(
        'select type, actor_name from audit_log where subject_id = ? order by id',
        [user.id],
      );
    expect(log).toContainEqual({ type: 'user.erased', actor_name: 'Directory' });
    expect(log).toContainEqual({ type: 'user.created', actor_name: 'Directory' });
    const ended = await app.services.db.reader().execute<object[]>(
      `select subject_id, actor_name, detail from audit_log where type = 'session.ended'
        and project_id = ?`,
      [scim.id],
    );
    const detail = { reason: 'deactivated', userId: user.id };
    expect(ended).toEqual([{ subject_id: user.session.id, actor_name: 'Directory', detail }]);
  });

  it('has status 503 in a Bulk whose statement the database cancels', async () => {
    const { db } = app.services;
    const project = await app.project();
    const cancel = `create function cancelled() returns trigger language plpgsql as
      $$ begin raise exception 'cancelled' using errcode = '57014'; end $$`;
    await changed(db, cancel);
    await changed(db, 'create trigger cancelled before insert on groups for each row execute function cancelled()');
    const data = { displayName: 'Staff' };
    const Operations = [{ method: 'POST', path: '/Groups', bulkId: 'a', data }];
    const { body } = await project.request('POST', '/Bulk', { schemas: [bulkRequest], Operations });
    await changed(db, 'drop function cancelled cascade');
    expect(body.Operations).toMatchObject([{ status: '503', response: { status: '503' } }]);
    expect(app.bugs.splice(0)).toHaveLength(1);
  });

  it('erases many users of a Bulk together, each with its own answer', async () => {
    const scim = await app.project();
    const names = Array.from({ length: 60 }, (_, n) => `user.${n}@example.org`);
    const made = [];
    for (const userName of names) made.push((await scim.request('POST', '/Users', { userName })).body.id as string);
    const others = await app.project();
    const foreign = (await others.request('POST', '/Users', { userName: 'foreign' })).body.id as string;
    const signed = await signedIn(scim, 'erase.me@example.org');
    const ids = [
      ...made.slice(0, 20),
      foreign,
      signed.id,
      made[0] as string,
      ...made.slice(20, 40),
      'no-id',
      ...made.slice(40),
    ];
    const deletions = ids.map((id, at) => ({
      method: 'DELETE',
      path: `/Users/${id}`,
      ...(at === 5 && { version: 'W/"9"' }),
    }));
    let statuses: string[] = [];
    // Records of the requests above must not be written meanwhile.
    await app.services.requestRecords.settled();
    const statements = await statementsDuring(async () => {
      const { body } = await scim.request('POST', '/Bulk', { schemas: [bulkRequest], Operations: deletions });
      statuses = body.Operations.map(({ status }: { status: string }) => status);
    });
    const refused = ids.flatMap((id, at) => (statuses[at] === '204' ? [] : [[at, id, statuses[at]]]));
    expect(refused).toEqual([
      [5, made[5], '412'],
      [20, foreign, '404'],
      [22, made[0], '404'],
      [43, 'no-id', '404'],
    ]);
    expect(statements.length).toBeLessThan(25);
    expect((await scim.request('GET', '/Users')).body).toMatchObject({ totalResults: 1, Resources: [{ id: made[5] }] });
    expect((await others.request('GET', `/Users/${foreign}`)).status).toBe(200);
    expect(await signed.userInfo()).toEqual({ refused: 'invalid_token' });
    await app.services.requestRecords.settled();
    expect(await tablesThatHold(app.services.db, ['erase.me', 'user.7@'], scim.id)).toEqual([]);
  });

  it('takes the same few statements whatever the user has', async () => {
    const scim = await app.project();
    const plain = (await scim.request('POST', '/Users', { userName: 'plain@example.org' })).body.id as string;
    const deletion = async (id: string) => {
      await app.services.requestRecords.settled();
      return statementsDuring(async () => expect((await scim.request('DELETE', `/Users/${id}`)).status).toBe(204));
    };
    const statements = await deletion(plain);
    // Authentication, `begin`, the lock, the erasure and `commit`.
    expect(statements).toHaveLength(5);
    const user = await signedIn(scim, 'busy@example.org');
    // The event of the session that was open.
    expect(await deletion(user.id)).toHaveLength(6);
  });
});

describe('a queued request record', () => {
  it('is written within about a second', async () => {
    const scim = await app.project();
    await scim.request('GET', '/Users?filter=userName+eq+%22nobody%22');
    const noted = () => app.services.db.reader().find(RequestRecord, { project: scim.id });
    await vi.waitFor(async () => expect(await noted()).toHaveLength(1), { timeout: 60_000 });
  });

  it('loses its texts if it concerns a user who was erased meanwhile', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'erase.me@example.org' })).body;
    await scim.request('GET', '/Users?filter=userName+eq+%22ERASE.ME%40example.org%22');
    await scim.request('GET', '/Users/erase.me@example.org');
    await scim.request('DELETE', `/Users/${id}`);
    await scim.request('GET', '/Users?filter=userName+eq+%22somebody.else%22');
    expect(await paths(scim.id)).toEqual([
      ['GET', '/Users?filter=userName eq "somebody.else"', 200],
      ['DELETE', `/Users/${id}`, 204],
      ['GET', '/Users', 404],
      ['GET', '/Users', 200],
      ['POST', '/Users', 201],
    ]);
    expect(await tablesThatHold(app.services.db, ['erase.me'], scim.id)).toEqual([]);
  });
});

describe('a written request record', () => {
  it.each(['1', 'a', 'User'])(
    'of another user keeps its texts when the user with externalId %s is erased',
    async (externalId) => {
      const scim = await app.project();
      const other = { userName: 'user.11@example.org', externalId: '11a', displayName: 'User 1', title: externalId };
      const { id } = (
        await scim.request('POST', '/Users', { userName: 'erase.me@example.org', externalId, displayName: 'User 1' })
      ).body;
      const kept = (await scim.request('POST', '/Users', other)).body;
      await scim.request('GET', `/Users?filter=externalId+eq+%22${externalId}%22`);
      await scim.request('GET', '/Users?filter=externalId+eq+%2211a%22');
      await scim.request('PATCH', `/Users/${kept.id}`, {
        Operations: [{ op: 'replace', path: 'nickName', value: '1' }],
      });
      await scim.request('GET', `/Users?filter=title+eq+%22${externalId}%22+and+active+eq+true`);
      await scim.request('GET', '/Users?startIndex=1&count=11');
      const before = await bodies(scim.id);
      await scim.request('DELETE', `/Users/${id}`);
      const after = await bodies(scim.id);
      expect(after.slice(1)).toHaveLength(before.length);
      const lost = before.filter((record) => !after.some((each) => JSON.stringify(each) === JSON.stringify(record)));
      expect(lost.map(([method, path]) => [method, path])).toEqual([
        ['GET', `/Users?filter=externalId eq "${externalId}"`],
        ['POST', '/Users'],
      ]);
    },
  );

  it('loses its texts with any user that it names: members of groups, results of a search, Bulk, a refused user', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'erase.me@example.org', nickName: 'Erasmus' }))
      .body;
    const group = (
      await scim.request('POST', '/Groups', { displayName: 'All', members: [{ value: id, display: 'Erase Me' }] })
    ).body;
    const members = { op: 'add', path: 'members', value: [{ value: id, display: 'Erase Me' }] };
    await scim.request('PATCH', `/Groups/${group.id}`, { Operations: [members] });
    await scim.request('PATCH', `/Groups/${group.id}`, {
      Operations: [{ op: 'remove', path: `members[value eq "${id}"]` }],
    });
    await scim.request('GET', '/Users?filter=userName+sw+%22erase.m%22');
    await scim.request('POST', '/Users/.search', { filter: 'nickName eq "Erasmus"' });
    await scim.request('POST', '/Bulk', {
      schemas: [bulkRequest],
      Operations: [{ method: 'PATCH', path: `/Users/${id}`, data: reactivate }],
    });
    await scim.request('POST', '/Users', { userName: 'ERASE.me@example.org', displayName: 'Erase Me' });
    await scim.request('POST', '/Users', { userName: 'free', emails: [{ value: 'Erase.Me@example.org' }] });
    await app.services.requestRecords.settled();
    await scim.request('DELETE', `/Users/${id}`);
    const records = await bodies(scim.id);
    expect(records).toHaveLength(10);
    expect(await tablesThatHold(app.services.db, ['erase.m', 'Erase Me', 'Erasmus'], scim.id)).toEqual([]);
    expect(JSON.stringify(records).toLowerCase()).not.toContain('erase');
  });
});

async function paths(projectId: string) {
  const records = await app.services.requestRecords.recent(projectId, 20);
  return records.map(({ method, path, status }) => [method, path, status]);
}

async function bodies(projectId: string) {
  const records = await app.services.requestRecords.recent(projectId, 20);
  return records.map(({ method, path, requestBody, responseBody }) => [method, path, requestBody, responseBody]);
}

describe('provenance (service.md 3.1)', () => {
  it('is scim for users that the directory created or changed, and stays local for others', async () => {
    const scim = await app.project();
    const provenance = async (id: string) => (await app.services.db.reader().findOneOrFail(User, { id })).provenance;
    const made = (await scim.request('POST', '/Users', { userName: 'made' })).body.id;
    expect(await provenance(made)).toBe('scim');
    const { id } = await app.services.db.transaction((em) =>
      app.services.users.signUp(em, scim.id, 'local@example.com', person),
    );
    const met = await scim.request('GET', '/Users?filter=userName+eq+%22LOCAL%40example.com%22');
    expect(met.body.Resources).toMatchObject([
      { id, emails: [{ value: 'local@example.com', type: 'work', primary: true }] },
    ]);
    await scim.request('PUT', `/Users/${id}`, met.body.Resources[0]);
    expect(await provenance(id)).toBe('local');
    await scim.request('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'title', value: 'T' }] });
    expect(await provenance(id)).toBe('scim');
    const log = await app.services.db
      .reader()
      .execute<object[]>(
        'select type, actor_kind, actor_name, detail from audit_log where subject_id = ? order by id',
        [id],
      );
    expect(log).toMatchObject([
      { type: 'user.created', actor_kind: 'user' },
      { type: 'user.updated', actor_kind: 'scim', actor_name: 'Directory', detail: { changed: ['title'] } },
    ]);
  });

  it('locks the phone for its user, and lets the directory change it, also for SMS', async () => {
    const scim = await app.project();
    const { id } = (
      await scim.request('POST', '/Users', { userName: 'p', phoneNumbers: [{ value: '+41790000001', type: 'mobile' }] })
    ).body;
    const { services } = app;
    await services.db.transaction(async (em) => {
      em.persist(
        em.create(Enrolment, {
          project: scim.id,
          id: systemRandom.id(),
          user: [scim.id, id],
          method: 'sms',
          phone: '+41790000001',
          createdAt: app.clock.now(),
          verifiedAt: app.clock.now(),
        }),
      );
    });
    const change = services.db.transaction(async (em) =>
      services.users.changePhone(em, await em.findOneOrFail(User, { id: id as string }), '+41790000002', person),
    );
    await expect(change).rejects.toMatchObject({ problem: { code: 'phone-locked' } });
    await scim.request('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'replace', path: 'phoneNumbers[type eq "mobile"].value', value: '+41790000003' }],
    });
    expect(await services.db.reader().findOneOrFail(User, { id: id as string })).toMatchObject({
      phone: '+41790000003',
    });
    expect(await services.db.reader().findOneOrFail(Enrolment, { user: { id } })).toMatchObject({
      phone: '+41790000003',
    });
  });
});

describe('concurrent requests', () => {
  it('creates one user in fifty identical POSTs, and answers the others 409', async () => {
    const scim = await app.project();
    const body = { userName: 'race', emails: [{ value: 'race@example.com', primary: true }] };
    const replies = await Promise.all(Array.from({ length: 50 }, () => scim.request('POST', '/Users', body)));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(49).fill(409)]);
  });

  it('loses no concurrent PATCH of a user or group', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'patched' })).body;
    const addRole = (n: number) => ({ Operations: [{ op: 'add', path: 'roles', value: [{ value: `r${n}` }] }] });
    const patched = await Promise.all(
      Array.from({ length: 40 }, (_, n) => scim.request('PATCH', `/Users/${id}`, addRole(n))),
    );
    expect(new Set(patched.map(({ status }) => status))).toEqual(new Set([200]));
    const user = (await scim.request('GET', `/Users/${id}`)).body;
    expect(user.roles).toHaveLength(40);
    expect(user.meta.version).toBe('W/"41"');
    const events = await app.services.db
      .reader()
      .execute<object[]>(`select 1 from audit_log where subject_id = ? and type = 'user.updated'`, [id]);
    expect(events).toHaveLength(40);
    const numbers = Array.from({ length: 20 }, (_, n) => n);

    const group = (await scim.request('POST', '/Groups', { displayName: 'g' })).body.id;
    const members = await Promise.all(
      numbers.map(async (n) => (await scim.request('POST', '/Users', { userName: `m${n}` })).body.id as string),
    );
    const add = (value: string) => ({ Operations: [{ op: 'add', path: 'members', value: [{ value }] }] });
    await Promise.all(members.map((member) => scim.request('PATCH', `/Groups/${group}`, add(member))));
    expect((await scim.request('GET', `/Groups/${group}`)).body.members).toHaveLength(20);

    const mixed = members.flatMap((member) => [
      scim.request('DELETE', `/Users/${member}`),
      scim.request('PATCH', `/Groups/${group}`, {
        Operations: [{ op: 'replace', path: 'members', value: [{ value: id }] }],
      }),
      scim.request('PATCH', `/Groups/${group}`, add(member)),
    ]);
    const statuses = new Set((await Promise.all(mixed)).map(({ status }) => status));
    for (const status of statuses) expect([200, 204, 400]).toContain(status);
    const left = (await scim.request('GET', `/Groups/${group}`)).body.members as { value: string }[];
    expect(left.filter(({ value }) => members.includes(value))).toEqual([]);
  });

  it('gives an address claimed by two users to one, and does not find the old address', async () => {
    const scim = await app.project();
    const make = async (name: string) =>
      (await scim.request('POST', '/Users', { userName: name, emails: [{ value: `${name}@example.com` }] })).body.id;
    const ids = [await make('one'), await make('two')];
    const want = { Operations: [{ op: 'replace', path: 'emails', value: [{ value: 'wanted@example.com' }] }] };
    const replies = await Promise.all(ids.map((id) => scim.request('PATCH', `/Users/${id}`, want)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = replies[0]?.status === 200 ? 'one' : 'two';
    const idsBy = async (address: string) => {
      const { body } = await scim.request('GET', `/Users?filter=emails.value+eq+%22${address}%22`);
      return (body.Resources as { userName: string }[]).map(({ userName }) => userName);
    };
    expect(await idsBy('wanted@example.com')).toEqual([winner]);
    expect(await idsBy(`${winner}@example.com`)).toEqual([]);
    expect(await idsBy(`${winner === 'one' ? 'two' : 'one'}@example.com`)).toHaveLength(1);
  });

  it('finds users by the version of a response, also in a group', async () => {
    const scim = await app.project();
    const { id } = (await scim.request('POST', '/Users', { userName: 'member' })).body;
    await scim.request('POST', '/Users', { userName: 'other' });
    await scim.request('POST', '/Groups', { displayName: 'G', members: [{ value: id }] });
    const add = { Operations: [{ op: 'add', path: 'title', value: 'T' }] };
    const { meta } = (await scim.request('PATCH', `/Users/${id}`, add)).body;
    expect(meta.version).toMatch(/^W\/"\d+-[\w-]+"$/);
    for (const [comparison, ids] of [
      ['eq', [id]],
      ['ne', [expect.any(String)]],
    ] as const) {
      const filter = `meta.version ${comparison} ${JSON.stringify(meta.version)}`;
      const { body } = await scim.request('POST', '/Users/.search', { filter });
      expect(body.Resources.map((user: { id: string }) => user.id)).toEqual(ids);
    }
  });

  it('applies one of two PATCHes with the same If-Match', async () => {
    const scim = await app.project();
    const { id, meta } = (await scim.request('POST', '/Users', { userName: 'etag' })).body;
    const write = (value: string) =>
      scim.request(
        'PATCH',
        `/Users/${id}`,
        { Operations: [{ op: 'add', path: 'title', value }] },
        {
          headers: { 'if-match': meta.version },
        },
      );
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map(write));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });
});

describe('the record of requests', () => {
  it('keeps the newest 200 requests and responses for seven days, without secrets', async () => {
    const scim = await app.project();
    const { requestRecords, directories } = app.services;
    const sent = {
      userName: 'inspected',
      password: 'hunter2hunter2',
      title: 'x'.repeat(8000),
      nickName: 'y'.repeat(8000),
    };
    const { id } = (await scim.request('POST', '/Users?attributes=userName', sent)).body;
    await scim.request('GET', '/Users?filter=nonsense');
    await requestRecords.settled();
    const records = await requestRecords.recent(scim.id, 10);
    expect(records).toMatchObject([
      { method: 'GET', path: '/Users?filter=nonsense', status: 400, scimType: 'invalidFilter', tokenName: 'Directory' },
      { method: 'POST', path: '/Users?attributes=userName', status: 201, resourceId: id, detail: null },
    ]);
    expect(records[0]?.detail).toContain('cannot be read');
    expect(records[1]?.requestBody).toContain('inspected');
    expect(records[1]?.requestBody?.length).toBeLessThan(9000);
    expect(JSON.stringify(records)).not.toContain('hunter2');
    expect(JSON.stringify(records)).not.toContain(scim.token.slice(8));
    const [token] = await directories.scimTokens(scim.id);
    expect(token).toMatchObject({ lastUsedAt: app.clock.now(), lastUsedAddress: '127.0.0.1' });

    const odd = { Operations: [{ op: 'add', path: 'urn:example:hr:2.0:User:badge', value: 7 }] };
    expect((await scim.request('PATCH', `/Users/${id}`, odd)).status).toBe(200);
    await requestRecords.settled();
    const [ignored] = await requestRecords.recent(scim.id, 1);
    expect(ignored?.ignored).toEqual(['urn:example:hr:2.0:User:badge']);

    for (let i = 0; i < 210; i++) await scim.request('GET', '/Users?count=0');
    await requestRecords.settled();
    expect(await requestRecords.recent(scim.id, 500)).toHaveLength(200);
    app.clock.turn(7 * 24 * 3600 + 1);
    await requestRecords.sweep();
    expect(await requestRecords.recent(scim.id, 500)).toEqual([]);
  });
});

it('ends without a bug', () => expect(app.bugs).toEqual([]));

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectUri } from '../../test/factories.ts';
import { changed, tablesThatHold } from '../../test/rows.ts';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { statementsDuring } from '../../test/statements.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { Device } from '../domain/credentials/device.entity.ts';
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
  it('ends sessions, codes and UserInfo immediately, and suspends devices; reactivation restores only devices', async () => {
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

  it('erases many users of a Bulk request together, each with its own response', async () => {
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
    // Records of the requests above must not be written in the meantime.
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

  it('takes the same few statements for every user', async () => {
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

  it('locks the phone for its user, and lets the directory change it, including the number for SMS', async () => {
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

it('reports no unexpected error', () => expect(app.bugs).toEqual([]));

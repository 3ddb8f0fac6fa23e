import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { MfaMethod } from '@latchkey/node';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { generateSync } from 'otplib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { alignTime, codeSentTo, makePair, TestBackEnd, turn } from '../../test/back-end.ts';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { listEvents } from '../domain/audit/events.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { User } from '../domain/users/user.entity.ts';

let app: TestApp;
let project: Project;
let backEnd: TestBackEnd;
let ada: User;

const address = 'ada@example.com';
const phone = '+12025550143';

beforeEach(async () => {
  app = await buildTestApp();
  alignTime(app);
  project = await app.make.project();
  ada = await app.make.user(project, { userName: address, userNameKey: address, email: address, emailKey: address });
  backEnd = await TestBackEnd.of(app, project);
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

const factors = () => app.services.mfa.factors(app.services.db.reader(), ada.id);
const methods = async () => (await factors()).map(({ method }) => method);

/** Enrols a factor as a sign-in does. */
async function enrolled(method: 'email' | 'sms' | 'totp', more: Partial<Enrolment> = {}): Promise<void> {
  await app.services.db.transaction(async (em) => {
    const enrolment = await app.services.mfa.begin(em, { userId: ada.id, deviceId: null, method, phone: null });
    Object.assign(enrolment, { verifiedAt: app.clock.now(), ...more });
  });
}

function totpCode(secret: string): string {
  return generateSync({ secret, epoch: Math.floor(app.clock.now().getTime() / 1000) });
}

async function events(type: string) {
  const { items } = await listEvents(
    app.services.db.reader(),
    project.id,
    { types: [type] },
    { first: 50, after: null },
  );
  return items;
}

describe('a back end, by the server library', () => {
  it('gives a user a second factor by e-mail', async () => {
    const library = await backEnd.delegationClient();
    expect(await library.getUserCredentials(address)).toEqual({ status: 'success', mfa_method: 'none' });
    const change = await library.initiateMfaChange({ userid: address, mfaMethod: MfaMethod.EMAIL });
    expect(change).toMatchObject({
      status: 'success',
      sent_to: 'a…@example.com',
      session_id: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(change).not.toHaveProperty('otp');
    expect(await methods()).toEqual([]);
    const otp = await codeSentTo(app, address);
    const verified = await library.verifyMfaChange({ userid: ada.id, sessionId: change.session_id, otp });
    expect(verified).toMatchObject({ status: 'success', mfa_method: 'email', recovery_codes: expect.any(Array) });
    expect(await library.getUserCredentials(ada.id)).toEqual({ status: 'success', mfa_method: 'email' });
  });

  it('changes it to SMS; the old one stays until the new one is verified, and the user is told', async () => {
    await enrolled('email');
    const library = await backEnd.delegationClient();
    const change = await library.initiateMfaChange({
      userid: address,
      mfaMethod: 'sms',
      phoneNumber: '+1 (202) 555-0143',
    });
    expect(change).toMatchObject({ status: 'success', sent_to: '…0143' });
    expect(await methods()).toEqual(['email']);
    const otp = await codeSentTo(app, phone);
    const wrong = otp === '000000' ? '000001' : '000000';
    expect(await library.verifyMfaChange({ userid: address, sessionId: change.session_id, otp: wrong })).toMatchObject({
      status: 'failed',
      code: 'CODE_REJECTED',
    });
    expect(await methods()).toEqual(['email']);
    expect(await library.verifyMfaChange({ userid: address, sessionId: change.session_id, otp })).toMatchObject({
      status: 'success',
    });
    expect(await methods()).toEqual(['sms']);
    expect((await factors())[0]).toMatchObject({ phone });
    await app.runJobs();
    expect(app.mailbox.at(-1)).toMatchObject({ to: address, subject: expect.stringContaining('Second step changed') });
    const [changed] = await events('mfa.changed');
    expect(changed).toMatchObject({
      actorKind: 'client',
      actorId: backEnd.client.id,
      subjectId: ada.id,
      detail: { before: ['email'], after: ['sms'] },
    });
    expect(await events('mfa.rejected')).toHaveLength(1);
  });

  it('changes it to an authenticator app, whose secret only this answer holds', async () => {
    await enrolled('sms', { phone });
    const library = await backEnd.delegationClient();
    const change = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    expect(change.totp?.otpauth_uri).toMatch(/^otpauth:\/\/totp\/Example/);
    const otp = totpCode(change.totp?.secret ?? '');
    const verify = () => library.verifyMfaChange({ userid: address, sessionId: change.session_id, otp });
    expect(await verify()).toMatchObject({ status: 'success', mfa_method: 'totp' });
    expect(await methods()).toEqual(['totp']);
    expect(await verify()).toMatchObject({ status: 'failed', code: 'SESSION_EXPIRED' });
    expect(app.logLines.join()).not.toContain(change.totp?.secret);
  });

  it('accepts the right code once of twenty tries at once', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId } = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const otp = await codeSentTo(app, address);
    const tries = Array.from({ length: 20 }, () => library.verifyMfaChange({ userid: address, sessionId, otp }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'success')).toHaveLength(1);
    expect(await methods()).toEqual(['email']);
  });

  it('has five tries for a change, and ten minutes', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId, totp } = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    const verify = (otp: string) => library.verifyMfaChange({ userid: address, sessionId, otp });
    for (let tried = 0; tried < 5; tried += 1) expect((await verify('x')).code).toBe('CODE_REJECTED');
    expect((await verify(totpCode(totp?.secret ?? ''))).code).toBe('SESSION_EXPIRED');
    const later = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    turn(app, 10 * 60);
    const otp = totpCode(later.totp?.secret ?? '');
    const expired = await library.verifyMfaChange({ userid: address, sessionId: later.session_id, otp });
    expect(expired.code).toBe('SESSION_EXPIRED');
    expect(await methods()).toEqual([]);
  });

  it('may send a code each thirty seconds', async () => {
    const library = await backEnd.delegationClient();
    const begin = () => library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    expect((await begin()).status).toBe('success');
    expect(await begin()).toMatchObject({ status: 'failed', code: 'RATE_LIMITED', retry_after: 30, session_id: '' });
    turn(app, 30);
    expect((await begin()).status).toBe('success');
  });

  it('sends for more users than one network may, as it speaks for many people', async () => {
    const library = await backEnd.delegationClient();
    for (let count = 0; count < 35; count += 1) {
      const user = await app.make.user(project);
      expect((await library.initiateMfaChange({ userid: user.id, mfaMethod: 'email' })).status).toBe('success');
    }
  });

  it.each([
    ['a user that nobody knows', () => 'nobody@example.com'],
    ['an id that nobody has', () => crypto.randomUUID()],
    ['text that is no address', () => 'x'],
  ])('is told of %s', async (_, userid) => {
    const library = await backEnd.delegationClient();
    const refused = { status: 'failed', code: 'USER_NOT_FOUND' };
    expect(await library.getUserCredentials(userid())).toMatchObject(refused);
    expect(await library.initiateMfaChange({ userid: userid(), mfaMethod: 'email' })).toMatchObject(refused);
  });

  it('reaches no user of another project, and none that is not active', async () => {
    const stranger = await app.make.user(await app.make.project({ name: 'Other' }));
    const inactive = await app.make.user(project, { active: false });
    const library = await backEnd.delegationClient();
    for (const user of [stranger, inactive]) {
      expect((await library.getUserCredentials(user.id)).code).toBe('USER_NOT_FOUND');
      expect((await library.getUserCredentials(user.userName)).code).toBe('USER_NOT_FOUND');
      expect((await library.initiateMfaChange({ userid: user.id, mfaMethod: 'totp' })).code).toBe('USER_NOT_FOUND');
    }
  });

  it('cannot complete what another back end, or for another user, was begun', async () => {
    const [library, other] = [
      await backEnd.delegationClient(),
      await (await TestBackEnd.of(app, project)).delegationClient(),
    ];
    const grace = await app.make.user(project);
    const { session_id: sessionId } = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const otp = await codeSentTo(app, address);
    expect((await other.verifyMfaChange({ userid: address, sessionId, otp })).code).toBe('SESSION_EXPIRED');
    expect((await library.verifyMfaChange({ userid: grace.id, sessionId, otp })).code).toBe('SESSION_EXPIRED');
    expect((await library.verifyMfaChange({ userid: address, sessionId, otp })).status).toBe('success');
  });

  it('cannot complete a change of a user who was deactivated meanwhile', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId, totp } = await library.initiateMfaChange({ userid: address, mfaMethod: 'totp' });
    await app.services.db.transaction((em) => em.execute('update users set active = false where id = ?', [ada.id]));
    const otp = totpCode(totp?.secret ?? '');
    expect((await library.verifyMfaChange({ userid: address, sessionId, otp })).code).toBe('SESSION_EXPIRED');
    expect(await methods()).toEqual([]);
  });

  it('cannot change the phone that a directory owns', async () => {
    const values = { provenance: 'scim', phone } as const;
    const provisioned = await app.make.user(project, values);
    const library = await backEnd.delegationClient();
    const begin = (phoneNumber: string) =>
      library.initiateMfaChange({ userid: provisioned.id, mfaMethod: 'sms', phoneNumber });
    expect(await begin('+12025550199')).toMatchObject({ status: 'failed', code: 'PHONE_LOCKED_BY_PROVISIONING' });
    expect(await begin(phone)).toMatchObject({ status: 'success' });
    expect(await begin('12')).toMatchObject({ status: 'failed', code: 'PHONE_INVALID' });
  });

  it('moves the phone on record with a new number, once that has proved itself', async () => {
    const user = await app.make.user(project, { phone });
    const library = await backEnd.delegationClient();
    const number = '+12025550177';
    const begun = await library.initiateMfaChange({ userid: user.id, mfaMethod: 'sms', phoneNumber: number });
    const otp = await codeSentTo(app, number);
    const phoneOf = async () => (await app.services.db.reader().findOneOrFail(User, user.id)).phone;
    expect(await phoneOf()).toBe(phone);
    const tried = { userid: user.id, sessionId: begun.session_id, otp };
    expect((await library.verifyMfaChange(tried)).status).toBe('success');
    expect(await phoneOf()).toBe(number);
    await app.runJobs();
    expect(app.mailbox.some(({ to, text }) => to === phone && text.includes('0177'))).toBe(true);
  });

  it('cannot complete a change of number that a directory has locked meanwhile', async () => {
    const user = await app.make.user(project, {});
    const library = await backEnd.delegationClient();
    const number = '+12025550178';
    const begun = await library.initiateMfaChange({ userid: user.id, mfaMethod: 'sms', phoneNumber: number });
    const otp = await codeSentTo(app, number);
    await app.services.db.transaction((em) =>
      em.execute("update users set provenance = 'scim' where id = ?", [user.id]),
    );
    const done = await library.verifyMfaChange({ userid: user.id, sessionId: begun.session_id, otp });
    expect(done).toMatchObject({ status: 'failed', code: 'PHONE_LOCKED_BY_PROVISIONING' });
  });

  it('sees one-time codes in test mode only', async () => {
    await app.services.projects.update(project.id, { testMode: true }, system);
    const library = await backEnd.delegationClient();
    const change = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    expect(change).toMatchObject({ otp: expect.stringMatching(/^\d{6}$/) });
  });

  it('speaks to users in the language that the directory has of them', async () => {
    const values = { attributes: { preferredLanguage: 'de-AT' } };
    const user = await app.make.user(project, values);
    await (await backEnd.delegationClient()).initiateMfaChange({ userid: user.id, mfaMethod: 'email' });
    await app.runJobs();
    expect(app.mailbox.at(-1)?.text).toContain('Ihr Code');
  });
});

describe('keys of delegation', () => {
  it('rotate on our side: each request is answered with the pair that it was encrypted to', async () => {
    const before = await backEnd.delegationClient();
    turn(app, 1);
    await app.services.delegationKeys.rotate(backEnd.client.id, system, 3600);
    const after = await backEnd.delegationClient();
    for (const library of [before, after]) {
      expect((await library.getUserCredentials(address)).status).toBe('success');
    }
    turn(app, 3600);
    await expect(before.getUserCredentials(address)).rejects.toMatchObject({ code: 'REQUEST_REJECTED' });
    expect((await after.getUserCredentials(address)).status).toBe('success');
  });

  it('rotate on the back end’s side: each request is answered to the pair that signed it', async () => {
    const before = await backEnd.delegationClient();
    turn(app, 1);
    backEnd.pair = makePair();
    await app.services.delegationKeys.register(backEnd.client.id, backEnd.pair.publicPem, system, 3600);
    const after = await backEnd.delegationClient();
    for (const library of [before, after]) {
      expect((await library.getUserCredentials(address)).status).toBe('success');
    }
    turn(app, 3600);
    await expect(before.getUserCredentials(address)).rejects.toMatchObject({ name: 'DelegationError' });
    expect((await after.getUserCredentials(address)).status).toBe('success');
  });

  it('are good for nothing once they are revoked', async () => {
    const library = await backEnd.delegationClient();
    const keys = await app.services.delegationKeys.list(app.services.db.reader(), [backEnd.client.id]);
    const ours = keys.find(({ party }) => party === 'idp');
    await app.services.delegationKeys.revoke(ours?.id ?? '', system);
    await expect(library.getUserCredentials(address)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
  });

  it('must be there at all', async () => {
    const { client, secretKey } = await app.make.client(project);
    const library = await backEnd.delegationClient({ spId: client.id, apiKey: secretKey });
    await expect(library.getUserCredentials(address)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
  });
});

describe('POST /v1/delegation', () => {
  const clear = async (reply: Promise<{ status: number; payload?: object; code: string | undefined }>) => {
    const { code, payload, status } = await reply;
    expect(payload).toBeUndefined();
    return [status, code];
  };
  const sealed = async (reply: Promise<{ status: number; payload?: { status: number }; code: string | undefined }>) => {
    const { code, payload, status } = await reply;
    expect(status).toBe(200);
    return [payload?.status, code];
  };

  it('answers a plain request, bound to it', async () => {
    const text = await backEnd.seal({ claims: { jti: 'a-jti-of-twenty-chars' } });
    const { payload } = await backEnd.send(text);
    const now = Math.floor(app.clock.now().getTime() / 1000);
    expect(payload).toEqual({
      iss: backEnd.audience,
      aud: backEnd.client.id,
      req_jti: 'a-jti-of-twenty-chars',
      req_hash: createHash('sha256').update(text).digest('base64url'),
      iat: now,
      exp: now + 60,
      status: 200,
      body: { mfa_method: 'none' },
    });
  });

  it('asks for a live secret key, before anything else', async () => {
    const text = await backEnd.seal();
    const { client, publishableKey, secretKey } = await app.make.client(project);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': publishableKey }))).toEqual([401, 'INVALID_CLIENT']);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': 'lk_sk_nonsense' }))).toEqual([401, 'INVALID_CLIENT']);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': '' }))).toEqual([401, 'INVALID_CLIENT']);
    await app.make.disable(client);
    expect(await clear(backEnd.send(text, { 'X-Api-Key': secretKey }))).toEqual([401, 'INVALID_CLIENT']);
    const keys = await app.services.clients.apiKeysOf(app.services.db.reader(), [backEnd.client.id]);
    const key = keys.find(({ kind }) => kind === 'secret');
    await app.services.clients.revokeApiKey(key?.id ?? '', system);
    expect(await clear(backEnd.send(text))).toEqual([401, 'INVALID_CLIENT']);
    expect((await fetch(`${app.url}/v1/delegation`)).status).toBe(401);
  });

  it('takes application/jose of at most 64 KB, by POST', async () => {
    const text = await backEnd.seal();
    expect(await clear(backEnd.send(text, { 'Content-Type': 'application/json' }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
    expect(await clear(backEnd.send(text, { 'Content-Encoding': 'gzip' }))).toEqual([415, 'REQUEST_REJECTED']);
    expect(await clear(backEnd.send('x'.repeat(65_537)))).toEqual([413, 'REQUEST_TOO_LARGE']);
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${app.url}/v1/delegation`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
    }
  });

  it('refuses what cannot be decrypted without saying why', async () => {
    const stranger = makePair();
    const [header = '', ...rest] = (await backEnd.seal()).split('.');
    const reheaded = (change: object) => {
      const decoded = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
      return [Buffer.from(JSON.stringify({ ...decoded, ...change })).toString('base64url'), ...rest].join('.');
    };
    const bent = [
      '',
      'nonsense',
      'a.b.c.d.e',
      '....',
      await backEnd.seal({ encryptTo: stranger.encryption.publicKey }),
      await backEnd.seal({ outer: { typ: 'delegation-res+jwe' } }),
      await backEnd.seal({ outer: { typ: undefined } }),
      await backEnd.seal({ outer: { enc: 'A128GCM' } }),
      await backEnd.seal({ outer: { alg: 'ECDH-ES+A256KW' } }),
      await backEnd.seal({ outer: { x5u: 'https://evil.example' } }),
      await backEnd.seal({ outer: { jku: 'https://evil.example' } }),
      await backEnd.seal({ outer: { zip: 'DEF' } }).catch(() => reheaded({ zip: 'DEF' })),
      reheaded({ crit: ['b64'] }),
      reheaded({ alg: 'dir' }),
      reheaded({ epk: { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) } }),
      reheaded({ epk: { kty: 'OKP', crv: 'X25519', x: 'short' } }),
      reheaded({ epk: { kty: 'EC', crv: 'P-256', x: 'A', y: 'A' } }),
      reheaded({ epk: null }),
      reheaded({ epk: 'x' }),
      reheaded({ kid: 7 }),
      `${reheaded({})}.`,
      `${await backEnd.seal()}=`,
    ];
    const replies = [];
    for (const text of bent) replies.push(await backEnd.send(text));
    for (const { code, payload, status, text } of replies) {
      expect([status, code, payload]).toEqual([400, 'REQUEST_REJECTED', undefined]);
      expect(JSON.parse(text).error.message).toBe('The request is not one of this client to this service.');
    }
  });

  it('answers in the envelope once it has decrypted, refusals too', async () => {
    const hmacHeader = Buffer.from('{"alg":"HS256","typ":"delegation-req+jwt"}').toString('base64url');
    const noneHeader = Buffer.from('{"alg":"none","typ":"delegation-req+jwt"}').toString('base64url');
    const stranger = makePair();
    const jwk = stranger.signing.publicKey.export({ format: 'jwk' });
    for (const bend of [
      { raw: 'nonsense' },
      { raw: '' },
      { raw: JSON.stringify({ iss: backEnd.client.id, op: 'getUserCredentials' }) },
      { raw: `${noneHeader}.e30.` },
      { raw: `${hmacHeader}.e30.AAAA` },
      { raw: await backEnd.seal() },
      { signWith: stranger.signing.privateKey },
      { signWith: stranger.signing.privateKey, inner: { jwk } },
      { inner: { jwk } },
      { inner: { jku: 'https://evil.example' } },
      { inner: { x5u: 'https://evil.example' } },
      { inner: { typ: 'JWT' } },
      { inner: { typ: 'delegation-res+jwt' } },
      { inner: { kid: 'unknown' } },
      { inner: { crit: ['exp'], exp: 1 } },
      { claims: { iss: crypto.randomUUID() } },
      { claims: { aud: app.url } },
      { claims: { aud: `${app.url}/${crypto.randomUUID()}` } },
      { claims: { aud: [`${app.url}/${project.id}`] } },
      { claims: { enc_kid: 'another' } },
      { claims: { enc_kid: undefined } },
      { claims: { jti: undefined } },
      { claims: { jti: '' } },
      { claims: { exp: undefined } },
      { claims: { iat: undefined } },
      { claims: { op: 'constructor' } },
      { claims: { op: undefined } },
      { claims: { body: undefined } },
    ]) {
      const text = await backEnd.seal(bend).catch(() => undefined);
      if (text === undefined) continue;
      expect(await sealed(backEnd.send(text)), JSON.stringify(bend)).toEqual([400, 'REQUEST_REJECTED']);
    }
  });

  it('refuses a request that lives longer than a minute, is old, or from the future', async () => {
    const now = Math.floor(app.clock.now().getTime() / 1000);
    const at = (iat: number, exp: number) => backEnd.seal({ claims: { iat, exp } });
    expect(await sealed(backEnd.send(await at(now, now + 61)))).toEqual([400, 'REQUEST_REJECTED']);
    expect(await sealed(backEnd.send(await at(now, now)))).toEqual([400, 'REQUEST_REJECTED']);
    expect(await sealed(backEnd.send(await at(now - 90, now - 30)))).toEqual([400, 'STALE']);
    expect(await sealed(backEnd.send(await at(now + 31, now + 60)))).toEqual([400, 'STALE']);
    expect(await sealed(backEnd.send(await at(now - 80, now - 29)))).toEqual([200, undefined]);
    expect(await sealed(backEnd.send(await at(now + 30, now + 90)))).toEqual([200, undefined]);
  });

  it('refuses operations that are malformed, and goes on', async () => {
    for (const body of [null, 7, [], {}, { userid: 7 }, { userid: '' }, { userid: 'x'.repeat(321) }]) {
      expect(await sealed(backEnd.send(await backEnd.seal({ body })))).toEqual([400, 'INVALID_REQUEST']);
    }
    for (const userid of ['a\0b', '\ud800']) {
      expect(await sealed(backEnd.send(await backEnd.seal({ body: { userid } })))).toEqual([400, 'INVALID_REQUEST']);
    }
    const op = 'initiateMfaChange';
    for (const body of [
      { userid: address },
      { userid: address, mfa_method: 'push' },
      { userid: address, mfa_method: '__proto__' },
    ]) {
      expect(await sealed(backEnd.send(await backEnd.seal({ op, body })))).toEqual([400, 'INVALID_REQUEST']);
    }
    expect(await sealed(backEnd.send(await backEnd.seal()))).toEqual([200, undefined]);
  });

  it('takes each request once, also fifty times at once and on another process', async () => {
    const text = await backEnd.seal();
    const replies = await Promise.all(Array.from({ length: 50 }, () => backEnd.send(text)));
    expect(replies.filter(({ payload }) => payload?.status === 200)).toHaveLength(1);
    expect(replies.filter(({ code, payload }) => payload?.status === 409 && code === 'REPLAYED')).toHaveLength(49);
    const claims = { jti: 'the-same-jti-in-another-envelope' };
    expect(await sealed(backEnd.send(await backEnd.seal({ claims })))).toEqual([200, undefined]);
    expect(await sealed(backEnd.send(await backEnd.seal({ claims })))).toEqual([409, 'REPLAYED']);
  });

  it('remembers a request for longer than any clock lets it pass', async () => {
    const text = await backEnd.seal();
    await backEnd.send(text);
    for (const step of [60, 29, 1, 60]) {
      turn(app, step);
      await app.services.retention.sweep();
      const [status] = await sealed(backEnd.send(text));
      expect([400, 409]).toContain(status);
    }
    turn(app, 120);
    await app.services.retention.sweep();
    const left = await app.services.db.reader().execute('select * from used_delegation_requests');
    expect(left).toEqual([]);
  });

  it('uses a request up even where it is refused', async () => {
    const text = await backEnd.seal({ body: { userid: 'nobody@example.com' } });
    expect(await sealed(backEnd.send(text))).toEqual([404, 'USER_NOT_FOUND']);
    expect(await sealed(backEnd.send(text))).toEqual([409, 'REPLAYED']);
  });

  it('refuses another client’s request, whoever’s key comes with it', async () => {
    const other = await TestBackEnd.of(app, project);
    const text = await backEnd.seal();
    expect((await other.send(text)).code).toBe('REQUEST_REJECTED');
    expect((await backEnd.send(text, { 'X-Api-Key': other.secretKey })).code).toBe('REQUEST_REJECTED');
    // The same pair of the back end's own, at two clients: each still answers for itself alone.
    const twin = await TestBackEnd.of(app, project, backEnd.pair);
    const encryptTo = createPublicKey((await twin.ours()).encryption);
    const forwarded = await backEnd.seal({ encryptTo });
    expect(await sealed(twin.send(forwarded))).toEqual([400, 'REQUEST_REJECTED']);
  });

  it('does not accept a signed request that somebody sealed anew for another key of ours', async () => {
    const recipient = generateKeyPairSync('x25519');
    const overheard = await backEnd.seal({ encryptTo: recipient.publicKey });
    const { plaintext } = await compactDecrypt(overheard, recipient.privateKey);
    const again = await new CompactEncrypt(plaintext)
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe' })
      .encrypt(createPublicKey((await backEnd.ours()).encryption));
    expect(await sealed(backEnd.send(again))).toEqual([400, 'REQUEST_REJECTED']);
  });

  it('answers a bug of ours in the envelope, and tells nothing of it', async () => {
    const text = await backEnd.seal();
    await app.services.db.transaction((em) => em.execute('alter table used_delegation_requests rename to away'));
    const { code, payload } = await backEnd.send(text);
    expect([payload?.status, code]).toEqual([500, 'SERVER_ERROR']);
    expect(JSON.stringify(payload)).not.toContain('used_delegation_requests');
  });

  it('logs neither keys, codes nor contents', async () => {
    const library = await backEnd.delegationClient();
    const { session_id: sessionId } = await library.initiateMfaChange({ userid: address, mfaMethod: 'email' });
    const otp = await codeSentTo(app, address);
    await library.verifyMfaChange({ userid: address, sessionId, otp: 'x' });
    await backEnd.send('nonsense');
    const log = app.logLines.join('\n');
    expect(log).toMatch(/"refusal":"[A-Z_]+".*"delegation refused"/);
    for (const secret of [backEnd.secretKey, sessionId, otp, address]) expect(log).not.toContain(secret);
  });
});

describe('GET /v1/delegation', () => {
  it('tells a back end what its requests are for', async () => {
    const response = await fetch(`${app.url}/v1/delegation`, { headers: { 'X-Api-Key': backEnd.secretKey } });
    expect(await response.json()).toEqual({ issuer: app.url, project_id: project.id, client_id: backEnd.client.id });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { SigninPage } from '../../test/signin-browser.ts';
import { appOrigin, expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests();
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  page = await world.page();
  userid = newAddress();
});

describe('steps', () => {
  it('are rejected without effect in any wrong order', async () => {
    await page.challenge();
    const wrong: [string, Record<string, unknown>][] = [
      ['verify-email-otp', { otp: '123456' }],
      ['verify-device', {}],
      ['initiate-mfa', { session_id: 'x' }],
      ['verify-mfa', { otp: '123456' }],
    ];
    for (const [step, fields] of wrong) {
      expect(await page.step(step, { userid, ...fields })).toMatchObject(refusal('OUT_OF_ORDER', 409));
    }
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
  });

  it('of an unknown, ended or expired transaction are TRANSACTION_EXPIRED, without a nonce', async () => {
    await page.challenge();
    page.txn = 'x'.repeat(43);
    const unknown = await page.step('authenticate', { userid });
    expect(unknown).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    expect(unknown['nonce']).toBeUndefined();
    await world.register(page, userid);
    expect(await page.step('authenticate', { userid }, 'use')).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    await page.challenge();
    world.app.clock.turn(600);
    expect(await page.step('authenticate', { userid })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('of a transaction of another client, project or origin are TRANSACTION_EXPIRED', async () => {
    await page.challenge();
    const { publishableKey } = await world.app.make.client(world.project);
    const { publishableKey: foreign } = await world.app.make.client(await world.app.make.project({ name: 'Other' }));
    const two = await world.app.make.client(world.project, {
      redirectUris: ['https://app.example.com/a', 'https://other.example.com/b'],
    });
    for (const apiKey of [publishableKey, foreign]) {
      const other = await world.page(page.key, { apiKey });
      other.txn = page.txn;
      expect(await other.step('authenticate', { userid })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
    }
    const first = await world.page(page.key, { apiKey: two.publishableKey });
    await first.challenge();
    const second = await world.page(page.key, { apiKey: two.publishableKey, origin: 'https://other.example.com' });
    second.txn = first.txn;
    expect(await second.step('authenticate', { userid })).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('of a disabled client, or with a revoked key, are INVALID_API_KEY', async () => {
    await page.challenge();
    await world.app.make.disable(world.client);
    expect(await page.step('authenticate', { userid })).toMatchObject(refusal('INVALID_API_KEY', 401));
  });
});

describe('the request', () => {
  it.each<[string, unknown, number]>([
    ['invalid JSON', '{', 400],
    ['a duplicate member', '{"txn":"a","txn":"b","userid":"c"}', 400],
    ['an array', '[]', 400],
    ['null', 'null', 400],
    ['nothing', '', 400],
    ['a number for the address', '{"txn":"a","userid":1}', 400],
    ['a huge address', JSON.stringify({ txn: 'a', userid: 'x'.repeat(321) }), 400],
    ['more than 64 KB', JSON.stringify({ txn: 'a', userid: 'b', pad: 'x'.repeat(65_536) }), 413],
    ['deep nesting', `{"txn":"a","userid":"b","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 400],
  ])('with %s is refused (%#)', async (_, body, status) => {
    const answer = await page.post('authenticate', body);
    expect(answer.httpStatus).toBe(status);
    expect(answer.status).toBe('ERROR');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['a number for the code', 'verify-email-otp', { otp: 123456 }],
    ['no code', 'verify-email-otp', {}],
    ['an unknown factor', 'verify-device', { mfa_method: 'fax' }],
    ['a long address', 'authenticate', { userid: 'x'.repeat(321) }],
  ])('with %s uses up the nonce of its sign-in and gets the next', async (_, step, fields) => {
    await world.register(page, userid);
    await page.challenge();
    const earlier = page.nonce;
    const answer = await page.step(step, { userid, ...fields });
    expect(answer).toMatchObject(refusal('INVALID_REQUEST', 400));
    expect(answer['nonce']).toMatch(/^[\w-]{43}$/);
    const stale = await page.step('authenticate', { userid }, { kind: 'use', claims: { nonce: earlier } });
    expect(stale).toMatchObject(refusal('NONCE_REJECTED', 401));
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });

  it('may have null for an absent field', async () => {
    const none = { code_challenge: null, code_challenge_method: null, jkt: null, passkey: null };
    expect(await page.post('challenge', none)).toMatchObject({ httpStatus: 200, txn: expect.any(String) });
    await page.challenge();
    const sent = await page.step('authenticate', { userid, remember_device: null, step_up: null });
    expectStatus(sent, 'OTP_NEEDED');
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    const answer = await page.step('verify-device', { userid, mfa_method: null, phone_number: null }, 'registration');
    expectStatus(answer, 'SUCCESS');
    expect(await page.step('authenticate', { userid: null })).toMatchObject(refusal('INVALID_REQUEST', 400));
  });

  it('with a malformed field gets no nonce if the sign-in is unknown or of another page', async () => {
    await page.challenge();
    const { nonce } = page;
    const malformed = { txn: page.txn, userid: 1 };
    const stranger = await world.page(undefined, { apiKey: 'lk_pk_unknown' });
    const answers = [await stranger.post('authenticate', malformed)];
    const { publishableKey } = await world.app.make.client(world.project);
    const other = await world.page(undefined, { apiKey: publishableKey });
    answers.push(await other.post('authenticate', malformed), await page.post('authenticate', { txn: 'a', userid: 1 }));
    expect(answers.map(({ httpStatus, nonce: next }) => [httpStatus, next])).toEqual([
      [401, undefined],
      [400, undefined],
      [400, undefined],
    ]);
    expect(page.nonce).toBe(nonce);
  });

  it('with another content type is 415; an empty body is rejected by every step', async () => {
    for (const step of [
      'challenge',
      'authenticate',
      'verify-email-otp',
      'verify-device',
      'initiate-mfa',
      'verify-mfa',
    ]) {
      const answer = await page.post(step, '{}', { 'Content-Type': 'text/plain' });
      expect(answer).toMatchObject(refusal('INVALID_REQUEST', 415));
      if (step !== 'challenge') expect(await page.post(step, '{}')).toMatchObject(refusal('INVALID_REQUEST', 400));
    }
  });

  it('with another method, or to an unknown step, is refused in the format of other errors', async () => {
    const send = async (method: string, step: string) => {
      const response = await fetch(`${world.app.url}/v1/signin/${step}`, { method, headers: { Origin: appOrigin } });
      const { status: httpStatus, headers } = response;
      return { ...((await response.json()) as object), httpStatus, allow: headers.get('allow'), headers };
    };
    for (const step of ['challenge', 'authenticate', 'verify-passkey']) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await send(method, step);
        expect(answer).toMatchObject({ ...refusal('INVALID_REQUEST', 405), allow: 'POST' });
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('access-control-allow-origin')).toBe(appOrigin);
      }
    }
    for (const step of ['unknown', 'constructor', 'authenticate/more', '']) {
      expect(await send('GET', step)).toMatchObject({ ...refusal('INVALID_REQUEST', 404), allow: null });
    }
  });

  it('with NUL or a lone surrogate in any field is a 4xx', async () => {
    await page.challenge();
    for (const bad of ['\\u0000', '\\ud800']) {
      for (const step of ['authenticate', 'verify-email-otp', 'verify-device', 'verify-mfa']) {
        const body = `{"txn":"${page.txn}","userid":"${bad}@example.com","otp":"${bad}","phone_number":"${bad}"}`;
        const answer = await page.post(step, body);
        expect(answer.httpStatus === 200 ? answer.status : answer.httpStatus).toSatisfy(
          (seen: unknown) => seen === 'INVALID_EMAIL' || (typeof seen === 'number' && seen < 500),
        );
      }
      expect((await page.post('challenge', `{"jkt":"${bad}"}`)).httpStatus).toBe(400);
    }
    expect((await page.post('authenticate', `{"txn":"\\u0000","userid":"a@example.com"}`)).httpStatus).toBe(410);
  });

  it('needs a publishable key, from an origin of the client', async () => {
    const bad = [{ apiKey: undefined }, { apiKey: '' }, { apiKey: 'lk_pk_unknown' }, { apiKey: world.secretKey }] as {
      apiKey: string;
    }[];
    for (const over of bad) {
      const answer = await (await world.page(undefined, over)).challenge();
      expect(answer).toMatchObject(refusal('INVALID_API_KEY', 401));
    }
    for (const origin of [
      'https://evil.example',
      'https://app.example.com.evil.tld',
      'http://app.example.com',
      'null',
    ]) {
      const answer = await (await world.page(undefined, { origin })).challenge();
      expect(answer).toMatchObject(refusal('ORIGIN_NOT_ALLOWED', 403));
    }
  });

  it('is allowed cross-origin only for pages of the client', async () => {
    const url = `${world.app.url}/v1/signin/authenticate`;
    const preflight = (origin: string) =>
      fetch(url, {
        method: 'OPTIONS',
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'x-api-key,device-proof',
        },
      });
    const allowed = await preflight(appOrigin);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(appOrigin);
    expect(allowed.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('device-proof');
    const { headers } = await page.challenge();
    expect(headers.get('access-control-allow-origin')).toBe(appOrigin);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  describe('of a page whose origin is not registered', () => {
    const stranger = 'https://evil.example';
    const send = (headers: Record<string, string>, method = 'POST', body?: string) =>
      fetch(`${world.app.url}/v1/signin/challenge`, {
        method,
        headers: { 'Content-Type': 'application/json', Origin: stranger, 'X-Api-Key': world.apiKey, ...headers },
        ...(method === 'POST' && { body: body ?? '{}' }),
      });
    const readableBy = (response: Response) => response.headers.get('access-control-allow-origin');

    it('may be sent, without cookies and without the flow of the hosted page', async () => {
      const headers = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'signin-flow' };
      const answer = await send(headers, 'OPTIONS');
      expect([answer.status, readableBy(answer)]).toEqual([204, stranger]);
      expect(answer.headers.get('vary')).toContain('Origin');
      expect(answer.headers.get('access-control-allow-headers')).toBe('Content-Type, X-Api-Key, Device-Proof');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    });

    it('gets ORIGIN_NOT_ALLOWED, and no data of the client', async () => {
      const answer = await send({});
      expect([answer.status, readableBy(answer)]).toEqual([403, stranger]);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(await answer.json()).toEqual({
        status: 'ERROR',
        error: {
          code: 'ORIGIN_NOT_ALLOWED',
          category: 'fatal',
          message: "Origin must match one of the client's redirect URIs.",
          request_id: expect.any(String),
        },
      });
    });

    it('cannot read any other response', async () => {
      for (const answer of [
        await send({ 'X-Api-Key': 'lk_pk_unknown' }),
        await send({}, 'POST', '{'),
        await send({ 'Content-Type': 'text/plain' }),
      ]) {
        expect([answer.ok, readableBy(answer)]).toEqual([false, null]);
      }
    });

    it.each(['null', 'file://', 'chrome-extension://abc', 'https://evil.example/path'])(
      'gets no readable response at %s',
      async (origin) => {
        expect(readableBy(await send({ Origin: origin }, 'OPTIONS'))).toBeNull();
        const answer = await send({ Origin: origin });
        expect([answer.status, readableBy(answer)]).toEqual([403, null]);
      },
    );
  });

  it('with a malformed address is INVALID_EMAIL', async () => {
    for (const userid of ['', ' ', 'ann', 'ann@', '@example.com', 'ann@@example.com', 'a b@example.com', '<a@b.c>']) {
      await page.challenge();
      expect(await page.step('authenticate', { userid })).toMatchObject({ status: 'INVALID_EMAIL', httpStatus: 200 });
    }
  });
});

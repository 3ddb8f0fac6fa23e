/** DPoP at both issuers (RFC 9449): tokens bound to a key, at the token endpoint and at UserInfo. */

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { sweepAhead } from '../../test/clock.ts';
import { type DpopKey, dpopKey } from '../../test/dpop.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let there: TestApp;
let project: Project;
let client: Client;
let user: User;
/** At the base issuer, and at the project's. */
let base: RelyingParty;
let party: RelyingParty;
let key: DpopKey;
let other: DpopKey;

beforeAll(async () => {
  app = await buildTestApp();
  there = await buildSibling(app);
});
afterAll(async () => {
  await there.close();
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project, { grantTypes: ['refresh_token'] }));
  user = await app.make.user(project);
  base = new RelyingParty(app, client);
  party = partyAt(app, project, client);
  await Promise.all([base.signIn(user), party.signIn(user)]);
  [key, other] = [await dpopKey(app.clock), await dpopKey(app.clock)];
});

interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, string> & { error?: string };
}
const change = (input: Parameters<TestApp['services']['clients']['update']>[1]) =>
  app.services.clients.update({ project: { id: project.id }, id: client.id }, input, system);
const at = (rp: RelyingParty) => ({ url: `${rp.issuer}/oauth2/token` });
const used = async () =>
  (
    await rows<{ n: number }>(
      app.services.db,
      `select count(*)::int as n from used_assertions where client_id = '${client.id}'`,
    )
  )[0]?.n;

/** @param to the process that takes it */
async function post(rp: RelyingParty, form: Changes, proofs: string[], to = app, path = 'token'): Promise<Answer> {
  const fields = Object.entries({ client_id: client.id, ...form }).filter(
    (one): one is [string, string] => one[1] !== undefined,
  );
  const response = await fetch(`${rp.issuer.replace(app.url, to.url)}/oauth2/${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: proofs.map((proof): [string, string] => ['DPoP', proof]),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}
const exchange = (rp: RelyingParty, code: string, proof: string | undefined, form: Changes = {}, to = app) =>
  post(
    rp,
    {
      grant_type: 'authorization_code',
      code,
      code_verifier: rp.proof.verifier,
      redirect_uri: client.redirectUris[0],
      ...form,
    },
    proof === undefined ? [] : [proof],
    to,
  );
const tokens = async (rp: RelyingParty, by = key, parameters: Changes = {}) =>
  (await exchange(rp, await rp.code(parameters), await by.proof(at(rp)))).body as unknown as {
    access_token: string;
    id_token: string;
    refresh_token: string;
  };
const refresh = async (token: string, proof?: string, form: Changes = {}, to = app) =>
  post(party, { grant_type: 'refresh_token', refresh_token: token, ...form }, proof === undefined ? [] : [proof], to);

async function userInfo(rp: RelyingParty, token: string, proof?: string, scheme = 'DPoP', to = app) {
  const headers = { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }) };
  const response = await fetch(`${rp.issuer.replace(app.url, to.url)}/userinfo`, { headers });
  return {
    status: response.status,
    headers: response.headers,
    challenge: response.headers.get('www-authenticate') ?? '',
  };
}
const userInfoProof = (rp: RelyingParty, token: string, by = key, claims = {}) =>
  by.proof({ method: 'GET', url: `${rp.issuer}/userinfo`, token }, claims);

describe('a token request with a proof', () => {
  it.each([
    ['the base issuer', () => base],
    ['the project’s issuer', () => party],
  ])('at %s gets tokens that are bound to its key, which UserInfo accepts only with a proof', async (_where, where) => {
    const rp = where();
    const { status, headers, body } = await exchange(rp, await rp.code(), await key.proof(at(rp)));
    expect([status, body['token_type']]).toEqual([200, 'DPoP']);
    expect(headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/);
    for (const token of [body['access_token'], body['id_token']]) {
      expect(decodeJwt(String(token))['cnf']).toEqual({ jkt: key.jkt });
    }
    const token = String(body['access_token']);
    expect((await userInfo(rp, token, await userInfoProof(rp, token))).status).toBe(200);
    const downgraded = await userInfo(rp, token, undefined, 'Bearer');
    expect(downgraded.status).toBe(401);
    expect(downgraded.challenge).toMatch(/^DPoP error="invalid_token", .*algs="ES256 /);
    const inBody = { method: 'POST', body: new URLSearchParams({ access_token: token }) };
    expect((await fetch(`${rp.issuer}/userinfo`, inBody)).status).toBe(401);
  });

  it('gets bearer tokens without one, and no nonce', async () => {
    const { headers, body } = await exchange(party, await party.code(), undefined);
    expect([body['token_type'], headers.get('dpop-nonce')]).toEqual(['Bearer', null]);
    expect(decodeJwt(String(body['access_token']))['cnf']).toBeUndefined();
    const { status, challenge } = await userInfo(
      party,
      String(body['access_token']),
      await userInfoProof(party, String(body['access_token'])),
    );
    expect([status, challenge.startsWith('DPoP error="invalid_token"')]).toEqual([401, true]);
  });

  it('is refused for a proof of another issuer, endpoint or method, for two proofs, and for a huge one; the code stays valid', async () => {
    const code = await party.code();
    const url = `${party.issuer}/oauth2/token`;
    const form = {
      grant_type: 'authorization_code',
      code,
      code_verifier: party.proof.verifier,
      redirect_uri: client.redirectUris[0],
    };
    const wrong: [string, string[]][] = [
      ['htu', [await key.proof(at(base))]],
      ['htu', [await key.proof({ url: `${party.issuer}/userinfo` })]],
      ['htm', [await key.proof({ url, method: 'GET' })]],
      ['iat', [await key.proof({ url }, { iat: seconds(app.clock.now()) + 300 })]],
      ['one DPoP header', [await key.proof({ url }), await key.proof({ url })]],
      ['4096', [await key.proof({ url }, { more: 'x'.repeat(6000) })]],
      ['JWS', ['']],
    ];
    for (const [fault, proofs] of wrong) {
      const { status, body } = await post(party, form, proofs);
      expect([status, body.error], fault).toEqual([400, 'invalid_dpop_proof']);
      expect(body['error_description']).toContain(fault);
    }
    expect((await exchange(party, code, await key.proof({ url }))).status).toBe(200);
  });

  it('does not take the address from the Host header', async () => {
    const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x', client_id: client.id }).toString();
    const ask = async (htu: string) => {
      const { port } = new URL(app.url);
      const socket = connect(Number(port), '127.0.0.1');
      const head = [
        'POST /oauth2/token HTTP/1.1',
        'Host: evil.example',
        'Connection: close',
        `DPoP: ${await key.proof({ url: htu })}`,
      ];
      socket.write(
        [...head, 'Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`, '', body].join(
          '\r\n',
        ),
      );
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      return answer;
    };
    expect(await ask('http://evil.example/oauth2/token')).toContain('invalid_dpop_proof');
    expect(await ask(`${app.url}/oauth2/token`)).not.toContain('invalid_dpop_proof');
  });

  it('is accepted once, in a race of 40 over two processes', async () => {
    const { refresh_token: token } = await tokens(party);
    const proof = await key.proof(at(party));
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => refresh(token, proof, {}, n % 2 ? there : app)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    expect(new Set(others.map(({ body }) => body.error))).toEqual(new Set(['invalid_dpop_proof']));
    const next = answers.find(({ status }) => status === 200)?.body['refresh_token'] ?? '';
    expect((await refresh(next, await key.proof(at(party)))).status).toBe(200);
  });

  it('stores nothing if its code or token is invalid, from any client', async () => {
    await party.tokens();
    const before = await used();
    await exchange(party, 'x'.repeat(43), await key.proof(at(party)));
    await refresh('lk_rt_x', await key.proof(at(party)));
    await refresh(`lk_rt_${'x'.repeat(86)}`, await key.proof(at(party)));
    const { client: foreign } = await app.make.client(project);
    await exchange(party, await party.code(), await key.proof(at(party)), { client_id: foreign.id });
    expect(await used()).toBe(before);
  });
});

describe('dpop_jkt', () => {
  it.each([
    ['the base issuer', () => base],
    ['the project’s issuer', () => party],
  ])('at %s binds the code to a key', async (_where, where) => {
    const rp = where();
    const code = await rp.code({ dpop_jkt: key.jkt });
    const wrong = [undefined, await other.proof(at(rp))];
    for (const proof of wrong) expect((await exchange(rp, code, proof)).body.error).toBe('invalid_grant');
    expect((await exchange(rp, code, await key.proof(at(rp)))).status).toBe(200);
  });

  it('binds the code of a sign-in, too', async () => {
    party.signOut();
    const response = await party.authorize({ dpop_jkt: key.jkt });
    const flow = new URL(response.headers.get('location') ?? '', app.url).searchParams.get('flow') ?? '';
    await party.signIn(user);
    const resumed = await party.browser.get(`${party.issuer}/authorize/resume?flow=${flow}`);
    const code = new URL(resumed.headers.get('location') ?? '').searchParams.get('code') ?? '';
    expect((await exchange(party, code, await other.proof(at(party)))).body.error).toBe('invalid_grant');
    expect((await exchange(party, code, await key.proof(at(party)))).status).toBe(200);
  });

  it.each(['short', 'x'.repeat(44), `${'x'.repeat(42)}=`])('is refused as %s', async (dpop_jkt) => {
    const answer = await party.answer({ dpop_jkt });
    expect([answer.get('error'), answer.get('code')]).toEqual(['invalid_request', null]);
    expect(answer.get('error_description')).toContain('dpop_jkt');
  });
});

describe('UserInfo with a bound token', () => {
  it('refuses a stolen token with another key, a proof for another token, address or method, and none', async () => {
    const { access_token: token } = await tokens(party);
    const { access_token: second } = await tokens(party);
    const url = `${party.issuer}/userinfo`;
    const wrong: [string, string | undefined, string][] = [
      ['another key', await userInfoProof(party, token, other), 'invalid_token'],
      ['another token', await userInfoProof(party, second), 'invalid_dpop_proof'],
      ['no ath', await key.proof({ method: 'GET', url }), 'invalid_dpop_proof'],
      ['another address', await userInfoProof(base, token), 'invalid_dpop_proof'],
      ['another method', await key.proof({ method: 'POST', url, token }), 'invalid_dpop_proof'],
      ['none', undefined, 'invalid_dpop_proof'],
      ['an empty one', '', 'invalid_dpop_proof'],
    ];
    for (const [what, proof, error] of wrong) {
      const { status, challenge } = await userInfo(party, token, proof);
      expect([status, challenge.includes(`DPoP error="${error}"`), challenge.includes('algs="')], what).toEqual([
        401,
        true,
        true,
      ]);
    }
    expect((await userInfo(party, token, await userInfoProof(party, token), 'dpop')).status).toBe(200);
  });

  it('takes a proof once, in a race of 40 over two processes, and keeps it for a day after its expiry', async () => {
    const { access_token: token } = await tokens(party);
    const proof = await userInfoProof(party, token);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => userInfo(party, token, proof, 'DPoP', n % 2 ? there : app)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await userInfo(party, token, proof)).challenge).toContain('invalid_dpop_proof');
    app.clock.turn(90);
    await app.services.retention.sweep();
    expect((await userInfo(party, token, proof)).challenge).toContain('invalid_dpop_proof');
    app.clock.turn(24 * 3600 + 120);
    await app.services.retention.sweep();
    expect(await used()).toBe(0);
  });

  it('refuses a used proof after a sweep by a clock that was an hour ahead', async () => {
    const { access_token: token } = await tokens(party);
    const proof = await userInfoProof(party, token);
    expect((await userInfo(party, token, proof)).status).toBe(200);
    await sweepAhead(app, 3600);
    expect((await userInfo(party, token, proof)).challenge).toContain('invalid_dpop_proof');
  });

  it('responds to pages of other origins', async () => {
    const origin = 'https://app.example.com';
    const response = await fetch(`${party.issuer}/userinfo`, { method: 'OPTIONS', headers: { origin } });
    expect(response.headers.get('access-control-allow-headers')).toContain('DPoP');
    expect(response.headers.get('access-control-expose-headers')).toContain('DPoP-Nonce');
  });
});

describe('a refresh token', () => {
  it('of a public client works with its key only, and keeps it', async () => {
    const { refresh_token: token } = await tokens(party);
    for (const proof of [undefined, await other.proof(at(party))]) {
      expect((await refresh(token, proof)).body.error).toBe('invalid_grant');
    }
    const { status, body } = await refresh(token, await key.proof(at(party)));
    expect([status, body['token_type'], decodeJwt(String(body['access_token']))['cnf']]).toEqual([
      200,
      'DPoP',
      { jkt: key.jkt },
    ]);
    expect((await refresh(String(body['refresh_token']))).body.error).toBe('invalid_grant');
  });

  it('gives the same response again within 30 seconds, for a fresh proof of its key', async () => {
    const { refresh_token: token } = await tokens(party);
    const first = await refresh(token, await key.proof(at(party)));
    app.clock.turn(20);
    const again = await refresh(token, await key.proof(at(party)), {}, there);
    expect(again.body['refresh_token']).toBe(first.body['refresh_token']);
    expect(decodeJwt(String(again.body['access_token']))['cnf']).toEqual({ jkt: key.jkt });
    expect((await refresh(token, await other.proof(at(party)))).body.error).toBe('invalid_grant');
    expect((await refresh(String(first.body['refresh_token']), await key.proof(at(party)))).body.error).toBe(
      'invalid_grant',
    );
  });

  it('that was a bearer token is bound by its first use with a proof', async () => {
    const { body } = await exchange(party, await party.code(), undefined);
    const bound =
      (await refresh(String(body['refresh_token']), await key.proof(at(party)))).body['refresh_token'] ?? '';
    expect((await refresh(bound)).body.error).toBe('invalid_grant');
    expect((await refresh(bound, await key.proof(at(party)))).status).toBe(200);
  });

  it('of a confidential client works with another key, never without one', async () => {
    const pair = generateKeyPairSync('ed25519');
    await change({ tokenEndpointAuthMethod: 'private_key_jwt', jwks: pair.publicKey.export({ format: 'jwk' }) });
    const assertion = async (): Promise<Changes> => {
      const now = seconds(app.clock.now());
      const claims = { iss: client.id, sub: client.id, aud: party.issuer, jti: randomUUID(), iat: now, exp: now + 60 };
      const signed = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(pair.privateKey);
      return { client_id: undefined, client_assertion: signed, client_assertion_type: assertionType };
    };
    const first = await exchange(party, await party.code(), await key.proof(at(party)), await assertion());
    const token = String(first.body['refresh_token']);
    expect((await refresh(token, undefined, await assertion())).body.error).toBe('invalid_grant');
    const { body } = await refresh(token, await other.proof(at(party)), await assertion());
    expect(decodeJwt(String(body['access_token']))['cnf']).toEqual({ jkt: other.jkt });
  });
});

describe('a client', () => {
  it('that must use DPoP gets no tokens without a proof, even from a process that has it cached', async () => {
    const { refresh_token: token } = await tokens(party);
    const codes = [await party.code(), await party.code()] as const;
    await change({ dpopRequired: true });
    for (const to of [there, app]) {
      const { status, body } = await exchange(party, codes[0], undefined, {}, to);
      expect([status, body.error]).toEqual([400, 'invalid_dpop_proof']);
      expect((await refresh(token, undefined, {}, to)).body.error).toBe('invalid_dpop_proof');
    }
    expect((await exchange(party, codes[0], await key.proof(at(party)))).status).toBe(200);
    await change({ dpopRequired: false });
    expect((await exchange(party, codes[1], undefined, {}, there)).status).toBe(200);
  });

  it('whose proofs need a nonce receives it, at both endpoints, and the refused proof is not used up', async () => {
    await change({ dpopNonceRequired: true });
    const code = await party.code();
    const first = await exchange(party, code, await key.proof(at(party)));
    expect([first.status, first.body.error]).toEqual([400, 'use_dpop_nonce']);
    const nonce = first.headers.get('dpop-nonce');
    const { body } = await exchange(party, code, await key.proof(at(party), { nonce }), {}, there);
    const token = String(body['access_token']);
    const asked = await userInfo(party, token, await userInfoProof(party, token));
    expect([asked.status, asked.challenge.includes('error="use_dpop_nonce"'), asked.headers.get('dpop-nonce')]).toEqual(
      [401, true, nonce],
    );
    expect((await userInfo(party, token, await userInfoProof(party, token, key, { nonce }))).status).toBe(200);
  });

  it('may send a nonce at any time, and gets an error for an expired one', async () => {
    const { headers } = await exchange(party, 'x', await key.proof(at(party)));
    const nonce = headers.get('dpop-nonce');
    expect((await exchange(party, await party.code(), await key.proof(at(party), { nonce }))).status).toBe(200);
    app.clock.turn(600);
    const late = await exchange(party, await party.code(), await key.proof(at(party), { nonce }));
    expect(late.body.error).toBe('use_dpop_nonce');
    expect(late.headers.get('dpop-nonce')).not.toBe(nonce);
  });
});

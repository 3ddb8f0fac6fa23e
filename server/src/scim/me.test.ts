/** `/Me` (RFC 7644 §3.11) for users, by access tokens of the project's issuer (decisions/0143). */

import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { dpopKey } from '../../test/dpop.ts';
import { redirectUri } from '../../test/factories.ts';
import { partyAt } from '../../test/project-issuer.ts';
import { RelyingParty, type TokenAnswer } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ada = {
  schemas: [userSchema],
  userName: 'ada@example.com',
  externalId: 'e-1',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  displayName: 'Ada Lovelace',
  title: 'Countess',
  locale: 'en-GB',
  timezone: 'Europe/London',
  emails: [
    { value: 'home@example.net', type: 'home' },
    { value: 'ada@example.com', type: 'work', primary: true },
  ],
  phoneNumbers: [
    { value: '+441234567890', type: 'mobile' },
    { value: '10-040-1308', type: 'other' },
  ],
  addresses: [
    { type: 'home', locality: 'Marylebone' },
    { type: 'work', locality: 'London', primary: true },
  ],
  roles: [{ value: 'admin' }],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { employeeNumber: '1815' },
};

let app: TestApp;
let project: Project;
let party: RelyingParty;
let directory: string;
let userId: string;
let scim: string;

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());

beforeEach(async () => {
  project = await app.make.project();
  const { token } = await app.services.directories.issueScimToken({ projectId: project.id, name: 'D' }, system);
  directory = `Bearer ${token}`;
  scim = `${app.url}/v1/scim/${project.id}`;
  const created = await send('POST', '/Users', directory, ada);
  userId = created.body.id;
  party = partyAt(app, project, (await app.make.client(project)).client);
  await party.signIn({ id: userId } as Parameters<RelyingParty['signIn']>[0]);
});

interface Reply {
  status: number;
  headers: Headers;
  body: any;
}

async function send(method: string, path: string, authorization?: string, body?: object, more = {}): Promise<Reply> {
  const headers = { ...(authorization === undefined ? {} : { authorization }), ...more };
  const response = await fetch(`${scim}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/scim+json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const bearer = async (scope = 'openid profile email phone address', by = party) =>
  `Bearer ${(await by.tokens({ scope })).access_token}`;
const deactivate = (active: boolean) =>
  send('PATCH', `/Users/${userId}`, directory, { Operations: [{ op: 'replace', value: { active } }] });

describe('GET /Me by the access token of a user', () => {
  it('returns the attributes that the scopes show, each only for its scope', async () => {
    const profile = {
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      displayName: 'Ada Lovelace',
      locale: 'en-GB',
      timezone: 'Europe/London',
    };
    const ofScope: [scope: string, shown: object][] = [
      ['openid', {}],
      ['openid profile', profile],
      ['openid email', { userName: 'ada@example.com', emails: [ada.emails[1]] }],
      ['openid phone', { phoneNumbers: [ada.phoneNumbers[0]] }],
      ['openid address', { addresses: [ada.addresses[1]] }],
    ];
    for (const [scope, shown] of ofScope) {
      const reply = await send('GET', '/Me', await bearer(scope));
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('application/scim+json');
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.get('location')).toBe(`${scim}/Users/${userId}`);
      const { meta, ...resource } = reply.body;
      expect(resource).toEqual({ schemas: [userSchema], id: userId, ...shown });
      expect(meta).toEqual({
        resourceType: 'User',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: `${scim}/Users/${userId}`,
        version: reply.headers.get('etag'),
      });
    }
  });

  it('honours attributes, excludedAttributes, HEAD and If-None-Match, within the scopes', async () => {
    const token = await bearer('openid profile');
    const some = await send('GET', '/Me?attributes=displayName,emails,userName', token);
    expect(some.body).toEqual({ schemas: [userSchema], id: userId, displayName: 'Ada Lovelace' });
    const fewer = await send('GET', '/Me?excludedAttributes=name,id', token);
    expect(Object.keys(fewer.body)).toEqual(['schemas', 'id', 'displayName', 'locale', 'timezone', 'meta']);
    expect(await send('HEAD', '/Me', token)).toMatchObject({ status: 200, body: undefined });
    const match = { 'If-None-Match': fewer.headers.get('etag') };
    expect(await send('GET', '/Me', token, undefined, match)).toMatchObject({ status: 304, body: undefined });
  });

  it('writes nothing, and returns 501 for every other method', async () => {
    const token = await bearer();
    const patch = { Operations: [{ op: 'replace', path: 'displayName', value: 'Eve' }] };
    for (const method of ['PATCH', 'PUT', 'POST', 'DELETE']) {
      const reply = await send(method, '/Me', token, patch);
      expect([method, reply.status, reply.body.status]).toEqual([method, 501, '501']);
    }
    expect((await send('GET', `/Users/${userId}`, directory)).body.displayName).toBe('Ada Lovelace');
    expect(await send('OPTIONS', '/Me')).toMatchObject({ status: 204 });
  });

  it('gives no access to other endpoints', async () => {
    const token = await bearer();
    for (const path of ['/Users', `/Users/${userId}`, '/Groups', '/Schemas', '/Me/x', '/ServiceProviderConfig']) {
      expect([path, (await send('GET', path, token)).status]).toEqual([path, 401]);
    }
    expect((await send('PATCH', `/Users/${userId}`, token, { Operations: [] })).status).toBe(401);
  });

  it('leaves no record among the requests of the directory', async () => {
    await send('GET', '/Me', await bearer());
    await app.services.requestRecords.settled();
    const records = await rows<{ path: string }>(
      app.services.db,
      `select path from scim_request_records where project_id = '${project.id}'`,
    );
    expect(records.map(({ path }) => path)).toEqual(['/Users']);
  });
});

describe('requests that /Me refuses', () => {
  it('401 without a token, and for random text, an ID token and a token with a forged signature', async () => {
    const { id_token: idToken, access_token: accessToken } = await party.tokens();
    const [head, payload] = accessToken.split('.');
    const forged = `${head}.${payload}.${'A'.repeat(86)}`;
    const all = [
      undefined,
      'Bearer x',
      'Bearer a.b.c',
      `Bearer ${idToken}`,
      `Bearer ${forged}`,
      'Basic eDp4',
      'DPoP x',
    ];
    for (const authorization of [...all, `Bearer ${'x'.repeat(10_000)}`, accessToken]) {
      const reply = await send('GET', '/Me', authorization);
      expect([authorization, reply.status]).toEqual([authorization, 401]);
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(reply.body).toMatchObject({ status: '401', detail: expect.any(String) });
    }
  });

  it('401 for a token of another project, and of the base issuer', async () => {
    const other = await app.make.project();
    const stranger = await app.make.user(other);
    const there = partyAt(app, other, (await app.make.client(other)).client);
    await there.signIn(stranger);
    expect((await send('GET', '/Me', await bearer('openid', there))).status).toBe(401);
    const base = new RelyingParty(app, party.client);
    await base.signIn({ id: userId } as Parameters<RelyingParty['signIn']>[0]);
    const token = await bearer('openid', base);
    expect((await base.userInfo(token.slice(7))).status).toBe(200);
    expect((await send('GET', '/Me', token)).status).toBe(401);
  });

  it('401 for an expired and for a revoked token, and after the session was ended', async () => {
    const revoked = await bearer();
    const body = new URLSearchParams({ token: revoked.slice(7), client_id: party.client.id });
    expect((await fetch(`${party.issuer}/oauth2/revoke`, { method: 'POST', body })).status).toBe(200);
    expect((await send('GET', '/Me', revoked)).status).toBe(401);
    const { id_token: hint, access_token: ended } = await party.tokens();
    await party.endSession({ id_token_hint: hint, client_id: party.client.id });
    expect((await send('GET', '/Me', `Bearer ${ended}`)).status).toBe(401);
    await party.signIn({ id: userId } as Parameters<RelyingParty['signIn']>[0]);
    const expiring = await bearer();
    expect((await send('GET', '/Me', expiring)).status).toBe(200);
    app.clock.turn(301);
    expect((await send('GET', '/Me', expiring)).status).toBe(401);
  });

  it('401 for a deactivated and for a deleted person, and for a disabled application', async () => {
    const token = await bearer();
    await deactivate(false);
    expect((await send('GET', '/Me', token)).status).toBe(401);
    await deactivate(true);
    await party.signIn({ id: userId } as Parameters<RelyingParty['signIn']>[0]);
    const again = await bearer();
    expect((await send('GET', '/Me', again)).status).toBe(200);
    await app.make.disable(party.client);
    expect((await send('GET', '/Me', again)).status).toBe(401);
    const next = partyAt(app, project, (await app.make.client(project)).client);
    await next.signIn({ id: userId } as Parameters<RelyingParty['signIn']>[0]);
    const last = await bearer('openid', next);
    expect((await send('GET', '/Me', last)).status).toBe(200);
    expect((await send('DELETE', `/Users/${userId}`, directory)).status).toBe(204);
    expect((await send('GET', '/Me', last)).status).toBe(401);
  });

  it('404 while SCIM is off, and at another project', async () => {
    const token = await bearer();
    await app.services.projects.update(project.id, { scimEnabled: false }, system);
    expect((await send('GET', '/Me', token)).status).toBe(404);
    await app.services.projects.update(project.id, { scimEnabled: true }, system);
    expect((await send('GET', '/Me', token)).status).toBe(200);
    scim = `${app.url}/v1/scim/01900000-0000-7000-8000-000000000000`;
    expect((await send('GET', '/Me', token)).status).toBe(404);
  });

  it('501 for directories (RFC 7644 §3.11)', async () => {
    for (const method of ['GET', 'PATCH']) {
      const reply = await send(method, '/Me', directory, method === 'GET' ? undefined : {});
      expect([reply.status, reply.body.status]).toEqual([501, '501']);
    }
  });
});

describe('tokens bound to a key (RFC 9449 §7.1)', () => {
  async function bound() {
    const key = await dpopKey(app.clock);
    const DPoP = await key.proof({ url: `${party.issuer}/oauth2/token` });
    const form = { scope: 'openid profile', redirect_uri: redirectUri };
    const answer = await party.exchange(await party.code(form), {}, { DPoP });
    const { access_token: token } = (await answer.json()) as TokenAnswer;
    expect(decodeJwt(token)['cnf']).toEqual({ jkt: key.jkt });
    return { key, token, url: `${scim}/Me` };
  }

  it('need a proof of their key for this address, once', async () => {
    const { key, token, url } = await bound();
    const proof = await key.proof({ method: 'GET', url, token });
    const sent = (DPoP?: string) => send('GET', '/Me', `DPoP ${token}`, undefined, DPoP === undefined ? {} : { DPoP });
    expect(await sent(proof)).toMatchObject({ status: 200, body: { id: userId, displayName: 'Ada Lovelace' } });
    const thief = await dpopKey(app.clock);
    const wrong = [
      undefined,
      proof,
      'nonsense',
      await thief.proof({ method: 'GET', url, token }),
      await key.proof({ method: 'POST', url, token }),
      await key.proof({ method: 'GET', url: `${party.issuer}/userinfo`, token }),
      await key.proof({ method: 'GET', url }),
    ];
    for (const DPoP of wrong) expect((await sent(DPoP)).status).toBe(401);
    expect((await sent()).headers.get('www-authenticate')).toMatch(/^DPoP .*algs="/);
  });

  it('are refused as Bearer, and plain tokens with the scheme DPoP', async () => {
    const { key, token, url } = await bound();
    const proof = { DPoP: await key.proof({ method: 'GET', url, token }) };
    expect((await send('GET', '/Me', `Bearer ${token}`, undefined, proof)).status).toBe(401);
    const plain = (await party.tokens()).access_token;
    const DPoP = await key.proof({ method: 'GET', url, token: plain });
    expect((await send('GET', '/Me', `DPoP ${plain}`, undefined, { DPoP })).status).toBe(401);
  });
});

/** Audit events of refusals at the token endpoint. */

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';
import { rows } from '../../test/rows.ts';
import { instanceId } from '../domain/audit/audit-event.entity.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { seconds } from '../domain/kernel/clock.ts';
import type { Project } from '../domain/projects/project.entity.ts';
import { assertionType } from './client-credential.ts';

let app: TestApp;
let project: Project;
let client: Client;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
});

afterAll(async () => {
  await app.close();
});

beforeEach(async () => {
  project = await app.make.project();
  ({ client } = await app.make.client(project));
  rp = new RelyingParty(app, client);
  await rp.signIn(await app.make.user(project));
});

interface FailureEvent {
  type: string;
  fault: string;
  count: number;
  client_id: string | null;
  actor_kind: string;
}

/** The failures of a project, or of the instance, oldest first. */
function failuresOf(projectId: string | null): Promise<FailureEvent[]> {
  return rows<FailureEvent>(
    app.services.db,
    `select type, detail->>'fault' as fault, (detail->>'count')::int as count, client_id, actor_kind from audit_log
     where project_id = ?::uuid and result = 'failure' order by id`,
    [projectId ?? instanceId],
  );
}

it('an issued token is recorded with IP address, user agent and request id', async () => {
  const headers = { 'X-Forwarded-For': '192.0.2.7', 'User-Agent': 'relying party' };
  const given = await rp.exchange(await rp.code(), {}, headers);
  const [event] = await rows<Record<string, string>>(
    app.services.db,
    "select ip, user_agent, request_id, subject_name from audit_log where project_id = ? and type = 'token.issued'",
    [project.id],
  );
  expect(event).toMatchObject({ ip: '192.0.2.7', user_agent: 'relying party' });
  expect(event?.['request_id']).toBe(given.headers.get('x-request-id'));
  expect(event?.['subject_name']).toMatch(/@example.com$/);
});

describe('a refused code', () => {
  it.each<[string, string, () => Promise<[string, Changes]>]>([
    ['unknown', 'unknown', async () => ['no code', {}]],
    [
      'of another redirect URI',
      'wrong-redirect-uri',
      async () => [await rp.code(), { redirect_uri: `${redirectUri}/x` }],
    ],
    ['with another verifier', 'wrong-verifier', async () => [await rp.code(), { code_verifier: 'v'.repeat(43) }]],
    ['with a malformed verifier', 'malformed', async () => [await rp.code(), { code_verifier: 'v' }]],
  ])('that is %s is recorded in its client’s project with the reason', async (_name, fault, prepare) => {
    const [code, changes] = await prepare();
    expect((await rp.exchange(code, changes)).status).toBe(400);
    expect(await failuresOf(project.id)).toEqual([
      { type: 'token.refused', fault, count: 1, client_id: client.id, actor_kind: 'client' },
    ]);
  });

  it('that has expired or was used is recorded with this reason', async () => {
    const late = await rp.code();
    app.clock.turn(61);
    await rp.exchange(late);
    const used = await rp.code();
    expect((await rp.exchange(used)).status).toBe(200);
    await rp.exchange(used);
    await rp.exchange(used);
    expect(await failuresOf(project.id)).toMatchObject([
      { type: 'token.refused', fault: 'expired', count: 1 },
      { type: 'code.replayed' },
      { type: 'token.refused', fault: 'used', count: 2 },
    ]);
  });

  it('that was used ends nothing if another client sends it', async () => {
    const code = await rp.code();
    const { access_token } = (await (await rp.exchange(code)).json()) as { access_token: string };
    const other = (await app.make.client(project)).client;
    const form = { client_id: other.id };
    expect((await rp.exchange(code, form)).status).toBe(400);
    expect((await rp.userInfo(access_token)).status).toBe(200);
    expect(await failuresOf(project.id)).toEqual([
      { type: 'token.refused', fault: 'wrong-client', count: 1, client_id: other.id, actor_kind: 'client' },
    ]);
    expect((await rp.exchange(code)).status).toBe(400);
    expect((await rp.userInfo(access_token)).status).toBe(401);
  });

  it('forty times is one event', async () => {
    await Promise.all(Array.from({ length: 40 }, () => rp.exchange('no code')));
    expect(await failuresOf(project.id)).toMatchObject([{ type: 'token.refused', fault: 'unknown', count: 40 }]);
  });
});

describe('a refused client', () => {
  it('is recorded in its project with an anonymous actor', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const now = seconds(app.clock.now());
    const claims = { iss: client.id, sub: client.id, aud: app.url, jti: randomUUID(), iat: now, exp: now + 60 };
    const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' }).sign(privateKey);
    const form = { client_id: undefined, client_assertion: assertion, client_assertion_type: assertionType };
    expect((await rp.exchange('any', form)).status).toBe(401);
    const about = { type: 'client.rejected', client_id: client.id, actor_kind: 'anonymous', count: 1 };
    expect(await failuresOf(project.id)).toMatchObject([
      { ...about, fault: 'the client is not registered for private_key_jwt' },
    ]);
    await app.make.disable(client);
    expect((await rp.exchange('any')).status).toBe(401);
    expect(await failuresOf(project.id)).toMatchObject([
      about,
      { ...about, fault: 'the client is unknown or disabled' },
    ]);
  });

  it('that does not exist is one event of the instance for all client ids tried', async () => {
    for (const name of ['nobody', "'; --", randomUUID(), randomUUID()]) {
      expect((await rp.exchange('any', { client_id: name })).status).toBe(401);
    }
    const key = { 'X-Api-Key': 'lk_sk_unknown' };
    expect((await rp.exchange('any', { client_id: undefined }, key)).status).toBe(401);
    expect(await failuresOf(null)).toMatchObject([
      { type: 'client.rejected', fault: 'the client is unknown or disabled', count: 4, client_id: null },
      { type: 'client.rejected', fault: 'the secret key is unknown or revoked', count: 1, client_id: null },
    ]);
    expect(await failuresOf(project.id)).toEqual([]);
  });
});

it('accepted and malformed requests are not recorded as refusals', async () => {
  expect((await rp.exchange(await rp.code())).status).toBe(200);
  expect((await rp.exchange('any', { grant_type: undefined })).status).toBe(400);
  expect((await rp.exchange('any', { code_verifier: undefined })).status).toBe(400);
  expect(await failuresOf(project.id)).toEqual([]);
});

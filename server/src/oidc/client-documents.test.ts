/** Clients that introduce themselves by a metadata document (draft-ietf-oauth-client-id-metadata-document, decisions/0392). */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { locationOf } from '../../test/browser.ts';
import { buildSibling } from '../../test/build-app.ts';
import { DocumentHost } from '../../test/document-host.ts';
import { Stranger } from '../../test/introduced.ts';
import { changed, rows } from '../../test/rows.ts';
import { SigninWorld } from '../../test/signin-world.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { introductionsOf } from '../domain/clients/introductions/introduced-clients.ts';
import { metadataUrlFault } from '../domain/clients/introductions/metadata-url.ts';
import { system } from '../domain/kernel/actor.ts';
import { problemOf } from '../domain/kernel/problem.ts';
import { keyIn, keyText } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';
import { assertionType } from './client-credential.ts';

const world = SigninWorld.ofTests();
const host = new DocumentHost();
const path = '/oauth/client.json';
const lasting = { scope: 'openid email offline_access' };
let user: User;

beforeAll(() => host.open());
afterAll(() => host.close());
beforeEach(async () => {
  host.documents.clear();
  host.reads.clear();
  user = await world.app.make.user(world.project);
  await world.set({ clientMetadataDocuments: 'anyone' });
});

const callback = () => `${host.origin()}/callback`;
const stranger = (id: string, redirectUri = callback()) =>
  new Stranger(world.app, world.project, id, redirectUri).signIn(user);
const grants = { grant_types: ['authorization_code', 'refresh_token'] };
const introduced = () =>
  rows<{ id: string; name: string; metadata_url: string }>(
    world.app.services.db,
    'select id, name, metadata_url from clients where project_id = ? and introduced_by is not null order by id',
    [world.project.id],
  );
/** The reasons of refused introductions. */
const faults = async () =>
  (
    await rows<{ fault: string }>(
      world.app.services.db,
      `select concat_ws(': ', detail->>'fault', detail->>'error') as fault from audit_log
        where project_id = ? and type = 'client.introduction_refused'`,
      [world.project.id],
    )
  ).map(({ fault }) => fault);
const discovery = async (issuer: string) =>
  (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;

/** The status of a request at /authorize that is expected to be refused, and the reason. */
async function refusal(id: string, redirectUri = callback()): Promise<{ status: number; fault: string | undefined }> {
  const { status } = await (await stranger(id, redirectUri)).authorize();
  return { status, fault: (await faults()).at(-1) };
}

describe('a client with a metadata document (draft-ietf-oauth-client-id-metadata-document)', () => {
  it('signs in after consent, with its URL as client_id in all tokens, and refreshes', async () => {
    const id = host.put(path, grants);
    const client = await stranger(id);
    const { id_token, access_token, refresh_token, status } = await client.exchange(await client.code(lasting));
    expect(status).toBe(200);
    expect(decodeJwt(id_token)).toMatchObject({ aud: id, iss: client.issuer, sub: user.id });
    expect(decodeJwt(access_token)).toMatchObject({ client_id: id, aud: client.issuer });
    expect(await client.userInfo(access_token)).toBe(200);
    const next = await client.refresh(refresh_token);
    expect(next.status).toBe(200);
    expect(next.refresh_token).not.toBe(refresh_token);
    expect((await client.authorize({ ...lasting, prompt: 'none' })).headers.get('location')).toContain('code=');
    expect(host.reads.get(path)).toBe(1);
    expect((await introduced()).map(({ metadata_url }) => metadata_url)).toEqual([id]);
    expect(await world.events()).toContain('client.introduced');
    const query = new URLSearchParams({ id_token_hint: id_token });
    expect((await client.browser.get(`${client.issuer}/oauth2/end_session?${query}`)).status).toBe(200);
  });

  it('is offered in discovery only where the project accepts one, and never at the base issuer', async () => {
    const { app } = world;
    const { issuer } = await stranger(host.put(path));
    app.clock.turn(61);
    expect(await discovery(issuer)).toMatchObject({ client_id_metadata_document_supported: true });
    expect(await discovery(app.url)).not.toHaveProperty('client_id_metadata_document_supported');
    await world.set({ clientMetadataDocuments: 'off' });
    app.clock.turn(61);
    expect(await discovery(issuer)).not.toHaveProperty('client_id_metadata_document_supported');
  });

  it('is unknown at the base issuer and in other projects, by its URL and by the id of its row', async () => {
    const client = await stranger(host.put(path));
    await client.code();
    const [row] = await introduced();
    const { app } = world;
    for (const clientId of [client.id, row?.id ?? '']) {
      const query = new URLSearchParams({ client_id: clientId, redirect_uri: callback(), response_type: 'code' });
      expect((await fetch(`${app.url}/authorize?${query}`, { redirect: 'manual' })).status, clientId).toBe(400);
    }
    expect((await (await stranger(row?.id ?? '')).authorize()).status).toBe(400);
    await world.begin();
    const elsewhere = await new Stranger(app, world.project, client.id, callback()).authorize();
    expect([elsewhere.status, await introduced(), host.reads.get(path)]).toEqual([400, [], 1]);
  });

  it('authenticates by private_key_jwt with its URL as issuer and subject (section 6.2)', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'a' };
    const id = host.put(path, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } });
    const client = await stranger(id);
    const assertion = (iss: string) => {
      const now = Math.floor(world.app.clock.now().getTime() / 1000);
      const claims = { iss, sub: iss, aud: client.issuer, iat: now, exp: now + 60, jti: randomUUID() };
      return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid: 'a' }).sign(privateKey);
    };
    const signed = async (iss: string) => ({
      client_assertion: await assertion(iss),
      client_assertion_type: assertionType,
    });
    expect(await client.exchange(await client.code())).toMatchObject({ status: 401, error: 'invalid_client' });
    expect((await client.exchange(await client.code(), await signed(id))).status).toBe(200);
    const [row] = await introduced();
    const byRow = { ...(await signed(row?.id ?? '')), client_id: row?.id };
    expect(await client.exchange(await client.code(), byRow)).toMatchObject({ status: 401, error: 'invalid_client' });
  });

  it('always needs PKCE and consent, and gets no scope of the admin API', async () => {
    const client = await stranger(host.put(path, { ...grants, scope: 'users:write', adminScopes: ['users:write'] }));
    const error = async (changes: Record<string, string | undefined>) =>
      locationOf(await client.authorize(changes)).searchParams.get('error');
    expect(await error({ code_challenge: undefined, code_challenge_method: undefined })).toBe('invalid_request');
    expect(await error({ prompt: 'none' })).toBe('consent_required');
    const { scope } = await client.exchange(await client.code({ scope: 'openid users:write' }));
    expect(scope).toBe('openid');
    expect(await client.token({ grant_type: 'client_credentials' })).toMatchObject({ error: 'unauthorized_client' });
  });

  it('is shown to admins with its claimed name, its network, and its users and grants, until it is deleted', async () => {
    const id = host.put(path, { ...grants, client_name: 'Acme Agent' });
    const { db } = world.app.services;
    const shown = async () => {
      const [row] = await introduced();
      const key = keyIn(world.project.id, row?.id ?? randomUUID());
      return (await introductionsOf(db.alone, [key])).get(keyText(key));
    };
    expect(await shown()).toBeUndefined();
    await (await stranger(id)).authorize();
    const first = { claimedName: 'Acme Agent', network: '127.0.0.1', lastUsedAt: world.app.clock.now() };
    expect(await shown()).toEqual({ ...first, users: 0, refreshGrants: 0 });
    const client = await stranger(id);
    const { refresh_token } = await client.exchange(await client.code(lasting));
    expect(await shown()).toMatchObject({ users: 1, refreshGrants: 1 });
    expect((await client.refresh(refresh_token)).status).toBe(200);
    expect(await shown()).toMatchObject({ users: 1, refreshGrants: 1 });
  });

  it('cannot be made a first-party application, nor get a key or a secret', async () => {
    const client = await stranger(host.put(path));
    await client.code();
    const key = keyIn(world.project.id, (await introduced())[0]?.id ?? '');
    const { clients, clientSecrets } = world.app.services;
    const attempts: (() => Promise<unknown>)[] = [
      () => clients.update(key, { thirdParty: false }, system),
      () => clients.update(key, { adminScopes: ['users:write'] }, system),
      () => clients.update(key, { redirectUris: ['https://elsewhere.example.com/'] }, system),
      () => clients.update(key, { name: 'Acme' }, system),
      () => clients.issueApiKey(key, 'publishable', system),
      () => clientSecrets.issue(key, system),
    ];
    for (const attempt of attempts) expect((await problemOf(attempt()))?.code).toBe('forbidden');
  });
});

describe('the document', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['of another client_id (section 4.1)', { client_id: 'https://other.example.com/c' }, 'client_id must be the URL'],
    ['without client_id', { client_id: undefined }, 'client_id must be the URL'],
    ['with a secret (section 4.1)', { client_secret: 'x' }, 'client_secret must not'],
    ['with a symmetric method (section 4.1)', { token_endpoint_auth_method: 'client_secret_basic' }, 'must be none'],
    ['with a redirect to another site', { redirect_uris: ['https://evil.example.com/'] }, 'must have the origin'],
    ['with a redirect to another port', { redirect_uris: ['https://p1.example.com/'] }, 'must have the origin'],
    ['with the scheme of an app', { redirect_uris: ['com.example.app:/callback'] }, 'must be https'],
    ['without redirects', { redirect_uris: [] }, 'redirect_uris must contain'],
    ['with http', { redirect_uris: ['http://agent.example.com/'] }, 'must be https'],
    ['with a key by nothing', { token_endpoint_auth_method: 'private_key_jwt' }, 'jwks or jwks_uri is required'],
    ['without the code grant', { grant_types: ['client_credentials'] }, 'grant_types must contain'],
  ])('%s is refused, and no client is created', async (_name, metadata, reason) => {
    const { status, fault } = await refusal(host.put(path, metadata));
    expect(status).toBe(400);
    expect(fault).toContain(reason);
    expect(await introduced()).toEqual([]);
  });

  it.each<[string, { body: string; status?: number; headers?: Record<string, string> }, string]>([
    ['10 MB', { body: '['.repeat(10_000_000) }, 'too large'],
    ['a page', { body: '<html>', headers: { 'Content-Type': 'text/html' } }, 'not JSON'],
    ['a redirect (section 4)', { body: '', status: 302, headers: { Location: 'https://10.0.0.1/' } }, 'status 302'],
    ['an error with a document (section 4)', { body: '{}', status: 201 }, 'status 201'],
    ['a list', { body: '[]' }, 'JSON object'],
  ])('as %s is refused', async (_name, answer, reason) => {
    const id = host.put(path);
    host.documents.set(path, answer);
    const { status, fault } = await refusal(id);
    expect([status, await introduced()]).toEqual([400, []]);
    expect(fault).toContain(reason);
  });

  it.each([
    ['https://exämple.com/client', 'non-ASCII'],
    ['https://xn--exmple-cua.com/../client', 'normal form'],
    ['https://example.com/a/%2e%2e/client', 'normal form'],
    ['https://EXAMPLE.com/client', 'normal form'],
    ['https://example.com:443/client', 'normal form'],
    ['https://example.com', 'a path'],
    ['https://example.com/', 'a path'],
    ['https://example.com/c#a', 'fragment'],
    ['https://google.com@example.com/c', 'user name'],
    ['https://127.0.0.1/c', 'public host'],
    ['https://[::1]/c', 'public host'],
    ['https://2130706433/c', 'normal form'],
    ['https://8.8.8.8/c', 'public host'],
    ['https://localhost/c', 'public host'],
    [`https://example.com/${'c'.repeat(500)}`, 'longer'],
    ['https://code-123456.example.com/c', 'six digits'],
  ])('cannot be at %s (section 3)', (url, reason) => {
    expect(metadataUrlFault(url, false)).toContain(reason);
  });

  it('is refused at an address in Unicode, without a request', async () => {
    const id = host.put(path).replace('https://', 'https://pаypal.');
    expect(await refusal(id)).toMatchObject({ status: 400, fault: expect.stringContaining('non-ASCII') });
    expect(host.reads.size).toBe(0);
  });

  it('is read again after its lifetime: 5 minutes at least, a day at most', async () => {
    const id = host.put(path);
    const client = await stranger(id);
    const readsAfter = async (seconds: number) => {
      world.app.clock.turn(seconds);
      await client.authorize();
      return host.reads.get(path);
    };
    const cache = (value: string) => {
      const body = host.documents.get(path)?.body ?? '';
      host.documents.set(path, { body, headers: { 'Cache-Control': value } });
    };
    cache('no-store');
    expect([await readsAfter(0), await readsAfter(299), await readsAfter(2)]).toEqual([1, 1, 2]);
    cache('max-age=99999999');
    expect([await readsAfter(301), await readsAfter(86_390), await readsAfter(20)]).toEqual([3, 3, 4]);
  });

  it('that is gone or was changed to be invalid ends new sign-ins, not later ones once it is back', async () => {
    const id = host.put(path);
    const client = await stranger(id);
    expect((await client.authorize()).status).toBe(303);
    world.app.clock.turn(3601);
    host.documents.delete(path);
    expect((await client.authorize()).status).toBe(400);
    host.put(path);
    expect((await client.authorize()).status).toBe(400);
    expect(host.reads.get(path)).toBe(2);
    world.app.clock.turn(31);
    expect((await client.authorize()).status).toBe(303);
  });

  it('that changes between authorization and token widens nothing', async () => {
    const id = host.put(path);
    const client = await stranger(id);
    const code = await client.code({ scope: 'openid' });
    const other = `${host.origin()}/other`;
    host.put(path, { ...grants, redirect_uris: [other] });
    world.app.clock.turn(3601);
    await client.signIn(user);
    const later = await client.code({ scope: 'openid', redirect_uri: other });
    expect(await client.exchange(later, { redirect_uri: callback() })).toMatchObject({ error: 'invalid_grant' });
    expect((await client.authorize()).status).toBe(400);
    expect(await client.exchange(code, { redirect_uri: other })).toMatchObject({ error: 'invalid_grant' });
    const again = await client.code({ scope: 'openid', redirect_uri: other });
    expect(await client.exchange(again, { redirect_uri: other })).toMatchObject({ status: 200, scope: 'openid' });
    expect(
      (await client.authorize({ ...lasting, redirect_uri: other, prompt: 'none' })).headers.get('location'),
    ).toContain('consent_required');
    expect(await world.events()).toContain('client.updated');
  });

  it('with new keys is used by another process at once', async () => {
    const id = host.put(path);
    const sibling = await buildSibling(world.app);
    const here = await stranger(id);
    const there = await new Stranger(sibling, world.project, id, callback()).signIn(user);
    await here.code();
    expect(locationOf(await there.authorize()).searchParams.get('code')).not.toBeNull();
    host.put(path, { redirect_uris: [`${host.origin()}/new`] });
    world.app.clock.turn(3601);
    await here.signIn(user);
    await here.authorize();
    expect((await there.authorize()).status).toBe(400);
    await sibling.close();
  });
});

describe('the policy of a project', () => {
  it('accepts the listed domains and those below, if it says so', async () => {
    await world.set({ clientMetadataDocuments: 'domains', clientMetadataDomains: ['*.other.example'] });
    const id = host.put(path);
    expect(await refusal(id)).toEqual({ status: 400, fault: 'the domain is not allowed' });
    expect(host.reads.size).toBe(0);
    await world.set({ clientMetadataDomains: [new URL(id).hostname] });
    expect((await (await stranger(id)).authorize()).status).toBe(303);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['blocks its domain', () => world.set({ blockedClientDomains: ['example.com'] })],
    ['accepts no clients any more', () => world.set({ clientMetadataDocuments: 'off' })],
    ['accepts other domains only', () => world.set({ clientMetadataDocuments: 'domains' })],
    ['has the client blocked', () => block()],
  ])('ends the tokens of a client when it %s', async (_name, end) => {
    const client = await stranger(host.put(path, grants));
    const { access_token, refresh_token } = await client.exchange(await client.code(lasting));
    const code = await client.code(lasting);
    await end();
    expect(await client.userInfo(access_token)).toBe(401);
    expect(await client.refresh(refresh_token)).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(await client.exchange(code)).toMatchObject({ status: 401, error: 'invalid_client' });
    expect((await client.authorize(lasting)).status).toBe(400);
    world.app.clock.turn(86_401);
    expect((await client.authorize(lasting)).status).toBe(400);
  });

  async function block(): Promise<Client> {
    const [row] = await introduced();
    return world.app.services.clients.update(keyIn(world.project.id, row?.id ?? ''), { disabled: true }, system);
  }
});

describe('the consent page', () => {
  it('asks by the verified host, and shows the claimed name small', async () => {
    const id = host.put(path, { client_name: 'Acme Bank Security', logo_uri: `${host.origin()}/logo.png` });
    const { html } = await (await stranger(id)).consent();
    expect(/<h1>(.*?)<\/h1>/.exec(html)?.[1]).toBe(`${new URL(id).host} asks for access`);
    expect(/id="named">(.*?)</.exec(html)?.[1]).toBe(
      'It calls itself “Acme Bank Security”. This name is not verified.',
    );
    expect(html).not.toContain('logo.png');
    const signIn = locationOf(await new Stranger(world.app, world.project, id, callback()).authorize());
    expect(await (await fetch(signIn)).text()).not.toContain('Acme Bank');
  });

  it('names the computer of the user if any program there could receive the code', async () => {
    const redirectUri = 'http://127.0.0.1/callback';
    const id = host.put(path, { client_name: 'Claude Code', redirect_uris: [redirectUri] });
    const client = await stranger(id, 'http://127.0.0.1:33418/callback');
    const { html, decide } = await client.consent();
    expect(/<h1>(.*?)<\/h1>/.exec(html)?.[1]).toBe('An application on your computer asks for access');
    expect(html).toContain(`It calls itself “Claude Code (${new URL(id).host})”.`);
    expect((await decide('allow')).href).toMatch(/^http:\/\/127\.0\.0\.1:33418\/callback\?code=/);
  });

  it.each(['Sign in at https://evil.example', '‮evil', 'x'.repeat(101), 'Code 123456', '\n', 7])(
    'shows no name such as %j',
    async (name) => {
      const id = host.put(path, { client_name: name });
      const { html } = await (await stranger(id)).consent();
      expect(html).toContain(`It calls itself “${new URL(id).host}”.`);
    },
  );
});

describe('thousands of new clients', () => {
  it('are limited for each network and project, and cost no storage', async () => {
    const client = await stranger(host.put('/c0'));
    for (let at = 0; at < 40; at += 1) {
      const id = host.put(`/c${at}`);
      await new Stranger(world.app, world.project, id, callback()).authorize();
    }
    expect([...host.reads.values()].reduce((all, one) => all + one, 0)).toBe(30);
    expect(await introduced()).toHaveLength(30);
    expect(await faults()).toEqual(['too many new clients from one network']);
    // Known clients are not affected.
    expect((await client.authorize()).status).toBe(303);
    const failing = Array.from({ length: 20 }, () => client.authorize({ client_id: `${host.origin()}/none` }));
    await Promise.all(failing);
    expect(host.reads.get('/none')).toBeUndefined();
  });

  it('that a limit of one network kept away are read for another network', async () => {
    const client = await stranger(host.put('/c0'));
    for (let at = 0; at < 30; at += 1) await client.authorize({ client_id: host.put(`/c${at}`) });
    const id = host.put(path);
    expect((await client.authorize({ client_id: id })).status).toBe(400);
    const elsewhere = { ...system, ip: '203.0.113.7' };
    expect(await world.app.services.documents.meet(world.project.id, id, elsewhere)).toBe(true);
    expect(host.reads.get(path)).toBe(1);
  });

  it('are one event for each reason, whatever the host answers', async () => {
    const client = await stranger(`${host.origin()}/s400`);
    for (const status of [400, 404, 418]) {
      host.documents.set(`/s${status}`, { status, body: '{}' });
      await client.authorize({ client_id: `${host.origin()}/s${status}` });
    }
    expect(await faults()).toEqual(['the document cannot be read: status 418']);
  });

  it('are refused by a limit only for its own network, also at the same time', async () => {
    const client = await stranger(host.put('/c0'));
    for (let at = 0; at < 30; at += 1) await client.authorize({ client_id: host.put(`/c${at}`) });
    const id = host.put(path);
    const { documents } = world.app.services;
    const meet = (ip: string | undefined) => documents.meet(world.project.id, id, { ...system, ...(ip && { ip }) });
    const own = client.authorize({ client_id: id });
    expect(await Promise.all([meet('203.0.113.7'), meet('203.0.113.8')])).toEqual([true, true]);
    await own;
    expect(host.reads.get(path)).toBe(1);
  });

  it('are read once each while they fail, also at the same time', async () => {
    const client = await stranger(host.put(path));
    const missing = `${host.origin()}/none`;
    const ask = () => client.authorize({ client_id: missing });
    expect((await Promise.all([ask(), ask(), ask()])).map(({ status }) => status)).toEqual([400, 400, 400]);
    await ask();
    expect(host.reads.get('/none')).toBe(1);
    world.app.clock.turn(31);
    await ask();
    expect(host.reads.get('/none')).toBe(2);
  });

  it('without a consent are deleted after a day, and the oldest beyond a thousand at once', async () => {
    const { clock, services } = world.app;
    const sweep = () => services.retention.sweep();
    const used = await stranger(host.put('/used'));
    await used.code();
    await (await stranger(host.put('/unused'))).authorize();
    await sweep();
    expect(await introduced()).toHaveLength(2);
    const [first] = await introduced();
    await changed(
      services.db,
      `insert into clients select (c).* from (select jsonb_populate_record(k, jsonb_build_object('id', gen_random_uuid(),
        'metadata_url', 'https://x.example/' || n)) as c from clients k, generate_series(1, 1100) n where k.id = ?) made`,
      [first?.id],
    );
    await changed(
      services.db,
      `insert into client_introductions (project_id, client_id, last_used_at, created_at)
        select project_id, id, ?::timestamptz - interval '2 days', now() from clients where project_id = ? and metadata_url like 'https://x.example/%'`,
      [clock.now(), world.project.id],
    );
    await (await stranger(host.put('/next'))).authorize();
    expect((await introduced()).length).toBeLessThanOrEqual(1001);
    clock.turn(86_401);
    await used.authorize();
    await sweep();
    expect((await introduced()).map(({ metadata_url }) => new URL(metadata_url).pathname)).toEqual(['/used']);
    clock.turn(31 * 86_400);
    await sweep();
    expect(await introduced()).toEqual([]);
  });
});

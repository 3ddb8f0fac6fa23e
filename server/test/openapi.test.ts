import { type DelegationOperation, delegationOperations } from '@latchkey/contracts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { system } from '../src/domain/kernel/actor.ts';
import type { Operation } from '../src/http/openapi/document.ts';
import { templateOf } from '../src/http/routes/openapi.ts';
import { apiDocument } from '../src/openapi.ts';
import { codeSentTo, TestBackEnd } from './back-end.ts';
import { DocumentedResponses } from './documented.ts';
import { basic, send } from './machine.ts';
import { rows } from './mounted-routes.ts';
import { PasskeyUser } from './passkey-user.ts';
import { partyAt } from './project-issuer.ts';
import { RelyingParty } from './relying-party.ts';
import { expectStatus, newAddress, SigninWorld } from './signin-world.ts';

const document = apiDocument('https://id.example.com');
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  it('names each operation once, and refers only to its own schemas, tags and ways of authentication', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target);
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(references.filter((target) => !known.includes(target as string))).toEqual([]);
    const schemes = Object.keys(document.components.securitySchemes);
    for (const { operation } of operations) {
      expect(operation.security.flatMap((one) => Object.keys(one)).filter((name) => !schemes.includes(name))).toEqual(
        [],
      );
      expect(document.tags.map(({ name }) => name)).toContain(operation.tags[0]);
    }
  });

  it('declares each parameter of a path, and no other', () => {
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
      expect([path, ...declared.toSorted()]).toEqual([path, ...named.toSorted()]);
    }
  });

  it('describes each operation of delegation', () => {
    for (const name of Object.keys(delegationOperations) as DelegationOperation[]) {
      expect(document.paths['/v1/delegation']?.post?.description).toContain(name);
    }
  });
});

describe('an instance', () => {
  let world: SigninWorld;
  let documented: DocumentedResponses;
  beforeAll(async () => {
    world = await SigninWorld.open();
    await world.begin({ testMode: true });
    documented = await DocumentedResponses.at(world.app.url);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await world.app.close();
  });

  it('serves it to every site, cacheable, for its own address', async () => {
    const response = await fetch(`${world.app.url}/openapi.json`);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(apiDocument(world.app.url))));
    const etag = response.headers.get('etag') ?? '';
    // fetch sends no conditional request by itself.
    const headers = { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' };
    const again = await fetch(`${world.app.url}/openapi.json`, { headers });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('serves a page of it without scripts, with each operation and schema', async () => {
    const response = await fetch(`${world.app.url}/openapi`);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).not.toMatch(/<script|\sstyle=|https?:\/\/(?!127)/);
    for (const { operation } of operations) expect(page).toContain(`id="${operation.operationId}"`);
    for (const name of Object.keys(document.components.schemas)) expect(page).toContain(`id="schema-${name}"`);
  });

  it('contains each operation of a row that has a description, in the path of the row', () => {
    const templates = rows.map(({ prefix, route }) => templateOf(`${prefix}${route.path}`));
    expect(operations.length).toBeGreaterThan(60);
    for (const { path } of operations) expect(templates).toContain(path);
    const functions = rows.flatMap(({ route }) =>
      [...Object.values(route.methods), ...(route.any ? [route.any] : [])].filter(
        ({ openApi }) => typeof openApi === 'function',
      ),
    );
    // The base issuer lacks the capabilities of projects: revoke, introspect, par, device_authorization, and the four of registration.
    expect(functions.length - operations.length).toBe(8);
  });

  it('follows the document in sign-in', async () => {
    const page = await world.page();
    const userid = newAddress();
    expectStatus(await page.step('authenticate', { userid }), 'ERROR');
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid: 'nobody' }), 'INVALID_EMAIL');
    await world.set({ mfaPolicy: 'required' });
    await world.verifyAddress(page, userid);
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'MFA_ENROLLMENT_NEEDED');
    const sms = await page.step('verify-device', { userid, mfa_method: 'sms' }, 'registration');
    expectStatus(sms, 'FINALIZE_REGISTRATION_NEEDED');
    expectStatus(await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration'), 'DEVICE_REGISTERED');
    const begun = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const { session_id } = begun;
    const { totp } = expectStatus(await page.step('initiate-mfa', { userid, session_id }, 'use'), 'MFA_INITIATED');
    expectStatus(await page.step('verify-mfa', { userid, otp: '000000' }, 'use'), 'ERROR');
    expectStatus(await page.step('verify-mfa', { userid, otp: world.totp(totp.secret) }, 'use'), 'SUCCESS');
    await page.step('change-phone-number', { userid, phone_number: '1' });
    await page.step('verify-phone-number', { userid, otp: '1' });
    await page.post('challenge', '[]');
    await page.post('challenge', {}, { 'X-Api-Key': 'lk_pk_unknown' });
    await documented.check();
  });

  it('follows the document in passkeys and changes of the phone number', async () => {
    await world.set({ mfaPolicy: 'optional', passkeyPolicy: 'allowed' });
    const user = new PasskeyUser(world);
    await user.enrolled();
    const hosted = await user.open();
    await hosted.usePasskey();
    await documented.check();
  });

  it('follows the document in the base issuer', async () => {
    const party = new RelyingParty(world.app, world.client);
    const user = await world.user();
    await party.signIn(user);
    const { access_token } = await party.tokens({ scope: 'openid profile email' });
    expect((await party.userInfo(access_token)).status).toBe(200);
    expect((await party.userInfo('x', { method: 'POST' })).status).toBe(401);
    await party.userInfo(access_token, { method: 'POST' });
    await party.exchange('unknown');
    await party.exchange('unknown', { client_id: undefined });
    await party.authorize({ client_id: 'unknown' });
    await party.authorize({}, 'post');
    await party.endSession({ client_id: world.client.id });
    await party.endSession({ client_id: world.client.id }, 'post');
    for (const name of ['openid-configuration', 'jwks.json']) await fetch(`${world.app.url}/.well-known/${name}`);
    await documented.check();
  });

  it('follows the document in the issuer of a project', async () => {
    const { app, project } = world;
    const grantTypes = ['refresh_token', 'device_code'] as const;
    const made = await app.make.client(project, {
      tokenEndpointAuthMethod: 'client_secret_basic',
      grantTypes: [...grantTypes],
    });
    const party = partyAt(app, project, made.client);
    const web = { app, client: made.client, secret: made.clientSecret ?? '', issuer: party.issuer };
    await party.signIn(await world.user());
    const scope = 'openid email offline_access';
    const exchanged = await party.exchange(await party.code({ scope }), {}, basic(web));
    const tokens = (await exchanged.json()) as { access_token: string; refresh_token: string };
    await party.userInfo(tokens.access_token);
    await party.userInfo(tokens.access_token, { method: 'POST' });
    await party.userInfo('x', { method: 'POST' });
    await party.authorize({}, 'post');
    await party.authorize({ client_id: 'unknown' });
    await send(web, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
    await send(web, '/oauth2/introspect', { token: tokens.access_token });
    await send(web, '/oauth2/introspect', { token: 'unknown' });
    const asJwt = { ...basic(web), Accept: 'application/token-introspection+jwt' };
    const body = new URLSearchParams({ token: tokens.access_token });
    await fetch(`${party.issuer}/oauth2/introspect`, { method: 'POST', body, headers: asJwt });
    await send(web, '/oauth2/revoke', { token: tokens.access_token });
    await send(web, '/oauth2/device_authorization', {});
    const redirect_uri = 'https://app.example.com/callback';
    const pkce = { code_challenge: party.proof.challenge, code_challenge_method: 'S256' };
    await send(web, '/oauth2/par', { response_type: 'code', redirect_uri, scope: 'openid', ...pkce });
    for (const path of ['token', 'introspect', 'revoke', 'device_authorization', 'par']) {
      await send({ ...web, secret: 'wrong' }, `/oauth2/${path}`, {});
      await send(web, `/oauth2/${path}`, {});
    }
    await app.services.projects.update(made.client.project.id, { clientRegistration: 'open' }, system);
    const register = `${party.issuer}/oauth2/register`;
    const json = { 'Content-Type': 'application/json' };
    const metadata = { redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' };
    const registered = await fetch(register, { method: 'POST', body: JSON.stringify(metadata), headers: json });
    const { client_id, registration_access_token: key } = (await registered.json()) as Record<string, string>;
    await fetch(register, { method: 'POST', body: '{}', headers: json });
    for (const headers of [{}, { Authorization: `Bearer ${key}` }]) {
      await fetch(`${register}/${client_id}`, { headers });
      const replaced = JSON.stringify({ ...metadata, client_id });
      await fetch(`${register}/${client_id}`, { method: 'PUT', body: replaced, headers: { ...json, ...headers } });
      await fetch(`${register}/${client_id}`, { method: 'DELETE', headers });
    }
    const { pathname } = new URL(party.issuer);
    for (const name of ['openid-configuration', 'jwks.json']) await fetch(`${party.issuer}/.well-known/${name}`);
    await fetch(`${app.url}/.well-known/oauth-authorization-server${pathname}`);
    await party.endSession({ client_id: made.client.id });
    await party.endSession({ client_id: made.client.id }, 'post');
    await documented.check();
  });

  it('follows the document in delegation', async () => {
    const { app, project } = world;
    const userid = newAddress();
    await world.user({ userName: userid, userNameKey: userid, email: userid, emailKey: userid });
    const backEnd = await TestBackEnd.of(app, project);
    const headers = { 'X-Api-Key': backEnd.secretKey };
    expect((await fetch(`${app.url}/v1/delegation`, { headers })).status).toBe(200);
    await fetch(`${app.url}/v1/delegation`);
    const call = async (op: DelegationOperation, body: object) => {
      const { payload } = await backEnd.send(await backEnd.seal({ op, body: { userid, ...body } }));
      documented.follows('DelegationResponse', payload);
      return payload;
    };
    const begun = await call('initiateMfaChange', { mfa_method: 'email' });
    documented.follows('InitiateMfaChangeResult', begun?.body);
    const change = { session_id: begun?.body['session_id'], otp: await codeSentTo(app, userid) };
    documented.follows('VerifyMfaChangeResult', (await call('verifyMfaChange', change))?.body);
    documented.follows('GetUserCredentialsResult', (await call('getUserCredentials', {}))?.body);
    documented.follows('DelegationFailure', (await call('verifyMfaChange', change))?.body);
    await backEnd.send('unreadable');
    await backEnd.send('x', { 'Content-Type': 'text/plain' });
    await documented.check();
  });

  it('follows the document in SCIM', async () => {
    const { app, project } = world;
    const { token } = await app.services.directories.issueScimToken({ projectId: project.id, name: 'Okta' }, system);
    const scim = async (method: string, path: string, body?: object, authorization = `Bearer ${token}`) => {
      const content = body && { body: JSON.stringify(body) };
      const headers = { authorization, 'Content-Type': 'application/scim+json' };
      const response = await fetch(`${app.url}/v1/scim/${project.id}${path}`, { method, headers, ...content });
      const text = await response.text();
      return text === '' ? undefined : JSON.parse(text);
    };
    const user = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: newAddress(),
      name: { givenName: 'Ada' },
      emails: [{ value: newAddress(), type: 'work', primary: true }],
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Research' },
    };
    const ada = await scim('POST', '/Users', user);
    await scim('POST', '/Users', user);
    const group = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Staff',
      members: [{ value: ada.id }],
    };
    const staff = await scim('POST', '/Groups', group);
    const operation = { op: 'replace', path: 'displayName', value: 'Ada' };
    const patch = { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: [operation] };
    for (const path of [`/Users/${ada.id}`, `/Groups/${staff.id}`]) {
      await scim('GET', path);
      await scim('PATCH', path, patch);
      await scim('PATCH', path, { Operations: [{ op: 'none' }] });
    }
    await scim('PUT', `/Users/${ada.id}`, user);
    await scim('PUT', `/Groups/${staff.id}`, group);
    const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], filter: 'id pr' };
    for (const path of ['/Users', '/Groups', '/Roles', '/Entitlements']) {
      await scim('GET', path);
      await scim('GET', `${path}?cursor=&count=1`);
      await scim('GET', `${path}?filter=x`);
      await scim('GET', `${path}/unknown`);
      await scim('POST', `${path}/.search`, search);
      await scim('POST', `${path}/.search`, search, 'Bearer unknown');
    }
    await scim('POST', '/.search', search);
    await scim('POST', '/Bulk', { schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'], Operations: [] });
    await scim('GET', '/Me');
    for (const path of ['/ServiceProviderConfig', '/ResourceTypes', '/ResourceTypes/User', '/Schemas'])
      await scim('GET', path);
    await scim('GET', `/Schemas/${user.schemas[0]}`);
    await scim('DELETE', `/Groups/${staff.id}`);
    await scim('DELETE', `/Users/${ada.id}`);
    await documented.check();
  });

  it('has returned a success and a refusal for nearly every operation', () => {
    const statusesOf = ({ operationId }: Operation) =>
      [...documented.seen].filter((one) => one.startsWith(`${operationId} `)).map((one) => Number(one.split(' ')[1]));
    const all = operations.map(({ operation }) => operation);
    // Needs a role of an application, a change of the phone number, or an access token with openid for SCIM.
    const rare = ['readRole', 'readEntitlement', 'signinChangePhoneNumber', 'signinVerifyPhoneNumber', 'readMe'];
    const missing = all.filter(
      (one) => !rare.includes(one.operationId) && !statusesOf(one).some((status) => status < 400),
    );
    expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  });
});

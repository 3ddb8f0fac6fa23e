import { expect, type Page, test } from '@playwright/test';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { type Callback, listenForCallback } from '../clients/callback.ts';
import { AdminApi, codeIn } from '../support/admin-api.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

let latchkey: Latchkey;
let admin: AdminApi;
let callback: Callback;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  callback = await listenForCallback();
});

test.afterAll(async () => {
  await callback.close();
  await latchkey.stop();
});

/** Creates a user through SCIM. */
async function provision(projectId: string, userName: string): Promise<{ id: string }> {
  const response = await fetch(`${latchkey.baseUrl}/v1/scim/${projectId}/Users`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await admin.issueScimToken(projectId)}`,
      'Content-Type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName,
      externalId: 'dir-1',
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      displayName: 'Ada Lovelace',
      emails: [{ value: userName, type: 'work', primary: true }],
      phoneNumbers: [{ value: '+12025550143', type: 'mobile' }],
      active: true,
    }),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { id: string };
}

interface Started {
  url: URL;
  checks: oidc.AuthorizationCodeGrantChecks;
}

async function start(config: oidc.Configuration, extra: Record<string, string> = {}): Promise<Started> {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: callback.redirectUri,
    scope: 'openid profile email phone address',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
    ...extra,
  });
  return { url, checks: { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true } };
}

/** The redirect URL, once the browser gets there. */
async function arrival(page: Page): Promise<URL> {
  const url = await callback.next();
  await page.waitForURL(url.href);
  return url;
}

async function enterAddress(page: Page, address: string): Promise<void> {
  await page.getByLabel('Email address').fill(address);
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function enterCode(page: Page, address: string): Promise<void> {
  await expect(page.getByLabel('Six-digit code')).toBeVisible();
  await expect.poll(async () => (await admin.mailbox(address)).length).toBeGreaterThan(0);
  const [newest] = await admin.mailbox(address);
  await page.getByLabel('Six-digit code').fill(codeIn(newest as string));
}

test('a provisioned user signs in to a public client', async ({ page, context }) => {
  const address = 'ada@example.com';
  const projectId = await admin.createProject('Example');
  const { clientId } = await admin.createClient({
    projectId,
    name: 'Single page',
    tokenEndpointAuthMethod: 'NONE',
    redirectUris: [callback.redirectUri],
  });
  const user = await provision(projectId, address);
  const config = await oidc.discovery(
    new URL(latchkey.baseUrl),
    clientId,
    { id_token_signed_response_alg: 'ES512' },
    oidc.None(),
    {
      execute: [oidc.allowInsecureRequests],
    },
  );

  const first = await start(config);
  await page.goto(first.url.href);
  await expect(page.getByText('Single page').first()).toBeVisible();
  await enterAddress(page, address);
  await enterCode(page, address);
  const tokens = await oidc.authorizationCodeGrant(config, await arrival(page), first.checks);

  const jwks = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri as string));
  const { payload, protectedHeader } = await jwtVerify(tokens.id_token as string, jwks, {
    algorithms: ['ES512'],
    issuer: latchkey.baseUrl,
    audience: clientId,
  });
  expect(protectedHeader).toMatchObject({ alg: 'ES512', kid: expect.any(String) });
  expect(payload).toMatchObject({
    sub: user.id,
    jti: expect.any(String),
    sid: expect.any(String),
    nonce: first.checks.expectedNonce,
    auth_time: expect.any(Number),
    nbf: payload.iat,
    acr: 'urn:service:pwdless:v1',
    amr: ['swk', 'otp'],
    email: address,
    email_verified: true,
    phone_number: '+12025550143',
    phone: '+12025550143',
  });
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 300, scope: 'openid profile email phone address' });
  const claims = await oidc.fetchUserInfo(config, tokens.access_token, user.id);
  expect(claims).toMatchObject({
    sub: user.id,
    name: 'Ada Lovelace',
    given_name: 'Ada',
    family_name: 'Lovelace',
    email: address,
    email_verified: true,
    phone_number: '+12025550143',
    updated_at: expect.any(Number),
  });

  await test.step('a live session needs no page', async () => {
    const silent = await start(config, { prompt: 'none' });
    await page.goto(silent.url.href);
    const again = await oidc.authorizationCodeGrant(config, await arrival(page), silent.checks);
    expect(again.claims()).toMatchObject({ sub: user.id, sid: payload['sid'], auth_time: payload['auth_time'] });
  });

  await test.step('without a session, a trusted device needs no code', async () => {
    await context.clearCookies();
    const mails = (await admin.mailbox(address)).length;
    const second = await start(config);
    await page.goto(second.url.href);
    await page.getByRole('button', { name: 'Continue' }).click();
    const again = await oidc.authorizationCodeGrant(config, await arrival(page), second.checks);
    expect(again.claims()).toMatchObject({ sub: user.id, amr: ['swk'] });
    expect((await admin.mailbox(address)).length).toBe(mails);
  });

  await test.step('another browser is not trusted', async () => {
    const stranger = await (await context.browser()?.newContext())?.newPage();
    if (!stranger) throw new Error('no browser');
    await stranger.goto((await start(config)).url.href);
    await enterAddress(stranger, address);
    // A second code can be sent 30 seconds after the first.
    const asked = stranger.getByLabel('Six-digit code').or(stranger.getByRole('alert').filter({ hasText: 'wait' }));
    await expect(asked.filter({ visible: true })).toBeVisible();
    await stranger.context().close();
  });
});

test('a confidential client authenticates with an Ed25519 assertion', async ({ page }) => {
  const address = 'grace@example.com';
  const { privateKey, publicKey } = await generateKeyPair('Ed25519', { extractable: true });
  const projectId = await admin.createProject('Confidential');
  const { clientId } = await admin.createClient({
    projectId,
    name: 'Web server',
    tokenEndpointAuthMethod: 'PRIVATE_KEY_JWT',
    jwks: JSON.stringify(await exportJWK(publicKey)),
    redirectUris: [callback.redirectUri],
  });
  const user = await provision(projectId, address);
  const config = await oidc.discovery(
    new URL(latchkey.baseUrl),
    clientId,
    { id_token_signed_response_alg: 'ES512' },
    oidc.PrivateKeyJwt(privateKey),
    { execute: [oidc.allowInsecureRequests] },
  );
  const flow = await start(config);
  await page.goto(flow.url.href);
  await enterAddress(page, address);
  await enterCode(page, address);
  const tokens = await oidc.authorizationCodeGrant(config, await arrival(page), flow.checks);
  expect(tokens.claims()).toMatchObject({ sub: user.id, aud: clientId });
  expect(await oidc.fetchUserInfo(config, tokens.access_token, user.id)).toMatchObject({ sub: user.id });
});

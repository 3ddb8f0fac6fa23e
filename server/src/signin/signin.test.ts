import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { type DeviceKey, newDeviceKey, SigninPage } from '../../test/signin-browser.ts';
import { systemRandom } from '../adapters/system.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import type { Project } from '../domain/projects/project.entity.ts';

const origin = 'https://app.example.com';
let app: TestApp;
let project: Project;
let client: Client;
let apiKey: string;
let secretKey: string;
let key: DeviceKey;
let page: SigninPage;

const address = () => `${systemRandom.id()}@example.com`;
const newPage = (withKey = key, credential = { origin, apiKey }) =>
  new SigninPage(app.url, credential, withKey, () => Math.floor(app.clock.now().getTime() / 1000));

async function set(settings: Partial<Project>): Promise<void> {
  await app.services.projects.update(project.id, settings as never, { kind: 'system' });
}

/** The code of the newest mail or SMS to that address. */
async function codeFor(to: string): Promise<string> {
  await app.runJobs();
  const message = app.mailbox.findLast((one) => one.to === to && /\b\d{6}\b/.test(one.text));
  const code = message && /\b\d{6}\b/.exec(message.text)?.[0];
  if (!code) throw new Error(`no code for ${to}`);
  return code;
}

/** A first sign-in up to the verified address. */
async function verifyAddress(userid: string, on = page): Promise<void> {
  await on.challenge();
  expect(await on.step('authenticate', { userid })).toMatchObject({ status: 'OTP_NEEDED' });
  const otp = await codeFor(userid);
  expect(await on.step('verify-email-otp', { userid, otp })).toMatchObject({ status: 'SUCCESS' });
}

async function exchange(code: string, headers: Record<string, string> = { 'X-Api-Key': secretKey }) {
  const response = await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ grant_type: 'authorization_code', code, client_id: client.id }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

beforeAll(async () => {
  app = await buildTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project({ name: 'Example' });
  const created = await app.make.client(project);
  client = created.client;
  apiKey = created.publishableKey;
  secretKey = created.secretKey;
  key = await newDeviceKey();
  page = newPage();
  // A new hour, so that no test spends another one's budget of sends from this network.
  app.clock.turn(3600);
});

describe('the first sign-in of a person (mfaPolicy OFF)', () => {
  it('goes from the address over its code and the device key to a code for the back end', async () => {
    const userid = address();
    await page.challenge();
    const asked = await page.step('authenticate', { userid });
    expect(asked).toMatchObject({ status: 'OTP_NEEDED', httpStatus: 200, resend_after: 30 });
    expect(asked['sent_to']).toBe(`${userid[0]}…@example.com`);
    expect(asked['code']).toBeUndefined();
    const otp = await codeFor(userid);
    expect(await page.step('verify-email-otp', { userid, otp })).toMatchObject({ status: 'SUCCESS' });
    const done = await page.step('verify-device', { userid }, 'registration');
    expect(done).toMatchObject({ status: 'SUCCESS', code: expect.stringMatching(/^[\w-]{43}$/) });
    const { status, body } = await exchange(done['code']);
    expect(status).toBe(200);
    expect(claimsOf(body['id_token'] ?? '')).toMatchObject({ email: userid, amr: ['swk', 'otp'], aud: client.id });
  });

  it('is followed by one that asks nothing', async () => {
    const userid = address();
    await verifyAddress(userid);
    await page.step('verify-device', { userid }, 'registration');
    const again = newPage();
    await again.challenge();
    const done = await again.step('authenticate', { userid }, 'use');
    expect(done).toMatchObject({ status: 'SUCCESS', code: expect.any(String) });
    const { body } = await exchange(done['code']);
    expect(claimsOf(body['id_token'] ?? '')).toMatchObject({ amr: ['swk'] });
  });
});

import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { redirectUri } from '../../test/factories.ts';
import { newDeviceKey, SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, otherCode, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';

let world: SigninWorld;
beforeAll(async () => {
  world = await SigninWorld.open();
});
afterAll(() => world.app.close());

/** Secrets that must not be stored or logged: long ones anywhere, six-digit codes as separate words. */
const secrets = new Set<string>();
const digits = new Set<string>();

/** Collects every secret of a response. */
function note(answer: StepAnswer): StepAnswer {
  for (const name of ['txn', 'nonce', 'session_id', 'code']) if (answer[name]) secrets.add(answer[name]);
  for (const code of answer['recovery_codes'] ?? []) secrets.add(code).add(code.replaceAll('-', ''));
  if (answer['totp']) {
    secrets.add(answer['totp'].secret).add(Buffer.from(answer['totp'].secret).toString('hex'));
  }
  for (const line of answer.headers.getSetCookie()) secrets.add(cookieOf(line)[1]);
  return answer;
}

function cookieOf(line: string): [string, string] {
  const [pair = ''] = line.split(';');
  return [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
}

async function codeFor(to: string): Promise<string> {
  const code = await world.codeFor(to);
  digits.add(code);
  return code;
}

const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
const pause = () => world.app.clock.turn(31);

/** Runs the SDK: both factors, a wrong code, a recovery code, a new number, and the token exchange. */
async function throughTheSdk(): Promise<void> {
  const [userid, phone] = [newAddress(), '+4917077000001'];
  const page = await world.page();
  const step = async (...args: Parameters<SigninPage['step']>) => note(await page.step(...args));
  const authenticate = async (fields = {}) => {
    note(await page.challenge());
    return step('authenticate', { userid, ...fields }, 'use');
  };
  note(await page.challenge());
  await step('authenticate', { userid });
  const otp = await codeFor(userid);
  await step('verify-email-otp', { userid, otp: otherCode(otp) });
  await step('verify-email-otp', { userid, otp });
  await step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
  const required = await authenticate();
  const { totp } = await step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
  const typed = generateSync({ secret: totp.secret, epoch: now() });
  digits.add(typed);
  await step('verify-mfa', { userid, otp: otherCode(typed) }, 'use');
  const done = expectStatus(await step('verify-mfa', { userid, otp: typed }, 'use'), 'SUCCESS');
  await redeem(done['code']);

  pause();
  await authenticate({ step_up: 'change_phone_number' });
  const [recovery] = done['recovery_codes'] as string[];
  expectStatus(await step('verify-mfa', { userid, otp: recovery }, 'use'), 'SUCCESS');
  await step('change-phone-number', { userid, phone_number: phone }, 'use');
  const sent = await codeFor(phone);
  await step('verify-phone-number', { userid, otp: otherCode(sent) }, 'use');
  expectStatus(await step('verify-phone-number', { userid, otp: sent }, 'use'), 'PHONE_CHANGED');
}

async function redeem(code: string, over: Parameters<SigninWorld['exchange']>[1] = {}): Promise<void> {
  const { status, body } = await world.exchange(code, over);
  expect(status).toBe(200);
  for (const token of [body['id_token'], body['access_token']]) {
    secrets.add(token as string).add((token as string).split('.')[2] as string);
  }
  const headers = { Authorization: `Bearer ${body['access_token']}` };
  expect((await fetch(`${world.app.url}/userinfo`, { headers })).status).toBe(200);
  // A replay and a misplaced token are logged.
  await world.exchange(code, over);
  await fetch(`${world.app.url}/userinfo?access_token=${body['access_token']}`);
  await fetch(`${world.app.url}/userinfo`, { headers: { Authorization: `Bearer ${body['id_token']}` } });
}

/** Runs the hosted page: flow, cookies, a second factor by mail and the redirect; then the account page. */
async function throughTheHostedPage(): Promise<void> {
  const [userid, browser, proof] = [newAddress(), new CookieBrowser(), pkce()];
  secrets.add(proof.verifier);
  const query = new URLSearchParams(authorizationParameters(world.client.id, proof.challenge));
  const page = locationOf(await browser.get(`${world.app.url}/authorize?${query}`));
  const flow = page.searchParams.get('flow') as string;
  secrets.add(flow);
  await browser.get(page.href);
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  for (const value of browser.cookies.values()) secrets.add(value);
  const hosted = new SigninPage(world.app.url, { origin: world.app.url, flow, cookie }, await newDeviceKey(), now);
  note(await hosted.challenge());
  note(await hosted.step('authenticate', { userid }));
  note(await hosted.step('verify-email-otp', { userid, otp: await codeFor(userid) }));
  note(await hosted.step('verify-device', { userid, mfa_method: 'email' }, 'registration'));
  note(await hosted.challenge());
  const required = note(await hosted.step('authenticate', { userid }, 'use'));
  note(await hosted.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use'));
  const otp = await codeFor(userid);
  const done = expectStatus(note(await hosted.step('verify-mfa', { userid, otp }, 'use')), 'SUCCESS');
  for (const line of done.headers.getSetCookie()) browser.cookies.set(...cookieOf(line));
  const back = locationOf(await browser.get(done['redirect_to']));
  const code = back.searchParams.get('code') as string;
  secrets.add(code);
  await redeem(code, { headers: {}, form: { code_verifier: proof.verifier, redirect_uri: redirectUri } });

  const account = await (await browser.get(`${world.app.url}/account`)).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(account)?.[1] as string;
  secrets.add(csrf);
  const form = { change: 'renew-recovery-codes', project: world.project.id, csrf };
  const codes = await (await browser.post(`${world.app.url}/account`, form)).text();
  for (const [, recovery] of codes.matchAll(/<li>([\w-]{19})<\/li>/g)) secrets.add(recovery as string);
}

async function dump(): Promise<string> {
  const em = world.app.services.db.reader();
  const tables = await em.execute<{ name: string }[]>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  const dumps = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await em.execute<{ row: string }[]>(`select to_jsonb(t)::text as row from "${name}" t`);
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return dumps.join('\n');
}

describe('secrets', () => {
  it('of complete runs with the SDK and the hosted page are neither in the log nor in the database', async () => {
    await world.begin({ mfaPolicy: 'optional' });
    await throughTheSdk();
    pause();
    await throughTheHostedPage();
    const link = await world.app.services.admins.mintSetupLink(system);
    secrets.add(/[\w-]{43}/.exec(link.url)?.[0] as string);
    secrets.add(world.secretKey);
    await world.app.runJobs();

    const places = { database: await dump(), log: world.app.logLines.join('\n') };
    expect(world.app.logLines.length).toBeGreaterThan(3);
    expect(places.database.length).toBeGreaterThan(10_000);
    expect(secrets.size).toBeGreaterThan(60);
    expect(digits.size).toBe(5);
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) {
        expect(secret.length).toBeGreaterThan(15);
        expect(text.includes(secret), `a secret in the ${place}: ${secret.slice(0, 6)}…`).toBe(false);
      }
      // Six digits may occur by chance inside other values, but not as a separate word.
      for (const code of digits) {
        expect(new RegExp(`(?<![\\w.-])${code}(?![\\w.-])`).test(text), `a code in the ${place}`).toBe(false);
      }
    }
  });
});

/** A reloaded hosted page continues its sign-in: POST /v1/signin/resume. */
import { beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { type DeviceKey, newDeviceKey, SigninPage, type StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { Ceremony } from '../domain/ceremonies/ceremony.entity.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let browser: CookieBrowser;
let key: DeviceKey;
let userid: string;
let flow: string;
const { challenge } = pkce();

const now = () => Math.floor(world.app.clock.now().getTime() / 1000);
const cookieOf = (of: CookieBrowser) => [...of.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

async function begin(): Promise<string> {
  const query = new URLSearchParams(authorizationParameters(world.client.id, challenge, {}));
  return locationOf(await browser.get(`${world.app.url}/authorize?${query}`)).searchParams.get('flow') as string;
}

function hosted(over: { cookie?: string; origin?: string; flow?: string } = {}): SigninPage {
  return new SigninPage(world.app.url, { origin: world.app.url, flow, cookie: cookieOf(browser), ...over }, key, now);
}

/** A page that was reloaded: it has only its flow, its cookie and its stored key. */
async function reloaded(): Promise<{ page: SigninPage; answer: StepAnswer }> {
  const page = hosted();
  // The proofs name the client and the project, which the page has in its HTML.
  await page.challenge();
  const answer = await page.post('resume', {});
  if (answer['txn']) page.txn = answer['txn'];
  return { page, answer };
}

beforeEach(async () => {
  browser = new CookieBrowser();
  key = await newDeviceKey();
  userid = newAddress();
  flow = await begin();
});

async function codeSent(): Promise<SigninPage> {
  const page = hosted();
  await page.challenge();
  expectStatus(await page.step('authenticate', { userid, remember_device: false }), 'OTP_NEEDED');
  return page;
}

describe('a page that was reloaded at the code step', () => {
  it('returns to it, and the first code still works', async () => {
    await codeSent();
    world.app.clock.turn(12);
    const { page, answer } = await reloaded();
    expect(answer).toMatchObject({
      ...{ httpStatus: 200, status: 'PENDING', userid, jkt: key.jkt, remember_device: false },
      prompt: { status: 'OTP_NEEDED', sent_to: expect.stringContaining('…@'), sent_at: now() - 12, resend_after: 18 },
    });
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  });

  it('sends no other mail', async () => {
    await codeSent();
    await reloaded();
    await world.app.runJobs();
    expect(world.app.mailbox.filter(({ to }) => to === userid)).toHaveLength(1);
  });

  it('ends the page that it replaces', async () => {
    const earlier = await codeSent();
    await reloaded();
    const late = await earlier.step('verify-email-otp', { userid, otp: await world.codeFor(userid) });
    expect(late).toMatchObject(refusal('TRANSACTION_EXPIRED', 410));
  });

  it('gets a code that has expired as one that must be sent again', async () => {
    await codeSent();
    world.app.clock.turn(301);
    const { prompt } = (await reloaded()).answer;
    expect(prompt).toMatchObject({ status: 'OTP_NEEDED', sent_at: now() - 301, resend_after: 0 });
  });

  it('does not reveal whether an address is known', async () => {
    await world.user({ userName: userid, userNameKey: userid, email: userid, emailKey: userid });
    await codeSent();
    const known = (await reloaded()).answer['prompt'];
    userid = newAddress();
    flow = await begin();
    await codeSent();
    const unknown = (await reloaded()).answer['prompt'];
    expect({ ...unknown, sent_to: '' }).toEqual({ ...known, sent_to: '' });
  });
});

describe('a page that was reloaded at a later step', () => {
  it('registers its key after the code', async () => {
    const page = await codeSent();
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    const next = await reloaded();
    expect(next.answer['prompt']).toEqual({ status: 'OTP_VERIFIED' });
    expectStatus(await next.page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
  });

  it('shows the secret of the authenticator app again, and enrolls it', async () => {
    const page = await codeSent();
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    await page.step('verify-device', { userid, mfa_method: 'totp' }, 'registration');
    const registered = await reloaded();
    expect(registered.answer['prompt']).toEqual({ status: 'DEVICE_REGISTERED' });
    const required = expectStatus(await registered.page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    const owed = await reloaded();
    expect(owed.answer['prompt']).toMatchObject({
      status: 'MFA_REQUIRED',
      method: 'totp',
      methods: ['email', 'sms', 'totp'],
    });
    // The `session_id` that the reload has replaced.
    const old = await owed.page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    expect(old).toMatchObject(refusal('INVALID_REQUEST', 400));
    const asked = { userid, session_id: owed.answer['prompt'].session_id };
    const initiated = expectStatus(await owed.page.step('initiate-mfa', asked, 'use'), 'MFA_INITIATED');
    const shown = await reloaded();
    expect(shown.answer['prompt']).toMatchObject({ status: 'MFA_INITIATED', method: 'totp', totp: initiated['totp'] });
    const otp = world.totp(initiated['totp'].secret);
    expectStatus(await shown.page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
  });

  it('keeps the code of a second factor by mail, and its wait', async () => {
    const page = await codeSent();
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    await page.step('verify-device', { userid, mfa_method: 'email' }, 'registration');
    const required = expectStatus(await page.step('authenticate', { userid }, 'use'), 'MFA_REQUIRED');
    world.app.clock.turn(31);
    await page.step('initiate-mfa', { userid, session_id: required['session_id'] }, 'use');
    const otp = await world.codeFor(userid);
    world.app.clock.turn(10);
    const next = await reloaded();
    expect(next.answer['prompt']).toMatchObject({
      ...{ status: 'MFA_INITIATED', method: 'email', sent_at: now() - 10, resend_after: 20 },
      ...{ sent_to: expect.stringContaining('…@'), methods: ['email', 'sms', 'totp'] },
    });
    expectStatus(await next.page.step('verify-mfa', { userid, otp }, 'use'), 'SUCCESS');
  });

  it('has nothing to continue once it is signed in, before it has an address, or after ten minutes', async () => {
    expect((await reloaded()).answer).toMatchObject({ httpStatus: 200, status: 'NOTHING_PENDING' });
    const page = await codeSent();
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    expect((await reloaded()).answer.status).toBe('NOTHING_PENDING');
    userid = newAddress();
    flow = await begin();
    await codeSent();
    world.app.clock.turn(601);
    expect((await reloaded()).answer.status).toBe('NOTHING_PENDING');
  });
});

describe('another page', () => {
  it('of another browser, origin or flow gets nothing, and ends nothing', async () => {
    const page = await codeSent();
    const stranger = new CookieBrowser();
    const own = browser;
    browser = stranger;
    const strangersFlow = await begin();
    expect(await hosted().post('resume', {})).toMatchObject(refusal('FLOW_EXPIRED', 410));
    expect(await hosted({ flow: strangersFlow }).post('resume', {})).toMatchObject({ status: 'NOTHING_PENDING' });
    browser = own;
    expect(await hosted({ origin: 'https://evil.example' }).post('resume', {})).toMatchObject(
      refusal('ORIGIN_NOT_ALLOWED', 403),
    );
    expect(await hosted({ cookie: '' }).post('resume', {})).toMatchObject(refusal('FLOW_EXPIRED', 410));
    const application = await world.page();
    expect(await application.post('resume', {})).toMatchObject(refusal('INVALID_API_KEY', 401));
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
  });

  it('with the cookie but without the device key can neither register nor finish', async () => {
    await codeSent();
    const { page } = await reloaded();
    expectStatus(await page.step('verify-email-otp', { userid, otp: await world.codeFor(userid) }), 'SUCCESS');
    const other = await page.step('verify-device', { userid }, { kind: 'registration', key: await newDeviceKey() });
    expect(other).toMatchObject(refusal('PROOF_REJECTED', 401));
  });

  it('is one of 200 at once, of which exactly one continues', async () => {
    await codeSent();
    const otp = await world.codeFor(userid);
    const pages = await Promise.all(Array.from({ length: 200 }, () => hosted().post('resume', {})));
    const pending = pages.filter(({ status }) => status === 'PENDING');
    const answers = [];
    for (const { txn } of pending) {
      const page = hosted();
      page.txn = txn;
      answers.push(await page.step('verify-email-otp', { userid, otp }));
    }
    expect(answers.filter(({ status }) => status === 'SUCCESS')).toHaveLength(1);
    const rows = await world.app.services.db.reader().count(Ceremony, { address: userid });
    expect(rows).toBe(1);
  });
});

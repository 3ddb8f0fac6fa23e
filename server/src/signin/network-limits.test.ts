/** Codes that one network may request (decisions/0345). */
import { describe, expect, it } from 'vitest';
import type { DeviceKey, SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';

const world = SigninWorld.ofTests();
const office = '198.51.100.7';

interface Asked {
  page: SigninPage;
  userid: string;
  answer: StepAnswer;
}

function from(ip: string, page: SigninPage, step: string, fields: Record<string, unknown>): Promise<StepAnswer> {
  return page.post(step, { txn: page.txn, ...fields }, { 'X-Forwarded-For': ip });
}

/** Requests a code for a new browser. */
async function ask(ip: string, userid = newAddress(), key?: DeviceKey): Promise<Asked> {
  const page = await world.page(key);
  await page.challenge();
  return { page, userid, answer: await from(ip, page, 'authenticate', { userid }) };
}

async function redeem(ip: string, { page, userid }: Asked, otp?: string): Promise<StepAnswer> {
  return from(ip, page, 'verify-email-otp', { userid, otp: otp ?? (await world.codeFor(userid)) });
}

/** Requests codes for unknown people until the network is limited; returns their number. */
async function allowed(ip: string, most = 60): Promise<number> {
  for (let sent = 0; sent < most; sent += 1) if ((await ask(ip)).answer.status !== 'OTP_NEEDED') return sent;
  return most;
}

/** Marks codes as redeemed here, without their sign-ins. */
async function earn(ip: string, people: number, project = world.project): Promise<void> {
  const { db, sends } = world.app.services;
  await db.transaction(async (em) => {
    for (let n = 0; n < people; n += 1) await sends.redeemed(em, { projectId: project.id, account: newAddress(), ip });
  });
}

/** Events `signin.network_limited` of the project, with the fields that name the network. */
async function stops(): Promise<unknown[]> {
  const sql = `select subject_kind, subject_id, client_id, (detail->>'count')::int as count from audit_log
    where project_id = ? and type = 'signin.network_limited' order by id`;
  return world.app.services.db.reader().execute(sql, [world.project.id]);
}

describe('an office behind one address', () => {
  it('of 45 people signs in on its first day', async () => {
    for (let person = 0; person < 45; person += 1) {
      const asked = await ask(office);
      expectStatus(asked.answer, 'OTP_NEEDED');
      expectStatus(await redeem(office, asked), 'SUCCESS');
    }
  });

  it('that is limited continues at once when one of its people enters a code', async () => {
    const first = await ask(office);
    expect(await allowed(office)).toBe(29);
    for (let again = 0; again < 5; again += 1) expect((await ask(office)).answer).toMatchObject({ httpStatus: 429 });
    expectStatus(await redeem(office, first), 'SUCCESS');
    expect(await allowed(office)).toBe(1);
  });

  it('keeps its allowance for a day, and not longer', async () => {
    await earn(office, 10);
    world.app.clock.turn(23 * 3600);
    expect(await allowed(office)).toBe(40);
    world.app.clock.turn(3600);
    expect(await allowed(office)).toBe(30);
  });

  it('gets the reason, the time and no other address', async () => {
    await allowed(office);
    const { answer } = await ask(office);
    expect(answer).toMatchObject(refusal('RATE_LIMITED', 429));
    expect(answer['error']).toMatchObject({ reason: 'network', category: 'retryable' });
    expect(answer['error'].message).toMatch(/network/);
    expect(Number(answer.headers.get('retry-after'))).toBe(answer['error'].retry_after);
    expect(answer.text).not.toContain(office);
  });

  it('is named by one event an hour, also for several applications', async () => {
    await allowed(office);
    await ask(office);
    const { publishableKey } = await world.app.make.client(world.project);
    const other = await world.page(undefined, { apiKey: publishableKey });
    await other.challenge();
    await from(office, other, 'authenticate', { userid: newAddress() });
    expect(await stops()).toEqual([{ subject_kind: 'network', subject_id: office, client_id: null, count: 3 }]);
  });
});

/** A budget that nothing reads: many uses of another are spent in one statement with it. */
const unused = { name: 'unused', subject: 'of-the-test', max: 1, windowSeconds: 3600 };

describe('the allowance of a network', () => {
  it('does not grow by codes of addresses without an account, by wrong codes, or by unread codes', async () => {
    await world.set({ signUp: 'provisioned_only' });
    for (let n = 0; n < 5; n += 1) expect((await redeem(office, await ask(office), '000000')).status).toBe('ERROR');
    expect(await allowed(office)).toBe(25);
  });

  it('grows by at most five codes of one account in a day', async () => {
    const { db, sends } = world.app.services;
    const one = { projectId: world.project.id, account: newAddress(), ip: office };
    await db.transaction(async (em) => {
      for (let n = 0; n < 40; n += 1) await sends.redeemed(em, one);
    });
    expect(await allowed(office)).toBe(35);
  });

  it('counts for its own project only: no other tenant adds to it or uses it', async () => {
    await earn(office, 10);
    const own = world.project;
    await world.begin();
    expect(await allowed(office)).toBe(30);
    const stranger = world.project;
    expect(stranger.id).not.toBe(own.id);
    const { db, sends } = world.app.services;
    const place = { purpose: 'sign-in', ip: office, provenKey: null } as const;
    const send = () => {
      const address = newAddress();
      return db.transaction((em) => sends.spend(em, { ...place, projectId: own.id, address, ceremonyId: address }));
    };
    for (let n = 0; n < 10; n += 1) expect(await send()).toEqual({ isFlood: false });
    expect(await send()).toMatchObject({ refused: { code: 'too-many', network: office } });
  });

  it('is at most 1,000 an hour', async () => {
    await earn(office, 1500);
    const { db, limits } = world.app.services;
    const earned = { name: 'otp-send-earned', max: 970, windowSeconds: 3600 };
    const used = Array.from({ length: 969 }, () => `${world.project.id}:${office}`);
    await db.transaction((em) => limits.spendMany(em, { each: earned, shared: unused }, used));
    expect(await allowed(office)).toBe(31);
  });

  it('allows exactly its number of codes in a race of 200', async () => {
    await earn(office, 20);
    const pages = await Promise.all(Array.from({ length: 200 }, () => world.page()));
    for (const page of pages) await page.challenge();
    const answers = await Promise.all(
      pages.map((page) => from(office, page, 'authenticate', { userid: newAddress() })),
    );
    expect(answers.filter(({ status }) => status === 'OTP_NEEDED')).toHaveLength(50);
    expect(answers.filter(({ httpStatus }) => httpStatus === 429)).toHaveLength(150);
  });

  it('is shared by an IPv6 /64', async () => {
    await earn('2001:db8:0:9::1', 5);
    expect(await allowed('2001:db8:0:9::2')).toBe(35);
    expect(await allowed('2001:db8:0:a::2')).toBe(30);
  });

  it('that strangers have used up does not limit a trusted browser of a user', async () => {
    const page = await world.page();
    const userid = newAddress();
    await world.trusted(page, userid);
    await allowed(office);
    await page.challenge();
    const body = { txn: page.txn, userid, step_up: 'change_phone_number' };
    const proof = page.prove('authenticate', JSON.stringify(body), { kind: 'use' });
    const headers = { 'Device-Proof': proof, 'X-Forwarded-For': office };
    expectStatus(await page.post('authenticate', body, headers), 'OTP_NEEDED');
  });
});

describe('a network that an admin named', () => {
  it('has 5,000 an hour of its own, as a whole, in its project', async () => {
    await world.set({ sharedNetworks: ['198.51.100.0/24', '2001:db8:7::/48'] });
    expect(await allowed(office, 40)).toBe(40);
    expect(await allowed('2001:db8:7:1::1', 40)).toBe(40);
    expect(await allowed('192.0.2.9', 40)).toBe(30);
    const { db, limits } = world.app.services;
    const named = { name: 'otp-send-named', max: 5000, windowSeconds: 3600 };
    const used = Array.from({ length: 4990 }, () => `${world.project.id}:198.51.100.0/24`);
    await db.transaction((em) => limits.spendMany(em, { each: named, shared: unused }, used));
    expect(await allowed('198.51.100.8', 40)).toBe(30);
    await world.begin();
    expect(await allowed(office, 40)).toBe(30);
  });

  it.each([
    [['198.51.100.0/33'], 'invalid: 198.51.100.0/33'],
    [['0.0.0.0/0'], 'a /16 or smaller'],
    [['2001:db8::/16'], 'a /32 or smaller'],
    [['office.example.com'], 'invalid: office'],
    [['::ffff:198.51.100.7'], 'invalid: ::ffff'],
    [Array.from({ length: 21 }, (_, n) => `198.51.100.${n}`), 'at most 20'],
  ])('is refused as %s: %s', async (sharedNetworks, reason) => {
    await expect(world.set({ sharedNetworks })).rejects.toMatchObject({
      problem: { code: 'invalid', field: 'sharedNetworks', reason: expect.stringContaining(reason) },
    });
  });
});

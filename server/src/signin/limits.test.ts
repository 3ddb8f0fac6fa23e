import { beforeEach, describe, expect, it } from 'vitest';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';

const world = SigninWorld.ofTests();
let userid: string;

beforeEach(() => {
  userid = newAddress();
});

/** Sends one step from that network. */
function from(ip: string, page: SigninPage, step: string, fields: Record<string, unknown>): Promise<StepAnswer> {
  return page.post(step, { txn: page.txn, ...fields }, { 'X-Forwarded-For': ip });
}

async function ask(ip: string, address = userid): Promise<{ page: SigninPage; answer: StepAnswer }> {
  const page = await world.page();
  await page.challenge();
  return { page, answer: await from(ip, page, 'authenticate', { userid: address }) };
}

describe('sends of codes', () => {
  it('are limited to one per 30 seconds for an address in one sign-in, with the time of the next', async () => {
    const { page, answer } = await ask('192.0.2.1');
    expectStatus(answer, 'OTP_NEEDED');
    world.app.clock.turn(10);
    const soon = await from('192.0.2.1', page, 'authenticate', { userid });
    expect(soon).toMatchObject(refusal('RATE_LIMITED', 429));
    expect(soon['error']).not.toHaveProperty('reason');
    expect(soon['error']).toMatchObject({ category: 'retryable', retry_after: 20 });
    expect(soon.headers.get('retry-after')).toBe('20');
    world.app.clock.turn(20);
    expectStatus(await from('192.0.2.1', page, 'authenticate', { userid }), 'OTP_NEEDED');
  });

  it('are limited to five per hour for one address and network, ignoring case', async () => {
    const statuses: string[] = [];
    for (let n = 0; n < 6; n++) {
      const { answer } = await ask('192.0.2.1', n % 2 ? userid.toUpperCase() : userid);
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array<string>(5).fill('OTP_NEEDED'), 'ERROR']);
  });

  it('neither reveal requests of other users nor spend their budgets', async () => {
    for (let n = 0; n < 40; n++) expectStatus((await ask(`203.0.113.${n}`)).answer, 'OTP_NEEDED');
    expectStatus((await ask('192.0.2.1')).answer, 'OTP_NEEDED');
  });

  it('are limited to thirty per hour and network (IPv6: /64)', async () => {
    const statuses: string[] = [];
    for (let n = 0; n < 31; n++) statuses.push((await ask(`2001:db8:0:9::${n + 1}`, newAddress())).answer.status);
    expect(statuses).toEqual([...Array<string>(30).fill('OTP_NEEDED'), 'ERROR']);
    expectStatus((await ask('2001:db8:0:a::1', newAddress())).answer, 'OTP_NEEDED');
  });

  it('that are rejected do not block a trusted device', async () => {
    const page = await world.page();
    await world.register(page, userid);
    for (let n = 0; n < 20; n++) await ask(`203.0.113.${n}`);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

describe('1,000 guesses from 50 networks', () => {
  /** Codes requested from 50 networks, with 20 parallel guesses each. */
  async function guess(): Promise<string[]> {
    const outcomes: string[] = [];
    for (let network = 0; network < 50; network++) {
      const { page, answer } = await ask(`198.51.100.${network}`);
      expectStatus(answer, 'OTP_NEEDED');
      const guesses = Array.from({ length: 20 }, (_, n) =>
        from(`198.51.100.${network}`, page, 'verify-email-otp', { userid, otp: String(n).padStart(6, '0') }),
      );
      outcomes.push(...(await Promise.all(guesses)).map((one) => one['error']?.code ?? one.status));
    }
    return outcomes;
  }

  it('check at most twenty codes, and do not lock the owner out of any browser', async () => {
    const trusted = await world.page();
    await world.register(trusted, userid);
    world.app.clock.turn(3600);
    const early = await ask('192.0.2.1');
    const earlyCode = await world.codeFor(userid);
    const outcomes = await guess();
    expect(outcomes).toHaveLength(1000);
    expect(new Set(outcomes)).toEqual(new Set(['CODE_REJECTED']));
    const checked = await world.app.services.db
      .reader()
      .execute<{ n: number }[]>(
        "select coalesce(sum(least(attempts, 5)), 0)::int as n from one_time_codes where project_id = ? and format = 'short'",
        [world.project.id],
      );
    expect(checked[0]?.n).toBeLessThanOrEqual(20);

    const unseen = await ask('203.0.113.77');
    expect(expectStatus(unseen.answer, 'OTP_NEEDED')).toMatchObject({ code_format: 'long' });
    expectStatus(await from('192.0.2.1', early.page, 'verify-email-otp', { userid, otp: earlyCode }), 'SUCCESS');
    const long = (await world.longCodeFor(userid)).toLowerCase();
    expectStatus(await from('203.0.113.77', unseen.page, 'verify-email-otp', { userid, otp: long }), 'SUCCESS');
    await trusted.challenge();
    expectStatus(await trusted.step('authenticate', { userid }, 'use'), 'SUCCESS');
    const sameNetwork = await world.page();
    await sameNetwork.challenge();
    const short = expectStatus(await sameNetwork.step('authenticate', { userid }), 'OTP_NEEDED');
    expect(short).not.toHaveProperty('code_format');
    const neighbor = await world.page();
    expectStatus(await world.register(neighbor, newAddress()), 'SUCCESS');
  });
});

describe('guesses at codes that a network of the user requested', () => {
  it('are counted for all browsers and networks: at most forty in a month', async () => {
    await world.register(await world.page(), userid);
    for (let round = 0; round < 9; round++) {
      world.app.clock.turn(1000);
      const page = await world.page();
      await page.challenge();
      const asked = expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
      expect(asked['code_format'], `round ${round}`).toBe(round < 8 ? undefined : 'long');
      if (round === 8) break;
      const otp = String((Number(await world.codeFor(userid)) + 1) % 1_000_000).padStart(6, '0');
      for (let n = 0; n < 5; n++) {
        const wrong = await from(`198.51.100.${n}`, page, 'verify-email-otp', { userid, otp });
        expect(wrong['error']?.code).toBe('CODE_REJECTED');
      }
    }
  });
});

describe('whether an address is known', () => {
  interface Kind {
    userid: string;
    mails: number;
  }
  const kinds = async (): Promise<Record<string, Kind>> => {
    const [known, alias, disabled] = [newAddress(), newAddress(), newAddress()];
    const named = (name: string) => ({ userName: name, userNameKey: name, email: name, emailKey: name });
    await world.user(named(known));
    await world.user({ ...named(disabled), active: false });
    const mail = newAddress();
    await world.user({ userName: alias, userNameKey: alias, email: mail, emailKey: mail });
    const registered = newAddress();
    await world.register(await world.page(), registered);
    // The network no longer has an allowance by this code: its end changes the statements, for any address.
    world.app.clock.turn(24 * 3600);
    return {
      known: { userid: known, mails: 1 },
      registered: { userid: registered, mails: 1 },
      disabled: { userid: disabled, mails: 0 },
      unknown: { userid: newAddress(), mails: 0 },
      'known by another name': { userid: alias, mails: 0 },
    };
  };

  it('cannot be inferred from responses, their length, or the statements behind them', async () => {
    const all = await kinds();
    await world.set({ signUp: 'provisioned_only' });
    // The first request finds the cached page stale and reloads it, for any address.
    await ask('192.0.2.1', newAddress());
    const seen: Record<string, { shape: string; statements: string[] }> = {};
    for (const [name, kind] of Object.entries(all)) {
      const page = await world.page();
      await page.challenge();
      const statements = await statementsDuring(async () => {
        const answer = await page.step('authenticate', { userid: kind.userid }, 'use');
        const wrong = await page.step('verify-email-otp', { userid: kind.userid, otp: 'wrong!' });
        seen[name] = { shape: `${shapeOf(answer)} ${shapeOf(wrong)}`, statements: [] };
      });
      (seen[name] as { statements: string[] }).statements = statements;
    }
    expect(new Set(Object.values(seen).map(({ shape }) => shape)).size).toBe(1);
    const [first, ...rest] = Object.values(seen);
    for (const other of rest) expect(other.statements).toEqual(first?.statements);
    expect(first?.statements).toContainEqual(expect.stringMatching(/from "?credentials"? /));
    expect(first?.statements.length).toBeGreaterThan(5);
  });

  it('is decided only by the mail job: messages without a recipient are only logged', async () => {
    const all = await kinds();
    await world.set({ signUp: 'provisioned_only' });
    await world.app.runJobs();
    const before = world.app.mailbox.length;
    for (const { userid } of Object.values(all)) expectStatus((await ask('203.0.113.77', userid)).answer, 'OTP_NEEDED');
    await world.app.runJobs();
    const sent = world.app.mailbox.slice(before).map(({ to }) => to);
    for (const { userid, mails } of Object.values(all)) expect(sent.filter((to) => to === userid)).toHaveLength(mails);
    // The user with a different userName received the mail at the address on record.
    expect(sent).toHaveLength(3);
    const kept = await world.app.services.db
      .reader()
      .execute<{ state: string; sealed_content: unknown }[]>(
        "select state, sealed_content from messages where project_id = ? and state = 'suppressed'",
        [world.project.id],
      );
    expect(kept).toHaveLength(2);
    for (const { sealed_content } of kept) expect(sealed_content).toBeNull();
  });

  it('does not change the limits, even after 10,000 invented names', async () => {
    const sql = `insert into budgets (id, spent, resets_at)
      select 'otp-send-pause:' || n, 1, now() + interval '1 day' from generate_series(1, 10000) n`;
    await world.app.services.db.transaction((em) => em.execute(sql));
    const stranger = newAddress();
    for (const address of [stranger, userid]) {
      for (let n = 0; n < 5; n++) await ask('192.0.2.9', address);
      const { answer } = await ask('192.0.2.9', address);
      expect(answer).toMatchObject(refusal('RATE_LIMITED', 429));
      expect(answer['error']).toMatchObject({ reason: 'address' });
    }
  });

  /** The response without random values and the address. */
  function shapeOf({ httpStatus, text }: StepAnswer): string {
    const plain = text
      .replace(/[\w-]{43}/g, '<secret>')
      .replace(/[0-9a-f-]{36}/g, '<id>')
      .replace(/"sent_to":"."?…/, '"sent_to":"…')
      .replace(/"sent_to":".…/, '"sent_to":"…');
    return `${httpStatus} ${plain}`;
  }
});

describe('without a mail server', () => {
  it('sign-in fails with an error if a code must be sent, for any user, and readiness reports it', async () => {
    const { senders, delivery } = world.app.services;
    const page = await world.page();
    await world.register(page, userid);
    const mail = senders.mail;
    senders.mail = null;
    try {
      for (const address of [userid, newAddress()]) {
        const { answer } = await ask('192.0.2.1', address);
        expect(answer).toMatchObject(refusal('TEMPORARILY_UNAVAILABLE', 503));
        expect(answer.headers.get('retry-after')).toBeTruthy();
      }
      expect(delivery.fault()).toContain('SMTP_URL');
      await page.challenge();
      expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
    } finally {
      senders.mail = mail;
    }
    expect(delivery.fault()).toBeNull();
  });
});

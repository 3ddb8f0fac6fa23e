import { beforeEach, describe, expect, it } from 'vitest';
import type { SigninPage, StepAnswer } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, refusal, SigninWorld } from '../../test/signin-world.ts';
import { statementsDuring } from '../../test/statements.ts';

const world = SigninWorld.ofTests();
let userid: string;

beforeEach(() => {
  userid = newAddress();
});

/** One step, as from that network. */
function from(ip: string, page: SigninPage, step: string, fields: Record<string, unknown>): Promise<StepAnswer> {
  return page.post(step, { txn: page.txn, ...fields }, { 'X-Forwarded-For': ip });
}

async function ask(ip: string, address = userid): Promise<{ page: SigninPage; answer: StepAnswer }> {
  const page = await world.page();
  await page.challenge();
  return { page, answer: await from(ip, page, 'authenticate', { userid: address }) };
}

describe('sends of codes', () => {
  it('to one address are one in 30 seconds, from wherever, and say when the next is due', async () => {
    expectStatus((await ask('192.0.2.1')).answer, 'OTP_NEEDED');
    world.app.clock.turn(10);
    const { answer } = await ask('198.51.100.1');
    expect(answer).toMatchObject(refusal('RATE_LIMITED', 429));
    expect(answer['error']).toMatchObject({ category: 'retryable', retry_after: 20 });
    expect(answer.headers.get('retry-after')).toBe('20');
    world.app.clock.turn(20);
    expectStatus((await ask('198.51.100.1')).answer, 'OTP_NEEDED');
  });

  it('to one address are five in an hour, also where its case differs', async () => {
    const statuses: string[] = [];
    for (let n = 0; n < 6; n++) {
      const { answer } = await ask(`192.0.2.${n}`, n % 2 ? userid.toUpperCase() : userid);
      statuses.push(answer.status);
      world.app.clock.turn(31);
    }
    expect(statuses).toEqual([...Array<string>(5).fill('OTP_NEEDED'), 'ERROR']);
  });

  it('from one network are thirty in an hour, an IPv6 network being a /64', async () => {
    const statuses: string[] = [];
    for (let n = 0; n < 31; n++) statuses.push((await ask(`2001:db8:0:9::${n + 1}`, newAddress())).answer.status);
    expect(statuses).toEqual([...Array<string>(30).fill('OTP_NEEDED'), 'ERROR']);
    expectStatus((await ask('2001:db8:0:a::1', newAddress())).answer, 'OTP_NEEDED');
  });

  it('that are refused do not hold back a trusted device', async () => {
    const page = await world.page();
    await world.register(page, userid);
    for (let n = 0; n < 20; n++) await ask(`203.0.113.${n}`);
    await page.challenge();
    expectStatus(await page.step('authenticate', { userid }, 'use'), 'SUCCESS');
  });
});

describe('1,000 guesses from 50 addresses', () => {
  it('are fifty for the account, take nothing from anybody else, and leave trusted devices alone', async () => {
    const trusted = await world.page();
    await world.register(trusted, userid);
    world.app.clock.turn(3600);
    const outcomes: string[] = [];
    let page: SigninPage | undefined;
    for (let round = 0; round < 40; round++) {
      // A new code whenever one is to be had, twelve times an hour; 25 guesses at each, side by side.
      const asked = await ask(`198.51.100.${round}`);
      if (asked.answer.status === 'OTP_NEEDED') page = asked.page;
      const guessing = page as SigninPage;
      const guesses = Array.from({ length: 25 }, (_, n) =>
        from(`198.51.100.${(round + n) % 50}`, guessing, 'verify-email-otp', {
          userid,
          otp: String(n).padStart(6, '0'),
        }),
      );
      outcomes.push(...(await Promise.all(guesses)).map((answer) => answer['error']?.code ?? answer.status));
      world.app.clock.turn(300);
    }
    expect(outcomes).toHaveLength(1000);
    const judged = await world.app.services.db
      .reader()
      .execute<{ n: number }[]>(
        "select count(*)::int as n from audit_events where project_id = ? and type = 'otp.rejected' and detail->>'fault' = 'wrong'",
        [world.project.id],
      );
    expect(judged[0]?.n).toBeLessThanOrEqual(50);
    expect(outcomes).toContain('RATE_LIMITED');
    expect(outcomes).not.toContain('SUCCESS');
    await trusted.challenge();
    expectStatus(await trusted.step('authenticate', { userid }, 'use'), 'SUCCESS');
    const neighbour = await world.page();
    expectStatus(await world.register(neighbour, newAddress()), 'SUCCESS');
  });
});

describe('who is known and who is not', () => {
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
    world.app.clock.turn(60);
    return {
      known: { userid: known, mails: 1 },
      registered: { userid: registered, mails: 1 },
      disabled: { userid: disabled, mails: 0 },
      unknown: { userid: newAddress(), mails: 0 },
      'known by another name': { userid: alias, mails: 0 },
    };
  };

  it('cannot be told from the answers, right down to their length, nor from the statements behind them', async () => {
    const all = await kinds();
    await world.set({ signUp: 'provisioned_only' });
    // The first look finds what is remembered of the page changed and reads it again, whoever is asked about.
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
    expect(first?.statements).toContainEqual(expect.stringContaining('devices d where d.jkt'));
    expect(first?.statements.length).toBeGreaterThan(5);
  });

  it('is decided by the mail job alone: the rest is kept for the log and sent to nobody', async () => {
    const all = await kinds();
    await world.set({ signUp: 'provisioned_only' });
    await world.app.runJobs();
    const before = world.app.mailbox.length;
    for (const { userid } of Object.values(all)) expectStatus((await ask('192.0.2.77', userid)).answer, 'OTP_NEEDED');
    await world.app.runJobs();
    const sent = world.app.mailbox.slice(before).map(({ to }) => to);
    for (const { userid, mails } of Object.values(all)) expect(sent.filter((to) => to === userid)).toHaveLength(mails);
    // The one with another name got theirs at the address on record.
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

  it('gets the same limits, also behind 10,000 invented names', async () => {
    const sql = `insert into budgets (id, spent, resets_at)
      select 'otp-send-pause:' || n, 1, now() + interval '1 day' from generate_series(1, 10000) n`;
    await world.app.services.db.transaction((em) => em.execute(sql));
    const stranger = newAddress();
    for (const address of [stranger, userid]) {
      await ask('192.0.2.9', address);
      expect((await ask('192.0.2.10', address)).answer).toMatchObject(refusal('RATE_LIMITED', 429));
    }
  });

  /** The answer with what is random in it, and its address, taken out. */
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
  it('sign-in fails visibly where a code would have to be sent, known or not, and readiness says so', async () => {
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

/** Messages of a sign-in, their recipients and audit events. */

import { beforeEach, describe, expect, it } from 'vitest';
import { rows } from '../../test/rows.ts';
import type { SigninPage } from '../../test/signin-browser.ts';
import { expectStatus, newAddress, otherCode, refusal, SigninWorld } from '../../test/signin-world.ts';
import { Limits } from '../domain/limits/limits.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
let page: SigninPage;
let userid: string;

beforeEach(async () => {
  await world.app.runJobs();
  page = await world.page();
  userid = newAddress();
});

/** Messages that are due. */
async function messages() {
  const before = world.app.mailbox.length;
  await world.app.runJobs();
  return world.app.mailbox.slice(before);
}

async function ask(as = userid, fields: Record<string, unknown> = {}, on = page) {
  await on.challenge();
  return on.step('authenticate', { userid: as, ...fields }, 'use');
}

describe('a flood of requests for one address', () => {
  /** Exhausts the budget from many networks. */
  async function flood(): Promise<void> {
    const { db, vault } = world.app.services;
    const limits = new Limits({ clock: world.app.clock, keysOf: (subject) => vault.macs('budget', '', subject) });
    const overall = { name: 'otp-send-overall', max: 250, windowSeconds: 3600 };
    await db.transaction(async (em) => {
      for (let n = 0; n < 250; n += 1) await limits.spend(em, overall, `${world.project.id}:sign-in:${userid}`);
    });
  }

  it('silently stops sends for unknown requesters, but not for browsers and networks that the user has used', async () => {
    await world.register(page, userid);
    world.app.clock.turn(31);
    await messages();
    await flood();
    const stranger = await world.page();
    await stranger.challenge();
    const from = { 'X-Forwarded-For': '198.51.100.9' };
    const asked = await stranger.post('authenticate', { txn: stranger.txn, userid }, from);
    expect(asked).toMatchObject({ status: 'OTP_NEEDED', resend_after: 30 });
    expect(await messages()).toEqual([]);
    const events = await rows<{ type: string; result: string; reason: string | null }>(
      world.app.services.db,
      `select type, result, detail->>'reason' as reason from audit_log where project_id = ? order by id desc limit 1`,
      [world.project.id],
    );
    const reason = 'too many requests for this address';
    expect(events).toEqual([{ type: 'otp.suppressed', result: 'failure', reason }]);
    expectStatus(await ask(userid, { step_up: 'change_phone_number' }), 'OTP_NEEDED');
    expect((await messages()).map(({ to }) => to)).toEqual([userid]);
    expectStatus(await ask(userid, {}, await world.page()), 'OTP_NEEDED');
    expect((await messages()).map(({ to }) => to)).toEqual([userid]);
  });
});

describe('a code', () => {
  it('states its lifetime in minutes', async () => {
    expectStatus(await world.enrol(page, userid, { mfa_method: 'email' }), 'MFA_INITIATED');
    expectStatus(await ask(newAddress()), 'OTP_NEEDED');
    expect((await messages()).map(({ text }) => /(\d+) minutes/.exec(text)?.[1])).toEqual(['5', '5']);
  });

  it('for an address without an account is recorded with a masked address', async () => {
    expectStatus(await ask(), 'OTP_NEEDED');
    const sql = `select subject_kind, subject_id, subject_name from audit_log where project_id = ? and type = ?`;
    const [event] = await rows(world.app.services.db, sql, [world.project.id, 'otp.requested']);
    const hint = expect.stringContaining('…');
    expect(event).toEqual({ subject_kind: 'address', subject_id: hint, subject_name: hint });
    expect(JSON.stringify(event)).not.toContain(userid);
  });

  it('goes to the trimmed address', async () => {
    expectStatus(await ask(` ${userid}\t`), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid: ` ${userid}`, otp }), 'SUCCESS');
    expect((await world.findUser(userid))?.userName).toBe(userid);
  });

  it('is shown in test mode without a mail server, and a wrong factor code is recorded', async () => {
    await world.set({ testMode: true });
    const { senders } = world.app.services;
    const { mail } = senders;
    senders.mail = null;
    try {
      const { code: otp } = expectStatus(await ask(), 'OTP_NEEDED');
      expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
      const method = { userid, mfa_method: 'email' };
      expectStatus(await page.step('verify-device', method, 'registration'), 'DEVICE_REGISTERED');
      const begun = expectStatus(await world.meetFactor(page, userid), 'MFA_INITIATED');
      const wrong = await page.step('verify-mfa', { userid, otp: otherCode(begun['code']) }, 'use');
      expect(wrong).toMatchObject(refusal('CODE_REJECTED', 400));
      const sql = `select detail from audit_log where project_id = ? and type = 'mfa.rejected'`;
      expect(await rows(world.app.services.db, sql, [world.project.id])).toMatchObject([
        { detail: { fault: 'wrong', method: 'email', byRecovery: false } },
      ]);
      await world.set({ testMode: false });
      const refused = await ask(newAddress());
      expect(refused).toMatchObject(refusal('TEMPORARILY_UNAVAILABLE', 503));
      expect(refused.headers.get('retry-after')).toBe('60');
    } finally {
      senders.mail = mail;
    }
  });
});

describe('the notice of a new device', () => {
  it('goes to a user created by a directory during the sign-in', async () => {
    const named = { userName: userid, userNameKey: userid, email: userid, emailKey: userid };
    await page.challenge();
    await world.user({ ...named, provenance: 'scim' });
    expectStatus(await page.step('authenticate', { userid }), 'OTP_NEEDED');
    const otp = await world.codeFor(userid);
    expectStatus(await page.step('verify-email-otp', { userid, otp }), 'SUCCESS');
    expectStatus(await page.step('verify-device', { userid }, 'registration'), 'SUCCESS');
    expect((await messages()).map(({ to }) => to)).toEqual([userid]);
  });

  it('is not repeated for a key that is registered again', async () => {
    await world.register(page, userid);
    world.app.clock.turn(31);
    await world.register(page, userid);
    expect(await messages()).toEqual([]);
  });
});

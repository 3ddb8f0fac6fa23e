import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { changed, rows } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import type { Vault } from '../keys/vault.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { type CodeFault, codeTtlSeconds, judgeCode } from './judge.ts';
import { networkOf } from './network.ts';
import { OneTimeCode } from './one-time-code.entity.ts';

export type CodePurpose = OneTimeCode['purpose'];

const day = 24 * 3600;
/** Sends from one network, for whomever. */
const sendsPerNetwork: LimitRule = { name: 'otp-send-network', max: 30, windowSeconds: 3600 };
/** Sends to one address: each rule for each purpose, so that a sign-in's mail does not hold back its second factor's. */
const sendsPerAddress = [
  { name: 'otp-send-pause', max: 1, windowSeconds: 30 },
  { name: 'otp-send-hour', max: 5, windowSeconds: 3600 },
  { name: 'otp-send-day', max: 10, windowSeconds: day },
] as const satisfies LimitRule[];
/** Seconds after which another code may be asked for. */
export const resendAfterSeconds = sendsPerAddress[0].windowSeconds;
const triesPerDay = { max: 50, windowSeconds: day };

/** What a code is made for. */
export interface CodeScope {
  projectId: string;
  /** The ceremony (or change of a factor) in which alone it is good. */
  ceremonyId: string;
  purpose: CodePurpose;
  /** The account that it speaks for: only its newest code is good. Stored as a keyed hash. */
  account: string;
  /** Thumbprint of the device key that asks. */
  jkt: string | null;
}

export interface Try {
  projectId: string;
  ceremonyId: string;
  purpose: CodePurpose;
  jkt: string | null;
  /** As the person typed it. */
  code: string;
  /** The address as it was typed, for the budget that may be told about. */
  address: string;
}

export type TryOutcome =
  /** `afterSeconds`: from sending to entering. */
  | { accepted: true; afterSeconds: number }
  /** `fault` is for the audit log: to the caller all are one. */
  | { accepted: false; fault: CodeFault | 'account-spent' }
  | { accepted: false; retryAfterSeconds: number };

/** One-time codes: six digits, five minutes, five tries, the newest only. */
export class Otp {
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly vault: Vault;
  private readonly limits: Limits;

  constructor(clock: Clock, random: Random, vault: Vault, limits: Limits) {
    this.clock = clock;
    this.random = random;
    this.vault = vault;
    this.limits = limits;
  }

  /**
   * Takes one send from the budgets of the network and of the address, as it was typed: an address that nobody has
   * counts like any other, and two addresses of one account do not betray each other.
   *
   * @param send.ip null for a back end, which speaks for many people: its network counts for nothing
   * @returns seconds until the next try, or null where the send may go ahead
   */
  async spendSend(
    em: EntityManager,
    send: { projectId: string; purpose: CodePurpose; address: string; ip: string | undefined | null },
  ): Promise<number | null> {
    if (send.ip !== null) {
      const network = await this.limits.spend(em, sendsPerNetwork, networkOf(send.ip));
      if (!network.allowed) return network.retryAfterSeconds;
    }
    const subject = `${send.projectId}:${send.purpose}:${send.address}`;
    for (const rule of sendsPerAddress) {
      const spent = await this.limits.spend(em, rule, subject);
      if (!spent.allowed) return spent.retryAfterSeconds;
    }
    return null;
  }

  /** A new code, the account's only good one of its purpose from now on. Returns the six digits. */
  async issue(em: EntityManager, scope: CodeScope): Promise<string> {
    const now = this.clock.now();
    const account = this.vault.mac('otp-account', scope.projectId, scope.account);
    await changed(
      em,
      `update one_time_codes set replaced_at = ?
       where account = any(?) and purpose = ? and used_at is null and replaced_at is null`,
      [now, this.vault.macs('otp-account', scope.projectId, scope.account), scope.purpose],
    );
    const id = this.random.id();
    const code = String(this.random.integer(1_000_000)).padStart(6, '0');
    em.persist(
      em.create(OneTimeCode, {
        id,
        project: scope.projectId,
        ceremonyId: scope.ceremonyId,
        purpose: scope.purpose,
        account,
        jkt: scope.jkt,
        codeMac: this.vault.mac('otp', id, code),
        createdAt: now,
        expiresAt: secondsLater(now, codeTtlSeconds),
      }),
    );
    await em.flush();
    return code;
  }

  /**
   * One try. The try is counted before it is judged, by statements that other tries wait for; the caller commits it
   * whatever the outcome, and only then refuses.
   */
  async try(em: EntityManager, attempt: Try): Promise<TryOutcome> {
    const now = this.clock.now();
    const rule = { name: `otp-try:${attempt.purpose}`, ...triesPerDay };
    const budget = await this.limits.spend(em, rule, `${attempt.projectId}:${attempt.address}`);
    if (!budget.allowed) return { accepted: false, retryAfterSeconds: budget.retryAfterSeconds };
    const [row] = await rows<CodeRow>(
      em,
      `update one_time_codes set attempts = attempts + 1
       where id = (select id from one_time_codes where ceremony_id = ? and purpose = ? order by id desc limit 1)
       returning id, account, jkt, code_mac, attempts, created_at, expires_at, used_at, replaced_at`,
      [attempt.ceremonyId, attempt.purpose],
    );
    // The account may have several addresses. What is spent of it is not told, or one would betray the other.
    const account = await this.limits.spend(
      em,
      { ...rule, name: `${rule.name}:account` },
      row?.account ?? attempt.address,
    );
    const matches = this.vault.matches('otp', row?.id ?? attempt.ceremonyId, attempt.code, row?.code_mac ?? '');
    if (!row) return { accepted: false, fault: 'none-sent' };
    if (!account.allowed) return { accepted: false, fault: 'account-spent' };
    const fault = judgeCode(
      {
        attempts: row.attempts,
        expiresAt: new Date(row.expires_at),
        usedAt: row.used_at ? new Date(row.used_at) : null,
        replacedAt: row.replaced_at ? new Date(row.replaced_at) : null,
        matches,
        sameKey: row.jkt === attempt.jkt,
      },
      now,
    );
    if (fault) return { accepted: false, fault };
    const sql = 'update one_time_codes set used_at = ? where id = ? and used_at is null and replaced_at is null';
    if ((await changed(em, sql, [now, row.id])) !== 1) return { accepted: false, fault: 'used' };
    const sentAt = new Date(row.created_at);
    return { accepted: true, afterSeconds: Math.round((now.getTime() - sentAt.getTime()) / 1000) };
  }

  /** Drops codes that are good for nothing any more. */
  async sweep(em: EntityManager): Promise<void> {
    await changed(em, 'delete from one_time_codes where expires_at <= ?', [this.clock.now()]);
  }
}

interface CodeRow {
  id: string;
  account: string;
  jkt: string | null;
  code_mac: string;
  attempts: number;
  created_at: Date | string;
  expires_at: Date | string;
  used_at: Date | string | null;
  replaced_at: Date | string | null;
}

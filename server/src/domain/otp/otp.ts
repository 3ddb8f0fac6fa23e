import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { addressKey } from '../users/login.ts';
import { type CodeFormat, newCode, normalizeCode } from './code.ts';
import { type CodeFault, codeTtlSeconds, judgeCode } from './judge.ts';
import { OneTimeCode } from './one-time-code.entity.ts';

export type CodePurpose = OneTimeCode['purpose'];

/** Tries at the codes of one person's second factor or new phone. */
const factorTries = { max: 50, windowSeconds: 24 * 3600 };

/** What a code proves, and where alone it is good. */
export interface NewCode {
  projectId: string;
  clientId: string | null;
  /** The sign-in, session or factor change. */
  ceremonyId: string;
  purpose: CodePurpose;
  /** The user; null where no account has the address yet. */
  userId: string | null;
  /** What was named, as it is compared: an address, or the user's id. */
  address: string;
  /** Where the code goes; null: nowhere, and it never proves anything. */
  sentTo: string | null;
  /** Thumbprint of the device key that asks. */
  jkt: string | null;
  format?: CodeFormat;
  requesterKnown?: boolean;
}

/** Where a code is tried. */
export type CodePlace = Pick<NewCode, 'projectId' | 'ceremonyId' | 'purpose'>;

/** A code whose try has been counted. Address and mailbox are keyed hashes. */
export interface CountedCode {
  id: string;
  userId: string | null;
  clientId: string | null;
  address: string;
  sentTo: string | null;
  jkt: string | null;
  codeMac: string;
  format: CodeFormat;
  requesterKnown: boolean;
  attempts: number;
  createdAt: Date;
  expiresAt: Date;
  usedAt: Date | null;
}

export type Redemption =
  /** What the row says: user, address and mailbox as they were when the code was made. */
  | {
      accepted: true;
      userId: string | null;
      /** Whether the code was made for this address, or factor. */
      isFor(address: string): boolean;
      /** Whether the code was sent there. */
      wentTo(mailbox: string): boolean;
      afterSeconds: number;
    }
  /** For the audit log: the wire has one answer for all. */
  | { accepted: false; fault: CodeFault };

/** One-time codes: five minutes, five tries, one live code for each place and purpose. */
export class Otp {
  constructor(private readonly deps: { clock: Clock; random: Random; vault: Vault; limits: Limits }) {}

  /** A new code in place of the one that was made there before; codes of other places are left alone. */
  async issue(em: EntityManager, made: NewCode): Promise<string> {
    const now = this.deps.clock.now();
    await execute(
      em,
      sql`
        update one_time_codes set replaced_at = ${now}
        where ceremony_id = ${made.ceremonyId} and purpose = ${made.purpose} and replaced_at is null`,
      { prepare: 'otp.issue' },
    );
    const id = this.deps.random.id();
    const format = made.format ?? 'short';
    const code = newCode(this.deps.random, format);
    em.persist(
      em.create(OneTimeCode, {
        id,
        project: made.projectId,
        clientId: made.clientId,
        ceremonyId: made.ceremonyId,
        purpose: made.purpose,
        account: this.deps.vault.mac('otp-account', made.projectId, made.userId ?? made.address),
        userId: made.userId,
        address: this.macOf('otp-address', id, made.address),
        sentTo: made.sentTo === null ? null : this.macOf('otp-sent-to', id, made.sentTo),
        format,
        requesterKnown: made.requesterKnown ?? false,
        jkt: made.jkt,
        codeMac: this.deps.vault.mac('otp', id, code),
        createdAt: now,
        expiresAt: secondsLater(now, codeTtlSeconds),
      }),
    );
    await em.flush();
    return code;
  }

  /**
   * Counts a try at the code of this place, before anything is decided: concurrent tries wait for this statement, and a
   * refusal does not undo it. Null: there is no code.
   */
  async count(em: EntityManager, place: CodePlace): Promise<CountedCode | null> {
    const [row] = await query(
      em,
      sql<CodeRow>`update one_time_codes set attempts = attempts + 1
        where project_id = ${place.projectId} and ceremony_id = ${place.ceremonyId} and purpose = ${place.purpose}
          and replaced_at is null and address is not null
        returning id, user_id, client_id, address, sent_to, jkt, code_mac, format, requester_known, attempts,
          created_at,
          expires_at, used_at`,
      { prepare: 'otp.count' },
    );
    return row ? countedOf(row) : null;
  }

  /**
   * Counts a try at a factor or phone of one person, over all sign-ins. Returns the seconds to wait where too many were
   * made; null: go on.
   */
  async spendTry(em: EntityManager, { projectId, purpose }: CodePlace, userId: string): Promise<number | null> {
    const rule: LimitRule = { name: `otp-try:${purpose}`, ...factorTries };
    const spent = await this.deps.limits.spend(em, rule, `${projectId}:${userId}`);
    return spent.allowed ? null : spent.retryAfterSeconds;
  }

  /** Judges a counted try and uses the code up: one conditional update of exactly one row. */
  async redeem(
    em: EntityManager,
    counted: CountedCode | null,
    tried: { jkt: string | null; clientId: string | null; code: string },
  ): Promise<Redemption> {
    const now = this.deps.clock.now();
    const matches = this.deps.vault.matches(
      'otp',
      counted?.id ?? '',
      normalizeCode(tried.code),
      counted?.codeMac ?? '',
    );
    if (!counted) return { accepted: false, fault: 'none-sent' };
    const samePlace = counted.jkt === tried.jkt && counted.clientId === tried.clientId;
    const fault = judgeCode({ ...counted, matches, sameKey: samePlace, isSent: counted.sentTo !== null }, now);
    if (fault) return { accepted: false, fault };
    const use = sql`
      update one_time_codes set used_at = ${now} where id = ${counted.id} and used_at is null and replaced_at is null`;
    if ((await execute(em, use, { prepare: 'otp.use' })) !== 1) return { accepted: false, fault: 'used' };
    const { id, userId, createdAt } = counted;
    const afterSeconds = Math.round((now.getTime() - createdAt.getTime()) / 1000);
    const isFor = (address: string) => this.deps.vault.matches('otp-address', id, addressKey(address), counted.address);
    const wentTo = (mailbox: string) =>
      this.deps.vault.matches('otp-sent-to', id, addressKey(mailbox), counted.sentTo ?? '');
    return { accepted: true, userId, isFor, wentTo, afterSeconds };
  }

  /** Keyed, so that a copy of the table holds no address. */
  private macOf(purpose: string, id: string, address: string): string {
    return this.deps.vault.mac(purpose, id, addressKey(address));
  }

  /** Drops expired codes. */
  async sweep(em: EntityManager): Promise<void> {
    await execute(em, sql`delete from one_time_codes where expires_at <= ${this.deps.clock.now()}`);
  }
}

interface CodeRow {
  id: string;
  user_id: string | null;
  client_id: string | null;
  address: string;
  sent_to: string | null;
  jkt: string | null;
  code_mac: string;
  format: CodeFormat;
  requester_known: boolean;
  attempts: number;
  created_at: Date | string;
  expires_at: Date | string;
  used_at: Date | string | null;
}

function countedOf(row: CodeRow): CountedCode {
  return {
    id: row.id,
    userId: row.user_id,
    clientId: row.client_id,
    address: row.address,
    sentTo: row.sent_to,
    jkt: row.jkt,
    codeMac: row.code_mac,
    format: row.format,
    requesterKnown: row.requester_known,
    attempts: row.attempts,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    usedAt: row.used_at === null ? null : new Date(row.used_at),
  };
}

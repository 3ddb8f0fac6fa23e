import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { deleteInBatches, type Executing, execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { addressKey } from '../users/login.ts';
import { type CodeFormat, newCode, normalizeCode } from './code.ts';
import { type CodeFault, checkCode, codeTtlSeconds } from './code-check.ts';
import { OneTimeCode } from './one-time-code.entity.ts';

export type CodePurpose = OneTimeCode['purpose'];

/** Attempts at the codes of one user's second factor or new phone. */
const factorTries = { max: 50, windowSeconds: 24 * 3600 };

/** The subject of a code, and the only context in which it is valid. */
export interface NewCode {
  projectId: string;
  clientId: string | null;
  /** The sign-in, session or factor change. */
  ceremonyId: string;
  purpose: CodePurpose;
  /** The user; null if no account has the address. */
  userId: string | null;
  /** The normalized address, or the user's id. */
  address: string;
  /** The destination; null: not sent, so the code is never accepted. */
  sentTo: string | null;
  /** Thumbprint of the requesting device key. */
  jkt: string | null;
  format?: CodeFormat;
  requesterKnown?: boolean;
}

/** The context in which a code is entered. */
export type CodePlace = Pick<NewCode, 'projectId' | 'ceremonyId' | 'purpose'>;

/** A code whose attempt has been counted. Address and mailbox are keyed hashes. */
export interface CountedCode {
  projectId: string;
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
  /** User, address and mailbox at the time of issue. */
  | {
      accepted: true;
      userId: string | null;
      /** Whether the code was issued for this address or factor. */
      isFor(address: string): boolean;
      /** Whether the code was sent to this mailbox. */
      wentTo(mailbox: string): boolean;
      afterSeconds: number;
    }
  /** For the audit log only: the API returns one error for all. */
  | { accepted: false; fault: CodeFault };

/** One-time codes: five minutes, five attempts, one live code per place and purpose. */
export class Otp {
  constructor(private readonly deps: { clock: Clock; random: Random; vault: Vault; limits: Limits }) {}

  /** Issues a code and replaces the previous one of the same place; codes of other places stay valid. */
  async issue(em: EntityManager, made: NewCode): Promise<string> {
    const now = this.deps.clock.now();
    await execute(
      em,
      sql`
        update one_time_codes set replaced_at = ${now}
        where project_id = ${made.projectId} and ceremony_id = ${made.ceremonyId} and purpose = ${made.purpose}
          and replaced_at is null`,
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
   * Counts an attempt at the code of this place, before the code is checked: concurrent attempts wait for this
   * statement, and a refusal does not roll it back. Null: there is no code.
   */
  async count(em: EntityManager, place: CodePlace): Promise<CountedCode | null> {
    const [row] = await query(
      em,
      sql<CodeRow>`update one_time_codes set attempts = attempts + 1
        where project_id = ${place.projectId} and ceremony_id = ${place.ceremonyId} and purpose = ${place.purpose}
          and replaced_at is null and address is not null
        returning project_id, id, user_id, client_id, address, sent_to, jkt, code_mac, format, requester_known, attempts,
          created_at,
          expires_at, used_at`,
      { prepare: 'otp.count' },
    );
    return row ? countedOf(row) : null;
  }

  /** When the newest code of this place was issued, and its format; null: there is none. */
  async issued(
    em: EntityManager,
    { projectId, ceremonyId, purpose }: CodePlace,
  ): Promise<{ at: Date; format: CodeFormat } | null> {
    const code = await em.findOne(OneTimeCode, { project: projectId, ceremonyId, purpose, replacedAt: null });
    return code && { at: code.createdAt, format: code.format };
  }

  /**
   * Counts an attempt at a user's factor or phone, over all sign-ins. Returns the seconds to wait after too many
   * attempts; null: allowed.
   */
  async spendTry(em: EntityManager, { projectId, purpose }: CodePlace, userId: string): Promise<number | null> {
    const rule: LimitRule = { name: `otp-try:${purpose}`, ...factorTries };
    const spent = await this.deps.limits.spend(em, rule, `${projectId}:${userId}`);
    return spent.allowed ? null : spent.retryAfterSeconds;
  }

  /** Checks a counted attempt and redeems the code: one conditional update of exactly one row. */
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
    const fault = checkCode({ ...counted, matches, sameKey: samePlace, isSent: counted.sentTo !== null }, now);
    if (fault) return { accepted: false, fault };
    const use = sql`
      update one_time_codes set used_at = ${now} where project_id = ${counted.projectId} and id = ${counted.id} and used_at is null and replaced_at is null`;
    if ((await execute(em, use, { prepare: 'otp.use' })) !== 1) return { accepted: false, fault: 'used' };
    const { id, userId, createdAt } = counted;
    const afterSeconds = Math.round((now.getTime() - createdAt.getTime()) / 1000);
    const isFor = (address: string) => this.deps.vault.matches('otp-address', id, addressKey(address), counted.address);
    const wentTo = (mailbox: string) =>
      this.deps.vault.matches('otp-sent-to', id, addressKey(mailbox), counted.sentTo ?? '');
    return { accepted: true, userId, isFor, wentTo, afterSeconds };
  }

  /** Keyed hash: a leaked table reveals no address. */
  private macOf(purpose: string, id: string, address: string): string {
    return this.deps.vault.mac(purpose, id, addressKey(address));
  }

  /** Deletes expired codes. */
  sweep(on: Executing): Promise<void> {
    return deleteInBatches(on, 'one_time_codes', sql`expires_at <= ${this.deps.clock.now()}`);
  }
}

interface CodeRow {
  project_id: string;
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
    projectId: row.project_id,
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

import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditEntry } from '../audit/audit.ts';
import type { Locale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Problem } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { codeTtlSeconds } from '../otp/code-check.ts';
import type { CountedCode, Otp } from '../otp/otp.ts';
import { resendAfterSeconds, type Sends } from '../otp/sends.ts';
import type { Project } from '../projects/project.entity.ts';
import type { SmsToSend } from '../sms/sms-guard.ts';
import type { User } from '../users/user.entity.ts';
import { EmailChange, PhoneChange } from './pending-change.entity.ts';

/** The user of a change, and its context. The caller has freshly authenticated the user and locked the user's row. */
export interface ChangeBy {
  user: User;
  project: Project;
  /** The application's name, for the messages. */
  app: string;
  /** The client, if any. */
  clientId?: string;
  locale: Locale;
  actor: Actor;
}

/** The place of a change; its code is valid only there. */
export interface ChangePlace {
  /** The id of the sign-in or session. */
  boundTo: string;
  /** Thumbprint of the device key, if any. */
  jkt: string | null;
  /** The client of the sign-in, if any. */
  clientId: string | null;
}

/** A refusal with its counters. The caller rolls back, then calls `PhoneChanges.note`. */
export interface RefusedChange {
  refused: Problem;
  /** A refused SMS: counted again by `PhoneChanges.note`, since the step is rolled back. */
  counts?: readonly { sms: SmsToSend }[];
  event?: Pick<AuditEntry, 'type' | 'subject' | 'detail'>;
}

/** A code that is to be sent. */
export interface IssuedCode {
  code: string;
  resendAfterSeconds: number;
  expiresAt: Date;
}

const kinds = {
  phone: { entity: PhoneChange, template: 'phone-code' },
  email: { entity: EmailChange, template: 'email-code' },
} as const;

/** The messages that carry the codes. */
export const changeTemplates: Readonly<Record<string, keyof typeof kinds>> = {
  'phone-code': 'phone',
  'email-code': 'email',
};

/**
 * New phone numbers or email addresses, until a code that was sent there is entered in the same place. The row and the code
 * name the value: no later request does. Every method joins the caller's transaction.
 */
export class PendingChanges {
  constructor(
    private readonly purpose: keyof typeof kinds,
    private readonly deps: {
      clock: Clock;
      random: Random;
      otp: Pick<Otp, 'issue' | 'redeem' | 'count' | 'spendTry'>;
      sends: Sends;
    },
  ) {}

  /** Issues a code for the new value; repeatable, also with another one. Refuses `too-many`. */
  async begin(
    em: EntityManager,
    { actor, project, user }: ChangeBy,
    { boundTo, clientId, jkt }: ChangePlace,
    value: string,
  ): Promise<IssuedCode | { refused: Problem }> {
    const { clock, otp, random, sends } = this.deps;
    const scope = { projectId: project.id, ceremonyId: boundTo, purpose: this.purpose };
    const send = await sends.spend(em, { ...scope, address: user.id, ip: actor.ip });
    if ('refused' in send) return send;
    const code = await otp.issue(em, { ...scope, clientId, jkt, userId: user.id, address: user.id, sentTo: value });
    const { entity } = kinds[this.purpose];
    await em.nativeDelete(entity, { project: project.id, boundTo });
    const createdAt = clock.now();
    const expiresAt = secondsLater(createdAt, codeTtlSeconds);
    const row = { project: project.id, id: random.id(), user, boundTo, value, createdAt, expiresAt };
    em.persist(em.create(entity, row));
    return { code, resendAfterSeconds, expiresAt };
  }

  /** The pending value; null: none. */
  async pending(em: EntityManager, user: User, boundTo: string): Promise<string | null> {
    const waiting = { user, boundTo, expiresAt: { $gt: this.deps.clock.now() } };
    return (await em.findOne(kinds[this.purpose].entity, waiting))?.value ?? null;
  }

  /** Deletes the pending value. */
  async drop(em: EntityManager, user: User, boundTo: string): Promise<void> {
    await em.nativeDelete(kinds[this.purpose].entity, { user, boundTo });
  }

  /** Counts an attempt at the code; {@link prove} checks it. Refuses `too-many`. */
  async count(
    em: EntityManager,
    { project, user }: ChangeBy,
    { boundTo }: ChangePlace,
  ): Promise<{ counted: CountedCode | null } | { refused: Problem }> {
    const place = { projectId: project.id, ceremonyId: boundTo, purpose: this.purpose };
    const wait = await this.deps.otp.spendTry(em, place, user.id);
    if (wait !== null) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
    return { counted: await this.deps.otp.count(em, place) };
  }

  /** The value that a counted attempt proves; null: the code is wrong, used, expired, or was sent elsewhere. */
  async prove(
    em: EntityManager,
    { actor, project, user }: ChangeBy,
    { boundTo, clientId, jkt }: ChangePlace,
    counted: CountedCode | null,
    typed: string,
  ): Promise<string | null> {
    const pending = await this.pending(em, user, boundTo);
    const redeemed = await this.deps.otp.redeem(em, counted, { jkt, clientId, code: typed });
    const isProved = redeemed.accepted && redeemed.userId === user.id && pending !== null && redeemed.wentTo(pending);
    if (!isProved) return null;
    await this.deps.sends.redeemed(em, { projectId: project.id, account: user.id, ip: actor.ip });
    return pending;
  }
}

/** Whether the user still waits for a code at this number or address, so that it may be sent. */
export async function isAwaited(
  em: EntityManager,
  user: User,
  purpose: keyof typeof kinds,
  value: string,
): Promise<boolean> {
  return (await em.count(kinds[purpose].entity, { user, value })) > 0;
}

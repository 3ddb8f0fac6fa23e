import type { EntityManager } from '@mikro-orm/postgresql';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { networkOf } from './network.ts';
import type { CodePurpose } from './otp.ts';

const hour = 3600;
/** Sends from one network, to any address. */
const perNetwork: LimitRule = { name: 'otp-send-network', max: 30, windowSeconds: hour };
/** Sends to one address in one sign-in. */
const pause: LimitRule = { name: 'otp-send-pause', max: 1, windowSeconds: 30 };
/** Sends to one address by one requester, for each purpose. */
const perRequester: readonly LimitRule[] = [
  { name: 'otp-send-hour', max: 5, windowSeconds: hour },
  { name: 'otp-send-day', max: 10, windowSeconds: 24 * hour },
];
/** Sends to one address by all requesters. Beyond it, mails go to known requesters only (decisions/0100). */
const overall: LimitRule = { name: 'otp-send-overall', max: 250, windowSeconds: hour };

/** Seconds after which another code may be requested. */
export const resendAfterSeconds = pause.windowSeconds;

export interface Send {
  projectId: string;
  purpose: CodePurpose;
  /** The normalized address, or for a factor the user's id. */
  address: string;
  /** The sign-in, session or factor change. */
  ceremonyId: string;
  /** Null for a back end, which acts for many users: its network is not counted. */
  ip: string | undefined | null;
  /**
   * Thumbprint of this user's registered key that signed this request, or null; undefined after a first factor: then
   * all requests for the address share one budget.
   */
  provenKey?: string | null;
}

/** `wait`: seconds until this requester may ask again. `isFlood`: send to known requesters only. */
export type SendOutcome = { wait: number } | { isFlood: boolean };

/**
 * Budgets of sends (decisions §8). A refusal depends only on the requester's own requests: unknown addresses count like
 * known ones, and the overall budget refuses no request.
 */
export class Sends {
  constructor(private readonly deps: { limits: Limits }) {}

  async spend(em: EntityManager, send: Send): Promise<SendOutcome> {
    const address = `${send.projectId}:${send.purpose}:${send.address}`;
    const { provenKey } = send;
    const by = provenKey === undefined ? '' : (provenKey ?? networkOf(send.ip ?? undefined));
    const budgets: [LimitRule, string][] = [
      ...(send.ip === null ? [] : ([[perNetwork, networkOf(send.ip)]] as [LimitRule, string][])),
      [pause, `${send.ceremonyId}:${address}`],
      ...perRequester.map((rule): [LimitRule, string] => [rule, `${address}:${by}`]),
    ];
    for (const [rule, subject] of budgets) {
      const spent = await this.deps.limits.spend(em, rule, subject);
      if (!spent.allowed) return { wait: spent.retryAfterSeconds };
    }
    if (provenKey === undefined) return { isFlood: false };
    // The row lock also serializes requests for this address until the code's format is decided (`Guessing`).
    return { isFlood: !(await this.deps.limits.spend(em, overall, address)).allowed };
  }
}

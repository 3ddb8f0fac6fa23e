import type { EntityManager } from '@mikro-orm/postgresql';
import type { Clock } from '../kernel/clock.ts';
import type { Problem } from '../kernel/problem.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import { networkOf } from './network.ts';
import { type EnteredCode, NetworkAllowance } from './network-allowance.ts';
import type { CodePurpose } from './otp.ts';

const hour = 3600;
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

/** `refused`: with `network` if its allowance is used up. `isFlood`: send to known requesters only. */
export type SendOutcome = { refused: Extract<Problem, { code: 'too-many' }> } | { isFlood: boolean };

/**
 * Budgets of sends (decisions §8). A refusal depends only on the requester's own requests: unknown addresses count like
 * known ones, and the overall budget refuses no request.
 */
export class Sends {
  private readonly networks: NetworkAllowance;

  constructor(private readonly deps: { clock: Clock; limits: Limits }) {
    this.networks = new NetworkAllowance(deps);
  }

  /**
   * A request that the user's registered key signed does not count for its network: only this browser can make it, and
   * strangers behind the same address cannot stop it.
   */
  async spend(em: EntityManager, send: Send): Promise<SendOutcome> {
    const address = `${send.projectId}:${send.purpose}:${send.address}`;
    const { ip, projectId, provenKey } = send;
    const by = provenKey === undefined ? '' : (provenKey ?? networkOf(ip ?? undefined));
    if (ip !== null && typeof provenKey !== 'string') {
      const wait = await this.networks.spend(em, projectId, ip);
      if (wait !== null) return { refused: { code: 'too-many', retryAfterSeconds: wait, network: networkOf(ip) } };
    }
    const budgets: [LimitRule, string][] = [
      [pause, `${send.ceremonyId}:${address}`],
      ...perRequester.map((rule): [LimitRule, string] => [rule, `${address}:${by}`]),
    ];
    for (const [rule, subject] of budgets) {
      const { allowed, retryAfterSeconds } = await this.deps.limits.spend(em, rule, subject);
      const ofAddress = send.purpose === 'sign-in' && rule !== pause;
      if (!allowed) return { refused: { code: 'too-many', retryAfterSeconds, ...(ofAddress && { ofAddress }) } };
    }
    if (provenKey === undefined) return { isFlood: false };
    // The row lock also serializes requests for this address until the code's format is decided (`Guessing`).
    return { isFlood: !(await this.deps.limits.spend(em, overall, address)).allowed };
  }

  /** Counts a correct code for the allowance of its network, once its user is known. */
  redeemed(em: EntityManager, code: EnteredCode): Promise<void> {
    return this.networks.earn(em, code);
  }
}

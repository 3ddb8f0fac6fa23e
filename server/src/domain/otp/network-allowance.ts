import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, seconds } from '../kernel/clock.ts';
import { addressOf, networkOf } from '../kernel/network.ts';
import { query, sql } from '../kernel/sql.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';

const hour = 3600;
const day = 24 * hour;
/** Sends from any network, in all projects. */
const shared: LimitRule = { name: 'otp-send-network', max: 30, windowSeconds: hour };
/** Sends from a network for which people signed in, in one project. Its `max` is what they earned, up to this. */
const earned: LimitRule = { name: 'otp-send-earned', max: 970, windowSeconds: hour };
/** Sends from all of a shared network of the project. */
const named: LimitRule = { name: 'otp-send-named', max: 5000, windowSeconds: hour };
/** Codes entered in one hour; a day of hours counts. */
const entered: LimitRule = { name: 'otp-entered', max: earned.max, windowSeconds: day };
/** Codes of one account that count. */
const ofAccount: LimitRule = { name: 'otp-entered-account', max: 5, windowSeconds: day };

/** A correct code, and the network that entered it. */
export interface EnteredCode {
  projectId: string;
  /** The user's id. */
  account: string;
  ip: string | undefined;
}

/**
 * Codes that one network (IPv4 address, IPv6 /64) may request in an hour: 30, plus one for each code that was entered from it in
 * the last 24 hours, and 5,000 more in a shared network that the project names (decisions/0345). Only correct codes of accounts
 * count, five for one account in a day, and only in their project: no tenant adds to the allowance of another.
 */
export class NetworkAllowance {
  constructor(private readonly deps: { clock: Clock; limits: Limits }) {}

  /** Spends one send. Returns null, or the seconds to wait; then the caller must roll back. */
  async spend(em: EntityManager, projectId: string, ip: string | undefined): Promise<number | null> {
    const network = networkOf(ip);
    const max = Math.min(earned.max, await this.earnedBy(em, projectId, network));
    const waits: number[] = [];
    const trySpend = async (rule: LimitRule, subject: string) => {
      const { allowed, retryAfterSeconds } = await this.deps.limits.spend(em, rule, subject);
      if (allowed) return true;
      // The next rule may allow the send: then this one must not count it.
      await this.deps.limits.refund(em, rule, subject);
      waits.push(retryAfterSeconds);
      return false;
    };
    if (max > 0 && (await trySpend({ ...earned, max }, `${projectId}:${network}`))) return null;
    if (await trySpend(shared, network)) return null;
    const range = await rangeOf(em, projectId, ip);
    if (range !== null && (await trySpend(named, `${projectId}:${range}`))) return null;
    return Math.min(...waits);
  }

  /** Counts a correct code, once its user is known. */
  async earn(em: EntityManager, { projectId, account, ip }: EnteredCode): Promise<void> {
    const network = networkOf(ip);
    if (network === 'unknown') return;
    if (!(await this.deps.limits.spend(em, ofAccount, `${projectId}:${account}`)).allowed) return;
    await this.deps.limits.spend(em, entered, this.hourOf(projectId, network, 0));
  }

  private earnedBy(em: EntityManager, projectId: string, network: string): Promise<number> {
    const hours = Array.from({ length: day / hour }, (_, ago) => this.hourOf(projectId, network, ago));
    return this.deps.limits.sum(em, entered, hours);
  }

  private hourOf(projectId: string, network: string, ago: number): string {
    return `${projectId}:${network}:${Math.floor(seconds(this.deps.clock.now()) / hour) - ago}`;
  }
}

/** The narrowest shared network of the project that contains the address. */
async function rangeOf(em: EntityManager, projectId: string, ip: string | undefined): Promise<string | null> {
  const address = addressOf(ip);
  if (address === null) return null;
  const [found] = await query(
    em,
    sql<{ range: string }>`select range from projects, unnest(shared_networks) as range
      where projects.id = ${projectId} and ${address}::inet <<= range::inet
      order by masklen(range::inet) desc, range limit 1`,
    { prepare: 'network-allowance.range' },
  );
  return found?.range ?? null;
}

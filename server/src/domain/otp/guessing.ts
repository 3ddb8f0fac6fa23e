import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { LimitRule, Limits } from '../limits/limits.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { CodeFormat } from './code.ts';
import { triesPerCode } from './code-check.ts';
import { networkOf } from './network.ts';

const day = 24 * 3600;
/** The longest month, so that none touches more than two windows. */
const month = 31 * day;
/** Wrong short codes for one account by unknown requesters. */
const perAccount: LimitRule = { name: 'otp-wrong-account', max: 20, windowSeconds: month };
/**
 * Wrong short codes for one account that known networks requested. One budget for all of them: a code may be entered from
 * a different network than the one that requested it.
 */
const byKnown: LimitRule = { name: 'otp-wrong-known', max: 20, windowSeconds: month };
/** Wrong short codes in one project. */
const perProject: LimitRule = { name: 'otp-wrong-project', max: 300, windowSeconds: day };
/** The same budget for known networks, from which up to 5,000 codes an hour may be requested (decisions/0345). */
const perProjectByKnown: LimitRule = { ...perProject, max: 3000 };
/** Time for which a network is known after the last sign-in from it. */
const knownSeconds = 180 * day;
/** No user has this id: an unknown address costs the same lookups. */
const noUser = '00000000-0000-0000-0000-000000000000';

/** The requester of a code, and the code's account. */
export interface Requester {
  projectId: string;
  /** The user with this address; null: no account. */
  userId: string | null;
  /** Normalized. */
  address: string;
  ip: string | undefined;
  /** Whether a registered key of this user signed the request. */
  hasProvenKey: boolean;
}

export interface Granted {
  format: CodeFormat;
  /** Whether the requester has signed in as this user before, by this key or from this network. */
  isKnown: boolean;
}

/**
 * Protects one-time codes against guessing without locking anyone out (decisions/0100). Wrong attempts make the next
 * codes longer; they never block a correct code. Each open short code counts as if all its attempts were wrong, so
 * codes requested in advance stay within the budgets.
 */
export class Guessing {
  constructor(private readonly deps: { clock: Clock; vault: Vault; limits: Limits }) {}

  /** The format of the next code for this requester. */
  async grant(em: EntityManager, requester: Requester): Promise<Granted> {
    const { projectId, hasProvenKey } = requester;
    if (hasProvenKey) return { format: 'short', isKnown: true };
    const account = accountKey(requester);
    const isKnownNetwork = await this.isKnownNetwork(em, requester);
    const open = await this.openTries(em, projectId, requester.userId ?? requester.address);
    const ofKnown = await this.deps.limits.peek(em, byKnown, account);
    const ofAccount = await this.deps.limits.peek(em, perAccount, account);
    const ofProject = await this.deps.limits.peek(em, perProject, projectId);
    const fitsKnown =
      fits(byKnown, ofKnown + open.knownOfAccount) &&
      fits(perProjectByKnown, ofProject + open.ofProject + open.knownOfProject);
    if (isKnownNetwork && fitsKnown) return { format: 'short', isKnown: true };
    const isShort = fits(perAccount, ofAccount + open.ofAccount) && fits(perProject, ofProject + open.ofProject);
    return { format: isShort ? 'short' : 'long', isKnown: false };
  }

  /** Budgets that a wrong code counts against; none for a long code, which cannot be guessed. */
  budgetsOf(
    code: { format: CodeFormat; requesterKnown: boolean },
    account: Pick<Requester, 'projectId' | 'userId' | 'address'>,
  ) {
    if (code.format === 'long') return [];
    return [
      { rule: code.requesterKnown ? byKnown : perAccount, subject: accountKey(account) },
      { rule: perProject, subject: account.projectId },
    ];
  }

  /**
   * Marks the network as known after a sign-in with more than a device key, and deletes the user's networks that are no longer
   * known.
   */
  async remember(em: EntityManager, user: TenantKey, ip: string | undefined): Promise<void> {
    const noted = this.remembered(user, ip);
    if (!noted) return;
    const { forgotten, remembered } = noted;
    const statement = sql`with forgotten as (${forgotten}) ${remembered}`;
    await execute(em, statement, { prepare: 'guessing.remember' });
  }

  /** Like {@link remember}, as SQL that writes if `condition` is true; null if the network is not known. */
  remembered({ project, id }: TenantKey, ip: string | undefined, condition: Fragment = sql`true`) {
    const network = networkOf(ip);
    if (network === 'unknown') return null;
    const now = this.deps.clock.now();
    const mac = this.deps.vault.mac('network', id, network);
    return {
      forgotten: sql`delete from known_networks
        where project_id = ${project.id}::uuid and user_id = ${id}::uuid and network <> ${mac}
          and last_at <= ${secondsLater(now, -knownSeconds)}::timestamptz and ${condition}`,
      remembered: sql`insert into known_networks (project_id, user_id, network, last_at)
        select ${project.id}::uuid, ${id}::uuid, ${mac}, ${now}::timestamptz
        where ${condition}
        on conflict (project_id, user_id, network) do update set last_at = excluded.last_at`,
    };
  }

  private async isKnownNetwork(em: EntityManager, { projectId, userId, ip }: Requester): Promise<boolean> {
    const user = userId ?? noUser;
    const found = await query(
      em,
      sql`
        select 1 from known_networks
        where project_id = ${projectId} and user_id = ${user} and network = any(${this.deps.vault.macs('network', user, networkOf(ip))})
          and last_at > ${secondsLater(this.deps.clock.now(), -knownSeconds)} limit 1`,
      { prepare: 'guessing.is-known-network' },
    );
    return found.length > 0;
  }

  /** Remaining attempts of open short codes. */
  private async openTries(em: EntityManager, projectId: string, account: string) {
    const macs = this.deps.vault.macs('otp-account', projectId, account);
    const [row] = await query(
      em,
      sql<Record<'known' | 'stranger' | 'known_of_project' | 'project', number | null>>`
        with open as (
          select account = any(${macs}) as of_account, requester_known, ${triesPerCode} - attempts as tries
          from one_time_codes
          where project_id = ${projectId} and purpose = 'sign-in' and format = 'short'
            and used_at is null and replaced_at is null
            and expires_at > ${this.deps.clock.now()} and attempts < ${triesPerCode}
        )
        select sum(tries) filter (where of_account and requester_known)::int as known,
          sum(tries) filter (where of_account and not requester_known)::int as stranger,
          sum(tries) filter (where requester_known)::int as known_of_project,
          sum(tries) filter (where not requester_known)::int as project
        from open`,
      { prepare: 'guessing.open-tries' },
    );
    return {
      knownOfAccount: row?.known ?? 0,
      knownOfProject: row?.known_of_project ?? 0,
      ofAccount: row?.stranger ?? 0,
      ofProject: row?.project ?? 0,
    };
  }
}

/** Whether one more short code fits the budget. */
function fits(rule: LimitRule, spent: number): boolean {
  return spent + triesPerCode <= rule.max;
}

function accountKey({ projectId, userId, address }: Pick<Requester, 'projectId' | 'userId' | 'address'>): string {
  return `${projectId}:${userId ?? address}`;
}

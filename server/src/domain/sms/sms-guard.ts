import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { system } from '../kernel/actor.ts';
import type { Problem } from '../kernel/problem.ts';
import type { LimitRule, Limits, Spent } from '../limits/limits.ts';
import type { Project } from '../projects/project.entity.ts';
import { type CheckedNumber, checkNumber, type NumberFault } from './numbers.ts';

export interface SmsToSend {
  project: Pick<Project, 'id' | 'name' | 'smsCountries' | 'smsPerDay'>;
  /** E.164. */
  number: string;
  /** Whether the number belongs to a verified factor or is on record. Absent: no. */
  proved?: boolean;
}

type Refused = NumberFault | 'number-limit' | 'prefix-limit';

const day = 24 * 3600;
const perNumber: readonly LimitRule[] = [
  { name: 'sms-number-hour', max: 5, windowSeconds: 3600 },
  { name: 'sms-number-day', max: 10, windowSeconds: day },
];
const leastPerPrefix = 30;
/** Share of a project's daily limit for one range of unproved numbers. */
const prefixShare = 0.03;
/** Share of a project's daily limit reserved for proved numbers. */
const keptShare = 0.1;
const leastToKeepOf = 100;

/**
 * Limits the cost of SMS: kinds of numbers, countries, and budgets per number, range of numbers and project. Unproved
 * numbers have separate budgets, so that an attacker who uses them up does not block numbers in use.
 */
export class SmsGuard {
  constructor(private readonly deps: { limits: Limits; audit: Audit }) {}

  /** Whether the project sends SMS to this kind of number. Spends nothing. */
  check({ project, number, proved }: SmsToSend): Problem | null {
    return check(project, number, proved).fault === null ? null : { code: 'phone-not-allowed' };
  }

  /**
   * Spends one SMS of the budgets. Call it last before creating the SMS, and commit it even if the request fails.
   *
   * @returns null if it may be sent; else `phone-not-allowed` or `too-many`
   */
  async spend(em: EntityManager, { project, number, proved = false }: SmsToSend): Promise<Problem | null> {
    const checked = check(project, number, proved);
    if (checked.fault !== null) {
      await this.countRefused(em, project, checked.fault, checked.prefix);
      return { code: 'phone-not-allowed' };
    }
    for (const rule of perNumber) {
      const spent = await this.deps.limits.spend(
        em,
        rule,
        `${project.id}:${proved ? 'proved' : 'new'}:${checked.number}`,
      );
      if (spent.allowed) continue;
      await this.countRefused(em, project, 'number-limit', checked.prefix);
      return tooMany(spent);
    }
    const { smsPerDay } = project;
    if (!proved) {
      const most = Math.max(leastPerPrefix, Math.ceil(smsPerDay * prefixShare));
      const prefix = { name: 'sms-prefix', max: most, windowSeconds: day };
      const spent = await this.deps.limits.spend(em, prefix, `${project.id}:${checked.prefix}`);
      if (!spent.allowed) {
        await this.countRefused(em, project, 'prefix-limit', checked.prefix);
        return tooMany(spent);
      }
      const kept = smsPerDay < leastToKeepOf ? 0 : Math.floor(smsPerDay * keptShare);
      const unproved = { name: 'sms-project-new', max: smsPerDay - kept, windowSeconds: day };
      const ofProject = await this.deps.limits.spend(em, unproved, project.id);
      if (!ofProject.allowed) return this.limitReached(em, project, ofProject);
    }
    const all = await this.deps.limits.spend(
      em,
      { name: 'sms-project', max: smsPerDay, windowSeconds: day },
      project.id,
    );
    return all.allowed ? null : this.limitReached(em, project, all);
  }

  /** Records one event per window. */
  private async limitReached(em: EntityManager, project: SmsToSend['project'], spent: Spent): Promise<Problem> {
    const alerts = { name: 'sms-alert', max: 1, windowSeconds: spent.retryAfterSeconds };
    if ((await this.deps.limits.spend(em, alerts, project.id)).allowed) {
      this.deps.audit.record(em, {
        ...about(project),
        type: 'sms.limit_reached',
        detail: { smsPerDay: project.smsPerDay },
      });
    }
    return tooMany(spent);
  }

  /** Records one event with a count per reason and hour. It contains the range of the first number, but no number. */
  private countRefused(em: EntityManager, project: SmsToSend['project'], reason: Refused, prefix: string) {
    const entry = { ...about(project), type: 'sms.number_refused' as const };
    return this.deps.audit.recordRepeated(em, entry, reason, { ofFirst: { prefix } });
  }
}

/** A number that has received a code is not treated as a fixed line. */
function check(project: SmsToSend['project'], number: string, proved = false): CheckedNumber {
  const checked = checkNumber(number, project.smsCountries);
  return checked.fault === 'fixed-line' && proved ? { ...checked, fault: null } : checked;
}

function tooMany({ retryAfterSeconds }: Spent): Problem {
  return { code: 'too-many', retryAfterSeconds };
}

function about({ id, name }: SmsToSend['project']) {
  return { actor: system, projectId: id, result: 'failure', subject: { kind: 'project', id, name } } as const;
}

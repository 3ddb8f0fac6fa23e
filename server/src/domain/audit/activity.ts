import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { execute, query, type Statement, sql } from '../kernel/sql.ts';
import { instanceId } from './audit-event.entity.ts';
import { firstIdAfter, firstIdFrom } from './moment.ts';

/** Activity of a project on a day, in UTC; days without activity are omitted. */
export interface DayOfActivity {
  /** `2026-03-01` */
  day: string;
  signIns: number;
  /** Sign-ins by device key without a one-time code. */
  signInsOnKnownDevices: number;
  signInsWithPasskeys: number;
  /** Distinct users who signed in. */
  activeUsers: number;
  codesSent: number;
  /** Sign-in codes accepted. */
  codesVerified: number;
  /** Sum over all accepted codes, from sending to entering. */
  codeSeconds: number;
  /** Rejected one-time codes, second factors, device proofs and passkeys. */
  refused: number;
  /** Logout tokens of this day's logouts. */
  logoutsDelivered: number;
  logoutsFailed: number;
  scimRequests: number;
  scimRefused: number;
  scimFailed: number;
}

const refusals = ['otp.rejected', 'mfa.rejected', 'device.proof_rejected', 'passkey.rejected'];
const types = ['user.signed_in', 'otp.sent', 'otp.verified', ...refusals];
const daySeconds = 24 * 3600;
/** Older days are never counted. */
const rememberedDays = 92;
/** A day is final once its last events are written and its logouts are delivered or have failed. */
const settledSeconds = 3 * 3600;

const eventCounts = sql.raw(`
  (count(*) filter (where type = 'user.signed_in'))::int as sign_ins,
  (count(*) filter (where type = 'user.signed_in' and not coalesce(jsonb_exists(detail->'amr', 'otp'), true)
    and not jsonb_exists(detail, 'passkeyId')))::int as sign_ins_on_known_devices,
  (count(*) filter (where type = 'user.signed_in' and jsonb_exists(detail, 'passkeyId')))::int as sign_ins_with_passkeys,
  (count(distinct subject_id) filter (where type = 'user.signed_in'))::int as active_users,
  (count(*) filter (where type = 'otp.sent'))::int as codes_sent,
  (count(*) filter (where type = 'otp.verified'))::int as codes_verified,
  coalesce(sum((detail->>'afterSeconds')::numeric) filter (where type = 'otp.verified'), 0)::int as code_seconds,
  coalesce(sum(coalesce((detail->>'count')::int, 1)) filter (where type in
    (${refusals.map((type) => `'${type}'`).join(', ')})), 0)::int as refused`);

const logoutCounts = sql.raw(`
  (count(*) filter (where state = 'delivered'))::int as logouts_delivered,
  (count(*) filter (where state = 'failed'))::int as logouts_failed`);

/**
 * Sign-in statistics by day. Each past day is counted once, for all projects ({@link Activity.count}); today is counted
 * from the events when read.
 */
export class Activity {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /** Counts past days that are not counted yet, oldest first. */
  async count(): Promise<void> {
    while (await this.countNext());
  }

  /** Counts one day, in one transaction. @returns whether there was one */
  private countNext(): Promise<boolean> {
    return this.deps.db.transaction(async (em) => {
      const last = startOfDay(secondsLater(this.deps.clock.now(), -settledSeconds));
      const first = secondsLater(last, -rememberedDays * daySeconds);
      await execute(
        em,
        sql`insert into activity_progress (id, counted_before) values ('days', ${dayOf(first)})
          on conflict do nothing`,
      );
      const [progress] = await query(
        em,
        sql<{ day: string }>`
          select to_char(greatest(counted_before, ${dayOf(first)}::date), 'YYYY-MM-DD') as day
            from activity_progress where id = 'days' for update`,
      );
      const day = new Date(`${progress?.day}T00:00:00Z`);
      if (day >= last) return false;
      const end = secondsLater(day, daySeconds);
      await execute(
        em,
        sql`insert into activity_days (project_id, day, sign_ins, sign_ins_on_known_devices, sign_ins_with_passkeys,
            active_users, codes_sent, codes_verified, code_seconds, refused, logouts_delivered, logouts_failed)
          select p.id, ${dayOf(day)}::date, coalesce(sign_ins, 0), coalesce(sign_ins_on_known_devices, 0),
            coalesce(sign_ins_with_passkeys, 0), coalesce(active_users, 0), coalesce(codes_sent, 0),
            coalesce(codes_verified, 0), coalesce(code_seconds, 0),
            coalesce(refused, 0), coalesce(logouts_delivered, 0), coalesce(logouts_failed, 0)
          from (select project_id, ${eventCounts} from audit_log
                where id >= ${firstIdFrom(day)} and id < ${firstIdAfter(end)} and at >= ${day} and at < ${end}
                  and type = any(${types}::text[]) and project_id <> ${instanceId}
                group by project_id) e
          full join (select project_id, ${logoutCounts} from logout_deliveries
                     where created_at >= ${day} and created_at < ${end} group by project_id) l
            on l.project_id = e.project_id
          join projects p on p.id = coalesce(e.project_id, l.project_id)
          on conflict do nothing`,
      );
      await execute(em, sql`update activity_progress set counted_before = ${dayOf(end)} where id = 'days'`);
      return true;
    });
  }
}

/** Oldest first. @param since includes the whole day */
export async function activityOf(em: EntityManager, projectId: string, since: Date): Promise<DayOfActivity[]> {
  const from = startOfDay(since);
  const [progress] = await query(
    em,
    sql<{ day: string }>`select to_char(counted_before, 'YYYY-MM-DD') as day from activity_progress where id = 'days'`,
  );
  const counted = progress ? new Date(`${progress.day}T00:00:00Z`) : from;
  const live = counted > from ? counted : from;
  return query(em, activityStatement(projectId, from, live));
}

/** @param live the first day to count from events */
export function activityStatement(projectId: string, from: Date, live: Date): Statement<DayOfActivity> {
  const zero = sql.raw(
    [
      ...['sign_ins', 'sign_ins_on_known_devices', 'sign_ins_with_passkeys', 'active_users'],
      ...['codes_sent', 'codes_verified', 'code_seconds', 'refused'],
    ]
      .map((name) => `0 as ${name}`)
      .join(', '),
  );
  const noLogouts = sql.raw('0 as logouts_delivered, 0 as logouts_failed');
  const noRequests = sql.raw('0 as requests, 0 as scim_refused, 0 as scim_failed');
  return sql`
    select to_char(day, 'YYYY-MM-DD') as day, sum(sign_ins)::int as "signIns",
      sum(sign_ins_on_known_devices)::int as "signInsOnKnownDevices",
      sum(sign_ins_with_passkeys)::int as "signInsWithPasskeys", sum(active_users)::int as "activeUsers",
      sum(codes_sent)::int as "codesSent", sum(codes_verified)::int as "codesVerified",
      sum(code_seconds)::int as "codeSeconds", sum(refused)::int as refused,
      sum(logouts_delivered)::int as "logoutsDelivered", sum(logouts_failed)::int as "logoutsFailed",
      sum(requests)::int as "scimRequests", sum(scim_refused)::int as "scimRefused",
        sum(scim_failed)::int as "scimFailed"
    from (
      select day, sign_ins, sign_ins_on_known_devices, sign_ins_with_passkeys, active_users, codes_sent, codes_verified,
        code_seconds, refused, logouts_delivered, logouts_failed, ${noRequests}
      from activity_days where project_id = ${projectId} and day >= ${dayOf(from)}::date
        and day < ${dayOf(live)}::date
      union all
      select (at at time zone 'UTC')::date as day, ${eventCounts}, ${noLogouts}, ${noRequests}
      from audit_log
      where project_id = ${projectId} and type = any(${types}::text[]) and id >= ${firstIdFrom(live)}
        and at >= ${live}
      group by 1
      union all
      select (created_at at time zone 'UTC')::date as day, ${zero}, ${logoutCounts}, ${noRequests}
      from logout_deliveries where project_id = ${projectId} and created_at >= ${live} group by 1
      union all
      select day, ${zero}, ${noLogouts}, requests, refused, failed
      from scim_days where project_id = ${projectId} and day >= ${dayOf(from)}::date
    ) as parts
    group by day order by day`;
}

function startOfDay(at: Date): Date {
  const start = new Date(at);
  start.setUTCHours(0, 0, 0, 0);
  return start;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

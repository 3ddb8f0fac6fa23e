import type { EntityManager } from '@mikro-orm/postgresql';
import { rows } from '../kernel/database.ts';
import { firstIdFrom } from './moment.ts';

/** What a day of a project was like, in UTC; days without anything are not there. */
export interface DayOfActivity {
  /** `2026-03-01` */
  day: string;
  signIns: number;
  /** Of them, those for which no code was asked. */
  signInsOnKnownDevices: number;
  /** Different users who signed in. */
  activeUsers: number;
  codesSent: number;
  /** One-time codes, second factors and device proofs that were not accepted. */
  refused: number;
}

const refusals = ['otp.rejected', 'mfa.rejected', 'device.proof_rejected'];

/** From the audit log, oldest first. @param since from the first moment of whose day on */
export function activityOf(em: EntityManager, projectId: string, since: Date): Promise<DayOfActivity[]> {
  const from = new Date(since);
  from.setUTCHours(0, 0, 0, 0);
  return rows<DayOfActivity>(
    em,
    `select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day,
       (count(*) filter (where type = 'user.signed_in'))::int as "signIns",
       (count(*) filter (where type = 'user.signed_in' and not coalesce(jsonb_exists(detail->'amr', 'otp'), true)))::int
         as "signInsOnKnownDevices",
       (count(distinct subject_id) filter (where type = 'user.signed_in'))::int as "activeUsers",
       (count(*) filter (where type = 'otp.sent'))::int as "codesSent",
       (count(*) filter (where type = any(?::text[])))::int as refused
     from audit_events
     where project_id = ? and type = any(?::text[]) and id >= ? and at >= ?
     group by 1 order by 1`,
    [refusals, projectId, ['user.signed_in', 'otp.sent', ...refusals], firstIdFrom(from), from],
  );
}

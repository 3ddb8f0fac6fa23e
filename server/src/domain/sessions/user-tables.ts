import { sql } from '../kernel/sql.ts';
import { ofUser, type UserTables } from '../users/user-tables.ts';

/** `Accounts` ends the sessions first, which notifies clients. */
export const sessionTables: UserTables = {
  tables: ['sessions'],
  handOver: null,
  exportRows: {
    sessions: (user) => sql`
      select s.id, s.amr, s.auth_time as "authTime", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
        s.fresh_at as "freshAt", s.expires_at as "expiresAt", s.ended_at as "endedAt", s.end_reason as "endReason", s.device_id as "deviceId", s.domain,
        s.ip, s.user_agent as "userAgent", s.impersonation ->> 'reason' as "impersonationReason",
        (select json_agg(json_build_object('clientId', p.client_id, 'firstAt', p.first_at, 'lastAt', p.last_at))
         from participations p where p.project_id = s.project_id and p.session_id = s.id) as applications
      from sessions s where ${ofUser(user, 's')}`,
  },
};

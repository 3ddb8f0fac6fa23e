import { type Executing, query, sql } from '../kernel/sql.ts';
import { type Home, isAt } from '../users/identity/home.ts';

/** How the directory of a project or an organization does. The numbers of requests are those of the kept records: at most 200, of a week. */
export interface DirectoryHealth {
  /** Tokens that are neither revoked nor expired. */
  liveTokens: number;
  /** Of an accepted token, within a minute. */
  lastRequestAt: Date | null;
  lastRefusedAt: Date | null;
  requests: number;
  /** Answered 4xx. */
  refused: number;
  /** Answered 5xx. */
  failed: number;
}

type Row = Omit<DirectoryHealth, 'lastRequestAt' | 'lastRefusedAt'> &
  Record<'lastRequestAt' | 'lastRefusedAt', string | null>;

export async function directoryHealth(on: Executing, directory: Home, now: Date): Promise<DirectoryHealth> {
  const [row] = await query(
    on,
    sql<Row>`select t.*, r.* from
      (select count(*) filter (where r.revoked_at is null
            and (r.expires_at is null or r.expires_at > ${now}::timestamptz))::int as "liveTokens",
          max(r.last_used_at) as "lastRequestAt" from scim_tokens r where ${isAt(directory)}) t,
      (select count(*)::int as requests, count(*) filter (where q.status between 400 and 499)::int as refused,
          count(*) filter (where q.status >= 500)::int as failed, max(q.at) filter (where q.status >= 400) as "lastRefusedAt"
        from scim_request_records q where q.project_id = ${directory.projectId}::uuid
          and coalesce(q.organization_id, q.project_id) = ${directory.organizationId ?? directory.projectId}::uuid) r`,
  );
  if (!row) throw new Error('a query of counts has a row');
  const instant = (text: string | null) => (text === null ? null : new Date(text));
  return { ...row, lastRequestAt: instant(row.lastRequestAt), lastRefusedAt: instant(row.lastRefusedAt) };
}

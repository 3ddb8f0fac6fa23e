import type { EntityManager } from '@mikro-orm/postgresql';
import type { SystemCheck } from '../../domain/instance/checks.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import { UsageError } from '../command.ts';

/** A day (UTC) or an RFC 3339 time in the past. Throws {@link UsageError}. */
export function sinceOf(text: string, now: Date): Date {
  const since = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? new Date(text) : null;
  if (since === null || Number.isNaN(since.getTime())) {
    throw new UsageError('--since must be a date such as 2026-11-21 or a time such as 2026-11-21T04:16:00Z');
  }
  if (since > now) throw new UsageError('--since must be in the past');
  return since;
}

/** Shown without `--since`, to make the option known. */
export const notExamined: SystemCheck = {
  name: 'Takeover',
  level: 'ok',
  summary: 'Not checked',
  advice: 'Run `doctor --since 2026-11-21` to look for signs of the takeover described in SECURITY.md.',
};

/** Signs of an account takeover since that time (SECURITY.md). */
export async function sinceChecks(em: EntityManager, since: Date): Promise<SystemCheck[]> {
  return [await foreignCodes(em, since), ...(await made(em, since))];
}

interface ForeignCode {
  userId: string;
  at: string | Date;
  ip: string | null;
  total: number;
}

const shown = 5;

/**
 * Matches entered codes to sent codes by creation time: a code entered for an account to which none was sent at that time
 * was sent to another account. Times are in whole seconds, with a tolerance of three.
 */
const foreignCodesStatement = (since: Date) => sql<ForeignCode>`with sent as (
    select project_id, floor(extract(epoch from at))::bigint as second, subject_kind, subject_id
    from audit_log where type in ('otp.sent', 'otp.requested')
      and at >= ${since}::timestamptz - interval '15 minutes'
  ), entered as (
    select e.id, e.project_id, e.subject_id, e.at, e.ip,
      lower(left(e.subject_name, 1) || '…' || substring(e.subject_name from '@[^@]*$')) as "userNameHint",
      lower(left(u.email, 1) || '…' || substring(u.email from '@[^@]*$')) as "emailHint",
      floor(extract(epoch from e.at))::bigint - (e.detail->>'afterSeconds')::int as made
    from audit_log e left join users u on u.id::text = e.subject_id
    where e.type = 'otp.verified' and e.at >= ${since} and e.detail->>'afterSeconds' is not null
  ), own as (
    select distinct e.id from entered e cross join generate_series(-3, 3) as off
    join sent s on s.second = e.made + off and s.project_id = e.project_id
    where s.subject_id = e.subject_id
      or (s.subject_kind = 'address' and lower(s.subject_id) in (e."userNameHint", e."emailHint"))
  )
  select e.subject_id as "userId", e.at, e.ip, count(*) over ()::int as total
  from entered e where not exists (select 1 from own where own.id = e.id) order by e.at limit ${shown}`;

async function foreignCodes(em: EntityManager, since: Date): Promise<SystemCheck> {
  const name = 'Codes';
  const found = await query(em, foreignCodesStatement(since));
  const [first] = found;
  if (!first) {
    const summary = 'Every code entered since then was sent to its own account';
    return { name, level: 'ok', summary, advice: null };
  }
  const list = found.map(({ userId, at, ip }) => `${userId} at ${new Date(at).toISOString()} from ${ip ?? 'unknown'}`);
  const more = first.total > found.length ? `, and ${first.total - found.length} more` : '';
  return {
    name,
    level: 'fail',
    summary: `${first.total} entered for an account to which no code was sent at that time`,
    advice: `Revoke devices, passkeys and sessions of these users: ${list.join('; ')}${more}. Full list: server/docs/incidents.md.`,
  };
}

interface Made {
  devices: number;
  people: number;
  passkeys: number;
  adminDevices: number;
  adminPasskeys: number;
  tokens: number;
  liveTokens: number;
  roles: number;
  liveRoles: number;
  links: number;
  factors: number;
}

const madeStatement = (since: Date) => sql<Made>`select
  made.*,
  (select count(*) from admin_tokens where created_at >= ${since})::int as tokens,
  (select count(*) from admin_tokens where created_at >= ${since} and revoked_at is null)::int as "liveTokens",
  (select count(*) from audit_log where type = 'membership.granted' and at >= ${since})::int as roles,
  (select count(*) from memberships where created_at >= ${since})::int as "liveRoles",
  (select count(*) from setup_links where used_at >= ${since})::int as links,
  (select count(*) from enrolments where verified_at >= ${since})::int as factors
  from (select (count(*) filter (where c.kind = 'device-key'))::int as devices,
    (count(distinct c.user_id) filter (where c.kind = 'device-key'))::int as people,
    (count(*) filter (where c.kind = 'passkey'))::int as passkeys,
    (count(*) filter (where c.kind = 'device-key' and p.built_in = 'console'))::int as "adminDevices",
    (count(*) filter (where c.kind = 'passkey' and p.built_in = 'console'))::int as "adminPasskeys"
    from credentials c join projects p on p.id = c.project_id where c.created_at >= ${since}) made`;

async function made(em: EntityManager, since: Date): Promise<SystemCheck[]> {
  const [counts] = await query(em, madeStatement(since));
  const { devices, people, passkeys, adminDevices, adminPasskeys, ...others } = counts as Made;
  const { tokens, liveTokens, roles, liveRoles, links, factors } = others;
  const look = (name: string, count: number, summary: string, advice: string): SystemCheck => ({
    name,
    level: count > 0 ? 'warn' : 'ok',
    summary,
    advice: count > 0 ? advice : null,
  });
  return [
    look(
      'Admin devices',
      adminDevices + adminPasskeys,
      `${adminDevices} registered since, ${adminPasskeys} passkeys added`,
      'Confirm with each admin: *Team & roles*, then *Audit*.',
    ),
    look(
      'Admin tokens',
      tokens,
      `${tokens} issued since, ${liveTokens} live`,
      'Revoke unknown tokens: *Team & roles*.',
    ),
    look(
      'Admin roles',
      roles + liveRoles,
      `${roles} granted since, ${liveRoles} still active`,
      'Review them in *Team & roles*.',
    ),
    look('Setup links', links, `${links} used since`, 'Each created an owner: *Audit*, type `setup-link.used`.'),
    {
      name: 'Devices',
      level: 'ok',
      summary: `${devices} registered since, by ${people} people; ${passkeys} passkeys added, ${factors} second factors set up`,
      advice: devices + passkeys > 0 ? 'To list them by account and network: server/docs/incidents.md.' : null,
    },
  ];
}

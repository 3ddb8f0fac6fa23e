import { type CheckedAssertion, usedAssertion } from '../../clients/client-assertions.ts';
import { type CheckedClient, currentClient } from '../../clients/client-registry.ts';
import { digest } from '../../kernel/secret.ts';
import { type Fragment, type Statement, sql } from '../../kernel/sql.ts';
import type { Issuer } from '../../projects/issuer.ts';
import { byPasskey } from '../../sessions/sessions.ts';
import { meets } from '../refresh.ts';

/** A token request with a device code (RFC 8628 section 3.4). */
export interface DevicePoll extends CheckedClient {
  issuer: Issuer;
  deviceCode: string;
  /** For `private_key_jwt`: recorded with the poll; single use. */
  assertion?: CheckedAssertion | undefined;
}

/**
 * `hurried`: pending, and the poll came too early. `unmet`: approved by a sign-in that no longer meets the policy.
 * `approved`: the device code can be redeemed as an authorization code.
 */
export type DeviceState = 'pending' | 'hurried' | 'denied' | 'expired' | 'unmet' | 'approved';

/** Always one row; without `state`, there is no such device code of this client and issuer. */
export interface PollRow {
  client_is_current: boolean;
  assertion_is_fresh: boolean;
  state: DeviceState | null;
}

/** Seconds added to the interval after a poll that came too early (RFC 8628 section 3.5). */
const slowDownSeconds = 5;
/** Seconds by which a poll may come too early, since requests do not take equally long. */
const jitterSeconds = 1;

const comesEarly = sql`coalesce(d.polled_at > clock_timestamp() - make_interval(secs => d.interval_seconds - ${jitterSeconds}::int), false)`;

/** One statement: records the poll and returns the state of the request. The interval is measured by the database's clock. */
export function poll({ assertion, deviceCode, issuer, ...checked }: DevicePoll, now: Date): Statement<PollRow> {
  const jtiHash = assertion?.jtiHash ?? null;
  return sql<PollRow>`with client as materialized (${currentClient(checked)}),
    used as (${usedAssertion(assertion)}),
    polled as (
      update device_authorizations d set polled_at = clock_timestamp(), hurried = ${comesEarly},
        interval_seconds = d.interval_seconds + case when ${comesEarly} then ${slowDownSeconds}::int else 0 end
      from client
      where d.project_id = ${checked.client.project.id}::uuid and d.device_hash = ${digest(deviceCode)} and d.client_id = client.id
        and d.issuer = ${issuer.url}
        and case when ${jtiHash}::text is null then true else exists (select from used) end
      returning case
        when d.approved then case when exists (${sufficientCode}) then 'approved' else 'unmet' end
        when d.approved is not null then 'denied'
        when d.expires_at <= ${now}::timestamptz then 'expired'
        when d.hurried then 'hurried' else 'pending' end as state
    )
    select exists (select from client) as client_is_current,
      ${jtiHash}::text is null or exists (select from used) as assertion_is_fresh, r.state
    from (values (1)) one left join polled r on true`;
}

/** The code of approved device `d`, whose session meets the current policies of project and client; or a used one, a replay. */
const sufficientCode: Fragment = sql`select from authorization_codes c
  join sessions s on s.project_id = c.project_id and s.id = c.session_id
  join users u on u.project_id = c.project_id and u.id = c.user_id
  join clients k on k.project_id = c.project_id and k.id = c.client_id
  join projects p on p.id = c.project_id
  where c.project_id = d.project_id and c.hash = d.device_hash and (c.used_at is not null or ${meets(byPasskey(sql`s`))})`;

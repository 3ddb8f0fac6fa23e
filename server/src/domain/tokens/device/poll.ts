import type { CheckedClient } from '../../clients/client-registry.ts';
import { digest } from '../../kernel/secret.ts';
import { type Statement, sql } from '../../kernel/sql.ts';
import type { Issuer } from '../../projects/issuer.ts';
import { type Accepted, type Credentials, presented } from '../grants/grant.ts';

/** A token request with a device code (RFC 8628 section 3.4). */
export interface DevicePoll extends CheckedClient, Pick<Credentials, 'assertion'> {
  issuer: Issuer;
  deviceCode: string;
}

/** `hurried`: pending, and the poll came too early. `approved`: the device code can be redeemed as an authorization code. */
export type DeviceState = 'pending' | 'hurried' | 'denied' | 'expired' | 'approved';

/** Always one row; without `state`, there is no such device code of this client and issuer. */
export interface PollRow extends Accepted {
  state: DeviceState | null;
}

/** Seconds added to the interval after a poll that came too early (RFC 8628 section 3.5). */
const slowDownSeconds = 5;
/** Seconds by which a poll may come too early, since requests do not take equally long. */
const jitterSeconds = 1;

const comesEarly = sql`coalesce(d.polled_at > clock_timestamp() - make_interval(secs => d.interval_seconds - ${jitterSeconds}::int), false)`;

/** One statement: records the poll and returns the state of the request. The interval is measured by the database's clock. */
export function poll({ deviceCode, issuer, ...caller }: DevicePoll, now: Date): Statement<PollRow> {
  const { ctes, columns, hold } = presented(caller, caller);
  return sql<PollRow>`with ${ctes},
    polled as (
      update device_authorizations d set polled_at = clock_timestamp(), hurried = ${comesEarly},
        interval_seconds = d.interval_seconds + case when ${comesEarly} then ${slowDownSeconds}::int else 0 end
      from client
      where d.project_id = ${caller.client.project.id}::uuid and d.device_hash = ${digest(deviceCode)} and d.client_id = client.id
        and d.issuer = ${issuer.url}
        and ${hold}
      returning case
        when d.approved then 'approved'
        when d.approved is not null then 'denied'
        when d.expires_at <= ${now}::timestamptz then 'expired'
        when d.hurried then 'hurried' else 'pending' end as state
    )
    select ${columns}, r.state
    from (values (1)) one left join polled r on true`;
}

import { type Fragment, sql } from '../kernel/sql.ts';
import type { TrustState } from '../policy/device-trust.ts';

/** The columns of a device that its trust depends on: {@link deviceColumns}. Instants are text, to the microsecond. */
export interface DeviceRow {
  remembered: boolean;
  created_at: string;
  registered_at: string | null;
  last_used_at: string;
  trusted_until: string | null;
  suspended_at: string | null;
  mfa_remembered_at: string | null;
}

/** SQL: of device `d`. */
export const deviceColumns: Fragment = sql`d.remembered, d.created_at, d.registered_at, d.last_used_at, d.trusted_until, d.suspended_at,
      d.mfa_remembered_at`;

/** SQL condition: device `d` is unchanged since the read, in all columns that decide its trust. */
export function isDeviceUnchanged(row: DeviceRow): Fragment {
  return sql`d.remembered = ${row.remembered}::boolean and d.last_used_at = ${row.last_used_at}::timestamptz
        and d.registered_at is not distinct from ${row.registered_at}::timestamptz
        and d.trusted_until is not distinct from ${row.trusted_until}::timestamptz
        and d.suspended_at is not distinct from ${row.suspended_at}::timestamptz
        and d.mfa_remembered_at is not distinct from ${row.mfa_remembered_at}::timestamptz`;
}

/** Of a device that is not revoked. */
export function toTrustState(row: DeviceRow): TrustState & { mfaRememberedAt: Date | null } {
  const at = (text: string | null) => (text === null ? null : new Date(text));
  return {
    remembered: row.remembered,
    createdAt: new Date(row.created_at),
    registeredAt: at(row.registered_at),
    lastUsedAt: new Date(row.last_used_at),
    trustedUntil: at(row.trusted_until),
    suspendedAt: at(row.suspended_at),
    mfaRememberedAt: at(row.mfa_remembered_at),
  };
}

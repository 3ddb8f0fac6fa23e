import { instanceId } from '../audit/audit-event.entity.ts';
import { retentionNow } from '../audit/retention-time.ts';
import { isForgotten } from '../clients/introductions/introduced-clients.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { deleteInBatches, type Fragment, sql } from '../kernel/sql.ts';
import { hadEnded } from '../sessions/sessions.ts';
import { renewableSeconds } from './requests/authorization-requests.ts';

const day = 24 * 3600;

/**
 * A used assertion, proof or request is refused by its mark alone. It is kept for this long after it has expired: a clock that is
 * set back makes it valid again (decisions/0352).
 */
const markSeconds = day;

/**
 * Retention rules. Rows are deleted `graceSeconds` after they have become obsolete; rows that users and admins still
 * look at (ended sessions) are kept longer. `at` is now minus `graceSeconds`.
 */
const rules: { table: string; where(at: Date): Fragment; graceSeconds: number }[] = [
  { table: 'used_assertions', where: (at) => sql`forget_at <= ${at}`, graceSeconds: markSeconds },
  { table: 'upstream_assertions', where: (at) => sql`forget_at <= ${at}`, graceSeconds: markSeconds },
  { table: 'used_delegation_requests', where: (at) => sql`forget_at <= ${at}`, graceSeconds: markSeconds },
  // Without its row, a code, token, sign-in or change is unknown, and refused.
  { table: 'authorization_codes', where: (at) => sql`forget_at <= ${at}`, graceSeconds: 0 },
  // Longer than any grant may be idle.
  { table: 'refresh_grants', where: (at) => sql`coalesce(revoked_at, last_used_at) <= ${at}`, graceSeconds: 100 * day },
  { table: 'clients', where: isForgotten, graceSeconds: 0 },
  { table: 'user_keys', where: (at) => sql`coalesce(revoked_at, expires_at) <= ${at}`, graceSeconds: 30 * day },
  { table: 'idempotent_requests', where: (at) => sql`created_at <= ${at}`, graceSeconds: day },
  { table: 'repeated_refusals', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 0 },
  { table: 'ceremonies', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  { table: 'phone_changes', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 0 },
  { table: 'sign_up_requests', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 0 },
  { table: 'email_changes', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 0 },
  {
    table: 'recovery_grants',
    where: (at) => sql`expires_at <= ${at} and coalesce(used_at, ended_at) is not null`,
    graceSeconds: 30 * day,
  },
  { table: 'factor_changes', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  { table: 'device_authorizations', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  {
    table: 'authorization_requests',
    where: (at) => sql`expires_at <= ${at} and (finished_at is not null or not renewable)`,
    graceSeconds: 3600,
  },
  { table: 'authorization_requests', where: (at) => sql`expires_at <= ${at}`, graceSeconds: renewableSeconds },
  { table: 'upstream_requests', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 3600 },
  { table: 'pushed_requests', where: (at) => sql`expires_at <= ${at}`, graceSeconds: 60 },
  { table: 'enrolments', where: (at) => sql`verified_at is null and created_at <= ${at}`, graceSeconds: day },
  // A revoked key is refused as long as its row exists.
  {
    table: 'credentials',
    where: (at) => sql`not remembered and revoked_at is null and coalesce(registered_at, created_at) <= ${at}`,
    graceSeconds: 30 * day,
  },
  {
    table: 'sessions',
    where: hadEnded,
    graceSeconds: 30 * day,
  },
  {
    table: 'logout_deliveries',
    where: (at) => sql`state <> 'pending' and created_at <= ${at}`,
    graceSeconds: 30 * day,
  },
  {
    table: 'webhook_deliveries',
    where: (at) => sql`settled_at <= ${at} and state = 'delivered'`,
    graceSeconds: 7 * day,
  },
  { table: 'webhook_deliveries', where: (at) => sql`settled_at <= ${at}`, graceSeconds: 30 * day },
  // Deliveries of disabled webhooks and of deleted projects.
  {
    table: 'webhook_deliveries',
    where: (at) => sql`state = 'pending' and created_at <= ${at}`,
    graceSeconds: 30 * day,
  },
  // All streams of its log have passed it, or have been deleted. None has passed an event without a position.
  {
    table: 'stream_events',
    where: (at) => sql`queued_at <= ${at} and not exists (select 1 from log_streams s
        where coalesce(s.project_id, ${sql.lit(instanceId)}) = stream_events.project_id
          and coalesce(s.position < stream_events.position, true))`,
    graceSeconds: 600,
  },
  { table: 'stream_events', where: (at) => sql`queued_at <= ${at}`, graceSeconds: 30 * day },
];

/** Deletes obsolete rows. */
export class Retention {
  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  async sweep(): Promise<void> {
    const { clock, db } = this.deps;
    const now = await retentionNow(db, clock);
    for (const { table, where, graceSeconds } of rules) {
      await deleteInBatches(db.alone, table, where(secondsLater(now, -graceSeconds)));
    }
  }
}

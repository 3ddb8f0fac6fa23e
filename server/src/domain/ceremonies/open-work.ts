import type { EntityManager } from '@mikro-orm/postgresql';
import { endPendingChanges } from '../contacts/user-tables.ts';
import { query, sql } from '../kernel/sql.ts';
import { endFactorChanges } from '../mfa/factor-change-rows.ts';
import { endUnverified } from '../mfa/user-tables.ts';
import { endCodes } from '../otp/user-tables.ts';
import type { TenantKey } from '../projects/tenant.ts';
import { endFreshness } from '../sessions/freshness.ts';
import { endTokens } from '../tokens/user-tables.ts';
import { addressKey } from '../users/login.ts';

export interface OpenWorkOptions {
  /** Login addresses that the user is about to get or has just lost: sign-ins started with one of them end, too. */
  addresses?: readonly (string | null | undefined)[];
  /** The sign-in that makes the change: it continues, with its codes and its enrolment. */
  keepCeremonyId?: string | null | undefined;
  /** The session that makes the change: it stays fresh. */
  keepSessionId?: string | null | undefined;
  /** Whether it is a logout: refresh grants with `offline_access` stay. */
  isLogout?: boolean;
  /** Keeps codes and tokens of finished sign-ins, refresh grants, and the freshness of sessions. */
  keepsTokens?: boolean;
}

export type EndOpenWork = (em: EntityManager, now: Date, user: TenantKey, options?: OpenWorkOptions) => Promise<void>;

interface LoginRow {
  /** Null at home in an organization, where others may have the name. */
  user_name_key: string | null;
  email_key: string | null;
}

/**
 * Ends a user's open work: sign-ins, unused one-time codes, unverified factors, changes of address, phone and factor; and the
 * results of finished sign-ins: unredeemed authorization codes, access tokens, refresh grants, and the freshness of sessions.
 *
 * Expired ones, too: they are open again when a clock that was ahead is set back.
 *
 * Joins the caller's transaction. Lock order, as in every step: user, ceremonies, the rest. A caller that changes the
 * login address calls this first: the change waits for every step that references the user's row.
 */
export const endOpenWork: EndOpenWork = async (
  em,
  now,
  user,
  { addresses: more = [], keepCeremonyId = null, keepSessionId = null, isLogout = false, keepsTokens = false } = {},
) => {
  await em.flush();
  const [login] = await query(
    em,
    sql<LoginRow>`select case when organization_id is null then user_name_key end as user_name_key, email_key from users
      where project_id = ${user.project.id} and id = ${user.id} for no key update`,
  );
  if (!login) return;
  const addresses = [login.user_name_key, login.email_key, ...more].flatMap((one) => (one ? [addressKey(one)] : []));
  const ceremonies = await query(
    em,
    sql<{ id: string }>`
      with open as (
          select id from ceremonies
          where project_id = ${user.project.id} and finished_at is null
            and id is distinct from ${keepCeremonyId}::uuid
            and (account_id = ${user.id} or (account_id is null
              and address = any(${addresses}::text[])
              -- A user name may be the email address of another user; the code then names that user.
              and not exists (select 1 from one_time_codes k where k.project_id = ceremonies.project_id and k.ceremony_id = ceremonies.id
                and k.replaced_at is null and k.user_id <> ${user.id})))
          order by id for no key update
        )
        update ceremonies c set finished_at = ${now} from open
        where c.project_id = ${user.project.id} and c.id = open.id and c.finished_at is null
        returning c.id`,
  );
  const places = [
    ...ceremonies.map(({ id }) => id),
    ...(await endPendingChanges(em, user, keepCeremonyId)),
    ...(await endFactorChanges(em, user, keepCeremonyId)),
  ];
  // A code for an address without an account has no user id.
  await endCodes(em, user, places, keepCeremonyId);
  await endUnverified(em, user, keepCeremonyId);
  if (keepsTokens) return;
  await endFreshness(em, user, keepSessionId);
  await endTokens(em, user, now, { onlyOnline: isLogout });
};

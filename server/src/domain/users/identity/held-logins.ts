import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../../kernel/actor.ts';
import { refuse } from '../../kernel/problem.ts';
import { query, sql } from '../../kernel/sql.ts';
import { keyIn } from '../../projects/tenant.ts';
import { reservedElsewhere } from '../suspension/suspensions.ts';
import type { User } from '../user.entity.ts';
import { type Login, withheld } from '../user-writing.ts';
import { type Home, isAt } from './home.ts';
import { isInDomainOf } from './verified-domains.ts';

/** Whether the directory of an organization writes: it must not find out about users at other homes. */
export const isBlind = ({ kind }: Actor, organizationId: string | null | undefined): boolean =>
  kind === 'scim' && organizationId != null;

/**
 * The login that a directory may give a user of its organization: an email only in a verified domain of the organization (decisions/0408),
 * and no email or phone that a user at another home has, or that is reserved for an inactive one there. The directory does not find out:
 * the values stay in the resource. The user waits for the phone (`awaitedPhone`), and for the email until the domain is verified
 * (`given-logins.ts`). Within the home, each is unique: an email or phone that another user of it has, or waits for, is refused by an index.
 */
export async function unheld(
  em: EntityManager,
  home: Home,
  login: Login,
  before: User | null,
  now: Date,
): Promise<Login> {
  if (before?.accountId != null) {
    await refuseHeldHere(em, home, login);
    return login;
  }
  const { projectId, organizationId } = home;
  const emailKey = login.emailKey === before?.emailKey ? null : login.emailKey;
  const phone = login.phone === before?.phone ? null : login.phone;
  if (emailKey === null && phone === null) return login;
  const isOutside =
    emailKey !== null &&
    organizationId !== null &&
    !(await isInDomainOf(em, keyIn(projectId, organizationId), emailKey));
  const elsewhere = sql`u.project_id = ${projectId}::uuid and u.organization_id is distinct from ${organizationId}::uuid`;
  const here = sql`u.project_id = ${projectId}::uuid and u.organization_id is not distinct from ${organizationId}::uuid
    and u.id is distinct from ${before?.id ?? null}::uuid`;
  const reserved = reservedElsewhere(home, { emailKey, phone }, now);
  const [held] = await query(
    em,
    sql<{ email: boolean; phone: boolean }>`select
      (${isOutside}::boolean and not exists (select 1 from users u where ${here} and u.email_key = ${emailKey}::text))
        or exists (select 1 from users u where ${elsewhere} and u.email_key = ${emailKey}::text)
        or exists (select 1 from users u where ${here} and u.withheld_email_key = ${emailKey}::text)
        or ${reserved.email} as email,
      exists (select 1 from users u where ${elsewhere} and u.phone = ${phone}::text)
        or ${reserved.phone} as phone`,
    { prepare: 'users.held-elsewhere' },
  );
  return held ? withheld(login, held) : login;
}

/** Refuses `taken` for a record of a guest with a login email or phone that a user at the same home gets codes at. */
async function refuseHeldHere(
  em: EntityManager,
  home: Home,
  { withheldEmailKey, withheldPhone }: Login,
): Promise<void> {
  const [held] = await query(
    em,
    sql<{
      field: string;
    }>`select case when r.phone = ${withheldPhone}::text then 'phoneNumbers' else 'emails' end as field from users r
      where ${isAt(home)} and (r.email_key = ${withheldEmailKey}::text or r.phone = ${withheldPhone}::text) limit 1`,
  );
  if (held) refuse({ code: 'taken', what: 'user', field: held.field });
}

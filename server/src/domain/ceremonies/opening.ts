import type { EntityManager } from '@mikro-orm/postgresql';
import { currentClient } from '../clients/client-registry.ts';
import { credentialIdOf } from '../credentials/passkey-values.ts';
import { digest } from '../kernel/secret.ts';
import { columnsOf, type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import type { CheckedPage } from './callers.ts';
import { Ceremony } from './ceremony.entity.ts';
import type { StepInput } from './flow.ts';

/** The nonce that a step has replaced: no other step gets it. */
export interface TakenNonce {
  hash: string;
  expiresAt: Date;
}

/** With the columns of the sign-in as they were before the nonce was taken. */
interface Opened {
  page_is_current: boolean;
  id: string | null;
  nonce_hash: string;
  nonce_expires_at: string;
}

/**
 * Locks the sign-in of a step, and takes its nonce. Null if it belongs to another page, has ended or has expired;
 * `page-changed` if the cached page is stale. Both write nothing.
 */
export async function open(
  em: EntityManager,
  caller: CheckedPage,
  input: Pick<StepInput, 'txn' | 'credential'>,
  step: { now: Date; next: TakenNonce; locksUser: boolean },
): Promise<{ ceremony: Ceremony; taken: TakenNonce } | 'page-changed' | null> {
  const statement = openingStatement(columnsOf(em, Ceremony), caller, input, step);
  const [opened] = await query(em, statement, { prepare: 'ceremonies.open' });
  if (!opened?.page_is_current) return 'page-changed';
  const { page_is_current: _, ...row } = opened;
  if (row.id === null) return null;
  const ceremony = em.map(Ceremony, row);
  return { ceremony, taken: { hash: row.nonce_hash, expiresAt: new Date(row.nonce_expires_at) } };
}

/** The sign-in is found only by its key, regardless of the plan (decisions/0087). */
function openingStatement(
  columns: Fragment,
  caller: CheckedPage,
  { txn, credential }: Pick<StepInput, 'txn' | 'credential'>,
  { now, next, locksUser }: { now: Date; next: TakenNonce; locksUser: boolean },
): Statement<Opened> {
  const projectId = sql`${caller.project.id}::uuid`;
  return sql<Opened>`with page as materialized (
      ${caller.key ? currentClient(caller) : sql`select`}
    ), begun as materialized (
      select id, account_id, client_id, jkt from ceremonies where project_id = ${projectId} and txn_hash = ${digest(txn)}
    ), locked as materialized (
      ${locksUser ? lockedUser(projectId, credentialIdOf(credential)) : sql`select`}
    ), opened as (
      select ${columns}
      from begun b join ceremonies c on c.project_id = ${projectId} and c.id = b.id
      where c.client_id = ${caller.client.id}::uuid and c.request_id is not distinct from ${caller.request?.id ?? null}::uuid
        and c.origin = ${caller.origin} and c.finished_at is null and c.expires_at > ${now}
        and exists (select 1 from page) and (select count(*) from locked) >= 0
      for update of c
    ), taken as (
      update ceremonies c set nonce_hash = ${next.hash}, nonce_expires_at = ${next.expiresAt}
      from opened o where c.project_id = ${projectId} and c.id = o.id
    )
    select exists (select 1 from page) as page_is_current, o.*
    from (values (1)) one left join opened o on true`;
}

/**
 * The user is locked before the ceremony, in the order of `endOpenWork`. A step concurrent with a revocation therefore
 * either commits first and is ended by it, or runs later and sees it. The user is found by the evidence, the page's key
 * and the passkey, never by the address: a request for another user's address must neither block that user nor take
 * longer.
 */
function lockedUser(projectId: Fragment, credentialId: string | null): Fragment {
  return sql`select id from users where project_id = ${projectId} and id = any(array(
        select account_id from begun
        union all select d.user_id
          from begun b join credentials d on d.project_id = ${projectId} and d.jkt = b.jkt
            and (d.client_id = b.client_id or d.hosted)
        union all select user_id from credentials where project_id = ${projectId} and credential_id = ${credentialId}))
      order by id for no key update`;
}

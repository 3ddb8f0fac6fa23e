/** Rows of pending deletions, and their end without a deletion. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import { mailboxesOf, notifyEverywhere } from '../../ceremonies/notices.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Clock } from '../../kernel/clock.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import type { User } from '../../users/user.entity.ts';
import { ofUser } from '../../users/user-tables.ts';
import { AccountDeletion } from './account-deletion.entity.ts';

/** Why a deletion ended before it was due, or when it was. */
type CancelReason =
  | 'requested'
  | 'deactivated'
  | 'login-changed'
  /** Found when it was due. */
  | 'inactive'
  | 'directory'
  | 'last-owner';

export function pendingDeletion(em: EntityManager, { id, project }: TenantKey): Promise<AccountDeletion | null> {
  return em.findOne(AccountDeletion, { project: project.id, user: { id } });
}

/** Joins: deletes the row of a locked user. @param dueBy only if it is due by then */
export async function takeDeletion(em: EntityManager, user: TenantKey, dueBy?: Date): Promise<boolean> {
  const [taken] = await query(
    em,
    sql`delete from account_deletions
      where ${ofUser(user)} and (${dueBy ?? null}::timestamptz is null or due_at <= ${dueBy ?? null}::timestamptz) returning 1`,
    { prepare: 'accounts.take-deletion' },
  );
  return taken !== undefined;
}

export interface CancelDeps {
  clock: Clock;
  audit: Audit;
  delivery: Pick<Delivery, 'enqueue'>;
}

interface Cancelling {
  reason: CancelReason;
  actor: Actor;
  /** Default: all addresses of the user. */
  mailboxes?: readonly string[];
}

/** Joins: cancels the pending deletion of a locked user, and notifies them. False if there is none. */
export async function cancelDeletion(
  deps: CancelDeps,
  em: EntityManager,
  user: User,
  cancelling: Cancelling,
): Promise<boolean> {
  if (!(await takeDeletion(em, user))) return false;
  await recordCancelled(deps, em, user, cancelling);
  return true;
}

/** Joins: records the end of a deletion whose row is gone, and notifies the user. */
export async function recordCancelled(
  { audit, clock, delivery }: CancelDeps,
  em: EntityManager,
  user: User,
  { actor, mailboxes = mailboxesOf(user), reason }: Cancelling,
): Promise<void> {
  audit.record(em, {
    type: 'user.deletion_cancelled',
    actor,
    projectId: user.project.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
    detail: { reason },
  });
  const { name: app } = await user.project.loadOrFail();
  const at = clock.now().toISOString();
  await notifyEverywhere(em, delivery, user, { template: 'deletion-cancelled', app, at }, mailboxes);
}

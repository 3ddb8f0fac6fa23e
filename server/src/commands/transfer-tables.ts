import type { TransferTable } from '../domain/kernel/nouns/transfer.ts';
import { type Fragment, sql } from '../domain/kernel/sql.ts';

/**
 * Columns that an import merges instead of overwriting, as SQL of the stored and the given value: an older file cannot restore
 * an ended credential, and counters never decrease.
 */
export const lasting: Readonly<Record<string, (own: Fragment, given: Fragment) => Fragment>> = {
  revoked_at: (own, given) => sql`coalesce(${own}, ${given})`,
  used_at: (own, given) => sql`coalesce(${own}, ${given})`,
  suspended_at: (own, given) => sql`coalesce(${own}, ${given})`,
  // Revoking a delegation key sets only this. `least` and `greatest` ignore nulls.
  expires_at: (own, given) => sql`least(${own}, ${given})`,
  last_step: (own, given) => sql`greatest(${own}, ${given})`,
  sign_count: (own, given) => sql`greatest(${own}, ${given})`,
  // It never changes, and a change of hands has ended it.
  subject: (own) => own,
  mfa_remembered_at: (own) => own,
  mfa_remembered_until: (own) => own,
};

/** Record with a MAC key of recovery codes: `{"masterKey": …, "key": {"sealed": …}}`. */
export const macKeyType = 'mac-key';

/** The rows of one project, as SQL after `from`. */
export function rowsOfProject({ table, parent }: TransferTable, projectId: string): Fragment {
  const column = parent === null ? 'id' : 'project_id';
  return sql`${sql.table(table)} t where ${sql.ref(`t.${column}`)} = ${projectId}`;
}

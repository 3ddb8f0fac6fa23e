import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { Problem } from '../kernel/problem.ts';
import type { Executing } from '../kernel/sql.ts';

/** Records that a network has requested too many codes: one event an hour for a network and project, which names no user. */
export async function recordNetworkLimit(
  audit: Audit,
  em: Executing,
  refused: Problem,
  { actor, projectId }: Pick<AuditEntry, 'actor' | 'projectId'>,
): Promise<void> {
  if (refused.code !== 'too-many' || refused.network === undefined) return;
  const { ip, requestId } = actor;
  const subject = { kind: 'network', id: refused.network, name: refused.network };
  const anonymous = { kind: 'anonymous', ip, requestId } as const;
  const entry = { type: 'signin.network_limited', actor: anonymous, projectId, subject } as const;
  await audit.recordRepeated(em, entry, 'too-many');
}

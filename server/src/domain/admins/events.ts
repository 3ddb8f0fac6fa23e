import type { AuditEntry } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Role } from './membership.entity.ts';

/** A role, and the name of its user at that time. */
export interface RecordedRole {
  id: string;
  role: Role;
  /** Null for an owner. */
  projectId: string | null;
  userId: string;
  name: string;
}

/** @param before the role that it replaces */
export function roleEvent(
  type: 'membership.granted' | 'membership.revoked',
  { id, role, projectId, userId, name }: RecordedRole,
  actor: Actor,
  before: Role | null = null,
): AuditEntry {
  return {
    type,
    actor,
    projectId: projectId ?? undefined,
    subject: { kind: 'membership', id, name },
    detail: { role, userId, ...(before ? { before: { role: before }, after: { role } } : {}) },
  };
}

export interface RecordedToken {
  id: string;
  name: string;
  role: Role;
  /** Null for the instance. */
  projectId: string | null;
  expiresAt: Date | null;
}

export function tokenEvent(
  type: 'admin-token.issued' | 'admin-token.revoked',
  { id, name, role, projectId, expiresAt }: RecordedToken,
  actor: Actor,
): AuditEntry {
  return {
    type,
    actor,
    projectId: projectId ?? undefined,
    subject: { kind: 'admin-token', id, name },
    detail: { role, expiresAt: expiresAt?.toISOString() ?? null },
  };
}

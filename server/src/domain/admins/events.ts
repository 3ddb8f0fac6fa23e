import type { AuditEntry } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Role } from './membership.entity.ts';

/** A role, with the organizations of an `organization_admin`. */
export interface HeldRole {
  role: Role;
  organizationIds: string[] | null;
  /** The right to impersonate; absent: false. */
  impersonates?: boolean;
}

/** A role alone. */
export function held({
  role,
  organizationIds,
  impersonates,
}: {
  role: Role;
  organizationIds?: string[] | null;
  impersonates?: boolean;
}): HeldRole {
  return { role, organizationIds: organizationIds ?? null, ...(impersonates && { impersonates }) };
}

/** Without organizations and rights that the role has not. */
function recorded({ role, organizationIds, impersonates }: HeldRole): object {
  return { role, ...(organizationIds && { organizationIds }), ...(impersonates && { impersonates }) };
}

/** A role, and the name of its user at that time. */
export interface RecordedRole extends HeldRole {
  id: string;
  /** Null for an owner. */
  projectId: string | null;
  userId: string;
  name: string;
}

/** @param before the role that it replaces */
export function roleEvent(
  type: 'membership.granted' | 'membership.revoked',
  { id, projectId, userId, name, ...role }: RecordedRole,
  actor: Actor,
  before: HeldRole | null = null,
): AuditEntry {
  return {
    type,
    actor,
    projectId: projectId ?? undefined,
    subject: { kind: 'membership', id, name },
    detail: { ...recorded(role), userId, ...(before ? { before: recorded(before), after: recorded(role) } : {}) },
  };
}

export interface RecordedToken extends HeldRole {
  id: string;
  name: string;
  /** Null for the instance. */
  projectId: string | null;
  expiresAt: Date | null;
}

export function tokenEvent(
  type: 'admin-token.issued' | 'admin-token.revoked',
  { id, name, projectId, expiresAt, ...role }: RecordedToken,
  actor: Actor,
): AuditEntry {
  return {
    type,
    actor,
    projectId: projectId ?? undefined,
    subject: { kind: 'admin-token', id, name },
    detail: { ...recorded(role), expiresAt: expiresAt?.toISOString() ?? null },
  };
}

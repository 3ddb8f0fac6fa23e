import { AuditEvents, OrganizationById, OrganizationMembers, Organizations } from '../generated/operations.ts';

/** Lists that a change of an organization or its members affects. */
export const stale = [OrganizationMembers, OrganizationById, Organizations, AuditEvents];

import { AuditEvents, GroupById, GroupsOfUser, UserApplications, UserRoles, Users } from '../generated/operations.ts';

/** Lists that show members of groups. */
export const stale = [Users, GroupById, GroupsOfUser, UserRoles, UserApplications, AuditEvents];

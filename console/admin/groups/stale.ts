import { AuditEvents, GroupById, GroupsOfUser, UserRoles, Users } from '../generated/operations.ts';

/** Lists that show members of groups. */
export const stale = [Users, GroupById, GroupsOfUser, UserRoles, AuditEvents];

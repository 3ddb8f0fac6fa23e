/** Sections of a user's page that are fetched after the page: one chunk. */

export { UserApplications } from './user-applications.tsx';
export { UserAttributes } from './user-attributes.tsx';
export { UserDeletion } from './user-deletion.tsx';
export { UserGroups } from './user-groups.tsx';
export { UserInvitation } from './user-invitation.tsx';
export { UserKeys } from './user-keys.tsx';
export { UserOrganizations } from './user-organizations.tsx';
export { UserRecovery } from './user-recovery.tsx';
export { UserRoles } from './user-roles.tsx';

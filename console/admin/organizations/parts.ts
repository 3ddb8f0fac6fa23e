/** The pages of organizations: one script. */
export { OrganizationList } from './organization-list.tsx';
export { OrganizationPage } from './organization-page.tsx';
export { OrganizationRoles } from './organization-roles.tsx';

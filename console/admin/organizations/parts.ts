/** The pages of organizations: one script. */
export { AdministeredList } from './administered/administered-list.tsx';
export { OrganizationList } from './organization-list.tsx';
export { OrganizationPage } from './organization-page.tsx';
export { OrganizationRoles } from './organization-roles.tsx';

import type { OrganizationByIdQuery } from '../generated/operations.ts';

export type Organization = NonNullable<OrganizationByIdQuery['organization']>;

/** Props of a tab of an organization's page. */
export interface OrganizationPartProps {
  organization: Organization;
  mayChange: boolean;
}

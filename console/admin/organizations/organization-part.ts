import type { OrganizationByIdQuery } from '../generated/operations.ts';

export type Organization = NonNullable<OrganizationByIdQuery['organization']>;

/** Props of a tab of an organization's page. */
export interface OrganizationPartProps {
  organization: Organization;
  mayChange: boolean;
  /** False for admins of the organization, who see nothing else of the project (decisions/0412). */
  inProject: boolean;
}

// Written by npm run gen from the names of files (.config/gen-lists.mjs). Do not edit.
import { Migration20261129002000Baseline } from './20261129002000-baseline.ts';
import { Migration20261129002100EarlierDays } from './20261129002100-earlier-days.ts';
import { Migration20261129004000RenewableRequests } from './20261129004000-renewable-requests.ts';
import { Migration20261129114500AccessRules } from './20261129114500-access-rules.ts';
import { Migration20261129160000SignUp } from './20261129160000-sign-up.ts';
import { Migration20261129170000StartOfClients } from './20261129170000-start-of-clients.ts';
import { Migration20261129190000Subjects } from './20261129190000-subjects.ts';
import { Migration20261129200000SignUpMails } from './20261129200000-sign-up-mails.ts';
import { Migration20261130000000Organizations } from './20261130000000-organizations.ts';
import { Migration20261130000100OrganizationChoices } from './20261130000100-organization-choices.ts';
import { Migration20261130003000Connections } from './20261130003000-connections.ts';
import { Migration20261130003400AccountDeletions } from './20261130003400-account-deletions.ts';
import { Migration20261130003500LogosOfClients } from './20261130003500-logos-of-clients.ts';
import { Migration20261130006000SamlApplications } from './20261130006000-saml-applications.ts';
import { Migration20261130009000IntroducedClients } from './20261130009000-introduced-clients.ts';
import { Migration20261130009100ThirdPartyAccess } from './20261130009100-third-party-access.ts';
import { Migration20261130009200RegistrationTokens } from './20261130009200-registration-tokens.ts';
import { Migration20261130040000OrganizationDomains } from './20261130040000-organization-domains.ts';
import { Migration20261130040100ConnectionsOfOrganizations } from './20261130040100-connections-of-organizations.ts';
import { Migration20261130041000Homes } from './20261130041000-homes.ts';
import { Migration20261130041100DirectoriesOfOrganizations } from './20261130041100-directories-of-organizations.ts';
import { Migration20261130042000SamlConnections } from './20261130042000-saml-connections.ts';

export const migrations = [
  { name: '20261129002000-baseline', class: Migration20261129002000Baseline },
  { name: '20261129002100-earlier-days', class: Migration20261129002100EarlierDays },
  { name: '20261129004000-renewable-requests', class: Migration20261129004000RenewableRequests },
  { name: '20261129114500-access-rules', class: Migration20261129114500AccessRules },
  { name: '20261129160000-sign-up', class: Migration20261129160000SignUp },
  { name: '20261129170000-start-of-clients', class: Migration20261129170000StartOfClients },
  { name: '20261129190000-subjects', class: Migration20261129190000Subjects },
  { name: '20261129200000-sign-up-mails', class: Migration20261129200000SignUpMails },
  { name: '20261130000000-organizations', class: Migration20261130000000Organizations },
  { name: '20261130000100-organization-choices', class: Migration20261130000100OrganizationChoices },
  { name: '20261130003000-connections', class: Migration20261130003000Connections },
  { name: '20261130003400-account-deletions', class: Migration20261130003400AccountDeletions },
  { name: '20261130003500-logos-of-clients', class: Migration20261130003500LogosOfClients },
  { name: '20261130006000-saml-applications', class: Migration20261130006000SamlApplications },
  { name: '20261130009000-introduced-clients', class: Migration20261130009000IntroducedClients },
  { name: '20261130009100-third-party-access', class: Migration20261130009100ThirdPartyAccess },
  { name: '20261130009200-registration-tokens', class: Migration20261130009200RegistrationTokens },
  { name: '20261130040000-organization-domains', class: Migration20261130040000OrganizationDomains },
  { name: '20261130040100-connections-of-organizations', class: Migration20261130040100ConnectionsOfOrganizations },
  { name: '20261130041000-homes', class: Migration20261130041000Homes },
  { name: '20261130041100-directories-of-organizations', class: Migration20261130041100DirectoriesOfOrganizations },
  { name: '20261130042000-saml-connections', class: Migration20261130042000SamlConnections },
];

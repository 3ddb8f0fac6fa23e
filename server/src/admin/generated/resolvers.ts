// Written by npm run gen from the names of files (.config/gen-lists.mjs). Do not edit.
import { AccessRuleResolver } from '../access/access-rule.resolver.ts';
import { MeResolver, MembershipResolver, AdministeredOrganizationResolver, AdminTokenResolver } from '../admins/admin.resolver.ts';
import { ApiResolver, ApiGrantResolver } from '../apis/api.resolver.ts';
import { UserKeyResolver } from '../apis/user-key.resolver.ts';
import { CustomAttributeResolver } from '../attributes/custom-attribute.resolver.ts';
import { ActivityResolver } from '../audit/activity.resolver.ts';
import { AuditResolver } from '../audit/audit-event.resolver.ts';
import { ClaimResolver } from '../claims/claim.resolver.ts';
import { ClientSecretResolver } from '../clients/client-secret.resolver.ts';
import { ClientResolver } from '../clients/client.resolver.ts';
import { DelegationKeyResolver } from '../clients/delegation-key.resolver.ts';
import { RefreshGrantResolver } from '../clients/refresh-grant.resolver.ts';
import { RegistrationTokenResolver } from '../clients/registration-token.resolver.ts';
import { TrialResolver } from '../clients/trial.resolver.ts';
import { ConnectionResolver, ConnectionsOfOrganizationResolver } from '../connections/connection.resolver.ts';
import { DevMailboxResolver } from '../delivery/dev-mailbox.resolver.ts';
import { MessageResolver } from '../delivery/message.resolver.ts';
import { ScimRequestResolver } from '../directories/scim-request.resolver.ts';
import { DirectoryResolver } from '../directories/scim-token.resolver.ts';
import { CustomDomainResolver } from '../domains/domain.resolver.ts';
import { ExperienceResolver, ExperienceContentResolver } from '../experience/experience.resolver.ts';
import { SystemResolver } from '../instance/system.resolver.ts';
import { SigningKeyResolver } from '../keys/signing-key.resolver.ts';
import { LogoutDeliveryResolver, LogoutReceiverResolver } from '../logout/logout-delivery.resolver.ts';
import { OrganizationDomainResolver, DomainsOfOrganizationResolver } from '../organizations/domain.resolver.ts';
import { OrganizationInvitationResolver } from '../organizations/invitation.resolver.ts';
import { OrganizationMembershipResolver, UserMembershipsResolver, GroupOrganizationResolver } from '../organizations/membership.resolver.ts';
import { OrganizationRoleResolver } from '../organizations/organization-role.resolver.ts';
import { OrganizationResolver } from '../organizations/organization.resolver.ts';
import { PortalLinkResolver } from '../portal/portal-link.resolver.ts';
import { ProjectResolver } from '../projects/project.resolver.ts';
import { RoleResolver, RoleAssignmentResolver } from '../roles/role.resolver.ts';
import { SamlResolver } from '../saml/saml.resolver.ts';
import { LogStreamResolver } from '../streams/log-stream.resolver.ts';
import { ImpersonationResolver, ImpersonatedSessionResolver, UserImpersonationResolver } from '../support/impersonation.resolver.ts';
import { SignInHistoryResolver } from '../support/sign-in-history.resolver.ts';
import { ViewAsResolver } from '../support/view-as.resolver.ts';
import { GroupResolver } from '../users/group.resolver.ts';
import { NewUserResolver } from '../users/new-user.resolver.ts';
import { ProfileResolver } from '../users/profile.resolver.ts';
import { RecoveryResolver } from '../users/recovery.resolver.ts';
import { SignUpRequestResolver } from '../users/sign-up-request.resolver.ts';
import { UserAccessResolver } from '../users/user-access.resolver.ts';
import { UserConsentResolver } from '../users/user-consent.resolver.ts';
import { UserResolver } from '../users/user.resolver.ts';
import { WebhookDeliveryResolver } from '../webhooks/webhook-delivery.resolver.ts';
import { WebhookResolver } from '../webhooks/webhook.resolver.ts';

export const resolvers = [
  AccessRuleResolver,
  MeResolver,
  MembershipResolver,
  AdministeredOrganizationResolver,
  AdminTokenResolver,
  ApiResolver,
  ApiGrantResolver,
  UserKeyResolver,
  CustomAttributeResolver,
  ActivityResolver,
  AuditResolver,
  ClaimResolver,
  ClientSecretResolver,
  ClientResolver,
  DelegationKeyResolver,
  RefreshGrantResolver,
  RegistrationTokenResolver,
  TrialResolver,
  ConnectionResolver,
  ConnectionsOfOrganizationResolver,
  DevMailboxResolver,
  MessageResolver,
  ScimRequestResolver,
  DirectoryResolver,
  CustomDomainResolver,
  ExperienceResolver,
  ExperienceContentResolver,
  SystemResolver,
  SigningKeyResolver,
  LogoutDeliveryResolver,
  LogoutReceiverResolver,
  OrganizationDomainResolver,
  DomainsOfOrganizationResolver,
  OrganizationInvitationResolver,
  OrganizationMembershipResolver,
  UserMembershipsResolver,
  GroupOrganizationResolver,
  OrganizationRoleResolver,
  OrganizationResolver,
  PortalLinkResolver,
  ProjectResolver,
  RoleResolver,
  RoleAssignmentResolver,
  SamlResolver,
  LogStreamResolver,
  ImpersonationResolver,
  ImpersonatedSessionResolver,
  UserImpersonationResolver,
  SignInHistoryResolver,
  ViewAsResolver,
  GroupResolver,
  NewUserResolver,
  ProfileResolver,
  RecoveryResolver,
  SignUpRequestResolver,
  UserAccessResolver,
  UserConsentResolver,
  UserResolver,
  WebhookDeliveryResolver,
  WebhookResolver,
] as const;

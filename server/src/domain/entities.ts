import { AccessRule } from './access/access-rule.entity.ts';
import { AdminToken } from './admins/admin-token.entity.ts';
import { IdempotentRequest } from './admins/idempotent-request.entity.ts';
import { Membership } from './admins/membership.entity.ts';
import { SetupLink } from './admins/setup-link.entity.ts';
import { Api } from './apis/api.entity.ts';
import { ApiGrant } from './apis/api-grant.entity.ts';
import { ActivityDay } from './audit/activity-day.entity.ts';
import { ActivityProgress } from './audit/activity-progress.entity.ts';
import { AuditEvent } from './audit/audit-event.entity.ts';
import { RepeatedRefusal } from './audit/repeated-refusal.entity.ts';
import { RetentionProgress } from './audit/retention-progress.entity.ts';
import { Ceremony } from './ceremonies/ceremony.entity.ts';
import { AuthorizationRequest } from './ceremonies/requests/authorization-request.entity.ts';
import { PushedRequest } from './ceremonies/requests/pushed-request.entity.ts';
import { ClaimSettingsRow } from './claims/claim-settings.entity.ts';
import { ApiKey } from './clients/api-key.entity.ts';
import { Client } from './clients/client.entity.ts';
import { ClientSecret } from './clients/client-secret.entity.ts';
import { DelegationKey } from './clients/delegation-key.entity.ts';
import { UsedAssertion } from './clients/used-assertion.entity.ts';
import { Consent } from './consents/consent.entity.ts';
import { EmailChange, PhoneChange } from './contacts/pending-change.entity.ts';
import { Credential } from './credentials/credential.entity.ts';
import { Device } from './credentials/device.entity.ts';
import { Passkey } from './credentials/passkey.entity.ts';
import { UsedRequest } from './delegation/used-request.entity.ts';
import { Message } from './delivery/message.entity.ts';
import { Erasure } from './directories/erasure.entity.ts';
import { RequestRecord } from './directories/request-record.entity.ts';
import { ScimDay } from './directories/scim-day.entity.ts';
import { ScimToken } from './directories/scim-token.entity.ts';
import { CustomDomain } from './domains/custom-domain.entity.ts';
import { VerifiedHost } from './domains/verified-host.entity.ts';
import { ExperienceDraft } from './experience/experience-draft.entity.ts';
import { ExperienceVersion } from './experience/experience-version.entity.ts';
import { Logo } from './experience/logo.entity.ts';
import { Backup } from './instance/backup.entity.ts';
import { Process } from './instance/process.entity.ts';
import { RetiredMacKey } from './keys/retired-mac-key.entity.ts';
import { SigningKey } from './keys/signing-key.entity.ts';
import { Budget } from './limits/budget.entity.ts';
import { LogoutDelivery } from './logout/logout-delivery.entity.ts';
import { Enrolment } from './mfa/enrolment.entity.ts';
import { FactorChange } from './mfa/factor-change.entity.ts';
import { RecoveryCode } from './mfa/recovery-code.entity.ts';
import { RecoveryGrant } from './mfa/recovery-grant.entity.ts';
import { KnownNetwork } from './otp/known-network.entity.ts';
import { OneTimeCode } from './otp/one-time-code.entity.ts';
import { Project } from './projects/project.entity.ts';
import { ClientRole } from './roles/client-role.entity.ts';
import { RoleAssignment } from './roles/role-assignment.entity.ts';
import { Participation } from './sessions/participation.entity.ts';
import { Session } from './sessions/session.entity.ts';
import { LogStream } from './streams/log-stream.entity.ts';
import { StreamEvent } from './streams/stream-event.entity.ts';
import { AuthorizationCode } from './tokens/authorization-code.entity.ts';
import { DeviceAuthorization } from './tokens/device/device-authorization.entity.ts';
import { RefreshGrant } from './tokens/refresh-grant.entity.ts';
import { CustomSchemaRow } from './users/custom/custom-schema.entity.ts';
import { CustomValue } from './users/custom/custom-value.entity.ts';
import { Group } from './users/group.entity.ts';
import { GroupMember, GroupNesting } from './users/group-member.entity.ts';
import { Suspension } from './users/suspension/suspension.entity.ts';
import { User } from './users/user.entity.ts';
import { UserCount } from './users/user-count.entity.ts';
import { UserEmail } from './users/user-email.entity.ts';
import { Webhook } from './webhooks/webhook.entity.ts';
import { WebhookDelivery } from './webhooks/webhook-delivery.entity.ts';

/** The whole model, lowest layer first. */
export const entities = [
  Project,
  AuditEvent,
  RepeatedRefusal,
  Budget,
  SigningKey,
  RetiredMacKey,
  Message,
  ExperienceDraft,
  ExperienceVersion,
  Logo,
  User,
  UserCount,
  UserEmail,
  Suspension,
  CustomSchemaRow,
  CustomValue,
  Group,
  GroupMember,
  GroupNesting,
  Client,
  ApiKey,
  UsedAssertion,
  ClientSecret,
  DelegationKey,
  Api,
  ApiGrant,
  ClientRole,
  RoleAssignment,
  AccessRule,
  ClaimSettingsRow,
  Credential,
  Device,
  Passkey,
  OneTimeCode,
  KnownNetwork,
  Enrolment,
  RecoveryCode,
  RecoveryGrant,
  PhoneChange,
  EmailChange,
  Session,
  Participation,
  AuthorizationCode,
  DeviceAuthorization,
  RefreshGrant,
  AuthorizationRequest,
  PushedRequest,
  Ceremony,
  FactorChange,
  UsedRequest,
  Consent,
  LogoutDelivery,
  CustomDomain,
  VerifiedHost,
  ScimToken,
  Erasure,
  RequestRecord,
  IdempotentRequest,
  Membership,
  SetupLink,
  AdminToken,
  Webhook,
  WebhookDelivery,
  LogStream,
  StreamEvent,
  Backup,
  Process,
  ActivityDay,
  ActivityProgress,
  RetentionProgress,
  ScimDay,
];

import 'reflect-metadata';
import { roles } from '../../domain/admins/membership.entity.ts';
import { omissions } from '../../domain/claims/application-claims.ts';
import { claimLists, groupSelections } from '../../domain/claims/claim-settings.entity.ts';
import { apiKeyKinds } from '../../domain/clients/api-key.entity.ts';
import { clientIntroductions } from '../../domain/clients/client.entity.ts';
import { delegationParties } from '../../domain/clients/delegation-key.entity.ts';
import { metadataFaults } from '../../domain/clients/saml/saml.resource.ts';
import {
  connectionKinds,
  connectionStates,
  requestedNameIds,
  signedParts,
} from '../../domain/connections/connection.entity.ts';
import { credentialOrigins } from '../../domain/credentials/credential.entity.ts';
import { messageOutcomes } from '../../domain/delivery/message.entity.ts';
import { templateNames } from '../../domain/delivery/samples.ts';
import { domainFaults, domainStates } from '../../domain/domains/custom-domain.entity.ts';
import { checkLevels } from '../../domain/instance/checks.ts';
import { signingAlgorithms } from '../../domain/keys/signing-key.entity.ts';
import { logoutDeliveryStates } from '../../domain/logout/logout-delivery.entity.ts';
import { mfaMethods } from '../../domain/mfa/enrolment.entity.ts';
import { batchFormats, streamKinds } from '../../domain/streams/log-stream.entity.ts';
import { denials, stepReasons } from '../../domain/support/view-as.ts';
import {
  audiences,
  customTypes,
  mutabilities,
  returnedValues,
  scalarTypes,
  uniquenesses,
} from '../../domain/users/custom/custom-schema.entity.ts';
import { provenances } from '../../domain/users/user.entity.ts';
import { userOrders } from '../../domain/users/user-list.ts';
import { disabledReasons } from '../../domain/webhooks/webhook.entity.ts';
import { webhookDeliveryStates } from '../../domain/webhooks/webhook-delivery.entity.ts';
import { enumOf as declaredEnum } from './resource-types.ts';

function enumOf<T extends string>(name: string, says: string, values: readonly T[]): Record<string, T> {
  return declaredEnum({ name, says, values });
}

export const BuiltInEnum = enumOf('BuiltIn', 'Built-in project or client.', ['console', 'demo'] as const);
export const IntroductionEnum = enumOf(
  'ClientIntroduction',
  'How a client introduced itself: by a metadata document, or by registration (RFC 7591).',
  clientIntroductions,
);
export const ApiKeyKindEnum = enumOf('ApiKeyKind', 'For the browser SDK, or for the server library.', apiKeyKinds);
export const DelegationPartyEnum = enumOf(
  'DelegationParty',
  'Owner of the keys: the client (service provider) or Latchkey (identity provider).',
  delegationParties,
);
export const ConnectionKindEnum = enumOf('ConnectionKind', 'Protocol of an upstream provider.', connectionKinds);
export const SignedPartEnum = enumOf(
  'SignedPart',
  'What a SAML provider must sign: `EITHER` the assertion or the whole response (default), or that one, or both.',
  signedParts,
);
export const RequestedNameIdEnum = enumOf(
  'RequestedNameId',
  'The NameID format that requests ask for. `ANY`: as the provider is configured.',
  requestedNameIds,
);
export const MetadataFaultEnum = enumOf(
  'MetadataFault',
  'Why metadata was not applied. `ENTITY_ID`: it names another provider. `CERTIFICATES`: it has no valid certificate.',
  metadataFaults,
);
export const ConnectionStateEnum = enumOf(
  'ConnectionState',
  'Only an enabled connection is offered to users. `TESTED`: a test succeeded with the current settings.',
  connectionStates,
);
export const GroupSelectionEnum = enumOf('GroupSelection', 'The groups in the claim `groups`.', groupSelections);
export const ClaimListEnum = enumOf('ClaimList', 'A list of a user.', claimLists);
export const OmissionEnum = enumOf('ClaimOmission', 'Reason why a mapped claim is not sent.', omissions);
export const ProvenanceEnum = enumOf('Provenance', 'Origin of the user.', provenances);
export const DomainStateEnum = enumOf(
  'CustomDomainState',
  'Whether a custom domain serves its project. `FAILED`: it was not verified in time, or its record was removed.',
  domainStates,
);
export const DomainFaultEnum = enumOf(
  'CustomDomainFault',
  'Result of a check: no record with the value, no response from the name servers, or another project holds the host.',
  domainFaults,
);
export const CustomTypeEnum = enumOf('CustomType', 'Type of a custom attribute (RFC 7643 section 2.3).', customTypes);
export const CustomPartTypeEnum = enumOf('CustomPartType', 'Type of a part of a custom attribute.', scalarTypes);
export const CustomMutabilityEnum = enumOf('CustomMutability', 'Whether directories can write it.', mutabilities);
export const CustomReturnedEnum = enumOf(
  'CustomReturned',
  'Condition under which directories can read it.',
  returnedValues,
);
export const CustomUniquenessEnum = enumOf('CustomUniqueness', 'Whether users can share a value.', uniquenesses);
export const CustomAudienceEnum = enumOf(
  'CustomAudience',
  'Readers of values: applications, by claim mappings; the user, on the account page.',
  audiences,
);
export const MfaMethodEnum = enumOf('MfaMethod', 'A kind of second factor.', mfaMethods);
export const CredentialOriginEnum = enumOf(
  'CredentialOrigin',
  'The evidence with which the passkey was added.',
  credentialOrigins,
);
export const UserOrderEnum = enumOf('UserOrder', 'Sort key of users.', userOrders);
export const DirectionEnum = enumOf('Direction', 'Sort direction.', ['asc', 'desc'] as const);
/** Actions on one or more users. */
const userActions = ['activate', 'deactivate', 'end-sessions', 'reset-factors', 'erase'] as const;
export type UserAction = (typeof userActions)[number];
export const UserActionEnum = enumOf('UserAction', 'Action on a user.', userActions);
export const RoleEnum = enumOf('Role', 'Role of an admin; an owner has full access to the instance.', roles);
export const ResultEnum = enumOf('AuditResult', 'Result of an event.', ['success', 'failure'] as const);
export const AttemptOutcomeEnum = enumOf('SignInOutcome', 'Result of an attempt to sign in.', [
  'signed-in',
  'refused',
  'unfinished',
] as const);
export const HistoryKindEnum = enumOf('SignInHistoryKind', 'The kind of a search.', [
  'address',
  'request',
  'error',
  'latest',
] as const);
export const ForeseenStepEnum = enumOf('ExpectedStepKind', 'A step of a sign-in.', [
  'mail-code',
  'device-key',
  'passkey',
  'creation',
  'factor',
  'enrolment',
] as const);
export const StepReasonEnum = enumOf('StepReason', 'Reason why a sign-in requires a step.', stepReasons);
export const DenialEnum = enumOf('SignInDenial', 'Reason why a sign-in would fail.', denials);
export const CallerKindEnum = enumOf('CallerKind', 'Credential of the caller.', [
  'admin',
  'admin-token',
  'bootstrap-token',
  'client',
] as const);
export const ChannelEnum = enumOf('MessageChannel', 'Channel of a message.', ['mail', 'sms'] as const);
export const MessageTemplateEnum = enumOf('MessageTemplate', 'Template of a message.', templateNames);
export const MessageStateEnum = enumOf('MessageState', 'Delivery state of a message.', messageOutcomes);
export const SigningAlgorithmEnum = enumOf('SigningAlgorithm', 'Algorithm of a signing key.', signingAlgorithms);
export const LogoutDeliveryStateEnum = enumOf(
  'LogoutDeliveryState',
  'Delivery state of a logout token.',
  logoutDeliveryStates,
);
export const WebhookDeliveryStateEnum = enumOf(
  'WebhookDeliveryState',
  'Delivery state of an event.',
  webhookDeliveryStates,
);
export const WebhookDisabledReasonEnum = enumOf(
  'WebhookDisabledReason',
  'Reason why a webhook receives nothing: an admin disabled it, deliveries failed for five days, or it returned 410 (Gone).',
  disabledReasons,
);
export const StreamKindEnum = enumOf('LogStreamKind', 'Protocol of a log stream.', streamKinds);
export const BatchFormatEnum = enumOf(
  'LogStreamFormat',
  'Body of a batch: one event per line, or one array.',
  batchFormats,
);
export const CheckLevelEnum = enumOf('CheckLevel', 'Severity of a check.', checkLevels);

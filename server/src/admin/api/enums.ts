import 'reflect-metadata';
import { registerEnumType } from 'type-graphql';
import { roles } from '../../domain/admins/membership.entity.ts';
import { apiKeyKinds } from '../../domain/clients/api-key.entity.ts';
import { logoutTokenTypes, tokenEndpointAuthMethods } from '../../domain/clients/client.entity.ts';
import { delegationParties } from '../../domain/clients/delegation-key.entity.ts';
import { messageStates } from '../../domain/delivery/message.entity.ts';
import { templateNames } from '../../domain/delivery/samples.ts';
import { checkLevels } from '../../domain/instance/checks.ts';
import { signingAlgorithms } from '../../domain/keys/signing-key.entity.ts';
import { logoutDeliveryStates } from '../../domain/logout/logout-delivery.entity.ts';
import { mfaMethods } from '../../domain/mfa/enrolment.entity.ts';
import { mfaPolicies, signUpModes } from '../../domain/projects/project.entity.ts';
import { provenances } from '../../domain/users/user.entity.ts';
import { userOrders } from '../../domain/users/user-list.ts';
import { userActions } from '../users/user-action.ts';

/** A GraphQL enum of the domain's own values: `private_key_jwt` is `PRIVATE_KEY_JWT` on the wire. */
function enumOf<T extends string>(name: string, description: string, values: readonly T[]): Record<string, T> {
  const entries = Object.fromEntries(values.map((value) => [value.toUpperCase().replaceAll('-', '_'), value]));
  registerEnumType(entries, { name, description });
  return entries;
}

export const SignUpEnum = enumOf('SignUp', 'Who can have an account.', signUpModes);
export const MfaPolicyEnum = enumOf('MfaPolicy', 'Whether a second factor is owed.', mfaPolicies);
export const BuiltInEnum = enumOf('BuiltIn', 'What every instance has.', ['console', 'demo'] as const);
export const TokenEndpointAuthMethodEnum = enumOf(
  'TokenEndpointAuthMethod',
  'How a client authenticates at the token endpoint (RFC 7591 §2).',
  tokenEndpointAuthMethods,
);
export const LogoutTokenTypEnum = enumOf(
  'LogoutTokenTyp',
  'Header `typ` of logout tokens: `secevent+jwt` or `logout+jwt`.',
  logoutTokenTypes,
);
export const ApiKeyKindEnum = enumOf('ApiKeyKind', 'For the browser SDK, or for the server library.', apiKeyKinds);
export const DelegationPartyEnum = enumOf(
  'DelegationParty',
  "Whose keys: the client's (service provider) or the service's (identity provider).",
  delegationParties,
);
export const ProvenanceEnum = enumOf('Provenance', 'Who made the user.', provenances);
export const MfaMethodEnum = enumOf('MfaMethod', 'A kind of second factor.', mfaMethods);
export const UserOrderEnum = enumOf('UserOrder', 'What users are put in order by.', userOrders);
export const DirectionEnum = enumOf('Direction', 'Which way a list runs.', ['asc', 'desc'] as const);
export const UserActionEnum = enumOf('UserAction', 'What is done to a user.', userActions);
export const RoleEnum = enumOf('Role', 'What an admin may do; an owner owns the instance.', roles);
export const ResultEnum = enumOf('AuditResult', 'How it ended.', ['success', 'failure'] as const);
export const CallerKindEnum = enumOf('CallerKind', 'By what a caller is known.', [
  'admin',
  'admin-token',
  'bootstrap-token',
] as const);
export const ChannelEnum = enumOf('MessageChannel', 'How a message goes out.', ['mail', 'sms'] as const);
export const MessageTemplateEnum = enumOf('MessageTemplate', 'What a message tells of.', templateNames);
export const MessageStateEnum = enumOf('MessageState', 'Where a message stands.', messageStates);
export const SigningAlgorithmEnum = enumOf('SigningAlgorithm', 'What a key signs with.', signingAlgorithms);
export const LogoutDeliveryStateEnum = enumOf(
  'LogoutDeliveryState',
  'Where a logout token stands: on its way, taken, or given up.',
  logoutDeliveryStates,
);
export const CheckLevelEnum = enumOf('CheckLevel', 'Whether something is to be done.', checkLevels);

import { InputType } from 'type-graphql';
import { MfaMethodEnum, MfaPolicyEnum, PasskeyPolicyEnum, SignUpEnum } from '../api/enums.ts';
import { boolean, id, inputFields, int, list, nullable, oneOf, text } from '../api/fields.ts';

const projectSettings = {
  scimEnabled: nullable(boolean()),
  scimAuthoritative: nullable(
    boolean("Whether the directory's values take precedence and its users' phone numbers are locked. Default: true."),
  ),
  testMode: nullable(boolean()),
  signUp: nullable(oneOf(SignUpEnum)),
  mfaPolicy: nullable(oneOf(MfaPolicyEnum)),
  offeredFactors: nullable(list(oneOf(MfaMethodEnum, 'At least one.'))),
  passkeyPolicy: nullable(oneOf(PasskeyPolicyEnum, 'Default: ALLOWED.')),
  passkeyAaguids: nullable(
    list(
      text(
        'AAGUIDs of the models of passkeys that users may create, at most 100. Empty: all, or all of `passkeyRoots`.',
      ),
    ),
  ),
  passkeyRoots: nullable(
    list(text('CA certificates of their makers in PEM, at most 10. Empty: the claimed model is not verified.')),
  ),
  rememberMfaSeconds: nullable(int('Seconds for which a device can skip the second factor; 0: never.')),
  deviceTrustSeconds: nullable(int('Seconds for which a remembered device stays trusted after its last use.')),
  emailFactor: nullable(boolean('Whether email as a second factor satisfies `REQUIRED`. Default: false.')),
  notifyOnDeactivation: nullable(
    boolean('Null: at the project issuer and custom domains, not at the base issuer. Default of new projects: null.'),
  ),
  deviceTrustDays: nullable(int('1 to 3650.')),
  smsCountries: nullable(list(text('ISO 3166-1 alpha-2; empty: all countries.'))),
  smsPerDay: nullable(int('0 to 1,000,000; 0: none.')),
  sharedNetworks: nullable(
    list(text('At most 20 addresses or ranges (CIDR), IPv4 /16 or smaller, IPv6 /32 or smaller.')),
  ),
};

@InputType()
export class CreateProjectInput extends inputFields({
  ...projectSettings,
  name: text(),
  slug: nullable(text('1 to 40 of a-z, 0-9 and hyphens. Default: made from the name. Never changes.')),
}) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateProjectInput extends inputFields({
  ...projectSettings,
  id: id(),
  name: nullable(text()),
  expectedVersion: nullable(int()),
}) {}

@InputType({ description: 'In seconds; absent fields are unchanged.' })
export class UpdateSessionPolicyInput extends inputFields({
  projectId: id(),
  idleTimeoutSeconds: nullable(int('Idle timeout of a session.')),
  maxSessionSeconds: nullable(int('Absolute lifetime of a session.')),
  idTokenTtlSeconds: nullable(int()),
  accessTokenTtlSeconds: nullable(int('1 to 3600; a client can override it.')),
  refreshTokenTtlSeconds: nullable(int('60 to 31,536,000.')),
  refreshTokenIdleSeconds: nullable(int('60 to 7,776,000.')),
  expectedVersion: nullable(int()),
}) {}

@InputType()
export class DeleteProjectInput extends inputFields({
  id: id(),
  confirmName: text('The name of the project, as confirmation.'),
}) {}

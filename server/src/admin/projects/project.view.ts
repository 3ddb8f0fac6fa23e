import { ObjectType } from 'type-graphql';
import { Access, itself } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { BuiltInEnum, MfaMethodEnum, MfaPolicyEnum, SignUpEnum } from '../api/enums.ts';
import { boolean, fields, id, int, list, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', itself, 'projects:read')
@ObjectType('SessionPolicy', { description: 'Lifetimes of sessions and tokens, in seconds.' })
export class SessionPolicyView extends fields({
  idleTimeoutSeconds: int('Idle timeout of a session.'),
  maxSessionSeconds: int('Absolute lifetime of a session.'),
  idTokenTtlSeconds: int(),
  accessTokenTtlSeconds: int('1 to 3600; a client can override it.'),
  refreshTokenTtlSeconds: int('Lifetime of refresh tokens after a sign-in, in seconds.'),
  refreshTokenIdleSeconds: int('Idle timeout of refresh tokens, in seconds.'),
}) {}

@Access('project_viewer', itself, 'projects:read')
@ObjectType('Project', { description: 'A tenant: its users, clients, directory and policies.' })
export class ProjectView extends fields({
  id: id(),
  name: text(),
  slug: text('Unique; never changes, because applications depend on the issuer.'),
  builtIn: nullable(oneOf(BuiltInEnum, 'Set for projects created at the first start.')),
  scimEnabled: boolean(),
  scimAuthoritative: boolean("Whether the directory's values take precedence and its users' phone numbers are locked."),
  signUp: oneOf(SignUpEnum),
  mfaPolicy: oneOf(MfaPolicyEnum),
  offeredFactors: list(oneOf(MfaMethodEnum, 'Second factors that users can set up; existing ones stay usable.')),
  passkeyAaguids: list(
    text('AAGUIDs of the models of passkeys that users may create; empty: all, or all of `passkeyRoots`.'),
  ),
  passkeyRoots: list(text('CA certificates (PEM) that prove a model; empty: the claimed model is not verified.')),
  rememberMfaSeconds: int('Seconds for which a device can skip the second factor; 0: never.'),
  deviceTrustSeconds: int('Seconds for which a remembered device stays trusted after its last use.'),
  emailFactor: boolean('Whether email as a second factor satisfies `REQUIRED`.'),
  notifyOnDeactivation: nullable(
    boolean(
      'Whether applications get a logout token when the directory deactivates or deletes a user. Null: at the project issuer and custom domains, not at the base issuer.',
    ),
  ),
  deviceTrustDays: int("Absolute lifetime of a device's trust, in days since its registration."),
  smsCountries: list(text('Countries that SMS can be sent to (ISO 3166-1 alpha-2); empty: all.')),
  smsPerDay: int('SMS that the project can send per day.'),
  sharedNetworks: list(
    text('Addresses and ranges (CIDR) that many users share, such as offices: 5,000 more codes an hour for each.'),
  ),
  idleTimeoutSeconds: int('Idle timeout of a session.'),
  maxSessionSeconds: int('Absolute lifetime of a session.'),
  idTokenTtlSeconds: int(),
  accessTokenTtlSeconds: int('1 to 3600; a client can override it.'),
  refreshTokenTtlSeconds: int('Lifetime of refresh tokens after a sign-in, in seconds.'),
  refreshTokenIdleSeconds: int('Idle timeout of refresh tokens, in seconds.'),
  version: int('Send it as `expectedVersion` to detect concurrent changes.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

export const ProjectConnection = connectionType(ProjectView, 'Project');

@Access('inherited')
@ObjectType('ProjectContents', { description: 'Numbers of resources that are deleted with a project.' })
export class ProjectContentsView extends fields({
  users: int(),
  clients: int(),
  sessions: int('Active ones; at most 10,000 if `isSessionsLimited`.'),
  isSessionsLimited: boolean('Whether there are more than `sessions`.'),
  scimTokens: int('Active ones.'),
}) {}

@Access('inherited')
@ObjectType('ProjectUsage', {
  description: 'Counts of the users and applications of a project, and its last activity.',
})
export class ProjectUsageView extends fields({
  users: int(),
  clients: int(),
  lastActivityAt: nullable(time('Time of its newest event.')),
}) {}

@Access('inherited')
@ObjectType('PasskeyModelStanding', {
  description:
    'Passkeys that could not be created under a list of models, of the 5,000 active users who signed in last.',
})
export class PasskeyModelStandingView extends fields({
  usersWithOthers: int('Active users with such a passkey. It stays usable until revoked.'),
  usersWithOnlyOthers: int('Active users who have no other passkeys.'),
}) {}

@Access('inherited')
@ObjectType('FactorStanding', {
  description: 'Numbers of active users with each second factor, among the 5,000 who signed in last.',
})
export class FactorStandingView extends fields({
  activeUsers: int(),
  isLimited: boolean('Whether the project has more active users than those counted.'),
  withFactor: int('With at least one second factor that meets the policy, or a passkey that counts.'),
  email: int(),
  sms: int(),
  totp: int(),
  withPasskey: int('With a passkey that has verified them by PIN or biometrics.'),
  sessionsWithoutPasskey: int('Active sessions that were not proved by a passkey.'),
  pagesWithoutPasskeys: list(
    text('Applications with their own sign-in pages, which cannot use passkeys (see `Client.relatedOrigins`).'),
  ),
  canSendSms: boolean('Whether this instance can send SMS.'),
}) {}

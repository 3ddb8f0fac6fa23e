import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { CredentialOriginEnum, MfaMethodEnum } from '../api/enums.ts';
import { boolean, fields, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType('UserSession', { description: 'An active SSO session of a user in one browser.' })
export class UserSessionView extends fields({
  id: id('`sid` in ID tokens and logout tokens.'),
  amr: list(text('RFC 8176.')),
  authTime: time('Time of the last authentication.'),
  createdAt: time(),
  lastSeenAt: time(),
  idleExpiresAt: time('If unused.'),
  expiresAt: time('Absolute.'),
  deviceId: nullable(id()),
  ip: nullable(text()),
  userAgent: nullable(text()),
}) {}

@Access('inherited')
@ObjectType('UserDevice', { description: 'A browser that a user registered with a client.' })
export class UserDeviceView extends fields({
  id: id(),
  name: text(),
  remembered: boolean('Whether it stays trusted after the sign-in that registered it.'),
  trustedUntil: nullable(time('Absent: no longer trusted.')),
  createdAt: time(),
  lastUsedAt: time(),
  userAgent: nullable(text()),
}) {}

@Access('inherited')
@ObjectType('UserPasskey', { description: 'A passkey (WebAuthn) of a user, for all clients of the project.' })
class UserPasskeyView extends fields({
  id: id(),
  name: text(),
  aaguid: text('Model of the authenticator (AAGUID); all zeros: unknown.'),
  attested: boolean('Whether a certificate of `Project.passkeyRoots` proved the model when it was created.'),
  synced: boolean("Whether it can be copied to the user's other devices."),
  userVerified: boolean(
    'Whether a use has verified the user by PIN or biometrics; only then it counts as a second factor.',
  ),
  createdAt: time(),
  lastUsedAt: time(),
  createdBy: nullable(oneOf(CredentialOriginEnum, 'Absent: unknown.')),
}) {}

@Access('project_viewer', ofProject, 'users:read', 'consent:read')
@ObjectType('UserConsent', { description: "A user's consent to a third-party application." })
export class UserConsentView extends fields({
  id: id(),
  userId: id(),
  clientId: id(),
  scopes: list(text()),
  createdAt: time(),
  updatedAt: time('Time of the last answer.'),
}) {}

export const UserConsentConnection = connectionType(UserConsentView, 'UserConsent');

@Access('inherited')
@ObjectType('UserFactor', { description: 'A second factor of a user.' })
class UserFactorView extends fields({
  id: id(),
  method: oneOf(MfaMethodEnum),
  phone: nullable(text('E.164, for SMS.')),
  verifiedAt: time(),
  lastUsedAt: nullable(time()),
}) {}

@Access('inherited')
@ObjectType('UserRecovery', { description: 'A recovery grant that can be used, now or after its waiting time.' })
class UserRecoveryView extends fields({
  reason: text(),
  createdAt: time(),
  usableAt: time('End of the waiting time.'),
  expiresAt: time(),
}) {}

@Access('inherited')
@ObjectType('UserDeletion', { description: 'A deletion of the account that the user has requested.' })
class UserDeletionView extends fields({
  createdAt: time(),
  dueAt: time('When the user is deleted.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'Sessions, devices, passkeys, consents and second factors of a user.' })
export class UserAccess extends fields({
  sessions: list(object(UserSessionView, 'Active ones, most recently seen first; at most 100.')),
  sessionCount: int('Number of active sessions.'),
  devices: list(object(UserDeviceView, 'Active ones, most recently used first; at most 100.')),
  deviceCount: int('Number of active devices.'),
  passkeys: list(object(UserPasskeyView, 'Active ones, most recently used first.')),
  consents: list(object(UserConsentView, 'Third-party applications that the user allowed, oldest first.')),
  factors: list(object(UserFactorView)),
  recoveryCodesLeft: int(),
  recovery: nullable(object(UserRecoveryView)),
  deletion: nullable(object(UserDeletionView)),
}) {}

@Access('inherited')
@ObjectType({ description: 'Numbers of resources that belong to a user.' })
export class UserHoldings extends fields({
  sessions: int('Including ended ones.'),
  devices: int(),
  passkeys: int(),
  secondFactors: int(),
  recoveryCodes: int(),
  groups: int(),
  messages: int(),
  events: int('They are kept, without the name.'),
  adminRoles: int('Roles in this console.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'The result for one user; each user succeeds or fails independently.' })
export class ChangedUser extends fields({
  userId: id(),
  done: boolean(),
  code: nullable(text('The error code, as in `extensions.code`.')),
  message: nullable(text()),
}) {}

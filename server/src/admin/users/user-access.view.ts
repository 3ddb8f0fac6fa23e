import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { CredentialOrigin } from '../../domain/credentials/credential.entity.ts';
import type { MfaMethod } from '../../domain/mfa/enrolment.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { CredentialOriginEnum, MfaMethodEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType('UserSession', { description: 'An active SSO session of a user in one browser.' })
export class UserSessionView {
  @Field(() => ID, { description: '`sid` in ID tokens and logout tokens.' })
  id!: string;

  @Field(() => [String], { description: 'RFC 8176.' })
  amr!: string[];

  @Field(() => GraphQLDateTime, { description: 'Time of the last authentication.' })
  authTime!: Date;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  lastSeenAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'If unused.' })
  idleExpiresAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'Absolute.' })
  expiresAt!: Date;

  @Field(() => ID, { nullable: true })
  deviceId!: string | null;

  @Field(() => String, { nullable: true })
  ip!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;
}

@Access('inherited')
@ObjectType('UserDevice', { description: 'A browser that a user registered with a client.' })
export class UserDeviceView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => Boolean, { description: 'Whether it stays trusted after the sign-in that registered it.' })
  remembered!: boolean;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Absent: no longer trusted.' })
  trustedUntil!: Date | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  lastUsedAt!: Date;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;
}

@Access('inherited')
@ObjectType('UserPasskey', { description: 'A passkey (WebAuthn) of a user, for all clients of the project.' })
export class UserPasskeyView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'Model of the authenticator (AAGUID); all zeros: unknown.' })
  aaguid!: string;

  @Field(() => Boolean, {
    description: 'Whether a certificate of `Project.passkeyRoots` proved the model when it was created.',
  })
  attested!: boolean;

  @Field(() => Boolean, { description: "Whether it can be copied to the user's other devices." })
  synced!: boolean;

  @Field(() => Boolean, {
    description: 'Whether a use has verified the user by PIN or biometrics; only then it counts as a second factor.',
  })
  userVerified!: boolean;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  lastUsedAt!: Date;

  @Field(() => CredentialOriginEnum, { nullable: true, description: 'Absent: unknown.' })
  createdBy!: CredentialOrigin | null;
}

@Access('project_viewer', ofProject, 'users:read', 'consent:read')
@ObjectType('UserConsent', { description: "A user's consent to a third-party application." })
export class UserConsentView {
  @Field(() => ID)
  id!: string;

  @Field(() => ID)
  userId!: string;

  @Field(() => ID)
  clientId!: string;

  @Field(() => [String])
  scopes!: string[];

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'Time of the last answer.' })
  updatedAt!: Date;
}

export const UserConsentConnection = connectionType(UserConsentView, 'UserConsent');

@Access('inherited')
@ObjectType('UserFactor', { description: 'A second factor of a user.' })
export class UserFactorView {
  @Field(() => ID)
  id!: string;

  @Field(() => MfaMethodEnum)
  method!: MfaMethod;

  @Field(() => String, { nullable: true, description: 'E.164, for SMS.' })
  phone!: string | null;

  @Field(() => GraphQLDateTime)
  verifiedAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  lastUsedAt!: Date | null;
}

@Access('inherited')
@ObjectType('UserRecovery', { description: 'A recovery grant that can be used, now or after its waiting time.' })
export class UserRecoveryView {
  @Field(() => String)
  reason!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'End of the waiting time.' })
  usableAt!: Date;

  @Field(() => GraphQLDateTime)
  expiresAt!: Date;
}

@Access('inherited')
@ObjectType({ description: 'Sessions, devices, passkeys, consents and second factors of a user.' })
export class UserAccess {
  @Field(() => [UserSessionView], { description: 'Active ones, most recently seen first.' })
  sessions!: UserSessionView[];

  @Field(() => [UserDeviceView], { description: 'Active ones, most recently used first.' })
  devices!: UserDeviceView[];

  @Field(() => [UserPasskeyView], { description: 'Active ones, most recently used first.' })
  passkeys!: UserPasskeyView[];

  @Field(() => [UserConsentView], { description: 'Third-party applications that the user allowed, oldest first.' })
  consents!: UserConsentView[];

  @Field(() => [UserFactorView])
  factors!: UserFactorView[];

  @Field(() => Int)
  recoveryCodesLeft!: number;

  @Field(() => UserRecoveryView, { nullable: true })
  recovery!: UserRecoveryView | null;
}

@Access('inherited')
@ObjectType({ description: 'Numbers of resources that belong to a user.' })
export class UserHoldings {
  @Field(() => Int, { description: 'Including ended ones.' })
  sessions!: number;

  @Field(() => Int)
  devices!: number;

  @Field(() => Int)
  passkeys!: number;

  @Field(() => Int)
  secondFactors!: number;

  @Field(() => Int)
  recoveryCodes!: number;

  @Field(() => Int)
  groups!: number;

  @Field(() => Int)
  messages!: number;

  @Field(() => Int, { description: 'They are kept, without the name.' })
  events!: number;

  @Field(() => Int, { description: 'Roles in this console.' })
  adminRoles!: number;
}

@Access('inherited')
@ObjectType({ description: 'The result for one user; each user succeeds or fails independently.' })
export class ChangedUser {
  @Field(() => ID)
  userId!: string;

  @Field(() => Boolean)
  done!: boolean;

  @Field(() => String, { nullable: true, description: 'The error code, as in `extensions.code`.' })
  code!: string | null;

  @Field(() => String, { nullable: true })
  message!: string | null;
}

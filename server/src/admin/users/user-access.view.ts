import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { MfaMethod } from '../../domain/mfa/enrolment.entity.ts';
import { Access } from '../api/access.ts';
import { MfaMethodEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType('UserSession', { description: 'A live SSO session of a user in one browser.' })
export class UserSessionView {
  @Field(() => ID, { description: '`sid` in ID tokens and logout tokens.' })
  id!: string;

  @Field(() => [String], { description: 'RFC 8176.' })
  amr!: string[];

  @Field(() => GraphQLDateTime, { description: 'When the user last proved who they are.' })
  authTime!: Date;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  lastSeenAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'Where nobody uses it.' })
  idleExpiresAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'Used or not.' })
  expiresAt!: Date;

  @Field(() => ID, { nullable: true })
  deviceId!: string | null;

  @Field(() => String, { nullable: true })
  ip!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;
}

@Access('inherited')
@ObjectType('UserDevice', { description: 'A browser that a user has registered with a client.' })
export class UserDeviceView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => Boolean, { description: 'Whether its trust outlives the sign-in that registered it.' })
  remembered!: boolean;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Absent: not trusted any more.' })
  trustedUntil!: Date | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  lastUsedAt!: Date;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;
}

@Access('inherited')
@ObjectType('UserFactor', { description: 'A second factor that a user has set up.' })
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
@ObjectType({ description: 'How a user gets in.' })
export class UserAccess {
  @Field(() => [UserSessionView], { description: 'Live ones, the one that was seen last first.' })
  sessions!: UserSessionView[];

  @Field(() => [UserDeviceView], { description: 'Those that are not revoked, the one that was used last first.' })
  devices!: UserDeviceView[];

  @Field(() => [UserFactorView])
  factors!: UserFactorView[];

  @Field(() => Int)
  recoveryCodesLeft!: number;
}

@Access('inherited')
@ObjectType({ description: 'What would be lost with a user, in numbers.' })
export class UserHoldings {
  @Field(() => Int, { description: 'Ended ones included.' })
  sessions!: number;

  @Field(() => Int)
  devices!: number;

  @Field(() => Int)
  secondFactors!: number;

  @Field(() => Int)
  recoveryCodes!: number;

  @Field(() => Int)
  groups!: number;

  @Field(() => Int)
  messages!: number;

  @Field(() => Int, { description: 'They stay, without a name.' })
  events!: number;

  @Field(() => Int, { description: 'Roles in this console.' })
  adminRoles!: number;
}

@Access('inherited')
@ObjectType({ description: 'What came of one user of several; each is done, or refused, on its own.' })
export class ChangedUser {
  @Field(() => ID)
  userId!: string;

  @Field(() => Boolean)
  done!: boolean;

  @Field(() => String, { nullable: true, description: 'Why not: the same codes as in `extensions.code`.' })
  code!: string | null;

  @Field(() => String, { nullable: true })
  message!: string | null;
}

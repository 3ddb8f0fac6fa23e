import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { MfaMethod, MfaPolicy, SignUpMode } from '../../domain/projects/project.entity.ts';
import { Access, itself } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { BuiltInEnum, MfaMethodEnum, MfaPolicyEnum, SignUpEnum } from '../api/enums.ts';

@Access('project_viewer', itself, 'projects:read')
@ObjectType('SessionPolicy', { description: 'Lifetimes of sessions and tokens, in seconds.' })
export class SessionPolicyView {
  @Field(() => Int, { description: 'Idle timeout of a session.' })
  idleTimeoutSeconds!: number;

  @Field(() => Int, { description: 'Absolute lifetime of a session.' })
  maxSessionSeconds!: number;

  @Field(() => Int)
  idTokenTtlSeconds!: number;

  @Field(() => Int, { description: '1 to 3600; a client can override it.' })
  accessTokenTtlSeconds!: number;

  @Field(() => Int, { description: 'How long an application can use refresh tokens after a sign-in.' })
  refreshTokenTtlSeconds!: number;

  @Field(() => Int, { description: 'How long it can do so without using one.' })
  refreshTokenIdleSeconds!: number;
}

@Access('project_viewer', itself, 'projects:read')
@ObjectType('Project', { description: 'A tenant: its users, clients, directory and policies.' })
export class ProjectView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'Unique; never changes, because applications depend on the issuer.' })
  slug!: string;

  @Field(() => BuiltInEnum, { nullable: true, description: 'Set for projects created at the first start.' })
  builtIn!: 'console' | 'demo' | null;

  @Field(() => Boolean)
  scimEnabled!: boolean;

  @Field(() => Boolean, {
    description: "Whether the directory's values take precedence and its users' phone numbers are locked.",
  })
  scimAuthoritative!: boolean;

  @Field(() => SignUpEnum)
  signUp!: SignUpMode;

  @Field(() => MfaPolicyEnum)
  mfaPolicy!: MfaPolicy;

  @Field(() => [MfaMethodEnum], {
    description: 'Second factors that users can set up; existing ones stay usable.',
  })
  offeredFactors!: MfaMethod[];

  @Field(() => [String], {
    description: 'AAGUIDs of the models of passkeys that users may create; empty: all, or all of `passkeyRoots`.',
  })
  passkeyAaguids!: string[];

  @Field(() => [String], {
    description: 'CA certificates (PEM) that prove a model; empty: the claimed model is not verified.',
  })
  passkeyRoots!: string[];

  @Field(() => Int, { description: 'How long a device can skip the second factor; 0: never.' })
  rememberMfaSeconds!: number;

  @Field(() => Int, { description: 'How long a remembered device stays trusted after its last use.' })
  deviceTrustSeconds!: number;

  @Field(() => Boolean, { description: 'Whether email as a second factor satisfies `REQUIRED`.' })
  emailFactor!: boolean;

  @Field(() => Int, { description: "Absolute lifetime of a device's trust, in days since its registration." })
  deviceTrustDays!: number;

  @Field(() => [String], {
    description: 'Countries that SMS can be sent to (ISO 3166-1 alpha-2); empty: all.',
  })
  smsCountries!: string[];

  @Field(() => Int, { description: 'SMS that the project can send per day.' })
  smsPerDay!: number;

  @Field(() => Int)
  idleTimeoutSeconds!: number;

  @Field(() => Int)
  maxSessionSeconds!: number;

  @Field(() => Int)
  idTokenTtlSeconds!: number;

  @Field(() => Int)
  accessTokenTtlSeconds!: number;

  @Field(() => Int)
  refreshTokenTtlSeconds!: number;

  @Field(() => Int)
  refreshTokenIdleSeconds!: number;

  @Field(() => Int, { description: 'Send it as `expectedVersion` to detect concurrent changes.' })
  version!: number;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const ProjectConnection = connectionType(ProjectView, 'Project');

@Access('inherited')
@ObjectType('ProjectContents', { description: 'Numbers of resources that are deleted with a project.' })
export class ProjectContentsView {
  @Field(() => Int)
  users!: number;

  @Field(() => Int)
  clients!: number;

  @Field(() => Int, { description: 'Active ones; at most 10,000 if `isSessionsLimited`.' })
  sessions!: number;

  @Field(() => Boolean, { description: 'Whether there are more than `sessions`.' })
  isSessionsLimited!: boolean;

  @Field(() => Int, { description: 'Active ones.' })
  scimTokens!: number;
}

@Access('inherited')
@ObjectType('ProjectUsage', { description: 'How much a project is used.' })
export class ProjectUsageView {
  @Field(() => Int)
  users!: number;

  @Field(() => Int)
  clients!: number;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Time of its newest event.' })
  lastActivityAt!: Date | null;
}

@Access('inherited')
@ObjectType('PasskeyModelStanding', {
  description:
    'Passkeys that could not be created under a list of models, of the 5,000 active users who signed in last.',
})
export class PasskeyModelStandingView {
  @Field(() => Int, { description: 'Active users with such a passkey. It stays usable until revoked.' })
  usersWithOthers!: number;

  @Field(() => Int, { description: 'Active users who have no other passkeys.' })
  usersWithOnlyOthers!: number;
}

@Access('inherited')
@ObjectType('FactorStanding', {
  description: 'Numbers of active users with each second factor, among the 5,000 who signed in last.',
})
export class FactorStandingView {
  @Field(() => Int)
  activeUsers!: number;

  @Field(() => Boolean, { description: 'Whether the project has more active users than those counted.' })
  isLimited!: boolean;

  @Field(() => Int, { description: 'With at least one second factor that meets the policy, or a passkey that counts.' })
  withFactor!: number;

  @Field(() => Int)
  email!: number;

  @Field(() => Int)
  sms!: number;

  @Field(() => Int)
  totp!: number;

  @Field(() => Int, { description: 'With a passkey that has verified them by PIN or biometrics.' })
  withPasskey!: number;

  @Field(() => Int, { description: 'Active sessions that were not proved by a passkey.' })
  sessionsWithoutPasskey!: number;

  @Field(() => [String], {
    description: 'Applications with their own sign-in pages, which cannot use passkeys (see `Client.relatedOrigins`).',
  })
  pagesWithoutPasskeys!: string[];

  @Field(() => Boolean, { description: 'Whether this instance can send SMS.' })
  canSendSms!: boolean;
}

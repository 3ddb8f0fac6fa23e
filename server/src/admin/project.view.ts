import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { MfaMethod, MfaPolicy, SignUpMode } from '../domain/projects/project.entity.ts';
import { connectionType } from './connection.ts';
import { BuiltInEnum, MfaMethodEnum, MfaPolicyEnum, SignUpEnum } from './enums.ts';

@ObjectType('SessionPolicy', { description: 'How long sessions and tokens live, in seconds.' })
export class SessionPolicyView {
  @Field(() => Int, { description: 'Sliding limit of an idle session.' })
  idleTimeoutSeconds!: number;

  @Field(() => Int, { description: 'Absolute limit of a session.' })
  maxSessionSeconds!: number;

  @Field(() => Int)
  idTokenTtlSeconds!: number;

  @Field(() => Int, { description: '1 to 3600; a client can have its own.' })
  accessTokenTtlSeconds!: number;
}

@ObjectType('Project', { description: 'A tenant: its users, clients, directory and policies.' })
export class ProjectView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => BuiltInEnum, { nullable: true, description: 'Set on the projects that the first start made.' })
  builtIn!: 'console' | 'demo' | null;

  @Field(() => Boolean)
  scimEnabled!: boolean;

  @Field(() => Boolean, { description: "Whether the directory's values win and lock the phone of its users." })
  scimAuthoritative!: boolean;

  @Field(() => SignUpEnum)
  signUp!: SignUpMode;

  @Field(() => MfaPolicyEnum)
  mfaPolicy!: MfaPolicy;

  @Field(() => [MfaMethodEnum], {
    description: 'Which second factors can be set up; whoever has another one keeps it.',
  })
  offeredFactors!: MfaMethod[];

  @Field(() => Int, { description: 'How long a device may skip the second factor; 0: never.' })
  rememberMfaSeconds!: number;

  @Field(() => Int, { description: 'How long a remembered device is trusted since its last use.' })
  deviceTrustSeconds!: number;

  @Field(() => Boolean, { description: 'Whether e-mail as a second factor meets `REQUIRED`.' })
  emailFactor!: boolean;

  @Field(() => Int, { description: "Absolute lifetime of a device's trust, in days since its registration." })
  deviceTrustDays!: number;

  @Field(() => [String], {
    description: 'ISO 3166-1 alpha-2 codes of the countries that SMS may be sent to; empty: every country.',
  })
  smsCountries!: string[];

  @Field(() => Int, { description: 'SMS that the project may send in a day.' })
  smsPerDay!: number;

  @Field(() => Int)
  idleTimeoutSeconds!: number;

  @Field(() => Int)
  maxSessionSeconds!: number;

  @Field(() => Int)
  idTokenTtlSeconds!: number;

  @Field(() => Int)
  accessTokenTtlSeconds!: number;

  @Field(() => Int, { description: 'Send it back as `expectedVersion` to hear of a change by somebody else.' })
  version!: number;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const ProjectConnection = connectionType(ProjectView, 'Project');

@ObjectType('ProjectContents', { description: 'What belongs to a project, and is lost with it.' })
export class ProjectContentsView {
  @Field(() => Int)
  users!: number;

  @Field(() => Int)
  clients!: number;

  @Field(() => Int, { description: 'Live ones.' })
  sessions!: number;

  @Field(() => Int, { description: 'Live ones.' })
  scimTokens!: number;
}

@ObjectType('FactorStanding', { description: 'How many active users have a second factor, and which.' })
export class FactorStandingView {
  @Field(() => Int)
  activeUsers!: number;

  @Field(() => Int, { description: 'With at least one.' })
  withFactor!: number;

  @Field(() => Int)
  email!: number;

  @Field(() => Int)
  sms!: number;

  @Field(() => Int)
  totp!: number;

  @Field(() => Boolean, { description: 'Whether this instance can send text messages.' })
  canSendSms!: boolean;
}

@InputType()
class ProjectSettingsInput {
  @Field(() => Boolean, { nullable: true })
  scimEnabled?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  scimAuthoritative?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  testMode?: boolean | null;

  @Field(() => SignUpEnum, { nullable: true })
  signUp?: SignUpMode | null;

  @Field(() => MfaPolicyEnum, { nullable: true })
  mfaPolicy?: MfaPolicy | null;

  @Field(() => [MfaMethodEnum], { nullable: true, description: 'At least one.' })
  offeredFactors?: MfaMethod[] | null;

  @Field(() => Int, { nullable: true })
  rememberMfaSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  deviceTrustSeconds?: number | null;

  @Field(() => Boolean, { nullable: true })
  emailFactor?: boolean | null;

  @Field(() => Int, { nullable: true, description: '1 to 3650.' })
  deviceTrustDays?: number | null;

  @Field(() => [String], { nullable: true, description: 'ISO 3166-1 alpha-2; empty: every country.' })
  smsCountries?: string[] | null;

  @Field(() => Int, { nullable: true, description: '0 to 1,000,000; 0: none.' })
  smsPerDay?: number | null;
}

@InputType()
export class CreateProjectInput extends ProjectSettingsInput {
  @Field(() => String)
  name!: string;
}

@InputType({ description: 'What is absent stays as it is.' })
export class UpdateProjectInput extends ProjectSettingsInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType({ description: 'In seconds; what is absent stays as it is.' })
export class UpdateSessionPolicyInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => Int, { nullable: true })
  idleTimeoutSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  maxSessionSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  idTokenTtlSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  accessTokenTtlSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType()
export class DeleteProjectInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: 'The name of the project, typed out.' })
  confirmName!: string;
}

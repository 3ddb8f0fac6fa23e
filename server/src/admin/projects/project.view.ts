import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { MfaMethod, MfaPolicy, SignUpMode } from '../../domain/projects/project.entity.ts';
import { Access, itself } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { BuiltInEnum, MfaMethodEnum, MfaPolicyEnum, SignUpEnum } from '../api/enums.ts';

@Access('project_viewer', itself)
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

@Access('project_viewer', itself)
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

@Access('inherited')
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

@Access('inherited')
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

import { Field, ID, InputType, Int } from 'type-graphql';
import type { MfaMethod, MfaPolicy, PasskeyPolicy, SignUpMode } from '../../domain/projects/project.entity.ts';
import { MfaMethodEnum, MfaPolicyEnum, PasskeyPolicyEnum, SignUpEnum } from '../api/enums.ts';

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

  @Field(() => PasskeyPolicyEnum, { nullable: true, description: 'Default: ALLOWED.' })
  passkeyPolicy?: PasskeyPolicy | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'AAGUIDs of the models of passkeys that users may create, at most 100. Empty: all, or all of `passkeyRoots`.',
  })
  passkeyAaguids?: string[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'CA certificates of their makers in PEM, at most 10. Empty: the claimed model is not verified.',
  })
  passkeyRoots?: string[] | null;

  @Field(() => Int, { nullable: true })
  rememberMfaSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  deviceTrustSeconds?: number | null;

  @Field(() => Boolean, { nullable: true })
  emailFactor?: boolean | null;

  @Field(() => Int, { nullable: true, description: '1 to 3650.' })
  deviceTrustDays?: number | null;

  @Field(() => [String], { nullable: true, description: 'ISO 3166-1 alpha-2; empty: all countries.' })
  smsCountries?: string[] | null;

  @Field(() => Int, { nullable: true, description: '0 to 1,000,000; 0: none.' })
  smsPerDay?: number | null;
}

@InputType()
export class CreateProjectInput extends ProjectSettingsInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, {
    nullable: true,
    description: '1 to 40 of a-z, 0-9 and hyphens. Default: made from the name. Never changes.',
  })
  slug?: string | null;
}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateProjectInput extends ProjectSettingsInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType({ description: 'In seconds; absent fields are unchanged.' })
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

  @Field(() => Int, { nullable: true, description: '60 to 31,536,000.' })
  refreshTokenTtlSeconds?: number | null;

  @Field(() => Int, { nullable: true, description: '60 to 7,776,000.' })
  refreshTokenIdleSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType()
export class DeleteProjectInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: 'The name of the project, as confirmation.' })
  confirmName!: string;
}

import { Field, ID, InputType } from 'type-graphql';
import type { NewUser } from '../../domain/users/creation/new-user.ts';
import type { Inputs } from '../api/access.ts';
import { CustomValueInput } from '../attributes/custom-attribute.inputs.ts';

@InputType({ description: 'Needs an email address or a userName.' })
export class NewUserInput {
  @Field(() => String, { nullable: true, description: 'Login address.' })
  email?: string | null;

  @Field(() => String, { nullable: true, description: 'Default: the email address.' })
  userName?: string | null;

  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => String, { nullable: true })
  givenName?: string | null;

  @Field(() => String, { nullable: true })
  familyName?: string | null;

  @Field(() => String, { nullable: true, description: 'E.164, e.g. +41791234567.' })
  phone?: string | null;

  @Field(() => String, { nullable: true, description: 'BCP 47, e.g. en-US. Also the language of mails.' })
  locale?: string | null;

  @Field(() => String, { nullable: true, description: 'IANA time zone, e.g. Europe/Zurich.' })
  zoneinfo?: string | null;

  @Field(() => String, { nullable: true, description: 'ISO 8601, e.g. 1990-12-31.' })
  birthdate?: string | null;

  @Field(() => [CustomValueInput], { nullable: true, description: 'Custom attributes of the project.' })
  custom?: CustomValueInput[] | null;
}

@InputType({ description: 'Needs an email address or a userName.' })
export class CreateUserInput extends NewUserInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Sends an invitation, in the language of `locale`. Default: false.',
  })
  invite?: boolean | null;
}

@InputType()
export class ImportUsersInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => [NewUserInput], { description: 'At most 500, within 64 KB.' })
  rows!: NewUserInput[];

  @Field(() => Boolean, { nullable: true, description: 'Sends an invitation to each new user. Default: false.' })
  invite?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Checks the rows and changes nothing. Default: false.' })
  dryRun?: boolean | null;
}

/** Whether one of the new users gets custom values, which need a fresh sign-in. */
export function givesCustomValues({ custom, rows = [{ custom }] }: Inputs): boolean {
  return (rows as NewUserInput[]).some((row) => (row.custom ?? []).length > 0);
}

export function newUserOf({ custom, ...profile }: NewUserInput): NewUser {
  const values = custom?.map(({ name, value }) => [name, value ?? null] as const);
  return { ...profile, ...(values && values.length > 0 ? { custom: Object.fromEntries(values) } : {}) };
}

import { InputType } from 'type-graphql';
import type { NewUser } from '../../domain/users/creation/new-user.ts';
import type { Inputs } from '../api/access.ts';
import { boolean, id, inputFields, list, nullable, object, text } from '../api/fields.ts';
import { CustomValueInput } from '../attributes/custom-attribute.inputs.ts';

const newUser = {
  email: nullable(text('Login address.')),
  userName: nullable(text('Default: the email address.')),
  displayName: nullable(text()),
  givenName: nullable(text()),
  familyName: nullable(text()),
  phone: nullable(text('E.164, e.g. +41791234567.')),
  locale: nullable(text('BCP 47, e.g. en-US. Also the language of mails.')),
  zoneinfo: nullable(text('IANA time zone, e.g. Europe/Zurich.')),
  birthdate: nullable(text('ISO 8601, e.g. 1990-12-31.')),
  subject: nullable(
    text(
      '`sub` in tokens, from another system: at most 255 ASCII characters, unique in the project, never changed. Default: the id.',
    ),
  ),
  custom: nullable(list(object(CustomValueInput, 'Custom attributes of the project.'))),
};

const organizationId = nullable(id('An organization, as the home of the new users. Default: the project.'));

@InputType({ description: 'Needs an email address or a userName.' })
export class NewUserInput extends inputFields(newUser) {}

@InputType({ description: 'Needs an email address or a userName.' })
export class CreateUserInput extends inputFields({
  ...newUser,
  projectId: id(),
  organizationId,
  invite: nullable(boolean('Sends an invitation, in the language of `locale`. Default: false.')),
}) {}

@InputType()
export class ImportUsersInput extends inputFields({
  projectId: id(),
  organizationId,
  rows: list(object(NewUserInput, 'At most 500, within 64 KB.')),
  invite: nullable(boolean('Sends an invitation to each new user. Default: false.')),
  dryRun: nullable(boolean('Checks the rows and changes nothing. Default: false.')),
}) {}

/** Whether one of the new users gets custom values, which need a fresh sign-in. */
export function givesCustomValues({ custom, rows = [{ custom }] }: Inputs): boolean {
  return (rows as NewUserInput[]).some((row) => (row.custom ?? []).length > 0);
}

export function newUserOf({ custom, ...profile }: NewUserInput): NewUser {
  const values = custom?.map(({ name, value }) => [name, value ?? null] as const);
  return { ...profile, ...(values && values.length > 0 ? { custom: Object.fromEntries(values) } : {}) };
}

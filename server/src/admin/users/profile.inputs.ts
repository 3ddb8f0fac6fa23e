import { InputType } from 'type-graphql';
import type { Inputs } from '../api/access.ts';
import { id, inputFields, nullable, object, text } from '../api/fields.ts';

@InputType({ description: 'Replaces the whole address.' })
class PostalAddressInput extends inputFields({
  formatted: nullable(text()),
  streetAddress: nullable(text()),
  locality: nullable(text()),
  region: nullable(text()),
  postalCode: nullable(text()),
  country: nullable(text('Two capital letters (ISO 3166-1).')),
}) {}

@InputType({
  description:
    'Absent fields are unchanged; null clears a field. A directory overwrites its fields at the next sync; where it is authoritative, `phone` is refused.',
})
export class UpdateUserInput extends inputFields({
  id: id(),
  email: nullable(text('Login address.')),
  userName: nullable(text('Absent: follows the email address if it is the same.')),
  phone: nullable(text('Login phone, E.164, e.g. +41791234567.')),
  displayName: nullable(text()),
  givenName: nullable(text()),
  familyName: nullable(text()),
  locale: nullable(text('BCP 47, e.g. en-US.')),
  zoneinfo: nullable(text('IANA time zone, e.g. Europe/Zurich.')),
  birthdate: nullable(text('ISO 8601, e.g. 1990-12-31.')),
  address: nullable(object(PostalAddressInput)),
}) {}

/** The admin could sign in as a user whose address they change. */
export function changesLogin({ email, userName, phone }: Inputs): boolean {
  return [email, userName, phone].some((value) => value !== undefined);
}

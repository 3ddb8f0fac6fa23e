import { InputType } from 'type-graphql';
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
    'Absent fields are unchanged; null clears a field. Refused where the directory is authoritative, except `birthdate` and `displayName`.',
})
export class UpdateUserInput extends inputFields({
  id: id(),
  displayName: nullable(text()),
  givenName: nullable(text()),
  familyName: nullable(text()),
  locale: nullable(text('BCP 47, e.g. en-US.')),
  zoneinfo: nullable(text('IANA time zone, e.g. Europe/Zurich.')),
  birthdate: nullable(text('ISO 8601, e.g. 1990-12-31.')),
  address: nullable(object(PostalAddressInput)),
}) {}

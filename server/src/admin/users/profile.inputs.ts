import { Field, ID, InputType } from 'type-graphql';

@InputType({ description: 'Replaces the whole address.' })
class PostalAddressInput {
  @Field(() => String, { nullable: true })
  formatted?: string | null;

  @Field(() => String, { nullable: true })
  streetAddress?: string | null;

  @Field(() => String, { nullable: true })
  locality?: string | null;

  @Field(() => String, { nullable: true })
  region?: string | null;

  @Field(() => String, { nullable: true })
  postalCode?: string | null;

  @Field(() => String, { nullable: true, description: 'Two capital letters (ISO 3166-1).' })
  country?: string | null;
}

@InputType({
  description:
    'Absent fields are unchanged; null clears a field. Refused where the directory is authoritative, except `birthdate`.',
})
export class UpdateUserInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => String, { nullable: true })
  givenName?: string | null;

  @Field(() => String, { nullable: true })
  familyName?: string | null;

  @Field(() => String, { nullable: true, description: 'BCP 47, e.g. en-US.' })
  locale?: string | null;

  @Field(() => String, { nullable: true, description: 'IANA time zone, e.g. Europe/Zurich.' })
  zoneinfo?: string | null;

  @Field(() => String, { nullable: true, description: 'ISO 8601, e.g. 1990-12-31.' })
  birthdate?: string | null;

  @Field(() => PostalAddressInput, { nullable: true })
  address?: PostalAddressInput | null;
}

import { Field, ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';

@Access('inherited')
@ObjectType('PostalAddress')
export class PostalAddressView {
  @Field(() => String, { nullable: true })
  formatted!: string | null;

  @Field(() => String, { nullable: true })
  streetAddress!: string | null;

  @Field(() => String, { nullable: true })
  locality!: string | null;

  @Field(() => String, { nullable: true })
  region!: string | null;

  @Field(() => String, { nullable: true })
  postalCode!: string | null;

  @Field(() => String, { nullable: true })
  country!: string | null;
}

import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { fields, nullable, text } from '../api/fields.ts';

@Access('inherited')
@ObjectType('PostalAddress')
export class PostalAddressView extends fields({
  formatted: nullable(text()),
  streetAddress: nullable(text()),
  locality: nullable(text()),
  region: nullable(text()),
  postalCode: nullable(text()),
  country: nullable(text()),
}) {}

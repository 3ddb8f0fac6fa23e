import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { Client } from '../../domain/clients/client.entity.ts';
import { Access } from '../api/access.ts';
import { ClientView } from './client.view.ts';

@Access('inherited')
@ObjectType({ description: 'A sign-in that is being tried in this browser.' })
export class BegunTrial {
  @Field(() => String, { description: 'Where it goes on: the hosted page.' })
  address!: string;
}

@Access('inherited')
@ObjectType({ description: 'A token taken apart; the token itself is not shown.' })
class DecodedToken {
  @Field(() => GraphQLJSONObject)
  header!: object;

  @Field(() => GraphQLJSONObject)
  claims!: object;

  @Field(() => Boolean, { description: 'Whether signature, type, issuer and times hold against the published keys.' })
  verified!: boolean;
}

@Access('inherited')
@ObjectType('TrialResult', { description: 'What the application would have been given.' })
export class TrialResultView {
  @Field(() => ClientView)
  client!: Client;

  @Field(() => DecodedToken)
  idToken!: DecodedToken;

  @Field(() => DecodedToken)
  accessToken!: DecodedToken;

  @Field(() => GraphQLJSONObject, { description: 'What UserInfo said to the access token.' })
  userInfo!: object;

  @Field(() => String)
  scope!: string;

  @Field(() => Int)
  expiresInSeconds!: number;

  @Field(() => Boolean, { description: 'Whether the access token is worth nothing any more.' })
  revoked!: boolean;
}

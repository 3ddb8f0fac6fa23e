import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { Client } from '../../domain/clients/client.entity.ts';
import { Access } from '../api/access.ts';
import { ClientView } from './client.view.ts';

@Access('inherited')
@ObjectType({ description: 'A trial sign-in in this browser.' })
export class BegunTrial {
  @Field(() => String, { description: 'URL of the hosted page that continues it.' })
  address!: string;
}

@Access('inherited')
@ObjectType({ description: 'A decoded token, without its signature.' })
class DecodedToken {
  @Field(() => GraphQLJSONObject)
  header!: object;

  @Field(() => GraphQLJSONObject)
  claims!: object;

  @Field(() => Boolean, { description: 'Whether signature, type, issuer and times are valid, by the published keys.' })
  verified!: boolean;
}

@Access('inherited')
@ObjectType('TrialResult', { description: 'The claims that the application would receive.' })
export class TrialResultView {
  @Field(() => ClientView)
  client!: Client;

  @Field(() => DecodedToken)
  idToken!: DecodedToken;

  @Field(() => DecodedToken)
  accessToken!: DecodedToken;

  @Field(() => GraphQLJSONObject, { description: 'The UserInfo response for the access token.' })
  userInfo!: object;

  @Field(() => String)
  scope!: string;

  @Field(() => Int)
  expiresInSeconds!: number;

  @Field(() => Boolean, { description: 'Whether the access token is revoked.' })
  revoked!: boolean;
}

import { GraphQLJSON } from 'graphql-scalars';
import { Field, ID, InputType, Int } from 'type-graphql';
import type { Client, TokenEndpointAuthMethod } from '../../domain/clients/client.entity.ts';
import { LogoutTokenTypEnum, TokenEndpointAuthMethodEnum } from '../api/enums.ts';

@InputType()
class ClientSettingsInput {
  @Field(() => TokenEndpointAuthMethodEnum, { nullable: true, description: 'Default: NONE.' })
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null;

  @Field(() => GraphQLJSON, {
    nullable: true,
    description: 'One public Ed25519 key: a JWK or a JWK Set, as an object or as JSON text.',
  })
  jwks?: unknown;

  @Field(() => [String], { nullable: true, description: 'Must match exactly; https, or http on loopback.' })
  redirectUris?: string[] | null;

  @Field(() => [String], { nullable: true })
  postLogoutRedirectUris?: string[] | null;

  @Field(() => String, { nullable: true })
  backchannelLogoutUri?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: true.' })
  backchannelLogoutSessionRequired?: boolean | null;

  @Field(() => LogoutTokenTypEnum, { nullable: true, description: 'Default: SECEVENT.' })
  logoutTokenTyp?: Client['logoutTokenType'] | null;

  @Field(() => Int, { nullable: true, description: "1 to 3600 seconds; default: the project's value." })
  accessTokenTtlSeconds?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  pkceRequired?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  relatedOrigins?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  passkeyRequired?: boolean | null;
}

@InputType()
export class CreateClientInput extends ClientSettingsInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String)
  name!: string;
}

@InputType({
  description: 'Absent fields are unchanged; null clears `jwks`, `backchannelLogoutUri` and `accessTokenTtlSeconds`.',
})
export class UpdateClientInput extends ClientSettingsInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'All requests of a disabled client are refused.' })
  disabled?: boolean | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

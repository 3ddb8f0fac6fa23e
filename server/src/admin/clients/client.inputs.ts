import { GraphQLJSON } from 'graphql-scalars';
import { Field, ID, InputType, Int } from 'type-graphql';
import type { Client, TokenEndpointAuthMethod } from '../../domain/clients/client.entity.ts';
import { LogoutTokenTypEnum, TokenEndpointAuthMethodEnum } from '../api/enums.ts';

@InputType()
class ClientSettingsInput {
  @Field(() => TokenEndpointAuthMethodEnum, { nullable: true, description: 'NONE where absent.' })
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null;

  @Field(() => GraphQLJSON, {
    nullable: true,
    description: 'One public Ed25519 key: a JWK or a JWK Set, as an object or as JSON text.',
  })
  jwks?: unknown;

  @Field(() => [String], { nullable: true, description: 'Compared letter by letter; https, or http on loopback.' })
  redirectUris?: string[] | null;

  @Field(() => [String], { nullable: true })
  postLogoutRedirectUris?: string[] | null;

  @Field(() => String, { nullable: true })
  backchannelLogoutUri?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'True where absent.' })
  backchannelLogoutSessionRequired?: boolean | null;

  @Field(() => LogoutTokenTypEnum, { nullable: true, description: 'SECEVENT where absent.' })
  logoutTokenTyp?: Client['logoutTokenType'] | null;

  @Field(() => Int, { nullable: true, description: "1 to 3600 seconds; the project's where absent." })
  accessTokenTtlSeconds?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'False where absent.' })
  pkceRequired?: boolean | null;
}

@InputType()
export class CreateClientInput extends ClientSettingsInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String)
  name!: string;
}

@InputType({
  description:
    'What is absent stays as it is; null takes away `jwks`, `backchannelLogoutUri` and `accessTokenTtlSeconds`.',
})
export class UpdateClientInput extends ClientSettingsInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'A disabled client gets nothing any more.' })
  disabled?: boolean | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

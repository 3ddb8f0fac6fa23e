import 'reflect-metadata';
import { GraphQLDateTime, GraphQLJSON } from 'graphql-scalars';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { ApiKeyKind } from '../domain/clients/api-key.entity.ts';
import type { Client, TokenEndpointAuthMethod } from '../domain/clients/client.entity.ts';
import { connectionType } from './connection.ts';
import { ApiKeyKindEnum, BuiltInEnum, LogoutTokenTypEnum, TokenEndpointAuthMethodEnum } from './enums.ts';

@ObjectType('ApiKey', { description: 'A key of a client. The key itself is shown only when it is issued.' })
export class ApiKeyView {
  @Field(() => ID)
  id!: string;

  @Field(() => ApiKeyKindEnum)
  kind!: ApiKeyKind;

  @Field(() => String, { description: 'Its last four characters.' })
  hint!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'To the minute.' })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  revokedAt!: Date | null;
}

@ObjectType('Client', { description: 'An OIDC relying party of one project.' })
export class ClientView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => BuiltInEnum, { nullable: true })
  builtIn!: 'console' | 'demo' | null;

  @Field(() => TokenEndpointAuthMethodEnum)
  tokenEndpointAuthMethod!: TokenEndpointAuthMethod;

  @Field(() => [String])
  redirectUris!: string[];

  @Field(() => [String])
  postLogoutRedirectUris!: string[];

  @Field(() => String, { nullable: true })
  backchannelLogoutUri!: string | null;

  @Field(() => Boolean)
  backchannelLogoutSessionRequired!: boolean;

  @Field(() => Int, { nullable: true, description: "In seconds; absent: the project's." })
  accessTokenTtlSeconds!: number | null;

  @Field(() => Boolean, { description: 'Whether a sign-in by the browser SDK needs a code_challenge (RFC 7636).' })
  pkceRequired!: boolean;

  @Field(() => Int, { description: 'Send it back as `expectedVersion` to hear of a change by somebody else.' })
  version!: number;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const ClientConnection = connectionType(ClientView, 'Client');

@ObjectType({ description: 'A new client and its first keys, which are shown this once.' })
export class CreatedClient {
  @Field(() => ClientView)
  client!: Client;

  @Field(() => String, { description: '`lk_pk_…`, for the browser SDK.' })
  publishableKey!: string;

  @Field(() => String, { description: '`lk_sk_…`, for the server library.' })
  secretKey!: string;
}

@ObjectType({ description: 'A new key, which is shown this once.' })
export class IssuedApiKey {
  @Field(() => ApiKeyView)
  apiKey!: ApiKeyView;

  @Field(() => String)
  key!: string;
}

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

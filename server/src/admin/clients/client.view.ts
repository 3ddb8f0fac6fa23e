import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { ApiKeyKind } from '../../domain/clients/api-key.entity.ts';
import type { Client, ClientKind } from '../../domain/clients/client.entity.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import { type GrantType, type IdTokenAlgorithm, type TokenEndpointAuthMethod } from '../../domain/kernel/openid.ts';
import { Access, ofClient, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import {
  ApiKeyKindEnum,
  BuiltInEnum,
  ClientKindEnum,
  GrantTypeEnum,
  IdTokenAlgorithmEnum,
  TokenEndpointAuthMethodEnum,
} from '../api/enums.ts';

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('ApiKey', { description: 'A key of a client. A secret key is shown only once, when it is created.' })
export class ApiKeyView {
  @Field(() => ID)
  id!: string;

  @Field(() => ApiKeyKindEnum)
  kind!: ApiKeyKind;

  @Field(() => String, { description: 'The last four characters.' })
  hint!: string;

  @Field(() => String, {
    nullable: true,
    description: 'A publishable key. Null for a secret key, and for keys created by an earlier release.',
  })
  value!: string | null;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'With a resolution of one minute.' })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  revokedAt!: Date | null;
}

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('ClientSecret', { description: 'A secret of a client. It is shown only once, when it is created.' })
export class ClientSecretView {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: 'The last four characters.' })
  hint!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'With a resolution of one minute.' })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  revokedAt!: Date | null;
}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('Client', { description: 'An OIDC relying party of one project.' })
export class ClientView {
  @Field(() => ID)
  id!: string;

  @Field(() => String)
  name!: string;

  @Field(() => BuiltInEnum, { nullable: true })
  builtIn!: 'console' | 'demo' | null;

  @Field(() => ClientKindEnum, { nullable: true, description: "For the console's instructions." })
  kind!: ClientKind | null;

  @Field(() => TokenEndpointAuthMethodEnum)
  tokenEndpointAuthMethod!: TokenEndpointAuthMethod;

  @Field(() => String, { nullable: true, description: 'Where its keys are fetched.' })
  jwksUri!: string | null;

  @Field(() => IdTokenAlgorithmEnum, { description: "At the project's issuer; the base issuer signs with ES512." })
  idTokenSignedResponseAlg!: IdTokenAlgorithm;

  @Field(() => [GrantTypeEnum], { description: "At the project's issuer." })
  grantTypes!: GrantType[];

  @Field(() => [String], { description: 'Its scopes at this API, in its project.' })
  adminScopes!: AdminScope[];

  @Field(() => [String])
  redirectUris!: string[];

  @Field(() => [String])
  postLogoutRedirectUris!: string[];

  @Field(() => String, { nullable: true })
  backchannelLogoutUri!: string | null;

  @Field(() => Boolean)
  backchannelLogoutSessionRequired!: boolean;

  @Field(() => Int, { nullable: true, description: "In seconds; absent: the project's value." })
  accessTokenTtlSeconds!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'How long its refresh tokens work after a sign-in, in seconds, if shorter than that of the project.',
  })
  refreshTokenTtlSeconds!: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'How long they work without being used, in seconds, if shorter than that of the project.',
  })
  refreshTokenIdleSeconds!: number | null;

  @Field(() => Boolean, { description: 'Whether sign-ins by the browser SDK require a code_challenge (RFC 7636).' })
  pkceRequired!: boolean;

  @Field(() => Boolean, { description: "Whether it may omit PKCE at its project's issuer, if it is confidential." })
  pkceOptional!: boolean;

  @Field(() => Boolean, {
    description: "Whether pages of its redirect URIs' origins can use passkeys (WebAuthn Related Origin Requests).",
  })
  relatedOrigins!: boolean;

  @Field(() => Boolean, {
    description: "Whether its users must sign in with a passkey, regardless of the project's policy.",
  })
  passkeyRequired!: boolean;

  @Field(() => Boolean, {
    description: 'Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2).',
  })
  dpopRequired!: boolean;

  @Field(() => Boolean, { description: 'Whether DPoP proofs need a nonce of this server (RFC 9449 section 8).' })
  dpopNonceRequired!: boolean;

  @Field(() => Boolean, { description: 'Whether it must push its authorization requests (RFC 9126).' })
  pushedRequestsRequired!: boolean;

  @Field(() => Boolean, { description: 'Whether it must comply with the FAPI 2.0 Security Profile.' })
  fapiProfile!: boolean;

  @Field(() => Boolean, { description: 'Whether users must consent before it gets their data.' })
  thirdParty!: boolean;

  @Field(() => Int, { description: 'Send it as `expectedVersion` to detect concurrent changes.' })
  version!: number;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

export const ClientConnection = connectionType(ClientView, 'Client');

@Access('inherited')
@ObjectType({ description: 'A new client and its first keys, shown only once.' })
export class CreatedClient {
  @Field(() => ClientView)
  client!: Client;

  @Field(() => String, { description: '`lk_pk_…`, for the browser SDK.' })
  publishableKey!: string;

  @Field(() => String, { description: '`lk_sk_…`, for the server library.' })
  secretKey!: string;

  @Field(() => String, { nullable: true, description: '`lk_cs_…`; null if the client authenticates otherwise.' })
  clientSecret!: string | null;
}

@Access('inherited')
@ObjectType({ description: 'A new client secret, shown only once.' })
export class IssuedClientSecret {
  @Field(() => ClientSecretView)
  clientSecret!: ClientSecretView;

  @Field(() => String, { description: '`lk_cs_…`.' })
  secret!: string;
}

@Access('inherited')
@ObjectType({ description: 'A new key, shown only once.' })
export class IssuedApiKey {
  @Field(() => ApiKeyView)
  apiKey!: ApiKeyView;

  @Field(() => String)
  key!: string;
}

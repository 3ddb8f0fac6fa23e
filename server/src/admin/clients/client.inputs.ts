import { GraphQLJSON } from 'graphql-scalars';
import { Field, ID, InputType, Int } from 'type-graphql';
import type { Client, ClientKind } from '../../domain/clients/client.entity.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import { type GrantType, type IdTokenAlgorithm, type TokenEndpointAuthMethod } from '../../domain/kernel/openid.ts';
import {
  ClientKindEnum,
  GrantTypeEnum,
  IdTokenAlgorithmEnum,
  LogoutTokenTypEnum,
  TokenEndpointAuthMethodEnum,
} from '../api/enums.ts';

@InputType()
class ClientSettingsInput {
  @Field(() => ClientKindEnum, { nullable: true, description: "For the console's instructions." })
  kind?: ClientKind | null;

  @Field(() => TokenEndpointAuthMethodEnum, { nullable: true, description: 'Default: NONE.' })
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null;

  @Field(() => GraphQLJSON, {
    nullable: true,
    description:
      'Public keys: a JWK or a JWK Set, as an object or as JSON text. The base issuer takes Ed25519; that of the project also P-256 and RSA.',
  })
  jwks?: unknown;

  @Field(() => String, { nullable: true, description: 'Where its keys are fetched, in place of `jwks`; https.' })
  jwksUri?: string | null;

  @Field(() => IdTokenAlgorithmEnum, {
    nullable: true,
    description: "At the project's issuer. Default: ES512, the only one at the base issuer.",
  })
  idTokenSignedResponseAlg?: IdTokenAlgorithm | null;

  @Field(() => [GrantTypeEnum], {
    nullable: true,
    description: "At the project's issuer. Default: AUTHORIZATION_CODE, which every client has.",
  })
  grantTypes?: GrantType[] | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'Its scopes at this API, in its project, with tokens of the grant CLIENT_CREDENTIALS: `users:read`, `users:write`, `consent:read`, `consent:write`, `clients:read`, `clients:write`, `projects:read`, `projects:write`, `audit:read`, `profile:self`; and `scim`, at the SCIM endpoints. Default: none.',
  })
  adminScopes?: AdminScope[] | null;

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

  @Field(() => Int, {
    nullable: true,
    description:
      'How long its refresh tokens work after a sign-in, in seconds. The shorter of this and that of the project counts.',
  })
  refreshTokenTtlSeconds?: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'How long they work without being used, in seconds. The shorter of this and that of the project counts.',
  })
  refreshTokenIdleSeconds?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether sign-ins by the browser SDK require a code_challenge. Redirects always do, unless `pkceOptional`. False for a new client with a secret: the same as `pkceOptional: true`.',
  })
  pkceRequired?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      "Whether a confidential client may omit PKCE at its project's issuer. Then a stolen code is protected by its credential alone. Default: false.",
  })
  pkceOptional?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  relatedOrigins?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether users must consent before it gets their data. The browser SDK is refused. Default: false.',
  })
  thirdParty?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Default: false.' })
  passkeyRequired?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2). Default: false.',
  })
  dpopRequired?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether DPoP proofs need a nonce of this server (RFC 9449 section 8). Default: false.',
  })
  dpopNonceRequired?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: "Whether it must push its authorization requests to its project's issuer (RFC 9126). Default: false.",
  })
  pushedRequestsRequired?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether it must comply with the FAPI 2.0 Security Profile: PRIVATE_KEY_JWT, ID tokens with ES256 or EDDSA, https redirect URIs; pushed requests, PKCE and DPoP. Default: false.',
  })
  fapiProfile?: boolean | null;
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
    'Absent fields are unchanged; null clears `jwks`, `jwksUri`, `backchannelLogoutUri` and the lifetimes of tokens.',
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

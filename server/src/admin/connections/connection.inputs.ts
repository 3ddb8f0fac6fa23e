import { InputType } from 'type-graphql';
import { ConnectionKindEnum, ConnectionStateEnum, RequestedNameIdEnum, SignedPartEnum } from '../api/enums.ts';
import { boolean, id, inputFields, jsonObject, list, nullable, object, oneOf, text } from '../api/fields.ts';

@InputType({ description: 'Settings of an OpenID Connect provider. Absent: as the preset fixes, or unchanged.' })
class OidcConnectionInput extends inputFields({
  issuer: nullable(text('The exact `issuer` of its discovery document.')),
  clientId: nullable(text('The client ID of this server at the provider.')),
  clientSecret: nullable(text('Stored sealed, never shown.')),
  scopes: nullable(list(text('Default: openid, email and profile.'))),
  hostedDomain: nullable(
    text('Preset `google`: the Google Workspace domain that users must have; empty: any account.'),
  ),
}) {}

@InputType({ description: 'Settings of a SAML identity provider. Absent: the default, or unchanged.' })
class SamlConnectionInput extends inputFields({
  metadataUrl: nullable(text('Address of its metadata, https. Read now and daily.')),
  metadataXml: nullable(text('Its metadata, if there is no address: at most 50 KB.')),
  certificates: nullable(
    list(text('PEM. In place of those of `metadataXml`: the current and the next one during a rollover.')),
  ),
  signed: nullable(oneOf(SignedPartEnum)),
  nameId: nullable(oneOf(RequestedNameIdEnum)),
  emailAttribute: nullable(
    text('The attribute with the address; empty: one with a usual name, or a NameID with the format of an address.'),
  ),
  vouchesForEmail: nullable(
    boolean('Whether its addresses count as verified, so that users can be created without a code. Default: false.'),
  ),
  allowsSha1: nullable(boolean('Accept signatures with SHA-1. Default: false.')),
  allowsCbc: nullable(boolean('Accept assertions encrypted with AES-CBC. Default: false, only AES-GCM.')),
}) {}

const shared = {
  jit: nullable(
    boolean(
      'Whether a person without an account gets one, if their address may sign up; by a connection of an organization, at home there, if the address is in a verified domain of it. Default: false.',
    ),
  ),
  refreshesProfile: nullable(
    boolean('Whether each sign-in updates the profile. Default: false, only the first one sets it.'),
  ),
  acceptsAssertions: nullable(
    boolean(
      'OpenID Connect: whether applications with the grant `JWT_BEARER` get tokens for identity assertions (ID-JAG) of its issuer. At most one connection of an issuer. Default: false; also after a change of the issuer.',
    ),
  ),
  mappings: nullable(
    jsonObject(
      'The claim of each attribute: `givenName`, `familyName`, `displayName`, `locale`. Default: the standard claims.',
    ),
  ),
  roleMappings: nullable(
    jsonObject(
      'Of a connection of an organization: `claim`, and in `roles` the key of the role for each of its values, such as groups. Each sign-in gives these roles and takes the others of them. An empty object: none, the default.',
    ),
  ),
};

@InputType()
export class CreateConnectionInput extends inputFields({
  projectId: nullable(id('Either this or `organizationId`.')),
  organizationId: nullable(id()),
  kind: oneOf(ConnectionKindEnum),
  preset: nullable(
    text(
      '`generic` (default), `google`, `microsoft`, `entra`, `okta`, `auth0`, `keycloak`, `gitlab`, `onelogin`, `jumpcloud`, `pingone` or `adfs`.',
    ),
  ),
  name: text('Shown on the sign-in page.'),
  oidc: nullable(object(OidcConnectionInput, 'Of the kind `OIDC`. Values of the provider can follow later.')),
  saml: nullable(object(SamlConnectionInput, 'Of the kind `SAML`. The metadata can follow later.')),
  ...shared,
}) {}

@InputType({ description: 'Absent fields are unchanged.' })
export class UpdateConnectionInput extends inputFields({
  id: id(),
  name: nullable(text()),
  oidc: nullable(object(OidcConnectionInput)),
  saml: nullable(object(SamlConnectionInput)),
  ...shared,
}) {}

@InputType()
export class SetConnectionStateInput extends inputFields({
  id: id(),
  state: oneOf(ConnectionStateEnum, '`ENABLED` or `DISABLED`.'),
}) {}

import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import {
  ConnectionKindEnum,
  ConnectionStateEnum,
  MetadataFaultEnum,
  RequestedNameIdEnum,
  SignedPartEnum,
} from '../api/enums.ts';
import { boolean, fields, id, int, jsonObject, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'Settings of an OpenID Connect provider.' })
class OidcConnectionView extends fields({
  issuer: text('Empty: not given yet; the connection cannot be tested or enabled.'),
  clientId: text('Empty: not given yet.'),
  scopes: list(text()),
  hostedDomain: nullable(text()),
}) {}

@Access('inherited')
@ObjectType({ description: 'A certificate of a provider.' })
class ProviderCertificate extends fields({
  fingerprint: text('SHA-256.'),
  expiresAt: time(),
  pem: text(),
}) {}

@Access('inherited')
@ObjectType({ description: 'Settings of a SAML identity provider.' })
class SamlConnectionView extends fields({
  metadataUrl: nullable(text('Read daily; null: uploaded by an admin.')),
  metadataCheckedAt: nullable(time('When the metadata was read or uploaded.')),
  metadataFault: nullable(oneOf(MetadataFaultEnum, 'Of the last reading. The former settings stay.')),
  entityId: text(),
  ssoUrl: text(),
  certificates: list(object(ProviderCertificate)),
  signed: oneOf(SignedPartEnum),
  nameId: oneOf(RequestedNameIdEnum),
  emailAttribute: nullable(text()),
  vouchesForEmail: boolean(),
  allowsSha1: boolean(),
  allowsCbc: boolean(),
}) {}

@Access('inherited')
@ObjectType({ description: 'Failed sign-ins with one reason, since the last change of the settings.' })
class ConnectionFailure extends fields({
  reason: text(),
  count: int(),
}) {}

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('Connection', { description: 'An upstream identity provider by which users of a project sign in.' })
export class ConnectionView extends fields({
  id: id(),
  kind: oneOf(ConnectionKindEnum),
  preset: text(),
  name: text('Shown on the sign-in page.'),
  state: oneOf(ConnectionStateEnum),
  jit: boolean('Whether a person without an account gets one, if their address may sign up.'),
  refreshesProfile: boolean('Whether each sign-in updates the profile.'),
  acceptsAssertions: boolean('Whether applications get tokens for identity assertions of its issuer.'),
  mappings: jsonObject('The claim of each attribute.'),
  roleMappings: nullable(jsonObject('The roles in the organization by values of a claim.')),
  lastSuccessAt: nullable(time('The last sign-in or test, to the minute.')),
  lastFailureAt: nullable(time()),
  createdAt: time(),
  updatedAt: time(),
}) {}

export { ConnectionFailure, OidcConnectionView, SamlConnectionView };

@Access('inherited')
@ObjectType({ description: 'The addresses to register at the provider.' })
class ConnectionCallback extends fields({
  redirectUri: nullable(
    text('OpenID Connect: redirect URI at the base address. At a custom domain, its host takes the place of this one.'),
  ),
  acsUrl: nullable(
    text('SAML: assertion consumer service at the base address. Custom domains have their own, as above.'),
  ),
  entityId: nullable(text('SAML: our entity ID.')),
  metadataUrl: nullable(text('SAML: our metadata, which contains the others.')),
}) {}

@Access('inherited')
@ObjectType({ description: 'A setting at a provider, by the label of its own screens.' })
class GuideSetting extends fields({
  label: text(),
  value: text(),
}) {}

@Access('inherited')
@ObjectType({
  description:
    'How to set up the provider, in the words of its own screens; those of the standard if they are unknown.',
})
class ConnectionGuide extends fields({
  place: list(text('Where the application is created, screen by screen.')),
  enter: list(object(GuideSetting, 'What to enter there.')),
  copy: list(
    object(GuideSetting, 'Where it shows what this connection needs. `value`: the input, such as `saml.metadataUrl`.'),
  ),
}) {}

export { ConnectionGuide };

@Access('inherited')
@ObjectType({ description: 'A new connection, and the addresses to register at the provider.' })
export class CreatedConnection extends fields({
  connection: object(ConnectionView),
  callback: object(ConnectionCallback),
}) {}

@Access('inherited')
@ObjectType({ description: 'A test sign-in.' })
export class ConnectionTest extends fields({
  url: text(
    'Open it in a browser within 30 minutes: it shows the values that the provider sends, and begins no session. Works once.',
  ),
}) {}

export { ConnectionCallback };

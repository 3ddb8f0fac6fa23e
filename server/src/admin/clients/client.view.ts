import { ObjectType } from 'type-graphql';
import { clientFields } from '../../domain/clients/client.resource.ts';
import { Access, ofClient, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ApiKeyKindEnum, BuiltInEnum, IntroductionEnum, MetadataFaultEnum } from '../api/enums.ts';
import { fields, id, int, nullable, object, oneOf, text, time } from '../api/fields.ts';
import { viewOf } from '../api/resource-types.ts';

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('ApiKey', { description: 'A key of a client. A secret key is shown only once, when it is created.' })
export class ApiKeyView extends fields({
  id: id(),
  kind: oneOf(ApiKeyKindEnum),
  hint: text('The last four characters.'),
  value: nullable(text('A publishable key. Null for a secret key, and for keys from before release 1.0.')),
  createdAt: time(),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  revokedAt: nullable(time()),
}) {}

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('ClientSecret', { description: 'A secret of a client. It is shown only once, when it is created.' })
export class ClientSecretView extends fields({
  id: id(),
  hint: text('The last four characters.'),
  createdAt: time(),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  revokedAt: nullable(time()),
}) {}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('Client', { description: 'An OIDC relying party of one project.' })
export class ClientView extends fields({
  id: id(),
  ...viewOf(clientFields),
  builtIn: nullable(oneOf(BuiltInEnum)),
  introducedBy: nullable(oneOf(IntroductionEnum)),
  metadataUrl: nullable(text('The URL of its Client ID Metadata Document, which is its `client_id`.')),
  samlMetadataCheckedAt: nullable(time('Of the metadata at `samlMetadataUrl`.')),
  samlMetadataFault: nullable(oneOf(MetadataFaultEnum, 'Of the last reading. The former certificates stay.')),
  samlCertificateExpiresAt: nullable(time('Of the last of its `samlCertificates`.')),
  version: int('Send it as `expectedVersion` to detect concurrent changes.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

@Access('inherited')
@ObjectType('Introduction', { description: 'How a client that no admin created came, and its use.' })
export class IntroductionView extends fields({
  claimedName: nullable(text('`client_name`, which is not verified. Null: none that pages could show.')),
  network: nullable(text('The address that it was first seen from, or its /64. Null: from before this field.')),
  lastUsedAt: time('With a resolution of one hour.'),
  users: int('Users who allow it something; at most 10,000.'),
  refreshGrants: int('Refresh grants that have not been revoked; at most 10,000.'),
}) {}

export const ClientConnection = connectionType(ClientView, 'Client');

@Access('inherited')
@ObjectType({ description: 'A new client and its first keys, shown only once.' })
export class CreatedClient extends fields({
  client: object(ClientView),
  publishableKey: text('`lk_pk_…`, for the browser SDK.'),
  secretKey: nullable(text('`lk_sk_…`, for the server library; null if none was wanted.')),
  clientSecret: nullable(text('`lk_cs_…`; null if the client authenticates otherwise.')),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new client secret, shown only once.' })
export class IssuedClientSecret extends fields({
  clientSecret: object(ClientSecretView),
  secret: text('`lk_cs_…`.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new key, shown only once.' })
export class IssuedApiKey extends fields({
  apiKey: object(ApiKeyView),
  key: text(),
}) {}

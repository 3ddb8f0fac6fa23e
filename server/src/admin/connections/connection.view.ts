import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { ConnectionKindEnum, ConnectionStateEnum } from '../api/enums.ts';
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
  mappings: jsonObject('The claim of each attribute.'),
  lastSuccessAt: nullable(time('The last sign-in or test, to the minute.')),
  lastFailureAt: nullable(time()),
  createdAt: time(),
  updatedAt: time(),
}) {}

export { ConnectionFailure, OidcConnectionView };

@Access('inherited')
@ObjectType({ description: 'The addresses to register at the provider.' })
class ConnectionCallback extends fields({
  redirectUri: text('Redirect URI at the base address. At a custom domain, its host takes the place of this one.'),
}) {}

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

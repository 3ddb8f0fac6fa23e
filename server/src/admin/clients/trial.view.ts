import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { boolean, fields, int, jsonObject, object, text } from '../api/fields.ts';
import { ClientView } from './client.view.ts';

@Access('inherited')
@ObjectType({ description: 'A trial sign-in in this browser.' })
export class BegunTrial extends fields({
  address: text('URL of the hosted page that continues it.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'A decoded token, without its signature.' })
class DecodedToken extends fields({
  header: jsonObject(),
  claims: jsonObject(),
  verified: boolean('Whether signature, type, issuer and times are valid, by the published keys.'),
}) {}

@Access('inherited')
@ObjectType('TrialResult', { description: 'The claims that the application would receive.' })
export class TrialResultView extends fields({
  client: object(ClientView),
  idToken: object(DecodedToken),
  accessToken: object(DecodedToken),
  userInfo: jsonObject('The UserInfo response for the access token.'),
  scope: text(),
  expiresInSeconds: int(),
  revoked: boolean('Whether the access token is revoked.'),
}) {}

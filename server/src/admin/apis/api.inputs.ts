import { InputType } from 'type-graphql';
import type { ApiScope } from '../../domain/apis/api.entity.ts';
import { boolean, id, inputFields, int, list, nullable, object, text } from '../api/fields.ts';

@InputType()
class ApiScopeInput
  extends inputFields({
    key: text('The value in `scope`; letters, digits and _ . : / * -.'),
    description: text('One line, for admins and users.'),
  })
  implements ApiScope {}

@InputType()
export class CreateApiInput extends inputFields({
  projectId: id(),
  identifier: text('An absolute URI without a fragment: `resource`, and `aud` of its tokens. It cannot be changed.'),
  name: text(),
  scopes: list(object(ApiScopeInput, 'At least one.')),
  accessTokenTtlSeconds: nullable(int('60 to 3600 seconds; default: 900.')),
  thirdPartyAccess: nullable(
    boolean('Whether third-party applications get tokens for its scopes, if the user consents. Default: false.'),
  ),
  tokenExchange: nullable(
    boolean('Whether applications can exchange tokens of other APIs for its tokens (RFC 8693). Default: false.'),
  ),
  userKeys: nullable(boolean('Whether users can make API keys for it. Default: false.')),
}) {}

@InputType({ description: 'Absent fields are unchanged. A scope that is omitted is removed from all applications.' })
export class UpdateApiInput extends inputFields({
  id: id(),
  name: nullable(text()),
  scopes: nullable(list(object(ApiScopeInput))),
  accessTokenTtlSeconds: nullable(int()),
  thirdPartyAccess: nullable(boolean()),
  tokenExchange: nullable(boolean()),
  userKeys: nullable(boolean()),
  expectedVersion: nullable(int()),
}) {}

@InputType({
  description:
    'Replaces the rights of the application at the API. Without scopes and `introspects`, the application has none.',
})
export class SetApiGrantInput extends inputFields({
  clientId: id(),
  apiId: id(),
  scopes: list(text('Scopes of the API that its tokens may have.')),
  introspects: nullable(
    boolean('Whether the application is the API itself, and may introspect its tokens. Default: false.'),
  ),
}) {}
